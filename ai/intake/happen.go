package intake

import (
	"cmp"
	"slices"
	"time"

	"github.com/drover-video/drover/ai/rules"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"
)

// A tracked event is one that may change still, or has not been written as it is.
type tracked struct {
	detection.Event
	dirty    bool             // not written as it is
	told     bool             // of its end
	began    time.Time        // its start, as it was first told
	final    *detection.Event // as it was when it was first told that it has ended; nil: it goes on
	recorded time.Time        // the end that the archive was last told of
	until    time.Time        // when it is forgotten; of those that ended
}

const (
	// keepEnded is how long an ended event is remembered, for playlists.
	keepEnded = 3 * time.Minute

	// maxTracked bounds the events that are remembered.
	maxTracked = 4096
)

// apply takes what became of events. The caller holds mu.
func (d *Desk) apply(changes []rules.Change) {
	for _, c := range changes {
		switch c.Kind {
		case rules.Began:
			d.events[c.Event.ID] = &tracked{Event: c.Event, dirty: true, began: c.Event.Start}
			d.publish(event.KindDetectionBegan, c.Event)
			d.rouse()
		case rules.Absorbed:
			if t := d.events[c.Event.ID]; t != nil {
				d.gone = append(d.gone, t.ID)
				delete(d.events, c.Event.ID)
				// Who heard that it began waits for its end, and hears of no other. What
				// it has become a part of goes on, and was told of before.
				if !t.told {
					t.Open = false
					d.publish(event.KindDetectionEnded, t.Event)
				}
			}
		case rules.Grew, rules.Ended:
			t := d.events[c.Event.ID]
			if t == nil {
				continue
			}
			t.Event, t.dirty = c.Event, true
			if c.Kind == rules.Ended {
				t.until = d.options.Now().Add(keepEnded)
			}
			if c.Kind == rules.Ended && !t.told {
				t.told = true
				t.final = &c.Event
				d.publish(event.KindDetectionEnded, c.Event)
			}
		}
	}
}

func (d *Desk) publish(kind event.Kind, e detection.Event) {
	d.options.Publish(event.Event{Time: d.options.Now(), Kind: kind, Camera: e.Camera, Source: e.Source, Reason: e.Name + ": " + e.Label, Detection: &e})
}

// rouse has Run look at once.
func (d *Desk) rouse() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Happened returns what is remembered of a camera's events that touch a time, in the
// order in which they were found. What it says of when one began and ended stays,
// whatever comes late: players hold a playlist to what it said before.
func (d *Desk) Happened(camera string, from, to time.Time) []detection.Event {
	d.mu.Lock()
	defer d.mu.Unlock()
	var found []detection.Event
	for _, t := range d.events {
		if t.Camera == camera && t.Start.Before(to) && (t.Open || !t.End.Before(from)) {
			e := t.Event
			if t.final != nil {
				e = *t.final
			}
			e.Start = t.began
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b detection.Event) int { return cmp.Compare(a.ID, b.ID) })
	return found
}
