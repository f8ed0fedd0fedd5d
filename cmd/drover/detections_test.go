package main

import (
	"testing"
	"time"

	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/detection"
)

func TestAnEventThatWorkersSeeForHoursIsRecorded(t *testing.T) {
	now := time.Now()
	recorder, err := archive.Open(t.Context(), archive.Options{Dir: t.TempDir(), Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer recorder.Close()
	recorder.SetSpec(camera.Spec{ID: "yard", Enabled: true, Sources: []camera.SourceSpec{{Name: "main"}}, Record: camera.RecordSpec{Mode: camera.RecordEvent}})
	e := detection.Event{Camera: "yard", Name: "a car", Start: now}
	for range 3 * 60 {
		if err := (eventArchive{recorder}).Record(e, now.Add(3*time.Second)); err != nil {
			t.Fatalf("after %v: %v", now.Sub(e.Start), err)
		}
		now = now.Add(time.Minute)
	}
	e.Camera = "hall"
	if err := (eventArchive{recorder}).Record(e, now); err != nil {
		t.Errorf("of a camera that is not recorded: %v", err)
	}
}
