//go:build e2e

package e2e

import (
	"slices"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// watchSeconds is how long each check looks at a live stream: beyond the window,
// so that what comes live is seen too.
const watchSeconds = 20

// watchSegments is as much in segments of 2 s, half of which were there before.
const watchSegments = 10

// A mediaCase is a camera, and what ffprobe calls that which comes out.
type mediaCase struct {
	id     string
	codecs []string // of fMP4; the same as TS where ts is set, but for FLAC and Opus
	ts     bool
	pace   pace
}

func TestMediaOfEveryKindIsRight(t *testing.T) {
	cases := []struct {
		mediaCase
		camera rtsptest.CameraConfig
	}{
		{mediaCase{"h264", []string{"h264"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264"}},
		{mediaCase{"h264-aac", []string{"h264", "aac"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264", AAC: true}},
		{mediaCase{"h264-bframes", []string{"h264"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264-bframes"}},
		{mediaCase{"h264-bframes-aac", []string{"h264", "aac"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264-bframes", AAC: true}},
		{mediaCase{"h264-slices", []string{"h264"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264-slices", Aggregate: true}},
		{mediaCase{"h264-bare", []string{"h264", "flac"}, true, steadyPace}, rtsptest.CameraConfig{Clip: "h264", BareSDP: true, PCMA: true}},
		{mediaCase{"h265", []string{"hevc"}, false, steadyPace}, rtsptest.CameraConfig{Clip: "h265"}},
		{mediaCase{"h265-aac", []string{"hevc", "aac"}, false, steadyPace}, rtsptest.CameraConfig{Clip: "h265", AAC: true}},
		{mediaCase{"h265-bframes-aac", []string{"hevc", "aac"}, false, steadyPace}, rtsptest.CameraConfig{Clip: "h265-bframes", AAC: true}},
	}
	var cameras []rtsptest.CameraConfig
	for _, one := range cases {
		one.camera.Path = one.id
		cameras = append(cameras, one.camera)
	}
	rack := rtsptest.Start(t, cameras...)
	s := newServer(t, "")
	for _, one := range cases {
		s.addCamera(one.id, rack.Camera(one.id).URL())
	}
	// In a group, so that the server lives until the last of them is through.
	t.Run("cameras", func(t *testing.T) {
		for _, one := range cases {
			inParallel(t, one.id, func(t *testing.T) { checkMedia(t, s, one.mediaCase) })
		}
	})
	for _, one := range cases {
		if got := s.camera(one.id).reconnects(); got != 0 {
			t.Errorf("camera %s was connected to again %d times", one.id, got)
		}
	}
}

// checkMedia holds all that is served of a camera against what it sends. The
// checks run side by side, for each takes as long as what it looks at.
func checkMedia(t *testing.T, s *server, c mediaCase) {
	s = s.on(t)
	s.awaitState(c.id, "live")
	index, ts := "/hls/"+c.id+"/index.m3u8", "/hls/"+c.id+"/ts/index.m3u8"
	s.awaitPlaylist(index)
	inParallel(t, "fmp4", func(t *testing.T) {
		f := follow(t, s.on(t), index)
		checkFragments(t, f, f.collect(watchSegments))
	})
	checkPlays(t, s, index, c)
	if !c.ts {
		if _, err := s.tryGet(ts); err == nil {
			t.Errorf("%s is served, though H.265 is not carried in MPEG-TS here", ts)
		}
		return
	}
	inParallel(t, "ts", func(t *testing.T) {
		checkTransportStream(t, follow(t, s.on(t), ts).collect(watchSegments), c.pace)
	})
	c.codecs = slices.DeleteFunc(slices.Clone(c.codecs), func(codec string) bool {
		return codec == "flac" || codec == "opus"
	})
	checkPlays(t, s, ts, c)
}

func checkPlays(t *testing.T, s *server, path string, c mediaCase) {
	inParallel(t, path+" decodes", func(t *testing.T) {
		checkCodecs(t, s.url(path), c.codecs...)
		checkDecodes(t, s.url(path), watchSeconds, c.pace)
	})
	inParallel(t, path+" is continuous", func(t *testing.T) {
		checkTimestamps(t, s.url(path), watchSeconds)
	})
}

func inParallel(t *testing.T, name string, check func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		check(t)
	})
}
