// Package event keeps what happened lately, for the API's history and for those
// who listen live. Writers never wait: a listener holds no queue, but reads the
// one bounded history at its own pace and is told how much it missed.
package event

import (
	"sync"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/detection"
)

// Kind says what happened.
type Kind string

// The kinds of events.
const (
	KindCameraAdded   Kind = "camera.added"
	KindCameraUpdated Kind = "camera.updated"
	KindCameraRemoved Kind = "camera.removed"
	KindCameraState   Kind = "camera.state" // of the camera, or of one source

	KindArchiveGap      Kind = "archive.gap"       // a source is not recorded though it should be
	KindArchiveDisk     Kind = "archive.disk"      // the disk does not take recordings
	KindArchiveDiskWell Kind = "archive.disk_well" // it does again
	KindArchiveClock    Kind = "archive.clock"     // the clock jumped: nothing is deleted by age until somebody says it is right
	KindArchiveHome     Kind = "archive.home"      // the second home takes no copies
	KindArchiveHomeWell Kind = "archive.home_well" // it does again

	KindDetectionBegan Kind = "detection.began" // a rule found something in what an AI worker saw
	KindDetectionEnded Kind = "detection.ended" // and it is over
)

// Event is something that happened.
type Event struct {
	ID     uint64 // grows, over restarts too; set by Publish
	Time   time.Time
	Kind   Kind
	Camera string
	Source string       // "" for the camera as a whole
	State  camera.State // of KindCameraState
	Reason string       // for people; never holds a secret

	Detection *detection.Event // of KindDetection…; never written to
}

// Log is the history. Its methods may be called by all.
type Log struct {
	now func() time.Time

	mu      sync.Mutex
	events  []Event // a ring: the event of ID n is at n modulo its length
	first   uint64  // the ID before this process's first event
	last    uint64
	count   int
	changed chan struct{} // closed by the next Publish
}

// New returns a log of the newest capacity events.
func New(capacity int, now func() time.Time) *Log {
	// Milliseconds, so that a listener's last ID stays behind those of the next
	// process.
	first := uint64(max(now().UnixMilli(), 0))
	return &Log{
		now:     now,
		events:  make([]Event, max(capacity, 1)),
		first:   first,
		last:    first,
		changed: make(chan struct{}),
	}
}

// Publish adds an event; it sets its ID, and its Time if that is zero.
func (l *Log) Publish(e Event) {
	if e.Time.IsZero() {
		e.Time = l.now()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.ID = l.last
	l.events[l.last%uint64(len(l.events))] = e
	l.count = min(l.count+1, len(l.events))
	close(l.changed)
	l.changed = make(chan struct{})
}

// A Batch is part of the history, oldest first.
type Batch struct {
	Events  []Event
	Last    uint64          // the ID to go on after
	Missed  uint64          // events of this process after the asked ID that are no longer kept
	Changed <-chan struct{} // closed when there is more
}

// After returns up to limit events after the one of the given ID. An ID that was
// never given out, as that of another process, counts as the newest.
func (l *Log) After(id uint64, limit int) Batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	id = min(max(id, l.first), l.last)
	oldest := l.last - uint64(l.count) // the ID before the oldest that is kept
	batch := Batch{Changed: l.changed}
	if id < oldest {
		batch.Missed = oldest - id
		id = oldest
	}
	for len(batch.Events) < limit && id < l.last {
		id++
		batch.Events = append(batch.Events, l.events[id%uint64(len(l.events))])
	}
	batch.Last = id
	return batch
}

// Newest returns the newest events, at most limit, oldest first.
func (l *Log) Newest(limit int) Batch {
	l.mu.Lock()
	from := l.last - uint64(min(l.count, max(limit, 0)))
	l.mu.Unlock()
	batch := l.After(from, limit)
	batch.Missed = 0
	return batch
}
