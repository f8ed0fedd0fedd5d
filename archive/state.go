package archive

import (
	"cmp"
	"slices"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

// Recording tells how the recording of a camera is doing.
func (r *Recorder) Recording(id string) footage.Recording {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.record.Mode == camera.RecordOff || p.record.Mode == "" {
		return footage.Recording{State: footage.RecordingOff}
	}
	on := footage.Recording{State: footage.RecordingWaiting}
	for _, name := range p.sources {
		key := sourceKey{id, name}
		one := footage.Recording{State: footage.RecordingWaiting, Reason: r.absence(p, key)}
		if one.Reason == "" {
			one = takenBy(r.sources[key].lane.Health())
		}
		if one.Reason != "" && len(p.sources) > 1 {
			one.Reason = "source " + name + ": " + one.Reason
		}
		on = better(on, one)
	}
	return on
}

// takenBy is how a source does of which something comes, by its way to the disk.
func takenBy(h disk.Health) footage.Recording {
	if h.Cause != "" && h.Cause != index.CauseDiskSlow {
		return footage.Recording{State: footage.RecordingFailed, Reason: h.Detail}
	}
	return footage.Recording{State: footage.RecordingOn, Reason: h.Detail}
}

// better is how both of two sources do: one that is recorded counts more than one that
// cannot be, and that more than one that waits. What is wrong is told in any case.
func better(a, b footage.Recording) footage.Recording {
	rank := []footage.RecordingState{footage.RecordingWaiting, footage.RecordingFailed, footage.RecordingOn}
	if slices.Index(rank, b.State) > slices.Index(rank, a.State) {
		a, b = b, a
	}
	a.Reason = cmp.Or(a.Reason, b.Reason)
	return a
}

// absence returns why nothing comes of a source that is recorded, "" where something
// does. The caller holds mu.
func (r *Recorder) absence(p *policy, key sourceKey) string {
	s := r.sources[key]
	switch {
	case !p.enabled:
		return "the camera is switched off"
	case s == nil:
		return "the camera is not pulled"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.wanted:
		return s.why
	case s.state.State == camera.StateLive:
		return ""
	default:
		return cmp.Or(s.state.Reason, "connecting to the camera")
	}
}
