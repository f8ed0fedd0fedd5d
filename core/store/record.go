package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// A record is what has no column of its own of a camera's RecordSpec. Times are in
// nanoseconds.
type record struct {
	Sources   []string        `json:"sources,omitempty"`
	PreRoll   time.Duration   `json:"pre_roll,omitempty"`
	PostRoll  time.Duration   `json:"post_roll,omitempty"`
	Zone      string          `json:"zone,omitempty"`
	Spans     []string        `json:"spans,omitempty"`
	ThinAfter time.Duration   `json:"thin_after,omitempty"`
	ThinKeep  camera.ThinKeep `json:"thin_keep,omitempty"`
}

func recordText(r *camera.RecordSpec) (string, error) {
	text, err := json.Marshal(record{
		Sources: r.Sources, PreRoll: r.PreRoll, PostRoll: r.PostRoll, Zone: r.Schedule.Zone, Spans: r.Schedule.Spans,
		ThinAfter: r.Thin.After, ThinKeep: r.Thin.Keep,
	})
	if err != nil {
		return "", fmt.Errorf("write down what is recorded: %w", err)
	}
	return string(text), nil
}

func readRecord(r *camera.RecordSpec, text string) error {
	var kept record
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return err
	}
	r.Sources, r.PreRoll, r.PostRoll = kept.Sources, kept.PreRoll, kept.PostRoll
	r.Schedule = camera.Schedule{Zone: kept.Zone, Spans: kept.Spans}
	r.Thin = camera.ThinSpec{After: kept.ThinAfter, Keep: kept.ThinKeep}
	return nil
}
