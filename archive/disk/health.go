package disk

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// Health says whether a disk takes what it is given.
type Health struct {
	Cause  index.Cause // "" while all is well
	Detail string      // for people
	Since  time.Time
}

const (
	// retryAfter is how long nothing is tried on a disk that failed, or of a stream
	// whose file did: the next try would fail alike.
	retryAfter = time.Second

	// wellAfter is how long a disk that was slow has to keep up.
	wellAfter = 10 * time.Second
)

// health is a disk's, over all lanes.
type health struct {
	writer *Writer

	mu      sync.Mutex
	told    Health
	disk    Health    // what is wrong for all
	retryAt time.Time // of a failure of the disk
	slowAt  time.Time // when something was last dropped for want of room
	lanes   map[laneKey]*trouble
}

func (h *health) get() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told
}

// change changes what is known, and tells of trouble that is new, and of its end.
func (h *health) change(do func(now time.Time)) {
	now := h.writer.options.Now()
	h.mu.Lock()
	was := h.told
	do(now)
	is, ill := h.worst()
	if !ill {
		if is = was; was.Cause != "" {
			is = Health{Since: now}
		}
	}
	h.told = is
	h.mu.Unlock()
	if is.Cause == was.Cause {
		return
	}
	if ill {
		h.writer.options.Log.Error("recordings do not get to the archive's disk", "cause", string(is.Cause), "detail", is.Detail)
	} else {
		h.writer.options.Log.Info("the archive's disk takes recordings again", "after", now.Sub(was.Since), "cause", string(was.Cause))
	}
	h.writer.options.Changed(is)
}

// worst is the trouble that people are told of: the disk's, or else that of the lane
// which has had it longest. The caller holds mu.
func (h *health) worst() (Health, bool) {
	if h.disk.Cause != "" {
		return h.disk, true
	}
	var worst Health
	for key, t := range h.lanes {
		if worst.Cause == "" || t.Since.Before(worst.Since) {
			worst = t.Health
			worst.Detail = fmt.Sprintf("camera %s, source %s: %s", key.camera, key.source, t.Detail)
		}
	}
	return worst, worst.Cause != ""
}

// concernsAll reports whether an error would meet every lane. What a file does, or a
// directory, is for its own lane to wait for: the others go on.
func concernsAll(err error) bool {
	var ofIndex *indexError
	if errors.As(err, &ofIndex) {
		return !errors.Is(err, index.ErrUnknownFile)
	}
	return CauseOf(err) != index.CauseDiskError || errors.Is(err, syscall.EROFS)
}

// failed notes a failure that a lane had.
func (h *health) failed(l *Lane, err error) {
	h.change(func(now time.Time) {
		ill := Health{Cause: CauseOf(err), Detail: err.Error(), Since: now}
		if !concernsAll(err) {
			h.laneFailed(l.key(), ill)
			return
		}
		h.retryAt = now.Add(retryAfter)
		if h.disk.Cause != ill.Cause {
			h.disk = ill
		}
	})
}

// noteSlow notes that the queue was full.
func (w *Writer) noteSlow() {
	h := &w.health
	h.change(func(now time.Time) {
		h.slowAt = now
		if h.disk.Cause == "" {
			h.disk = Health{Cause: index.CauseDiskSlow, Detail: "the disk cannot keep up: recordings have gaps", Since: now}
		}
	})
}

// resting reports whether the disk failed a moment ago, and how.
func (h *health) resting() (Health, bool) {
	now := h.writer.options.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.disk, h.disk.Cause != "" && now.Before(h.retryAt)
}

// worked notes that something of a lane was written.
func (h *health) worked(l *Lane) {
	h.change(func(now time.Time) {
		if h.disk.Cause != index.CauseDiskSlow || now.Sub(h.slowAt) >= wellAfter {
			h.disk = Health{}
		}
		delete(h.lanes, l.key())
		h.forgetQuiet(now)
	})
}

// An indexError is one of the index, which all lanes share.
type indexError struct {
	step string
	err  error
}

func (e *indexError) Error() string { return e.step + ": " + e.err.Error() }

// Unwrap returns what the index said.
func (e *indexError) Unwrap() error { return e.err }
