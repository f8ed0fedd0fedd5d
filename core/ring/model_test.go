package ring

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
)

// The model is the ring's promise in its plainest form: slices, and no
// references. A test runs ring and model side by side on one script of
// operations and compares all that can be seen.

type modelFrame struct {
	seq   uint64
	entry bool
	size  int
	dts   int64
}

type modelSub struct {
	capacity      int
	queue         []modelItem
	started       bool
	needsKeyframe bool
	missed        uint64
}

type modelItem struct {
	seq    uint64
	missed uint64
}

type model struct {
	limits Limits
	frames []modelFrame
	subs   []*modelSub
}

func (m *model) write(f modelFrame) {
	for _, s := range m.subs {
		s.offer(f)
	}
	if len(m.frames) == 0 && !f.entry {
		return
	}
	m.frames = append(m.frames, f)
	for m.gops() > 2 && m.span() > m.limits.MaxDuration {
		m.dropGOP()
	}
	for m.bytes() > m.limits.MaxBytes || len(m.frames) > m.limits.MaxFrames {
		m.dropGOP()
	}
}

func (m *model) span() time.Duration {
	ticks := m.frames[len(m.frames)-1].dts - m.frames[0].dts
	return time.Duration(ticks) * time.Second / testClockRate
}

func (m *model) bytes() (n int) {
	for _, f := range m.frames {
		n += f.size
	}
	return n
}

func (m *model) gops() (n int) {
	for _, f := range m.frames {
		if f.entry {
			n++
		}
	}
	return n
}

func (m *model) dropGOP() {
	next := 1
	for next < len(m.frames) && !m.frames[next].entry {
		next++
	}
	m.frames = m.frames[next:]
}

func (m *model) subscribe(buffer int, start Start) *modelSub {
	from := len(m.frames)
	switch start {
	case StartOldest:
		from = 0
	case StartLatest:
		for from > 0 && !m.frames[from-1].entry {
			from--
		}
		from = max(from-1, 0)
	}
	s := &modelSub{capacity: buffer + len(m.frames) - from, needsKeyframe: true}
	for _, f := range m.frames[from:] {
		s.offer(f)
	}
	m.subs = append(m.subs, s)
	return s
}

func (s *modelSub) offer(f modelFrame) {
	full := len(s.queue) == s.capacity
	switch {
	case s.needsKeyframe && !f.entry, full:
		s.needsKeyframe = true
		if s.started {
			s.missed++
		}
	default:
		s.queue = append(s.queue, modelItem{f.seq, s.missed})
		s.started, s.needsKeyframe, s.missed = true, false, 0
	}
}

const testClockRate = 90000

var testTrack = &media.Track{Kind: media.KindVideo, Codec: media.CodecH264, ClockRate: testClockRate}

// newFrame makes a frame whose payload is its sequence number, over and over.
func newFrame(t testing.TB, arena *media.Arena, f modelFrame) *media.Frame {
	arena.Begin()
	pattern := binary.BigEndian.AppendUint64(nil, f.seq)
	for arena.Len() < f.size {
		if err := arena.Append(pattern[:min(8, f.size-arena.Len())]); err != nil {
			t.Fatal(err)
		}
	}
	frame, err := arena.Finish()
	if err != nil {
		t.Fatal(err)
	}
	frame.Track, frame.Seq, frame.DTS, frame.PTS = testTrack, f.seq, f.dts, f.dts
	frame.Entry, frame.Keyframe = f.entry, f.entry
	return frame
}

func checkPayload(t testing.TB, f *media.Frame) {
	t.Helper()
	pattern := binary.BigEndian.AppendUint64(nil, f.Seq)
	for i, b := range f.Payload() {
		if b != pattern[i%8] {
			t.Fatalf("frame %d: byte %d is %#x, want %#x", f.Seq, i, b, pattern[i%8])
		}
	}
}

