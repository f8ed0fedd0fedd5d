package rtsp

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// describes adds peers that send a clip behind descriptions of all sorts.
func (w *wire) describes(kase string, sdps map[string]string) []string {
	var ids []string
	for variant, sdp := range sdps {
		id := kase + "-" + variant
		ids = append(ids, id)
		w.peer(id, &peer{sdp: sdp, play: func(s *playing) { w.feeder("h264").stream(s) }})
	}
	slices.Sort(ids)
	return ids
}

// hevcBrowser: H.265 goes where it can be played, so it must be known for what it
// is, with all that CODECS and hvcC are made of.
func hevcBrowser(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "hevc", Clip: "h265-bframes", AAC: true, BareSDP: true})
	return func(t *testing.T) {
		shots := w.plays(t, "hevc", "h265-bframes", 30)
		if p := pictures(shots)[0].params; p.Codec != media.CodecH265 || len(p.VPS) == 0 || len(p.SPS) == 0 || len(p.PPS) == 0 {
			t.Errorf("parameters %+v", p)
		}
		if v := w.rig.status(t, "hevc").Tracks[0]; v.Codec != "H265" || v.Width != 640 || v.Height != 360 || !v.Playable {
			t.Errorf("track %+v", v)
		}
	}
}

// g711Silent: G.711 is heard as FLAC; audio that nothing can be made of costs no
// video and one line of log, and is shown with its name and the reason.
func g711Silent(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "g711-silent", PCMA: true})
	p := w.peer("g711-silent-g726", &peer{
		sdp:  h264SDP("m=audio 0 RTP/AVP 98", "a=rtpmap:98 G726-32/8000", "a=control:trackID=1"),
		play: func(s *playing) { w.feeder("h264").stream(s) },
	})
	return func(t *testing.T) {
		t.Run("PCMA", func(t *testing.T) {
			w.plays(t, "g711-silent", "h264", 20)
			shots := w.rig.untilShots(t, "g711-silent", "sound", func(shots []shot) bool { return len(sound(shots)) > 5 })
			if p := sound(shots)[0].params; p.Codec != media.CodecFLAC || p.SampleRate != 8000 || p.Channels != 1 {
				t.Errorf("sound %+v", p)
			}
			if a := w.rig.status(t, "g711-silent").Tracks[1]; a.Codec != "PCMA" || !a.Playable || a.DeliveredAs != "FLAC" || a.MPEGTS {
				t.Errorf("track %+v", a)
			}
			if text := w.rig.log.of("g711-silent", "level=WARN"); text != "" {
				t.Errorf("warnings:\n%s", text)
			}
		})
		t.Run("G.726", func(t *testing.T) {
			const id = "g711-silent-g726"
			w.plays(t, id, "h264", 20)
			if a := w.rig.status(t, id).Tracks[1]; a.Codec != "G726-32" || a.Playable || a.Reason == "" || a.SampleRate != 8000 {
				t.Errorf("track %+v", a)
			}
			if n := w.rig.log.count(id, "level=WARN"); n != 1 {
				t.Errorf("%d warnings:\n%s", n, w.rig.log.of(id, "WARN"))
			}
			if n := p.asks("SETUP"); n != 1 {
				t.Errorf("%d SETUPs, want that of the video alone", n)
			}
		})
	}
}

