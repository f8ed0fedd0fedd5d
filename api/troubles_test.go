package api

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/drover-video/drover/core/camera"
)

func TestALiveCameraOfWhichNothingCanBeShownSaysWhy(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Troubles = func(id string) map[string]string {
			return map[string]map[string]string{"door": {"main": "no keyframe comes"}}[id]
		}
	})
	for id, want := range map[string]string{"door": "no keyframe comes", "yard": ""} {
		b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"`+id+`","url":"rtsp://192.168.1.20/stream1"}`)
		var c struct {
			Status struct {
				State, Error string
				Sources      []struct{ Error string }
			}
		}
		if err := json.Unmarshal(b.must(http.StatusOK, "GET", "/api/v1/cameras/"+id, "").Body.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Status.Error != want || c.Status.Sources[0].Error != want || c.Status.State != string(camera.StateLive) {
			t.Errorf("camera %s: %+v", id, c.Status)
		}
	}
}

func TestACameraIsNotInTroubleWhileOneOfItsSourcesIsShown(t *testing.T) {
	live := string(camera.StateLive)
	status := Status{State: live, Sources: []SourceStatus{{Name: "main", State: live}, {Name: "sub", State: live}}}
	status.addTroubles(map[string]string{"main": "no keyframe comes"})
	if status.Error != "" || status.Sources[0].Error == "" || status.Sources[1].Error != "" {
		t.Errorf("%+v", status)
	}
}
