package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/drover-video/drover/core/detection"
)

const (
	// settle is how much longer than the quiet time an event is kept open for reports
	// that are on their way.
	settle = 2 * time.Second

	// maxSeries bounds the labels that are followed of one rule, and maxTracks the
	// tracks of one label: both are given by workers.
	maxSeries = 64
	maxTracks = 256
	// maxStretches bounds the stretches of one track.
	maxStretches = 256
)

// A Kind is what became of an event.
type Kind uint8

// The kinds of changes.
const (
	Began Kind = iota
	Grew
	Ended
	Absorbed // by another that began before it: there is no such event any more
)

// A Change is something that became of an event.
type Change struct {
	Kind  Kind
	Event detection.Event
	Into  int64 // of Absorbed: the other
}

// Engine holds the events that may still change. It belongs to one goroutine.
type Engine struct {
	next    int64 // ID of the next event
	rules   map[string][]*rule
	dropped uint64
}

// A rule with what it has found of late.
type rule struct {
	detection.Rule
	series map[string]*series // by label
}

// A series is what was found of one label.
type series struct {
	tracks map[uint64][]stretch // in no order
	events []*event
}

type event struct {
	stretch
	id     int64
	source string
	open   bool
}

// New returns an engine without rules, whose first event has an ID.
func New(firstID int64) *Engine {
	return &Engine{next: firstID, rules: map[string][]*rule{}}
}

// Dropped returns how many detections matched and were not followed, for there were
// too many labels, tracks or stretches.
func (e *Engine) Dropped() uint64 { return e.dropped }

// SetRules has a camera's rules be those, which are normalized. A rule that is not
// among them any more, or is another, ends its events.
func (e *Engine) SetRules(camera string, rules []detection.Rule) []Change {
	var changes []Change
	var kept []*rule
	for _, r := range rules {
		if i := slices.IndexFunc(e.rules[camera], func(old *rule) bool { return old.ID == r.ID && old.Created.Equal(r.Created) }); i >= 0 {
			kept = append(kept, e.rules[camera][i])
			continue
		}
		kept = append(kept, &rule{Rule: r, series: map[string]*series{}})
	}
	for _, old := range e.rules[camera] {
		if !slices.Contains(kept, old) {
			changes = old.end(changes)
		}
	}
	e.rules[camera] = kept
	if len(kept) == 0 {
		delete(e.rules, camera)
	}
	return changes
}

// Add takes a report of a known time and camera.
func (e *Engine) Add(r *detection.Report) []Change {
	var changes []Change
	for _, rule := range e.rules[r.Camera] {
		for i := range r.Detections {
			d := &r.Detections[i]
			if rule.Matches(r.Time, d) {
				changes = e.hit(changes, rule, r, d)
			}
		}
	}
	return changes
}

func (e *Engine) hit(changes []Change, rule *rule, r *detection.Report, d *detection.Detection) []Change {
	s := rule.series[d.Label]
	if s == nil {
		if len(rule.series) >= maxSeries {
			e.dropped++
			return changes
		}
		s = &series{tracks: map[uint64][]stretch{}}
		rule.series[d.Label] = s
	}
	stretches, known := s.tracks[d.Track]
	if !known && len(s.tracks) >= maxTracks || len(stretches) >= maxStretches {
		e.dropped++
		return changes
	}
	one := stretch{from: r.Time, to: r.Time, best: best{r.Time, d.Score, d.Box, d.Track}}
	stretches, whole := join(stretches, one, rule.Gap)
	s.tracks[d.Track] = stretches
	if whole.to.Sub(whole.from) < rule.MinDuration {
		return changes
	}
	return e.event(changes, rule, s, d.Label, r.Source, whole)
}

