package disk

import (
	"sync"
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
	// retryAfter is how long nothing is tried on a disk that failed: each try of a
	// hundred cameras would fail alike.
	retryAfter = time.Second

	// wellAfter is how long a disk that was slow has to keep up.
	wellAfter = 10 * time.Second
)

// health is a disk's, over all lanes.
type health struct {
	writer *Writer

	mu      sync.Mutex
	now     Health
	retryAt time.Time // of a failure
	slowAt  time.Time // when something was last dropped for want of room
}

func (h *health) get() Health {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// failed notes a failure, and tells of one that is new.
func (h *health) failed(cause index.Cause, detail string) {
	now := h.writer.options.Now()
	h.mu.Lock()
	h.retryAt = now.Add(retryAfter)
	was := h.now
	if was.Cause != cause {
		h.now = Health{Cause: cause, Detail: detail, Since: now}
	}
	state := h.now
	h.mu.Unlock()
	if was.Cause != cause {
		h.writer.options.Log.Error("the archive's disk does not take recordings", "cause", string(cause), "detail", detail)
		h.writer.options.Changed(state)
	}
}

// noteSlow notes that the queue was full.
func (w *Writer) noteSlow() {
	h := &w.health
	now := w.options.Now()
	h.mu.Lock()
	h.slowAt = now
	was := h.now
	if was.Cause == "" {
		h.now = Health{Cause: index.CauseDiskSlow, Detail: "the disk cannot keep up: recordings have gaps", Since: now}
	}
	state := h.now
	h.mu.Unlock()
	if was.Cause == "" {
		w.options.Log.Error("the archive's disk cannot keep up", "queued_bytes", w.options.Buffer)
		w.options.Changed(state)
	}
}

// resting reports whether the disk failed a moment ago, and how.
func (h *health) resting() (Health, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now, h.now.Cause != "" && h.writer.options.Now().Before(h.retryAt)
}

// worked notes that something was written.
func (h *health) worked() {
	now := h.writer.options.Now()
	h.mu.Lock()
	was := h.now
	if was.Cause == "" || was.Cause == index.CauseDiskSlow && now.Sub(h.slowAt) < wellAfter {
		h.mu.Unlock()
		return
	}
	h.now = Health{Since: now}
	state := h.now
	h.mu.Unlock()
	h.writer.options.Log.Info("the archive's disk takes recordings again", "after", now.Sub(was.Since), "cause", string(was.Cause))
	h.writer.options.Changed(state)
}