// spsMissing: parameter sets in the stream are enough, and win.
func spsMissing(w *wire) func(t *testing.T) {
	coded := func(nal []byte) string { return base64.StdEncoding.EncodeToString(nal) }
	sps, pps := w.clip("h264").Parameters[0], w.clip("h264").Parameters[1]
	small := w.clip("h264-small").Parameters
	fmtp := func(sets string) string {
		return h264SDP("a=fmtp:96 packetization-mode=1;sprop-parameter-sets=" + sets)
	}
	ids := w.describes("sps-missing", map[string]string{
		"no-fmtp":        h264SDP(),
		"empty":          fmtp(""),
		"comma":          fmtp(coded(sps) + ","),
		"sei-for-sps":    fmtp(coded([]byte{6, 5, 1, 0x80}) + "," + coded(pps)),
		"bad-base64":     fmtp("!!%%,*"),
		"half-an-sps":    fmtp(coded(sps[:4]) + "," + coded(pps)),
		"of-other-sizes": fmtp(coded(small[0]) + "," + coded(small[1])),
	})
	// In the description only: those are enough, too.
	w.peer("sps-missing-in-band", &peer{sdp: fmtp(coded(sps) + "," + coded(pps)), play: func(s *playing) {
		for f := w.feeder("h264"); s.send(f.picture()...) && s.pause(); {
		}
	}})
	w.peer("sps-missing-for-ever", &peer{sdp: h264SDP(), play: func(s *playing) {
		for f := w.feeder("h264"); s.send(f.picture()...) && s.pause(); {
		}
	}})
	return func(t *testing.T) {
		w.playsAll(t, "h264", append(ids, "sps-missing-in-band")...)
		t.Run("sps-missing-for-ever", func(t *testing.T) {
			s := w.rig.untilError(t, "sps-missing-for-ever", "no parameter sets")
			if s.State != camera.StateConnecting || s.Reconnects != 0 {
				t.Errorf("status %+v", s)
			}
			if w.rig.discarded("sps-missing-for-ever", "no_parameter_sets") == 0 {
				t.Error("nothing was counted")
			}
		})
	}
}

// aacConfig: audio whose configuration is wrong is mended or left out; video is
// not touched by it.
func aacConfig(w *wire) func(t *testing.T) {
	audio := func(number, fmtpNumber int, parameters string) string {
		return h264SDP(fmt.Sprintf("m=audio 0 RTP/AVP %d", number), fmt.Sprintf("a=rtpmap:%d MPEG4-GENERIC/16000/1", number),
			fmt.Sprintf("a=fmtp:%d streamtype=5;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3%s", fmtpNumber, parameters),
			"a=control:trackID=1")
	}
	add := func(variant, sdp string) {
		w.peer("aac-config-"+variant, &peer{sdp: sdp, play: func(s *playing) {
			if f := w.feeder("h264"); len(s.channels) == 2 {
				f.streamBoth(s)
			} else {
				f.stream(s)
			}
		}})
	}
	add("other-number", audio(104, 97, ";config=1408"))
	left := map[string]string{"missing": "", "cut": ";config=140", "no-hexadecimal": ";config=zz08", "no-rate": ";config=1780"}
	for variant, parameters := range left {
		add(variant, audio(97, 97, parameters))
	}
	return func(t *testing.T) {
		t.Run("aac-config-other-number", func(t *testing.T) {
			w.plays(t, "aac-config-other-number", "h264", 20)
			shots := w.rig.untilShots(t, "aac-config-other-number", "sound", func(shots []shot) bool { return len(sound(shots)) > 5 })
			w.references["h264"].hear(t, sound(shots))
		})
		for variant := range left {
			id := "aac-config-" + variant
			t.Run(id, func(t *testing.T) {
				if heard := sound(w.plays(t, id, "h264", 20)); len(heard) != 0 {
					t.Errorf("%d frames of sound", len(heard))
				}
				if a := w.rig.status(t, id).Tracks[1]; a.Codec != "AAC" || a.Playable || !strings.Contains(a.Reason, "AAC") {
					t.Errorf("track %+v", a)
				}
				if n := w.rig.log.count(id, "level=WARN"); n != 1 {
					t.Errorf("%d warnings", n)
				}
			})
		}
	}
}

