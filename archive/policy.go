package archive

import (
	"slices"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// A policy is what a camera's spec says of its recordings. It is immutable.
type policy struct {
	record  camera.RecordSpec
	sources []string // that are recorded
}

func newPolicy(spec camera.Spec) *policy {
	p := &policy{record: spec.Record, sources: spec.Record.Sources}
	if len(p.sources) == 0 && len(spec.Sources) > 0 {
		p.sources = []string{spec.Sources[0].Name}
	}
	return p
}

// wants reports whether a source should be recorded at a time, if no event asks for it.
func (p *policy) wants(source string, now time.Time) bool {
	if p == nil || !slices.Contains(p.sources, source) {
		return false
	}
	return p.record.Mode == camera.RecordContinuous
}

// whyNot says why a source is not recorded, for people.
func (p *policy) whyNot(source string) string {
	switch {
	case p == nil:
		return "the camera was removed"
	case !slices.Contains(p.sources, source):
		return "this source is not recorded"
	default:
		return "recording is off"
	}
}
