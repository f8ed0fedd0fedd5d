package rtsp

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// wrongSets makes an SDP carry the parameter sets of another clip.
func wrongSets(t testing.TB, name string) func(string) string {
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	var coded []string
	for _, set := range clip.Parameters {
		coded = append(coded, base64.StdEncoding.EncodeToString(set))
	}
	return func(sdp string) string {
		return replaceParameter(sdp, "sprop-parameter-sets", strings.Join(coded, ","))
	}
}

// replaceParameter gives a parameter of an SDP another value.
func replaceParameter(sdp, name, value string) string {
	before, rest, _ := strings.Cut(sdp, name+"=")
	end := strings.IndexAny(rest, ";\r")
	return before + name + "=" + value + rest[end:]
}

func TestAllFramesOfACameraArriveBitExact(t *testing.T) {
	t.Parallel()
	cameras := []rtsptest.CameraConfig{
		{Path: "plain", Clip: "h264"},
		{Path: "aac", Clip: "h264", AAC: true},
		{Path: "bframes", Clip: "h264-bframes"},
		{Path: "bframes-aac", Clip: "h264-bframes", AAC: true},
		{Path: "slices", Clip: "h264-slices", AAC: true},
		{Path: "small-packets", Clip: "h264-slices", PacketSize: 200},
		{Path: "large-packets", Clip: "h264", PacketSize: 60000},
		{Path: "h265", Clip: "h265"},
		{Path: "h265-aac", Clip: "h265", AAC: true},
		{Path: "h265-bframes", Clip: "h265-bframes", AAC: true},
		{Path: "h265-aggregated", Clip: "h265-bframes", Aggregate: true},
		{Path: "aggregated", Clip: "h264-bframes", Aggregate: true},
		{Path: "in-band-only", Clip: "h264", BareSDP: true},
		{Path: "h265-in-band-only", Clip: "h265", BareSDP: true},
		{Path: "sdp-only", Clip: "h264-bframes", NoInBand: true},
		{Path: "h265-sdp-only", Clip: "h265-bframes", NoInBand: true},
		{Path: "sdp-wrong", Clip: "h264", RewriteSDP: wrongSets(t, "h264-small")},
		{Path: "wrapping", Clip: "h264-bframes", AAC: true, FirstTimestamp: 1<<32 - 4*90000, FirstSequence: 1<<16 - 50},
		{Path: "within-a-gop", Clip: "h264-bframes", Start: rtsptest.StartAny},
		{Path: "later", Clip: "h265", Start: rtsptest.StartNext},
		{Path: "udp", Clip: "h264-bframes", AAC: true, Transport: rtsptest.TransportUDP},
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	references := map[string]*reference{}
	for _, name := range rtsptest.ClipNames() {
		references[name] = loadReference(t, name)
	}
	for _, c := range cameras {
		t.Run(c.Path, func(t *testing.T) {
			ref := references[c.Clip]
			// From a seam of the loop on, another GOP.
			shots := r.untilShots(t, c.Path, "the clip to begin again", func(shots []shot) bool {
				seen := pictures(shots)
				for i, s := range seen {
					if place, ok := ref.index[s.payload]; ok && place == 0 && i > 0 {
						return len(seen) > i+rtsptest.GOPPictures
					}
				}
				return false
			})
			seen := pictures(shots)
			ref.follow(t, seen)
			if !seen[0].key || seen[0].lost != 0 {
				t.Errorf("the first picture: keyframe %v, lost %d", seen[0].key, seen[0].lost)
			}
			for _, s := range seen {
				if s.params != seen[0].params {
					t.Fatal("the same parameter sets made new Params")
				}
				if s.lost != 0 {
					t.Errorf("%d lost before frame %d", s.lost, s.seq)
				}
			}
			checkDecodingTimes(t, ref, seen)
			if heard := sound(shots); c.AAC {
				ref.hear(t, heard)
			} else if len(heard) != 0 {
				t.Errorf("%d frames of sound", len(heard))
			}
			s := r.status(t, c.Path)
			transport := camera.TransportTCP
			if c.Transport == rtsptest.TransportUDP {
				transport = camera.TransportUDP
			}
			if s.State != camera.StateLive || s.Error != "" || s.Reconnects != 0 || s.LostPackets != 0 || s.Transport != transport {
				t.Errorf("status %+v", s)
			}
			checkTracks(t, c, s.Tracks)
		})
	}
}

// checkDecodingTimes checks that pictures are decoded as late as their
// reordering allows: with none, when they are shown.
func checkDecodingTimes(t *testing.T, ref *reference, seen []shot) {
	t.Helper()
	reorders := strings.Contains(ref.clip.Name, "bframes")
	var ahead int64
	for _, s := range seen {
		ahead = max(ahead, s.pts-s.dts)
	}
	switch {
	case !reorders && ahead != 0:
		t.Errorf("pictures are decoded up to %d ticks before they are shown, in a clip that reorders none", ahead)
	case reorders && (ahead < 3600 || ahead > 5*3600):
		t.Errorf("pictures are decoded up to %d ticks before they are shown", ahead)
	}
}

func checkTracks(t *testing.T, c rtsptest.CameraConfig, tracks []camera.TrackStatus) {
	t.Helper()
	want := 1
	if c.AAC {
		want = 2
	}
	if len(tracks) != want {
		t.Fatalf("%d tracks, want %d: %+v", len(tracks), want, tracks)
	}
	codec := string(media.CodecH264)
	if strings.HasPrefix(c.Clip, "h265") {
		codec = string(media.CodecH265)
	}
	if v := tracks[0]; v.Codec != codec || v.Width != 640 || v.Height != 360 || v.FPS <= 0 || !v.Playable || v.Reason != "" {
		t.Errorf("video %+v", v)
	}
	if c.AAC {
		if a := tracks[1]; a.Codec != "AAC" || a.SampleRate != 16000 || !a.Playable || a.Reason != "" {
			t.Errorf("audio %+v", a)
		}
	}
}