// sdpMalformed: what is not needed is not read.
func sdpMalformed(w *wire) func(t *testing.T) {
	sdp := func(lines ...string) string {
		return "v=0\r\n" + sdpLines(lines...) + "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:t\r\n"
	}
	good := sdp("o=- 1 1 IN IP4 1.2.3.4", "s=x", "t=0 0")
	ids := w.describes("sdp-malformed", map[string]string{
		"c-without-address": sdp("c=IN "),
		"c-empty":           sdp("c="),
		"o-without-address": sdp("o=- 1 1 IN IP4"),
		"o-decimals":        sdp("o=- 1.5 1.5 IN IP4 1.2.3.4"),
		"o-negative":        sdp("o=- -1 -1 IN IP4 1.2.3.4"),
		"only-v":            sdp(),
		"r":                 sdp("s=x", "t=0 0", "r=0 0"),
		"b":                 sdp("b=AS:-1", "b=", "b=CT"),
		"a-empty":           sdp("a=", "a=:", "a=range:npt=", "a=framerate:"),
		"nul-at-the-end":    good + "\x00",
		"nuls":              strings.ReplaceAll(good, "\r\n", "\r\n\x00"),
		"lf-only":           strings.ReplaceAll(good, "\r\n", "\n"),
		"cr-cr-lf":          strings.ReplaceAll(good, "\r\n", "\r\r\n"),
		"no-end":            strings.TrimSpace(good),
		"spaces":            strings.ReplaceAll(good, "\r\n", "  \r\n"),
		"no-v":              strings.TrimPrefix(good, "v=0\r\n"),
		"not-utf-8":         sdp("s=\xff\xfe\x80", "i=\xc3"),
		"bom":               "\ufeff" + good,
		"order":             "m=video 0 RTP/AVP 96\r\na=control:t\r\na=rtpmap:96 H264/90000\r\nt=0 0\r\ns=x\r\nv=0\r\n",
		"garbage-lines":     sdp("?", "===", "nothing at all", "z", "k=prompt", "u=:", strings.Repeat("x", 2000)),
		"another-media-bad": sdp("s=x") + "m=audio\r\na=rtpmap:x\r\na=fmtp\r\na=control\r\nm=\r\nm=video 0\r\n",
	})
	return func(t *testing.T) { w.playsAll(t, "h264", ids...) }
}

// controlURL: the rules that live555 made the custom.
func controlURL(w *wire) func(t *testing.T) {
	type row struct {
		id, base string // of Content-Base, with HOST in it
		controls []string
		setups   []string // paths
	}
	rows := []row{
		{"base-with-query", "rtsp://HOST/1?mode=Live/", []string{"track1"}, []string{"/1?mode=Live/track1"}},
		{"absolute-path", "rtsp://HOST/live/", []string{"/other/track1"}, []string{"/other/track1"}},
		{"query", "rtsp://HOST/live", []string{"?ctype=video"}, []string{"/live?ctype=video"}},
		{"other-host", "rtsp://10.1.1.1:554/live/", []string{"rtsp://10.1.1.1:554/x/track1"}, []string{"/x/track1"}},
		{"none", "", []string{""}, []string{"/live"}},
		{"relative", "", []string{"track1"}, []string{"/live/track1"}},
		{"two-medias-one-control", "", []string{"t", "t"}, []string{"/live/t", "/live/t"}},
	}
	peers := map[string]*peer{}
	for _, row := range rows {
		sdp := "v=0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
		for i, control := range row.controls {
			if i > 0 {
				sdp += sdpLines(aacLines()[:3]...)
			}
			if control != "" {
				sdp += "a=control:" + control + "\r\n"
			}
		}
		p := &peer{sdp: sdp, play: func(s *playing) { w.feeder("h264").stream(s) }}
		if row.base != "" {
			p.answer = func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
				if request.Method != "DESCRIBE" {
					return false, nil
				}
				return true, conn.Reply(request, sdp, "Content-Base: "+strings.Replace(row.base, "HOST", conn.Net.LocalAddr().String(), 1))
			}
		}
		peers[row.id] = w.peer("control-url-"+row.id, p)
	}
	return func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.id, func(t *testing.T) {
				id := "control-url-" + row.id
				w.plays(t, id, "h264", 3)
				view, _ := w.rig.registry.Get(id)
				host := strings.TrimSuffix(view.Spec.Sources[0].URL, "/live")
				var setups []string
				for _, request := range peers[row.id].requests() {
					if request.Method == "SETUP" {
						setups = append(setups, request.URL)
					}
				}
				for i, want := range row.setups {
					if i >= len(setups) || setups[i] != host+want {
						t.Fatalf("SETUP of %q, want %s%s", setups, host, want)
					}
				}
			})
		}
	}
}

