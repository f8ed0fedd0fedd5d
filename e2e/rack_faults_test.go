//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// TestTheRacksCamerasAllRecover runs every kind of camera and of fault that the
// rack has, side by side, and waits for frames that come well after the fault.
func TestTheRacksCamerasAllRecover(t *testing.T) {
	const (
		cheap = "size=320x180,fps=10,bitrate=200,gop=1,"
		fault = 5 * time.Second // after PLAY, as the settings below have it
	)
	cases := []struct {
		id, settings, transport string
		tracks                  []string
		reconnects              bool
		check                   func(view cameraView) error
	}{
		{id: "h264", settings: "codec=h264", tracks: []string{"H264"}},
		{id: "h265", settings: "codec=h265", tracks: []string{"H265"}},
		{id: "mjpeg", settings: "codec=mjpeg", tracks: []string{"MJPEG"}},
		{id: "bare", settings: "sdp=bare,start=any", tracks: []string{"H264"}},
		{id: "slices", settings: "slices=4", tracks: []string{"H264"}},
		{id: "bframes", settings: "bframes=2", tracks: []string{"H264"}},
		{id: "aac", settings: "audio=aac", tracks: []string{"H264", "AAC"}},
		{id: "pcmu", settings: "audio=pcmu", tracks: []string{"H264", "PCMU"}},
		{id: "pcma", settings: "audio=pcma", tracks: []string{"H264", "PCMA"}},
		{id: "opus", settings: "audio=opus", tracks: []string{"H264", "Opus"}},
		{id: "loss-tcp", settings: "loss=2", tracks: []string{"H264"}, check: hasLost},
		{id: "loss-udp", settings: "loss=2", transport: "udp", tracks: []string{"H264"}, check: hasLost},
		{id: "reorder", settings: "reorder=5", transport: "udp", tracks: []string{"H264"}, check: hasReordered},
		{id: "stall", settings: "stall=5,once=yes", tracks: []string{"H264"}, reconnects: true},
		{id: "close", settings: "close=5,once=yes", tracks: []string{"H264"}, reconnects: true},
		{id: "reset", settings: "reset=5,once=yes", tracks: []string{"H264"}, reconnects: true},
		{id: "bye", settings: "bye=5,once=yes", tracks: []string{"H264"}, reconnects: true},
		{id: "change", settings: "change=480x270@5", tracks: []string{"H264"}, check: hasHeight270},
		{id: "jump-back", settings: "jump=-5@5", tracks: []string{"H264"}},
		{id: "jump-ahead", settings: "jump=3600@5", tracks: []string{"H264"}},
	}
	var cameras []string
	for _, c := range cases {
		cameras = append(cameras, c.id+":"+cheap+c.settings)
	}
	r := startRack(t, cameras...)
	s := newServer(t, "ingest:\n  stall_timeout: 5s\n")
	for _, c := range cases {
		body, err := json.Marshal(map[string]any{"id": c.id, "url": r.url(c.id), "transport": c.transport, "enabled": true})
		if c.transport == "" {
			body, err = json.Marshal(map[string]any{"id": c.id, "url": r.url(c.id)})
		}
		if err != nil {
			t.Fatal(err)
		}
		if a := s.post("/api/v1/cameras", string(body)); a.status != http.StatusCreated {
			t.Fatalf("POST of camera %s: %d %s", c.id, a.status, a.body)
		}
	}
	t.Run("cameras", func(t *testing.T) {
		for _, c := range cases {
			inParallel(t, c.id, func(t *testing.T) {
				s := s.on(t)
				s.awaitState(c.id, "live")
				well := time.Now().Add(fault + 5*time.Second)
				s.await("frames come well after the fault", func() error {
					view := s.camera(c.id)
					source := view.Status.Sources[0]
					switch {
					case source.State != "live" || source.LastFrameAt.Before(well):
						return fmt.Errorf("it is %s (%s), its last frame came at %v", source.State, view.Status.Error, source.LastFrameAt)
					case c.reconnects && source.Reconnects == 0:
						return fmt.Errorf("it was not connected to again")
					case len(source.Tracks) != len(c.tracks):
						return fmt.Errorf("it has tracks %v", source.Tracks)
					}
					for i, want := range c.tracks {
						if got := source.Tracks[i].Codec; got != want {
							return fmt.Errorf("track %d is %s, want %s", i, got, want)
						}
					}
					if c.check != nil {
						return c.check(view)
					}
					return nil
				})
			})
		}
	})
}

func hasLost(view cameraView) error {
	if view.Status.Sources[0].Lost == 0 {
		return fmt.Errorf("no loss is told")
	}
	return nil
}

func hasReordered(view cameraView) error {
	if view.Status.Sources[0].Reordered == 0 {
		return fmt.Errorf("no packet is told to have been put in order")
	}
	return nil
}

func hasHeight270(view cameraView) error {
	if got := view.Status.Sources[0].Tracks[0].Height; got != 270 {
		return fmt.Errorf("the picture is %d pixels high", got)
	}
	return nil
}
