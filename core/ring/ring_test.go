package ring

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/media"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadersBesideTheWriterSeeOnlyWholeFramesInOrder(t *testing.T) {
	const frames = 20000
	pool := media.NewPool()
	arena := media.NewArena(pool, 64<<10)
	ring := New(Limits{MaxBytes: 200_000})
	var readers sync.WaitGroup
	for i := range 8 {
		s, err := ring.Subscribe(Options{Buffer: 1 + 8*i, Start: Start(i % 3)})
		if err != nil {
			t.Fatal(err)
		}
		readers.Go(func() {
			var last, got, missed uint64
			for item := range s.C {
				seq := item.Frame.Seq
				if last != 0 && seq != last+1+item.Missed {
					t.Errorf("reader %d: frame %d after %d with %d missed", i, seq, last, item.Missed)
				}
				if item.Missed > 0 && !item.Frame.Entry {
					t.Errorf("reader %d came back on frame %d, which is no keyframe", i, seq)
				}
				checkPayload(t, item.Frame)
				item.Frame.Release()
				last, missed = seq, missed+item.Missed
				got++
			}
			if got == 0 {
				t.Errorf("reader %d got nothing", i)
			}
		})
	}
	readers.Go(func() { // one that comes and goes
		for {
			s, err := ring.Subscribe(Options{Start: StartLatest, Buffer: 4})
			if err != nil {
				return
			}
			if item, ok := <-s.C; ok {
				if !item.Frame.Entry || item.Missed != 0 {
					t.Errorf("a new subscriber begins with frame %d, which is no keyframe, or with %d missed", item.Frame.Seq, item.Missed)
				}
				item.Frame.Release()
			}
			s.Close()
		}
	})
	for seq := range uint64(frames) {
		ring.Write(newFrame(t, arena, modelFrame{seq: seq + 1, entry: seq%25 == 0, size: int(seq % 3000), dts: int64(seq) * 3600}))
	}
	ring.Close()
	readers.Wait()
	arena.Close()
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
}

func TestAFrameStaysValidWhileItIsHeldThoughTheRingGoesRound(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	ring := New(Limits{MaxBytes: 50_000})
	s, err := ring.Subscribe(Options{Buffer: 1})
	if err != nil {
		t.Fatal(err)
	}
	write := func(seq uint64) {
		ring.Write(newFrame(t, arena, modelFrame{seq: seq, entry: seq%10 == 1, size: 1000, dts: int64(seq)}))
	}
	write(1)
	held := (<-s.C).Frame
	for seq := uint64(2); seq < 100*50; seq++ {
		write(seq)
	}
	checkPayload(t, held)
	held.Release()
	s.Close()
	ring.Close()
	arena.Close()
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
}

func TestNewestCompleteGOPIsKeptThoughLongerThanTheTimeBound(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	defer arena.Close()
	ring := New(Limits{MaxDuration: time.Second})
	defer ring.Close()
	for seq := range uint64(95) { // GOPs of 30 frames at a frame a second
		ring.Write(newFrame(t, arena, modelFrame{seq: seq, entry: seq%30 == 0, size: 10, dts: int64(seq) * testClockRate}))
	}
	if got := ring.Stats(); got.GOPs != 2 || got.Frames != 35 {
		t.Errorf("ring holds %+v, want the GOP of 30 and the 5 frames after it", got)
	}
}

func TestAnOversizedGOPIsLetGoAndTheNextKeyframeStartsAnew(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	defer arena.Close()
	ring := New(Limits{MaxBytes: 10_000})
	defer ring.Close()
	for seq := range uint64(15) {
		ring.Write(newFrame(t, arena, modelFrame{seq: seq, entry: seq == 0, size: 1000, dts: int64(seq)}))
	}
	if got := ring.Stats(); got.Frames != 0 || got.Bytes != 0 {
		t.Errorf("ring holds %+v, want nothing", got)
	}
	s, err := ring.Subscribe(Options{Start: StartOldest})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ring.Write(newFrame(t, arena, modelFrame{seq: 15, size: 10}))
	ring.Write(newFrame(t, arena, modelFrame{seq: 16, entry: true, size: 10}))
	item := <-s.C
	if item.Frame.Seq != 16 || item.Missed != 0 {
		t.Errorf("subscriber begins with frame %d after %d missed, want the keyframe 16 after none", item.Frame.Seq, item.Missed)
	}
	item.Frame.Release()
}

func TestSlowSubscriberIsCountedByReason(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	defer arena.Close()
	ring := New(Limits{})
	defer ring.Close()
	s, err := ring.Subscribe(Options{Name: "slow", Buffer: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for seq := range uint64(10) {
		ring.Write(newFrame(t, arena, modelFrame{seq: seq, entry: seq%8 == 0, size: 10}))
	}
	want := SubscriberStats{Name: "slow", Behind: 2, Sent: 2, DroppedFull: 2, DroppedAwaiting: 6}
	if got := ring.Subscribers()[0]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestClosedRingTakesNothing(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	ring := New(Limits{})
	ring.Close()
	ring.Close()
	ring.Write(newFrame(t, arena, modelFrame{seq: 1, entry: true, size: 10}))
	if _, err := ring.Subscribe(Options{}); err != ErrClosed {
		t.Errorf("Subscribe: %v, want ErrClosed", err)
	}
	arena.Close()
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
}
