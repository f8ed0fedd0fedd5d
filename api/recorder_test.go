package api

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/footage"
)

// A recorder remembers what it was told.
type recorder struct {
	at, until time.Time
	reason    string
	confirmed bool
	fail      error
}

func (r *recorder) Recording(camera string) footage.Recording {
	return map[string]footage.Recording{
		"door": {State: footage.RecordingOn}, "yard": {State: footage.RecordingFailed, Reason: "the disk is full"},
	}[camera]
}

func (r *recorder) Trigger(_ string, at, until time.Time, reason string) error {
	r.at, r.until, r.reason = at, until, reason
	return r.fail
}

func (r *recorder) Health() footage.Health {
	return footage.Health{Total: 1, Free: 2, Floor: 3, Rate: 4, HoursLeft: 5, Queued: 6, Trouble: "disk_full", Detail: "it is full", Since: tenOClock, ClockDoubted: true}
}

func (r *recorder) ConfirmClock(context.Context) { r.confirmed = true }

func TestTheRecorderIsToldAndTells(t *testing.T) {
	r := &recorder{}
	b := newBench(t, func(o *Options) { o.Recorder = r })
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	got := b.must(http.StatusOK, "GET", "/api/v1/archive", "").Body.String()
	want := `{"total_bytes":1,"free_bytes":2,"min_free_bytes":3,"bytes_per_second":4,"hours_left":5,"queued_bytes":6,` +
		`"trouble":"disk_full","detail":"it is full","since":"2025-12-01T10:00:00.000Z","clock_doubted":true}`
	if strings.TrimSpace(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"yard","url":"rtsp://h/y"}`)
	for camera, want := range map[string]string{
		"door": `"recording":true,"recording_state":"recording","recording_reason":""`,
		"yard": `"recording":false,"recording_state":"failed","recording_reason":"the disk is full"`,
	} {
		if got := b.must(http.StatusOK, "GET", "/api/v1/cameras/"+camera, "").Body.String(); !strings.Contains(got, want) {
			t.Errorf("want %s in %s", want, got)
		}
	}
	b.must(http.StatusNoContent, "POST", "/api/v1/cameras/door/triggers", `{"at":"2025-12-01T10:00:00Z","until":"2025-12-01T10:00:05Z","reason":"doorbell"}`)
	if !r.at.Equal(tenOClock) || r.until.Sub(r.at) != 5*time.Second || r.reason != "doorbell" {
		t.Errorf("got %+v", r)
	}
	b.must(http.StatusNoContent, "POST", "/api/v1/cameras/door/triggers", `{"reason":"doorbell"}`)
	if time.Since(r.at) > time.Minute || !r.at.Equal(r.until) {
		t.Errorf("got %+v", r)
	}
	b.must(http.StatusNoContent, "POST", "/api/v1/archive/confirm-clock", "")
	if !r.confirmed {
		t.Error("the clock is not confirmed")
	}
	b.refused(b.do("POST", "/api/v1/cameras/nobody/triggers", `{"reason":"x"}`), problemNoCamera)
	b.refused(b.do("POST", "/api/v1/cameras/door/triggers", `{"at":"soon","reason":"x"}`), problemInvalid)
	r.fail = footage.ErrNotRecorded
	b.refused(b.do("POST", "/api/v1/cameras/door/triggers", `{"reason":"x"}`), problemNotRecorded)
	r.fail = footage.ErrBadEvent
	b.refused(b.do("POST", "/api/v1/cameras/door/triggers", `{"reason":"x"}`), problemInvalid)
}

func TestWithoutARecorderThereIsNothingToTell(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	b.refused(b.do("GET", "/api/v1/archive", ""), problemNoArchive)
	b.refused(b.do("POST", "/api/v1/cameras/door/triggers", `{"reason":"x"}`), problemNoArchive)
}