// event makes a stretch part of the event that it is near to, or of a new one.
func (e *Engine) event(changes []Change, rule *rule, s *series, label, source string, whole stretch) []Change {
	var near []*event
	for _, other := range s.events {
		if other.near(&whole, rule.Quiet) {
			near = append(near, other)
		}
	}
	if len(near) == 0 {
		it := &event{stretch: whole, id: e.next, source: source, open: true}
		e.next++
		s.events = append(s.events, it)
		return append(changes, Change{Kind: Began, Event: rule.event(it, label)})
	}
	// The one that was told of first stays.
	it := slices.MinFunc(near, func(a, b *event) int { return cmp.Compare(a.id, b.id) })
	before := it.stretch
	it.take(&whole)
	for _, other := range near {
		if other != it {
			it.take(&other.stretch)
			it.open = it.open || other.open
			changes = append(changes, Change{Kind: Absorbed, Event: rule.event(other, label), Into: it.id})
		}
	}
	s.events = slices.DeleteFunc(s.events, func(other *event) bool { return other != it && slices.Contains(near, other) })
	if it.stretch != before || len(near) > 1 {
		changes = append(changes, Change{Kind: Grew, Event: rule.event(it, label)})
	}
	return changes
}

// Tick ends what has been quiet for long enough at a time, and forgets what no report
// can change any more.
func (e *Engine) Tick(now time.Time) []Change {
	var changes []Change
	for _, rules := range e.rules {
		for _, rule := range rules {
			for label, s := range rule.series {
				changes = rule.tick(changes, s, label, now)
				if len(s.tracks) == 0 && len(s.events) == 0 {
					delete(rule.series, label)
				}
			}
		}
	}
	return changes
}

func (r *rule) tick(changes []Change, s *series, label string, now time.Time) []Change {
	horizon := now.Add(-detection.MaxAge)
	for track, stretches := range s.tracks {
		stretches = slices.DeleteFunc(stretches, func(one stretch) bool { return one.to.Add(r.Gap).Before(horizon) })
		if s.tracks[track] = stretches; len(stretches) == 0 {
			delete(s.tracks, track)
		}
	}
	for _, it := range s.events {
		if it.open && now.After(it.to.Add(r.Quiet+settle)) && !r.mayGrow(s, it, now) {
			it.open = false
			changes = append(changes, Change{Kind: Ended, Event: r.event(it, label)})
		}
	}
	oldest := horizon
	for _, stretches := range s.tracks {
		for _, one := range stretches {
			if one.from.Before(oldest) {
				oldest = one.from
			}
		}
	}
	s.events = slices.DeleteFunc(s.events, func(it *event) bool { return !it.open && it.to.Add(r.Quiet).Before(oldest) })
	return changes
}

// mayGrow reports whether a stretch that is too short yet is about to be part of it.
func (r *rule) mayGrow(s *series, it *event, now time.Time) bool {
	for _, stretches := range s.tracks {
		for _, one := range stretches {
			if one.to.After(it.to) && one.near(&it.stretch, r.Quiet) && !now.After(one.to.Add(r.Gap+settle)) {
				return true
			}
		}
	}
	return false
}

// end ends all of a rule's events.
func (r *rule) end(changes []Change) []Change {
	for label, s := range r.series {
		for _, it := range s.events {
			if it.open {
				it.open = false
				changes = append(changes, Change{Kind: Ended, Event: r.event(it, label)})
			}
		}
	}
	return changes
}

// End ends all events there are, as they are: Drover stops.
func (e *Engine) End() []Change {
	var changes []Change
	for _, rules := range e.rules {
		for _, r := range rules {
			changes = r.end(changes)
		}
	}
	return changes
}

func (r *rule) event(it *event, label string) detection.Event {
	return detection.Event{
		ID: it.id, Camera: r.Camera, Source: it.source, Rule: r.ID, Name: r.Name, Label: label,
		Start: it.from, End: it.to, Open: it.open,
		Score: it.best.score, Box: it.best.box, Track: it.best.track, Best: it.best.at,
		Record: r.Record,
	}
}
