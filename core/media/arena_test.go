package media

import (
	"bytes"
	"errors"
	"testing"
)

func TestFramesOfAnArenaLieSideBySide(t *testing.T) {
	pool := NewPool()
	arena := NewArena(pool, 16<<10)
	var frames []*Frame
	for i := range 10 {
		arena.Begin()
		at, err := arena.AppendLength()
		if err != nil {
			t.Fatal(err)
		}
		if err := arena.Append(bytes.Repeat([]byte{byte(i)}, i+1)); err != nil {
			t.Fatal(err)
		}
		arena.SetLength(at)
		f, err := arena.Finish()
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, f)
	}
	for i, f := range frames {
		want := append([]byte{0, 0, 0, byte(i + 1)}, bytes.Repeat([]byte{byte(i)}, i+1)...)
		if !bytes.Equal(f.Payload(), want) {
			t.Errorf("frame %d is %x, want %x", i, f.Payload(), want)
		}
		if i > 0 && &f.block.data[0] != &frames[0].block.data[0] {
			t.Errorf("frame %d lies in another block", i)
		}
	}
	arena.Close()
	for _, f := range frames {
		f.Release()
	}
	if got := pool.Stats(); got.UsedBytes != 0 || got.Frames != 0 {
		t.Errorf("left in the pool: %+v", got)
	}
}

func TestAFrameThatOutgrowsItsBlockIsCarriedOverWhole(t *testing.T) {
	pool := NewPool()
	arena := NewArena(pool, 16<<10)
	defer arena.Close()
	for _, size := range []int{0, 1, 10_000, 10_000, 40_000, 3 << 20, 100, MaxFrameBytes} {
		want := make([]byte, size)
		for i := range want {
			want[i] = byte(i * 7)
		}
		arena.Begin()
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1400)
			if err := arena.Append(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		f, err := arena.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(f.Payload(), want) {
			t.Errorf("frame of %d bytes is not what was written", size)
		}
		f.Release()
	}
}

func TestAFrameLargerThanTheBoundIsRefusedAndTheNextIsTaken(t *testing.T) {
	pool := NewPool()
	arena := NewArena(pool, 16<<10)
	defer arena.Close()
	arena.Begin()
	if err := arena.Append(make([]byte, MaxFrameBytes)); err != nil {
		t.Fatal(err)
	}
	if err := arena.Append([]byte{1}); !errors.Is(err, ErrFrameTooLarge) {
		t.Errorf("got %v, want ErrFrameTooLarge", err)
	}
	arena.Begin()
	if err := arena.Append([]byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	f, err := arena.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(f.Payload(), []byte{1, 2}) {
		t.Errorf("got %x", f.Payload())
	}
	f.Release()
}

func TestIdleMemoryIsBounded(t *testing.T) {
	pool := NewPool()
	var arenas []*Arena
	for range 100 {
		arena := NewArena(pool, 1<<20)
		arena.Begin()
		if err := arena.Append([]byte{1}); err != nil {
			t.Fatal(err)
		}
		arenas = append(arenas, arena)
	}
	if got := pool.Stats().UsedBytes; got != 100<<20 {
		t.Errorf("%d bytes used, want %d", got, 100<<20)
	}
	for _, arena := range arenas {
		arena.Close()
	}
	if got := pool.Stats(); got.UsedBytes != 0 || got.IdleBytes != idleBytes {
		t.Errorf("got %+v, want %d bytes idle", got, idleBytes)
	}
}

func TestReleasingTooOftenPanics(t *testing.T) {
	pool := NewPool()
	arena := NewArena(pool, 1)
	defer arena.Close()
	arena.Begin()
	f, err := arena.Finish()
	if err != nil {
		t.Fatal(err)
	}
	f.Retain()
	f.Release()
	f.Release()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f.Release()
}

func TestTicksAndDurationsRoundTrip(t *testing.T) {
	for _, rate := range []int{90000, 16000, 44100, 8000} {
		track := &Track{ClockRate: rate}
		for _, ticks := range []int64{0, 1, -1, 3600, 1 << 40} {
			got := track.Ticks(track.Duration(ticks))
			if diff := got - ticks; diff < -1 || diff > 1 {
				t.Errorf("rate %d: %d ticks became %d", rate, ticks, got)
			}
		}
	}
}

func BenchmarkArena(b *testing.B) {
	pool := NewPool()
	arena := NewArena(pool, 256<<10)
	defer arena.Close()
	payload := make([]byte, 1400)
	b.ReportAllocs()
	b.SetBytes(7 * 1400)
	for b.Loop() {
		arena.Begin()
		for range 7 {
			if err := arena.Append(payload); err != nil {
				b.Fatal(err)
			}
		}
		f, err := arena.Finish()
		if err != nil {
			b.Fatal(err)
		}
		f.Release()
	}
}
