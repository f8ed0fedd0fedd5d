package archive

import (
	"cmp"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/footage"
)

// Recording tells how the recording of a camera is doing.
func (r *Recorder) Recording(id string) footage.Recording {
	disk := r.writer.Health()
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.policies[id]
	if p == nil || p.record.Mode == camera.RecordOff || p.record.Mode == "" {
		return footage.Recording{State: footage.RecordingOff}
	}
	come, why := false, ""
	for _, name := range p.sources {
		reason := r.absence(p, sourceKey{id, name})
		come = come || reason == ""
		if reason != "" && why == "" {
			why = reason
			if len(p.sources) > 1 {
				why = "source " + name + ": " + reason
			}
		}
	}
	switch {
	case !come:
		return footage.Recording{State: footage.RecordingWaiting, Reason: why}
	case disk.Cause != "" && disk.Cause != index.CauseDiskSlow:
		return footage.Recording{State: footage.RecordingFailed, Reason: disk.Detail}
	default:
		return footage.Recording{State: footage.RecordingOn, Reason: cmp.Or(disk.Detail, why)}
	}
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
