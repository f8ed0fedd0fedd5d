package home

import (
	"context"
	"maps"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
)

// State is how a second home is.
type State string

// The states of a second home.
const (
	StateStarting State = "starting" // nothing was tried yet
	StateWell     State = "well"
	StateAway     State = "away" // what is tried fails; it is tried again and again
)

// Status is how a second home is, and what was done since the process began.
type Status struct {
	State  State
	Since  time.Time
	Reason Reason // of StateAway
	Detail string // for people; it never holds a secret

	Objects   uint64 // copied and verified
	Files     uint64
	Bytes     uint64
	SentBytes uint64 // those of objects that failed too
	Found     uint64 // objects that had arrived before a crash
	Missing   uint64 // files that were not on the disk
	Failures  map[Reason]uint64
	Deleted   uint64 // objects

	Reads     uint64 // ranges read for players
	ReadBytes uint64
	Resumed   uint64 // reads that broke and went on
	ReadBusy  uint64 // reads that were too many

	Backlog index.Backlog // what is to be copied
	Stored  index.Stored
}

// counted changes the status.
func (h *Home) counted(change func(*Status)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.status)
}

// Status returns how it is.
func (h *Home) Status(ctx context.Context) (Status, error) {
	h.mu.Lock()
	s := h.status
	s.Failures = maps.Clone(s.Failures)
	h.mu.Unlock()
	var err error
	if s.Backlog, err = h.index.Backlog(ctx); err != nil {
		return s, err
	}
	s.Stored, err = h.index.Stored(ctx)
	return s, err
}

// copied tells that an object was copied.
func (h *Home) copied(out outcome) {
	h.mu.Lock()
	h.status.Objects++
	h.status.Files += uint64(out.files)
	h.status.Bytes += uint64(out.bytes)
	h.mu.Unlock()
	h.turns(StateWell, "", "the second home takes copies")
}

// fails tells that the store fails.
func (h *Home) fails(err error) {
	reason := ReasonOf(err)
	h.counted(func(status *Status) { status.Failures[reason]++ })
	h.turns(StateAway, reason, err.Error())
}

// toldAfter is how often in a row one object fails before somebody is told: once may
// be chance.
const toldAfter = 3

// failsFor tells that an object of a stream fails, for the so-manieth time in a row.
func (h *Home) failsFor(s index.Stream, times int, err error) {
	reason := ReasonOf(err)
	if reason != "" {
		h.counted(func(status *Status) { status.Failures[reason]++ })
	}
	if times != toldAfter {
		return
	}
	h.options.Log.Warn("second home: an object fails again and again, and is tried again", "camera", s.Camera, "source", s.Source, "err", err)
	h.options.Event(event.Event{Kind: event.KindArchiveHome, Camera: s.Camera, Source: s.Source, Reason: err.Error()})
}

// turns changes the state and tells of it; a failure of another reason is a change,
// too.
func (h *Home) turns(state State, reason Reason, detail string) {
	h.mu.Lock()
	was := h.status.State
	changed := was != state || h.status.Reason != reason
	if changed {
		h.status.State, h.status.Since, h.status.Reason, h.status.Detail = state, h.options.Now(), reason, detail
	}
	h.mu.Unlock()
	switch {
	case !changed:
	case state == StateAway:
		h.options.Log.Warn("second home: copies wait", "reason", reason, "err", detail)
		h.options.Event(event.Event{Kind: event.KindArchiveHome, Reason: detail})
	case was == StateAway:
		h.options.Log.Info("second home: copies go on")
		h.options.Event(event.Event{Kind: event.KindArchiveHomeWell, Reason: detail})
	}
}
