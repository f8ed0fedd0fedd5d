package rtsp

import (
	"strings"
	"testing"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsp/session"
)

func offered(kind string, formats ...session.Format) session.Media {
	for i := range formats {
		formats[i].PayloadType = uint8(96 + i)
		if formats[i].FMTP == nil {
			formats[i].FMTP = map[string]string{}
		}
	}
	return session.Media{Kind: kind, Protocol: "RTP/AVP", Formats: formats}
}

func TestWhatIsDoneWithEachTrack(t *testing.T) {
	video := func(encoding string) session.Media {
		return offered("video", session.Format{Encoding: encoding, ClockRate: 90000})
	}
	audio := func(encoding string, rate, channels int) session.Media {
		return offered("audio", session.Format{Encoding: encoding, ClockRate: rate, Channels: channels})
	}
	latm := offered("audio", session.Format{Encoding: "MP4A-LATM", ClockRate: 16000,
		FMTP: map[string]string{"cpresent": "0", "config": "40002810"}})
	aac := offered("audio", session.Format{Encoding: "MPEG4-GENERIC", ClockRate: 16000,
		FMTP: map[string]string{"mode": "AAC-hbr", "config": "1408"}})
	type want struct {
		codec       string
		taken       bool
		playable    bool
		deliveredAs string
		mpegts      bool
		rate        int    // of samples
		clock       int    // of a track that is taken
		reason      string // part of it
	}
	h264 := want{"H264", true, true, "", true, 0, 90000, ""}
	cases := []struct {
		name    string
		medias  []session.Media
		options Options
		want    []want
	}{
		{"A-law becomes FLAC", []session.Media{video("H264"), audio("PCMA", 8000, 1)}, Options{},
			[]want{h264, {"PCMA", true, true, "FLAC", false, 8000, 8000, ""}}},
		{"µ-law becomes FLAC", []session.Media{video("H264"), audio("PCMU", 8000, 1)}, Options{},
			[]want{h264, {"PCMU", true, true, "FLAC", false, 8000, 8000, ""}}},
		{"G.722 has 16 kHz behind a clock of 8", []session.Media{video("H264"), audio("G722", 8000, 1)}, Options{},
			[]want{h264, {"G722", true, true, "FLAC", false, 16000, 8000, ""}}},
		{"L16 keeps its rate", []session.Media{video("H264"), audio("L16", 44100, 2)}, Options{},
			[]want{h264, {"L16", true, true, "FLAC", false, 44100, 44100, ""}}},
		{"the key leaves it out", []session.Media{video("H264"), audio("PCMA", 8000, 1)}, Options{WithoutFLAC: true},
			[]want{h264, {"PCMA", false, false, "", false, 8000, 0, "set the camera's audio to AAC"}}},
		{"Opus as it is", []session.Media{video("H264"), audio("OPUS", 48000, 2)}, Options{WithoutFLAC: true},
			[]want{h264, {"Opus", true, true, "", false, 48000, 48000, ""}}},
		{"Opus has its own clock", []session.Media{video("H264"), audio("OPUS", 16000, 1)}, Options{},
			[]want{h264, {"Opus", true, true, "", false, 48000, 48000, ""}}},
		{"AAC in LATM", []session.Media{video("H264"), latm}, Options{},
			[]want{h264, {"AAC", true, true, "", true, 16000, 16000, ""}}},
		{"AAC in LATM without a word", []session.Media{video("H264"), audio("MP4A-LATM", 16000, 1)}, Options{},
			[]want{h264, {"AAC", true, true, "", true, 16000, 16000, ""}}},
		{"G.726 is left out", []session.Media{video("H264"), audio("G726-32", 8000, 1)}, Options{},
			[]want{h264, {"G726-32", false, false, "", false, 8000, 0, "no place in HLS"}}},
		{"six channels are left out", []session.Media{video("H264"), audio("L16", 48000, 6)}, Options{},
			[]want{h264, {"L16", false, false, "", false, 48000, 0, "6 channels"}}},
		{"AAC before G.711", []session.Media{video("H264"), audio("PCMA", 8000, 1), aac}, Options{},
			[]want{h264, {"PCMA", false, false, "", false, 8000, 0, "another audio track"}, {"AAC", true, true, "", true, 16000, 16000, ""}}},
		{"the first of two alike", []session.Media{video("H264"), video("H264")}, Options{},
			[]want{h264, {"H264", false, false, "", false, 0, 0, "another video track"}}},
		{"MJPEG is kept and not played", []session.Media{video("JPEG"), audio("PCMA", 8000, 1)}, Options{},
			[]want{{"MJPEG", true, false, "", false, 0, 90000, "snapshots"}, {"PCMA", true, true, "FLAC", false, 8000, 8000, ""}}},
		{"H.264 before MJPEG", []session.Media{video("JPEG"), video("H264")}, Options{},
			[]want{{"MJPEG", false, false, "", false, 0, 0, "another video track"}, h264}},
		{"H.264 before MJPEG in one media", []session.Media{offered("video", session.Format{Encoding: "JPEG", ClockRate: 90000}, session.Format{Encoding: "H264", ClockRate: 90000})}, Options{},
			[]want{h264}},
		{"H.265 is not in MPEG-TS", []session.Media{video("H265")}, Options{},
			[]want{{"H265", true, true, "", false, 0, 90000, ""}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for i := range c.medias {
				c.medias[i].Index = i
			}
			p := choose(c.medias, c.options)
			if len(p) != len(c.want) {
				t.Fatalf("%d tracks, want %d", len(p), len(c.want))
			}
			for i, got := range p {
				o := got.offer
				w := want{o.Codec, got.install != nil, o.Playable, o.DeliveredAs, o.MPEGTS, o.SampleRate, 0, c.want[i].reason}
				if got.install != nil {
					w.clock = got.track.ClockRate
					if got.track.ID != i {
						t.Errorf("track %d has id %d", i, got.track.ID)
					}
				}
				if w != c.want[i] || !strings.Contains(o.Reason, c.want[i].reason) || o.Playable && o.Reason != "" {
					t.Errorf("track %d: %+v, want %+v; reason %q", i, w, c.want[i], o.Reason)
				}
			}
		})
	}
}

func TestSoundBesideMJPEGCountsAsAloneForPlayers(t *testing.T) {
	p := choose([]session.Media{offered("video", session.Format{Encoding: "JPEG"}), offered("audio", session.Format{Encoding: "PCMA", ClockRate: 8000})}, Options{})
	if !p.has(media.KindVideo) || p.plays(media.KindVideo) || !p.plays(media.KindAudio) {
		t.Errorf("%+v", p.offers())
	}
}