// backchannel: the loudspeaker of the camera is never asked for.
func backchannel(w *wire) func(t *testing.T) {
	speaker := []string{"m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/16000/1", aacLines()[2], "a=sendonly", "a=control:speaker"}
	stream := func(s *playing) {
		if f := w.feeder("h264"); len(s.channels) == 2 {
			f.streamBoth(s)
		} else {
			f.stream(s)
		}
	}
	peers := map[string]*peer{
		"speaker":      {sdp: h264SDP(speaker...), play: stream},
		"speaker-too":  {sdp: h264SDP(append(slices.Clone(speaker), aacLines()...)...), play: stream},
		"all-sendonly": {sdp: h264SDP(append([]string{"a=sendonly"}, speaker...)...), play: stream},
	}
	for variant, p := range peers {
		w.peer("backchannel-"+variant, p)
	}
	return func(t *testing.T) {
		for variant, controls := range map[string][]string{
			"speaker": {"/trackID=0"}, "speaker-too": {"/trackID=0", "/trackID=1"}, "all-sendonly": {"/trackID=0", "/speaker"},
		} {
			t.Run(variant, func(t *testing.T) {
				id := "backchannel-" + variant
				w.plays(t, id, "h264", 10)
				if len(controls) == 2 {
					w.rig.untilShots(t, id, "sound", func(shots []shot) bool { return len(sound(shots)) > 3 })
				}
				n := 0
				for _, request := range peers[variant].requests() {
					if require := request.Header("Require"); require != "" {
						t.Errorf("%s requires %s", request.Method, require)
					}
					if request.Method != "SETUP" {
						continue
					}
					if n >= len(controls) || !strings.HasSuffix(request.URL, controls[n]) {
						t.Errorf("SETUP of %s, want those of %v", request.URL, controls)
					}
					n++
				}
				if n != len(controls) {
					t.Errorf("%d SETUPs, want those of %v", n, controls)
				}
			})
		}
	}
}

// oddMedia: what is neither video nor audio is stepped over.
func oddMedia(w *wire) func(t *testing.T) {
	odd := map[string][]string{
		"metadata":    {"m=metadata 0 RTP/AVP 100", "a=rtpmap:100 vnd.onvif.metadata/90000", "a=control:odd"},
		"meta":        {"m=meta 0 RTP/AVP 100", "a=control:odd"},
		"vzinfo":      {"m=vzinfo 0 RTP/AVP 100", "a=control:odd"},
		"application": {"m=application 0 RTP/AVP 107", "a=rtpmap:107 vnd.onvif.metadata/90000", "a=control:odd"},
		"vendor":      {"m=application/TP-LINK 0 RTP/AVP smart/1/90000", "a=control:odd"},
		"other":       {"m=text 0 UDP/TLS/RTP/SAVPF 100", "a=control:odd", "m=image 0 udptl t38", "a=control:odd2"},
	}
	peers := map[string]*peer{}
	for variant, lines := range odd {
		peers[variant] = w.peer("odd-media-"+variant, &peer{sdp: h264SDP(lines...), play: func(s *playing) { w.feeder("h264").stream(s) }})
	}
	w.peer("odd-media-ts", &peer{sdp: "v=0\r\ns=x\r\nt=0 0\r\nm=video 0 RTP/AVP 33\r\na=control:t\r\n"})
	return func(t *testing.T) {
		for variant, p := range peers {
			t.Run(variant, func(t *testing.T) {
				w.plays(t, "odd-media-"+variant, "h264", 3)
				if n := p.asks("SETUP"); n != 1 {
					t.Errorf("%d SETUPs, want that of the video alone", n)
				}
			})
		}
		t.Run("MPEG-TS", func(t *testing.T) {
			s := w.rig.untilError(t, "odd-media-ts", "MP2T video cannot be played")
			if s.State == camera.StateLive {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// pktMode0: what is declared about packets is not held against them.
func pktMode0(w *wire) func(t *testing.T) {
	ids := w.describes("pkt-mode0", map[string]string{
		"declared": h264SDP("a=fmtp:96 packetization-mode=0;profile-level-id=640016"),
		"2":        h264SDP("a=fmtp:96 packetization-mode=2"),
		"no-digit": h264SDP("a=fmtp:96 packetization-mode=x"),
	})
	w.camera(rtsptest.CameraConfig{Path: "pkt-mode0-aggregated", Aggregate: true, Transport: rtsptest.TransportUDP, RewriteSDP: func(sdp string) string {
		return replaceParameter(sdp, "packetization-mode", "0")
	}}, over(camera.TransportUDP))
	return func(t *testing.T) { w.playsAll(t, "h264", append(ids, "pkt-mode0-aggregated")...) }
}
