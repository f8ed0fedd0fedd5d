//go:build e2e

package e2e

import (
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestABrowserPlaysPictureAndSound(t *testing.T) {
	for _, clip := range []string{"h264", "h264-bframes"} {
		t.Run(clip, func(t *testing.T) {
			rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Clip: clip, AAC: true})
			s := newServer(t, "")
			s.addCamera("door", rack.Camera("door").URL())
			b := openBrowser(t, s.url("/watch/door"), ourClock())
			now := b.awaitPlaying("the camera plays")
			if now.Width != 640 || now.Height != 360 {
				t.Errorf("the picture is %dx%d, want 640x360", now.Width, now.Height)
			}
			b.await("sound is decoded", func(now sight) bool { return now.AudioBytes > 0 })
		})
	}
}

func TestABrowserIsToldWhatItCannotPlay(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Clip: "h265"})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	b := openBrowser(t, s.url("/watch/door"), ourClock())
	// Chromium, as Debian builds it, has no decoder for H.265.
	b.await("the page says why there is no picture", func(now sight) bool {
		return mentions(now.Text, "h.265") && mentions(now.Text, "browser")
	})
}

func TestPlaybackGoesOnAfterTheCameraRestarts(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	b := openBrowser(t, s.url("/watch/door"), ourClock())
	b.awaitPlaying("the camera plays")

	rack.Down()
	if view := s.awaitState("door", "backoff", "connecting"); view.Status.Error == "" {
		t.Error("the camera is gone, and its status says no reason")
	}
	// Its last window stays served.
	s.get("/hls/door/index.m3u8")
	if err := rack.Up(); err != nil {
		t.Fatal(err)
	}
	s.awaitState("door", "live")
	b.awaitPlaying("it plays on after the camera's restart")
}

func TestPlaybackGoesOnAfterTheServerRestarts(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	b := openBrowser(t, s.url("/watch/door"), ourClock())
	b.awaitPlaying("the camera plays")
	f := follow(t, s, waitForIndex(s, "door"))
	before := f.collect(1)

	s.stop()
	s.start()
	// The camera is still known, and its segments go on counting.
	s.awaitState("door", "live")
	s.awaitPlaylist(f.path)
	after := f.collect(1)
	if after[0].number <= before[0].number {
		t.Errorf("segment %d follows segment %d of before the restart", after[0].number, before[0].number)
	}
	b.awaitPlaying("it plays on after the server's restart")
}

func TestNothingIsLostWhenTheServerIsKilled(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	f := follow(t, s, waitForIndex(s, "door"))
	before := f.collect(2)
	s.kill()
	s.start()
	s.awaitState("door", "live")
	s.awaitPlaylist(f.path)
	after := f.collect(1)
	if after[0].number <= before[1].number || after[0].uri == before[1].uri {
		t.Errorf("segment %d (%s) follows %d (%s)", after[0].number, after[0].uri, before[1].number, before[1].uri)
	}
}

func TestPlaybackGoesOnAfterTheResolutionChanges(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	camera := rack.Camera("door")
	s := newServer(t, "")
	s.addCamera("door", camera.URL())
	b := openBrowser(t, s.url("/watch/door"), ourClock())
	b.awaitPlaying("the camera plays")

	for _, change := range []struct {
		clip   string
		height int
	}{{"h264-small", 270}, {"h264", 360}} {
		if err := camera.Do(rtsptest.Change(change.clip)); err != nil {
			t.Fatal(err)
		}
		b.await("the new size is shown", func(now sight) bool { return now.Height == change.height })
		b.awaitPlaying("it plays on in the new size")
	}
	if got := s.camera("door").reconnects(); got != 0 {
		t.Errorf("the camera was connected to again %d times for a change of size", got)
	}
}

func waitForIndex(s *server, id string) string {
	path := "/hls/" + id + "/index.m3u8"
	s.awaitPlaylist(path)
	return path
}
