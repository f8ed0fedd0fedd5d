package disk

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// forgetBytes is the least that is worth telling the kernel to forget.
const forgetBytes = 1 << 20

// A syncState is what the goroutine that syncs knows of a file.
type syncState struct {
	lane *Lane
	row  index.Key
	path string
	file File // nil: there is none, only a row

	mu       sync.Mutex
	listed   bool // among those that are synced next
	complete bool // nothing more is written
	broken   bool // it could not be synced: what was written may be lost, whatever the next sync says
	end      int64
	grew     []growth // of the last while, oldest first

	// Owned by the goroutine that syncs.
	stays     bool // it came to nothing and could not be unlinked yet
	over      bool // finished or given up: nothing more is done for it but to let go of it
	named     bool // its name is on disk
	forgotten int64
}

// growth is how long a file was at a time.
type growth struct {
	at  time.Time
	end int64
}

func (s *syncState) written() (end int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end
}

func (s *syncState) isBroken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// A syncer syncs what was written, all files that have grown in one go: the file
// system then records their lengths together. It finishes files in the index, in one
// transaction. It is a goroutine of its own, for a disk that syncs can still take
// what is written meanwhile.
type syncer struct {
	writer *Writer
	letGo  atomic.Bool // all that is kept open is closed with the next pass

	mu   sync.Mutex
	list []*syncState

	// Owned by the goroutine.
	cooling []*syncState // finished, and still worth to be kept in memory
	failed  []*syncState // could not be finished in the index; tried again
}

// add changes what is known of a file and puts it on the list of those to be synced,
// at once: a pass in between would finish a file that is then listed again.
func (y *syncer) add(s *syncState, change func()) {
	s.mu.Lock()
	change()
	listed := s.listed
	s.listed = true
	s.mu.Unlock()
	if listed {
		return
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.list = append(y.list, s)
}

// grown tells that a file was written up to end.
func (y *syncer) grown(s *syncState, end int64, now time.Time) {
	y.add(s, func() {
		s.end = end
		s.grew = append(s.grew, growth{now, end})
	})
}

// complete tells that nothing more is written to a file.
func (y *syncer) complete(s *syncState) {
	y.add(s, func() { s.complete = true })
}

// run syncs until there is nothing left to do after the writing has ended.
func (y *syncer) run(ctx context.Context, written <-chan struct{}) {
	ticker := time.NewTicker(y.writer.options.SyncInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			y.pass(ctx)
		case <-written:
			y.pass(ctx)
			y.cool(time.Time{})
			return
		}
	}
}

// pass syncs all that is listed.
func (y *syncer) pass(ctx context.Context) {
	y.mu.Lock()
	list := append(y.failed, y.list...)
	y.list, y.failed = nil, nil
	y.mu.Unlock()
	now := y.writer.options.Now()
	var keys []index.Key
	var done []*syncState
	for _, s := range list {
		s.mu.Lock()
		s.listed = false
		complete, broken, empty := s.complete, s.broken, len(s.grew) == 0
		s.mu.Unlock()
		if s.over {
			continue
		}
		if broken {
			if complete {
				y.abandon(s)
			}
			continue
		}
		if complete && empty {
			if !y.unlink(s) {
				y.again(s)
				continue
			}
		} else if err := y.sync(s); err != nil {
			y.breaks(s, err)
			continue
		}
		y.forget(s, now)
		if complete {
			keys, done = append(keys, s.row), append(done, s)
		}
	}
	if len(keys) > 0 {
		y.finish(ctx, keys, done, now)
	}
	if y.letGo.Swap(false) {
		now = time.Time{}
	}
	y.cool(now)
}

// breaks gives a file up that could not be synced. The kernel has then let go of what
// it could not write, and would not say so again: the row stays one of a file that is
// being written, and the next start looks at what the disk really has.
func (y *syncer) breaks(s *syncState, err error) {
	s.mu.Lock()
	s.broken = true
	complete := s.complete
	s.mu.Unlock()
	y.writer.fail(s.lane, err)
	y.writer.options.Log.Error("a recorded file could not be synced and is looked at when Drover starts next", "path", s.path, "err", err)
	if complete {
		y.abandon(s)
	}
}

// abandon closes a file that could not be synced, for good. It is complete, so that nobody is
// about to write to a descriptor that may be another file's by then.
func (y *syncer) abandon(s *syncState) {
	s.over = true
	y.close(s)
	y.writer.options.Index.GiveUp(s.row)
}

// again keeps a file that could not be finished for the next pass.
func (y *syncer) again(s *syncState) {
	s.mu.Lock()
	s.listed = true
	s.mu.Unlock()
	y.failed = append(y.failed, s)
}

func (y *syncer) sync(s *syncState) error {
	if s.file == nil {
		return nil
	}
	began := time.Now()
	if err := s.file.Sync(); err != nil {
		return err
	}
	if !s.named {
		if err := y.writer.options.FS.SyncDir(s.path); err != nil {
			return err
		}
		s.named = true
	}
	y.writer.counts.add(&y.writer.counts.syncs, time.Since(began))
	return nil
}

// finish makes finished rows of files that are complete and on disk.
func (y *syncer) finish(ctx context.Context, keys []index.Key, done []*syncState, now time.Time) {
	if err := y.writer.options.Index.Finish(ctx, keys...); err != nil {
		y.writer.fail(nil, &indexError{"finish files in the index", err})
		for _, s := range done {
			y.again(s)
		}
		return
	}
	for _, s := range done {
		s.over = true
		if s.file != nil {
			y.cooling = append(y.cooling, s)
		}
	}
}

// unlink unlinks a file that came to nothing, if there is one, and reports whether
// there is none any more. Its row goes after that.
func (y *syncer) unlink(s *syncState) bool {
	if s.file == nil && !s.stays {
		return true
	}
	if s.file != nil {
		y.close(s)
		s.file = nil
	}
	_, err := Unlink(y.writer.options.FS, s.path)
	if err != nil && !s.stays {
		y.writer.options.Log.Warn("an empty file stays until it can be unlinked", "path", s.path, "err", err)
	}
	s.stays = err != nil
	return !s.stays
}

// forget tells the kernel to let go of what was written a while ago.
func (y *syncer) forget(s *syncState, now time.Time) {
	if s.file == nil {
		return
	}
	s.mu.Lock()
	old := int64(0)
	for len(s.grew) > 1 && now.Sub(s.grew[0].at) > y.writer.options.Keep {
		old = s.grew[0].end
		s.grew = s.grew[1:]
	}
	s.mu.Unlock()
	if old-s.forgotten >= forgetBytes {
		s.file.Forget(s.forgotten, old-s.forgotten)
		s.forgotten = old
	}
}

// cool closes finished files when nobody is expected to read them from memory any
// more; all of them at a zero time.
func (y *syncer) cool(now time.Time) {
	kept := y.cooling[:0]
	for _, s := range y.cooling {
		if !now.IsZero() && now.Sub(s.grew[len(s.grew)-1].at) < y.writer.options.Keep {
			y.forget(s, now)
			kept = append(kept, s)
			continue
		}
		s.file.Forget(0, s.end)
		y.close(s)
	}
	clear(y.cooling[len(kept):])
	y.cooling = kept
}

func (y *syncer) close(s *syncState) {
	y.writer.counts.open.Add(-1)
	if err := s.file.Close(); err != nil {
		y.writer.options.Log.Warn("closing a recorded file", "path", s.path, "err", err)
	}
}
