package camera

import (
	"fmt"
	"slices"
	"time"
)

// RecordMode says when a camera is recorded.
type RecordMode string

// The modes of recording.
const (
	RecordOff        RecordMode = "off"
	RecordContinuous RecordMode = "continuous"
	RecordEvent      RecordMode = "event"    // when something happens
	RecordSchedule   RecordMode = "schedule" // at hours of the week
)

// RecordSpec says when a camera is recorded and how long that is kept.
type RecordSpec struct {
	Mode     RecordMode
	MaxAge   time.Duration // 0: no limit by age
	MaxBytes int64         // 0: no limit by size
	Sources  []string      // that are recorded, by name; none: the first

	PreRoll, PostRoll time.Duration // of events: how much is kept before and after
	Schedule          Schedule      // of RecordSchedule
	Thin              ThinSpec
}

// ThinSpec says what is left of recordings after a while, where that is less than all.
type ThinSpec struct {
	After time.Duration // 0: all is kept
	Keep  ThinKeep
}

// ThinKeep says what thinning leaves.
type ThinKeep string

// What thinning leaves.
const (
	ThinKeyframes ThinKeep = "keyframes" // of all sources
	ThinSub       ThinKeep = "sub"       // all but the first of the recorded sources
)

// Defaults and bounds of what a user may say of recordings.
const (
	DefaultPreRoll  = 10 * time.Second
	DefaultPostRoll = 30 * time.Second
	MaxRoll         = 10 * time.Minute
	MinThinAfter    = time.Hour
)

func (r *RecordSpec) normalize(sources []SourceSpec) error {
	switch r.Mode {
	case "":
		r.Mode = RecordOff
	case RecordOff, RecordContinuous, RecordEvent, RecordSchedule:
	default:
		return fieldError("record.mode", "must be off, continuous, event or schedule")
	}
	if r.MaxAge < 0 {
		return fieldError("record.max_age", "must not be negative")
	}
	if r.MaxBytes < 0 {
		return fieldError("record.max_bytes", "must not be negative")
	}
	if r.PreRoll < 0 || r.PreRoll > MaxRoll {
		return fieldError("record.pre_roll", "must be from 0 to %v", MaxRoll)
	}
	if r.PostRoll < 0 || r.PostRoll > MaxRoll {
		return fieldError("record.post_roll", "must be from 0 to %v", MaxRoll)
	}
	if err := r.normalizeSources(sources); err != nil {
		return err
	}
	if _, err := r.Schedule.Hours(); err != nil {
		return err
	}
	if r.Mode == RecordSchedule && len(r.Schedule.Spans) == 0 {
		return fieldError("record.schedule.spans", "is missing: say when to record, for example mon-fri 08:00-18:00")
	}
	return r.Thin.normalize(r)
}

func (r *RecordSpec) normalizeSources(sources []SourceSpec) error {
	for i, name := range r.Sources {
		known := slices.ContainsFunc(sources, func(s SourceSpec) bool { return s.Name == name })
		if !known {
			return fieldError(fmt.Sprintf("record.sources[%d]", i), "the camera has no source of this name")
		}
		if slices.Contains(r.Sources[:i], name) {
			return fieldError(fmt.Sprintf("record.sources[%d]", i), "%q is there twice", name)
		}
	}
	return nil
}

func (t *ThinSpec) normalize(r *RecordSpec) error {
	switch t.Keep {
	case "":
		if t.After != 0 {
			t.Keep = ThinKeyframes
		}
	case ThinKeyframes:
	case ThinSub:
		if t.After != 0 && len(r.Sources) < 2 {
			return fieldError("record.thin.keep", "sub needs two sources in record.sources, of which the first goes after a while")
		}
	default:
		return fieldError("record.thin.keep", "must be keyframes or sub")
	}
	if t.After != 0 && t.After < MinThinAfter {
		return fieldError("record.thin.after", "must be at least %v, or 0 to keep all", MinThinAfter)
	}
	return nil
}