// script gives the next choice of an operation, in 0..n-1, and whether there is
// one.
type script func(n int) (int, bool)

func runAgainstModel(t testing.TB, next script) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	limits := Limits{MaxBytes: 20000, MaxDuration: 2 * time.Second, MaxFrames: 40}
	ring, ideal := New(limits), &model{limits: limits}
	type pair struct {
		real  *Subscriber
		ideal *modelSub
	}
	var (
		pairs []pair
		held  []*media.Frame
		seq   uint64
		dts   int64
	)
	read := func(p pair, count int) {
		for range count {
			select {
			case item := <-p.real.C:
				if len(p.ideal.queue) == 0 {
					t.Fatalf("got frame %d, want none", item.Frame.Seq)
				}
				want := p.ideal.queue[0]
				p.ideal.queue = p.ideal.queue[1:]
				if item.Frame.Seq != want.seq || item.Missed != want.missed {
					t.Fatalf("got frame %d after %d missed, want %d after %d", item.Frame.Seq, item.Missed, want.seq, want.missed)
				}
				checkPayload(t, item.Frame)
				if item.Frame.Seq%7 == 0 {
					held = append(held, item.Frame)
				} else {
					item.Frame.Release()
				}
			default:
				if len(p.ideal.queue) != 0 {
					t.Fatalf("got no frame, want %d", p.ideal.queue[0].seq)
				}
				return
			}
		}
	}
	for {
		op, more := next(16)
		if !more {
			break
		}
		argument, _ := next(256)
		switch {
		case op < 10: // write
			seq++
			dts += int64(argument%5) * 3000
			f := modelFrame{seq: seq, entry: op < 2, size: argument * argument / 8, dts: dts}
			if argument == 255 {
				f.size = 25000 // more than the ring may hold
			}
			ring.Write(newFrame(t, arena, f))
			ideal.write(f)
		case op < 12 && len(pairs) < 10: // subscribe
			start := Start(argument % 3)
			buffer := 1 + argument%9
			s, err := ring.Subscribe(Options{Buffer: buffer, Start: start})
			if err != nil {
				t.Fatal(err)
			}
			pairs = append(pairs, pair{s, ideal.subscribe(buffer, start)})
		case op < 15 && len(pairs) > 0: // read
			read(pairs[argument%len(pairs)], 1+argument/16)
		case op == 15 && len(pairs) > 0: // close a subscription
			i := argument % len(pairs)
			pairs[i].real.Close()
			pairs = append(pairs[:i], pairs[i+1:]...)
			ideal.subs = append(ideal.subs[:i], ideal.subs[i+1:]...)
		}
		if got, want := ring.Stats(), ideal; got.Frames != len(want.frames) || got.Bytes != want.bytes() || got.GOPs != want.gops() {
			t.Fatalf("ring holds %+v, want %d frames, %d bytes, %d GOPs", got, len(want.frames), want.bytes(), want.gops())
		}
		if len(held) > 60 {
			checkPayload(t, held[0])
			held[0].Release()
			held = held[1:]
		}
	}
	for _, p := range pairs {
		read(p, 1<<20)
		p.real.Close()
	}
	ring.Close()
	arena.Close()
	for _, f := range held {
		checkPayload(t, f)
		f.Release()
	}
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Fatalf("left in the pool: %+v", stats)
	}
}

func TestRingDoesWhatTheModelDoes(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		left := 2000
		runAgainstModel(t, func(n int) (int, bool) {
			left--
			return random.IntN(n), left > 0
		})
	}
}

func FuzzRingDoesWhatTheModelDoes(f *testing.F) {
	f.Add([]byte("\x00\x10\x0a\x01\x05\x20\x05\x30\x0d\xff\x0f\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		runAgainstModel(t, func(n int) (int, bool) {
			if len(data) == 0 {
				return 0, false
			}
			choice := int(data[0]) % n
			data = data[1:]
			return choice, true
		})
	})
}
