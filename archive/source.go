package archive

import (
	"context"
	"errors"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/ring"
)

// A source is one stream that is attached. Its goroutine subscribes to the ring while
// the stream is to be recorded.
type source struct {
	recorder *Recorder
	key      sourceKey
	ring     *ring.Ring
	ledger   *ledger
	lane     *disk.Lane
	cancel   context.CancelFunc
	done     chan struct{}
	drops    dropCounters
	frames   atomic.Uint64 // taken from the ring
	seq      uint64        // of the newest frame taken. Owned by the goroutine

	wake chan struct{} // wanted has changed
	away chan struct{} // the camera is gone

	mu     sync.Mutex
	wanted bool
	why    string // it is not
	back   bool   // recording begins with all that the ring holds
	state  camera.Change
}

func newSource(r *Recorder, key sourceKey, frames *ring.Ring, l *ledger, cancel context.CancelFunc) *source {
	return &source{
		recorder: r, key: key, ring: frames, ledger: l, cancel: cancel,
		lane: r.writer.Lane(key.camera, key.source, func(o disk.Outcome) { l.outcome(o, r.now()) }),
		done: make(chan struct{}), wake: make(chan struct{}, 1), away: make(chan struct{}, 1),
	}
}

// decide says whether the stream is to be recorded from now on.
func (s *source) decide(p *policy, now, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted, s.why, s.back = p.wants(s.key.source, now, until), p.whyNot(s.key.source), p.reachesBack()
	s.explain(now)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// stateChanged takes how the camera is doing.
func (s *source) stateChanged(c camera.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = c
	s.explain(c.At)
	if c.State == camera.StateBackoff || c.State == camera.StateStalled {
		select {
		case s.away <- struct{}{}:
		default:
		}
	}
}

// explain tells the ledger why nothing comes, or that something should. The caller
// holds mu.
func (s *source) explain(now time.Time) {
	switch {
	case !s.wanted:
		s.ledger.absent(index.CauseRequest, s.why, now)
	case s.state.State == "":
		s.ledger.expected(now) // what was said before holds until the camera is heard of
	case s.state.State == camera.StateLive:
		s.ledger.present(now)
	case s.state.Fault == camera.FaultLogin:
		s.ledger.absent(index.CauseLoginRefused, s.state.Reason, now)
	default:
		s.ledger.absent(index.CauseNetwork, s.state.Reason, now)
	}
}

// comes reports whether footage comes and is wanted.
func (s *source) comes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted && s.state.State == camera.StateLive
}

// start returns where recording begins in the ring. What that holds of a camera that has
// gone is of before anybody wanted it.
func (s *source) start() ring.Start {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state.State {
	case "", camera.StateLive:
	default:
		return ring.StartNext
	}
	if s.back {
		return ring.StartOldest
	}
	return ring.StartLatest
}

func (s *source) isWanted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wanted
}

// run records while the stream is to be recorded, until ctx or the ring ends.
func (s *source) run(ctx context.Context) {
	for ctx.Err() == nil {
		if s.isWanted() {
			if err := s.record(ctx); err != nil {
				return
			}
			continue
		}
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
}

// record records until the stream is not to be recorded any more. It returns an error
// when there is nothing to record from.
func (s *source) record(ctx context.Context) error {
	sub, err := s.ring.Subscribe(ring.Options{Name: "archive", Start: s.start()})
	if err != nil {
		return err
	}
	defer sub.Close()
	c := &cutter{run: s.recorder.nextRun(), stagger: s.stagger(), drops: &s.drops, emit: s.lane.Write}
	defer s.lane.End()
	defer c.flush()
	for {
		select {
		case <-ctx.Done():
			s.drain(c, sub)
			return nil
		case <-s.wake:
			if !s.isWanted() {
				s.drain(c, sub)
				return nil
			}
		case <-s.away:
			// What came before it went is in the channel.
			s.drain(c, sub)
			c.flush()
			c.forget()
			s.lane.End()
		case item, ok := <-sub.C:
			if !ok {
				return errors.New("the ring ended")
			}
			s.take(c, item)
		}
	}
}

func (s *source) take(c *cutter, item ring.Item) {
	if item.Frame.Seq <= s.seq {
		item.Frame.Release() // it was recorded before recording was off for a while
		return
	}
	s.seq = item.Frame.Seq
	s.frames.Add(1)
	c.push(item)
}

// drain takes what is in the channel.
func (s *source) drain(c *cutter, sub *ring.Subscriber) {
	for n := len(sub.C); n > 0; n-- {
		item, ok := <-sub.C
		if !ok {
			return
		}
		s.take(c, item)
	}
}

// stagger spreads the ends of files over the minute.
func (s *source) stagger() time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.key.camera + "/" + s.key.source))
	return time.Duration(h.Sum32()%60_000) * time.Millisecond
}
