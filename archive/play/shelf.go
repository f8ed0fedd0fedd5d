package play

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Bounds of a shelf.
const (
	maxSlots      = 1024
	maxShelfBytes = 192 << 20
)

// A slotKey names a playlist.
type slotKey struct {
	stream   int64
	kind     nameKind
	from, to int64 // Unix microseconds; 0: not given
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// A shelf holds playlists that were asked for lately, so that one rendering does for
// all who ask. The zero value is ready; all may call it.
type shelf struct {
	mu    sync.Mutex
	slots map[slotKey]*list.Element // of *slot
	order list.List                 // the last used first
	bytes int64
}

// A slot is the place of one playlist.
type slot struct {
	key  slotKey
	held int64 // bytes, as the shelf counts them; guarded by its lock

	turn chan struct{} // of capacity one: who has put something in renders, others wait
	tape *tape         // of a playlist that grows; what follows is that of whose turn it is

	document *document // of one that does not
	version  uint64    // of the stream, before it was read
	made     time.Time
	settled  bool
}

// slot returns the place of a playlist, and makes one where there is none.
func (s *shelf) slot(key slotKey) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.slots[key]; ok {
		s.order.MoveToFront(e)
		return e.Value.(*slot)
	}
	if s.slots == nil {
		s.slots = map[slotKey]*list.Element{}
	}
	made := &slot{key: key, turn: make(chan struct{}, 1)}
	s.slots[key] = s.order.PushFront(made)
	s.trim()
	return made
}

// weigh tells how much a slot holds. 0: nothing, and it is given up.
func (s *shelf) weigh(of *slot, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.slots[of.key]
	if !ok || e.Value != of {
		return // it has left the shelf already
	}
	s.bytes += bytes - of.held
	if of.held = bytes; bytes == 0 {
		s.remove(e)
		return
	}
	s.trim()
}

// trim makes room, but never of the last used.
func (s *shelf) trim() {
	for len(s.slots) > 1 && (len(s.slots) > maxSlots || s.bytes > maxShelfBytes) {
		s.remove(s.order.Back())
	}
}

func (s *shelf) remove(e *list.Element) {
	of := e.Value.(*slot)
	s.order.Remove(e)
	delete(s.slots, of.key)
	s.bytes -= of.held
	of.held = 0
}

// enter waits for the turn to look at a slot.
func (s *slot) enter(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	default: // only who has to wait is watched for leaving
	}
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slot) leave() { <-s.turn }
