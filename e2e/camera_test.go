//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// A cameraView is what the API says of a camera, as far as these tests look.
type cameraView struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status struct {
		State   string `json:"state"`
		Error   string `json:"error"`
		Sources []struct {
			State       string    `json:"state"`
			Reconnects  int       `json:"reconnects"`
			LastFrameAt time.Time `json:"last_frame_at"`
			Lost        int       `json:"lost_packets"`
			Reordered   int       `json:"reordered_packets"`
			Tracks      []struct {
				Codec       string `json:"codec"`
				Width       int    `json:"width"`
				Height      int    `json:"height"`
				Playable    bool   `json:"playable"`
				DeliveredAs string `json:"delivered_as"`
				MPEGTS      bool   `json:"mpegts"`
			} `json:"tracks"`
		} `json:"sources"`
	} `json:"status"`
}

func (c cameraView) reconnects() int {
	total := 0
	for _, source := range c.Status.Sources {
		total += source.Reconnects
	}
	return total
}

// addCamera adds a camera by the smallest body that the API takes.
func (s *server) addCamera(id, url string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"id": id, "url": url})
	if err != nil {
		s.t.Fatal(err)
	}
	if a := s.post("/api/v1/cameras", string(body)); a.status != http.StatusCreated {
		s.t.Fatalf("POST of camera %s: %d %s", id, a.status, a.body)
	}
}

func (s *server) camera(id string) cameraView {
	s.t.Helper()
	var view cameraView
	if err := json.Unmarshal(s.get("/api/v1/cameras/"+id), &view); err != nil {
		s.t.Fatal(err)
	}
	return view
}

// awaitState waits until a camera is in one of the states, and returns it.
func (s *server) awaitState(id string, states ...string) cameraView {
	s.t.Helper()
	var view cameraView
	s.await(fmt.Sprintf("camera %s is %v", id, states), func() error {
		view = s.camera(id)
		for _, state := range states {
			if view.Status.State == state {
				return nil
			}
		}
		return fmt.Errorf("it is %s (%s)", view.Status.State, view.Status.Error)
	})
	return view
}

// awaitPlaylist waits until a playlist is there.
func (s *server) awaitPlaylist(path string) {
	s.t.Helper()
	s.await(path+" is there", func() error {
		_, err := s.tryGet(path)
		return err
	})
}
