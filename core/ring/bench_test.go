package ring

import (
	"fmt"
	"testing"

	"github.com/drover-video/drover/core/media"
)

// BenchmarkWrite measures a write and what it hands on. Subscribers' channels
// are emptied by the same goroutine, outside the timer, so that what is seen is
// the writer's own cost and not the scheduler's.
func BenchmarkWrite(b *testing.B) {
	for _, subscribers := range []int{0, 1, 8, 64} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			const batch = DefaultBuffer
			pool := media.NewPool()
			arena := media.NewArena(pool, 1<<20)
			defer arena.Close()
			ring := New(Limits{MaxFrames: 1024})
			defer ring.Close()
			subs := make([]*Subscriber, subscribers)
			for i := range subs {
				s, err := ring.Subscribe(Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer s.Close()
				subs[i] = s
			}
			frames := make([]*media.Frame, batch)
			seq := uint64(0)
			prepare := func() {
				for _, s := range subs {
					for len(s.items) > 0 {
						(<-s.items).Frame.Release()
					}
				}
				for i := range frames {
					frames[i] = newFrame(b, arena, modelFrame{seq: seq, entry: seq%50 == 0, size: 64, dts: int64(seq) * 3600})
					seq++
				}
			}
			b.ReportAllocs()
			b.ResetTimer()
			for written := 0; written < b.N; written += batch {
				b.StopTimer()
				prepare()
				b.StartTimer()
				for _, f := range frames[:min(batch, b.N-written)] {
					ring.Write(f)
				}
			}
		})
	}
}
