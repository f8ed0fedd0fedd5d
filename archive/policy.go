package archive

import (
	"cmp"
	"log/slog"
	"slices"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// A policy is what a camera's spec says of its recordings. It is immutable.
type policy struct {
	record  camera.RecordSpec
	sources []string // that are recorded
	hours   *camera.Hours
	enabled bool

	// rolling: events are recorded by recording always and deleting what none was in,
	// for the ring does not reach so far back.
	rolling bool
}

// newPolicy reads a spec. ringSpan is how far back a ring reaches.
func newPolicy(spec camera.Spec, ringSpan time.Duration, log *slog.Logger) *policy {
	p := &policy{record: spec.Record, sources: spec.Record.Sources, enabled: spec.Enabled}
	if len(p.sources) == 0 && len(spec.Sources) > 0 {
		p.sources = []string{spec.Sources[0].Name}
	}
	hours, err := spec.Record.Schedule.Hours()
	if err != nil {
		// It was good when it was stored: a zone has gone with an update of the system.
		log.Error("a camera's schedule cannot be read, so it is recorded always", "camera", spec.ID, "err", err)
		if p.record.Mode == camera.RecordSchedule {
			p.record.Mode = camera.RecordContinuous
		}
	}
	p.hours = hours
	p.record.PreRoll = cmp.Or(p.record.PreRoll, camera.DefaultPreRoll)
	p.record.PostRoll = cmp.Or(p.record.PostRoll, camera.DefaultPostRoll)
	p.rolling = p.record.Mode == camera.RecordEvent && p.record.PreRoll > ringSpan
	return p
}

// wants reports whether a source should be recorded at a time. until is when the
// newest event of the camera is over.
func (p *policy) wants(source string, now, until time.Time) bool {
	if p == nil || !slices.Contains(p.sources, source) {
		return false
	}
	switch p.record.Mode {
	case camera.RecordContinuous:
		return true
	case camera.RecordSchedule:
		return p.hours.Contains(now)
	case camera.RecordEvent:
		return p.rolling || now.Before(until)
	default:
		return false
	}
}

// firstGoesAfter is after what time a source is left out where others have footage; 0:
// never.
func (p *policy) firstGoesAfter(source string) time.Duration {
	if p.record.Thin.Keep != camera.ThinSub || len(p.sources) < 2 || source != p.sources[0] {
		return 0
	}
	return p.record.Thin.After
}

// reachesBack reports whether recording begins with all that the ring holds.
func (p *policy) reachesBack() bool { return p != nil && p.record.Mode == camera.RecordEvent }

// whyNot says why a source is not recorded, for people.
func (p *policy) whyNot(source string) string {
	switch {
	case p == nil:
		return "the camera was removed"
	case !slices.Contains(p.sources, source):
		return "this source is not recorded"
	case p.record.Mode == camera.RecordEvent:
		return "there was no event"
	case p.record.Mode == camera.RecordSchedule:
		return "the schedule leaves it out"
	default:
		return "recording is off"
	}
}
