package rtsp

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// tsJump: a timestamp that makes no sense is not believed; one that goes on making
// the same sense is, in a new epoch. No connection is lost over it.
func tsJump(w *wire) func(t *testing.T) {
	at := func(do rtsptest.Action) []rtsptest.Fault {
		return []rtsptest.Fault{{After: 400 * time.Millisecond, Do: do}}
	}
	rows := []struct {
		config rtsptest.CameraConfig
		epochs int
	}{
		{rtsptest.CameraConfig{Path: "ts-jump-once-back", Faults: at(rtsptest.Outlier(-3 * time.Second))}, 1},
		{rtsptest.CameraConfig{Path: "ts-jump-once-ahead", Faults: at(rtsptest.Outlier(37600 * time.Second))}, 1},
		{rtsptest.CameraConfig{Path: "ts-jump-wrap", FirstTimestamp: 1<<32 - 90000}, 1},
		{rtsptest.CameraConfig{Path: "ts-jump-constant", Faults: at(rtsptest.Freeze(5))}, 1},
		{rtsptest.CameraConfig{Path: "ts-jump-stays", Faults: at(rtsptest.Jump(-270000 * time.Second / 90000))}, 2},
	}
	for _, row := range rows {
		row.config.Clip, row.config.AAC = "h264-bframes", true
		w.camera(row.config)
	}
	return func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.config.Path, func(t *testing.T) {
				shots := w.rig.untilShots(t, row.config.Path, "a keyframe after the jump", func(shots []shot) bool {
					return len(pictures(shots)) > rtsptest.GOPPictures+10
				})
				places := w.places(t, "h264-bframes", shots)
				for i := 1; i < len(places); i++ {
					if places[i] != (places[i-1]+1)%rtsptest.ClipPictures {
						t.Errorf("picture %d comes after %d", places[i], places[i-1])
					}
				}
				if n := epochs(shots); n != row.epochs {
					t.Errorf("%d epochs, want %d", n, row.epochs)
				}
				if s := w.rig.status(t, row.config.Path); s.State != camera.StateLive || s.Reconnects != 0 {
					t.Errorf("status %+v", s)
				}
			})
		}
	}
}

// tsNonsense: where timestamps say nothing, arrival is the clock, and that is said.
func tsNonsense(w *wire) func(t *testing.T) {
	const path = "ts-nonsense"
	w.camera(rtsptest.CameraConfig{Path: path, AAC: true, Faults: []rtsptest.Fault{{Do: rtsptest.Freeze(1 << 20)}}})
	return func(t *testing.T) {
		s := w.rig.untilStatus(t, path, "a note about the clock", func(s camera.SourceStatus) bool {
			return len(s.Tracks) > 0 && s.Tracks[0].Note != ""
		})
		if !strings.Contains(s.Tracks[0].Note, "stand still") || s.State != camera.StateLive || s.Reconnects != 0 {
			t.Errorf("status %+v", s)
		}
		shots := pictures(w.rig.untilShots(t, path, "two seconds by arrival", inEpoch(2, 50)))
		shots = slices.DeleteFunc(shots, func(s shot) bool { return s.epoch == shots[0].epoch })
		for i := 1; i < len(shots); i++ {
			if step := shots[i].dts - shots[i-1].dts; step < 3600/2 || step > 3600*2 {
				t.Errorf("picture %d lasts %d ticks, want about 3600", i, step)
			}
		}
	}
}

// dtsExtract: decoding times come out of any reordering, and an error in it costs
// a GOP at most.
func dtsExtract(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "dts-extract-loss", Clip: "h264-bframes", PacketSize: 400,
		Faults: []rtsptest.Fault{{Do: rtsptest.DropPacket(151)}}})
	longTerm := h265SPSWithLongTermReferences()
	w.peer("dts-extract-long-term", &peer{sdp: videoSDP("H265"), play: func(s *playing) {
		clip := *w.clip("h265")
		clip.Parameters = [][]byte{clip.Parameters[0], longTerm, clip.Parameters[2]}
		newFeeder(&clip).stream(s)
	}})
	// Each GOP is a keyframe, and thirteen pictures that come last first, so that
	// twelve overtake one. The SPS promises that none does.
	const gop = 14
	w.peer("dts-extract-deep", &peer{sdp: h264SDP(), play: func(s *playing) {
		clip := *w.clip("h264")
		clip.Pictures = slices.Clone(clip.Pictures)
		for i := range clip.Pictures {
			place := i % rtsptest.GOPPictures
			if place > 0 && place < gop {
				place = gop - place
			}
			clip.Pictures[i].PTS = int64(place) * 3600
		}
		for f, n := newFeeder(&clip), 0; ; n++ {
			f.base, f.next = uint32(n*gop*3600), n%4*rtsptest.GOPPictures
			if !s.sendAll(f.run(gop)) {
				return
			}
		}
	}})
	return func(t *testing.T) {
		t.Run("dts-extract-loss", func(t *testing.T) {
			shots := w.rig.untilShots(t, "dts-extract-loss", "pictures after the loss", func(shots []shot) bool { return afterLoss(shots) > 5 })
			w.references["h264-bframes"].follow(t, pictures(shots))
		})
		t.Run("dts-extract-long-term", func(t *testing.T) {
			shots := w.rig.untilShots(t, "dts-extract-long-term", "pictures", inEpoch(1, 10))
			w.places(t, "h265", shots)
			for _, s := range shots {
				if !bytes.Equal(s.params.SPS, longTerm) || s.params.Width != 1920 || s.params.Height != 1080 || s.dts != s.pts {
					t.Fatalf("decoded at %d, shown at %d, %dx%d", s.dts, s.pts, s.params.Width, s.params.Height)
				}
			}
		})
		t.Run("dts-extract-deep", func(t *testing.T) {
			shots := pictures(w.rig.untilShots(t, "dts-extract-deep", "some GOPs", inEpoch(1, 5*gop)))
			places := w.places(t, "h264", shots)
			losses, learnt := 0, len(shots)
			for i, s := range shots {
				if s.lost > 0 {
					losses++
					learnt = i + gop // the GOP after the gap makes up for it
				}
				if i == 0 || s.key || s.lost > 0 {
					continue
				}
				if places[i] != places[i-1]+1 {
					t.Errorf("picture %d comes after %d", places[i], places[i-1])
				}
				// Then all times are as the camera gave them.
				if step := s.pts - shots[i-1].pts; i >= learnt && places[i]%rtsptest.GOPPictures > 1 && !near(step, -3600) {
					t.Errorf("picture %d is shown %d ticks after the one before", places[i], step)
				}
			}
			if losses != 1 {
				t.Errorf("%d gaps, want one of a GOP", losses)
			}
			if s := w.rig.status(t, "dts-extract-deep"); s.Reconnects != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// h265SPSWithLongTermReferences is an SPS without short-term reference picture
// sets and with long-term references (H.265 7.3.2.2), of 1920x1080 pictures that
// are not reordered.
func h265SPSWithLongTermReferences() []byte {
	var b bitWriter
	b.bits(0x4201, 16)         // NAL unit header: SPS
	b.bits(0, 4)               // sps_video_parameter_set_id
	b.bits(0, 3)               // sps_max_sub_layers_minus1
	b.bits(1, 1)               // sps_temporal_id_nesting_flag
	b.bits(1, 8)               // profile space and tier, Main
	b.bits(0x60000000, 32)     // compatibility
	b.bits(0b1001, 4)          // progressive, frames only
	b.bits(0, 32)              // reserved,
	b.bits(0, 12)              // to the end of its 44 bits
	b.bits(120, 8)             // level 4
	b.golomb(0, 1, 1920, 1088) // id, 4:2:0, size
	b.bits(1, 1)               // conformance_window_flag
	b.golomb(0, 0, 0, 4)       // 8 rows are cut off
	b.golomb(0, 0, 4)          // bit depths, log2_max_pic_order_cnt_lsb_minus4
	b.bits(1, 1)               // sps_sub_layer_ordering_info_present_flag
	b.golomb(1, 0, 0)          // buffering, reordering, latency
	b.golomb(0, 3, 0, 3, 0, 0) // sizes of blocks
	b.bits(0, 4)               // no scaling lists, AMP, SAO, PCM
	b.golomb(0)                // num_short_term_ref_pic_sets
	b.bits(1, 1)               // long_term_ref_pics_present_flag
	b.golomb(0)                // num_long_term_ref_pics_sps
	b.bits(0, 4)               // no motion vectors of others, smoothing, VUI, extension
	b.bits(1, 1)               // end
	return b.escaped()
}

// bitWriter writes a NAL unit bit by bit.
type bitWriter struct {
	bytes []byte
	free  int // bits of the last byte
}

func (w *bitWriter) bits(value uint64, n int) {
	for n--; n >= 0; n-- {
		if w.free == 0 {
			w.bytes = append(w.bytes, 0)
			w.free = 8
		}
		w.free--
		w.bytes[len(w.bytes)-1] |= byte(value>>n&1) << w.free
	}
}

// golomb writes Exp-Golomb codes (H.265 9.2).
func (w *bitWriter) golomb(values ...uint64) {
	for _, value := range values {
		length := 0
		for (value+1)>>(length+1) != 0 {
			length++
		}
		w.bits(0, length)
		w.bits(value+1, length+1)
	}
}

// escaped returns the bytes with emulation prevention (H.265 7.3.1.1).
func (w *bitWriter) escaped() []byte {
	var out []byte
	zeros := 0
	for _, b := range w.bytes {
		if zeros >= 2 && b <= 3 {
			out = append(out, 3)
			zeros = 0
		}
		out = append(out, b)
		if b == 0 {
			zeros++
		} else {
			zeros = 0
		}
	}
	return out
}

// longGOP: a keyframe that is long in coming is no silence, even where it was not
// so before.
func longGOP(w *wire) func(t *testing.T) {
	// GOPs of 10 pictures, then one of 99: four seconds, where three of silence
	// would be a stall.
	w.peer("long-gop", &peer{sdp: h264SDP(), play: func(s *playing) {
		clip := w.clip("h264")
		f := newFeeder(clip)
		for range 3 {
			if !s.sendAll(f.run(10)) {
				return
			}
			f.goTo(clip, 0)
		}
		if s.sendAll(f.run(50)) {
			f.goTo(clip, 51)
			if s.sendAll(f.run(49)) {
				f.stream(s)
			}
		}
	}})
	return func(t *testing.T) {
		s := w.rig.untilStatus(t, "long-gop", "the GOP to be short", func(s camera.SourceStatus) bool { return s.GOP > 0 })
		if s.GOP > wireStall {
			t.Errorf("GOP %v", s.GOP)
		}
		s = w.rig.untilStatus(t, "long-gop", "the GOP to be long", func(s camera.SourceStatus) bool { return s.GOP > wireStall })
		if s.State != camera.StateLive || s.Reconnects != 0 || s.Error != "" {
			t.Errorf("status %+v", s)
		}
		w.places(t, "h264", w.rig.tape("long-gop").shots())
	}
}

// makeReport makes an RTCP sender report (RFC 3550 6.4.1).
func makeReport(ssrc uint32, at time.Time, rtp uint32) []byte {
	const from1900To1970 = 2208988800
	b := []byte{0x80, 200, 0, 6}
	b = binary.BigEndian.AppendUint32(b, ssrc)
	b = binary.BigEndian.AppendUint32(b, uint32(at.Unix()+from1900To1970))
	b = binary.BigEndian.AppendUint32(b, uint32(uint64(at.Nanosecond())<<32/1e9))
	b = binary.BigEndian.AppendUint32(b, rtp)
	return append(b, 0, 0, 0, 1, 0, 0, 0, 1)
}

// report sends a sender report of the n-th media.
func (s *playing) report(n int, packet []byte) bool {
	return s.conn.Frame(s.channels[n]+1, packet) == nil
}

// frozenOpen: a connection that stands is not a picture.
func frozenOpen(w *wire) func(t *testing.T) {
	frozen := map[string]func(s *playing, f *feeder) bool{ // sends what still comes, and reports whether the client is there
		"reports": func(s *playing, f *feeder) bool {
			return s.report(0, makeReport(0x1234, time.Now(), f.timestamp())) && s.wait(500*time.Millisecond)
		},
		"sound":   func(s *playing, f *feeder) bool { return s.sendOn(1, f.sound()) && s.wait(64*time.Millisecond) },
		"silence": func(s *playing, _ *feeder) bool { return s.wait(time.Minute) },
	}
	for variant, still := range frozen {
		w.peer("frozen-open-"+variant, &peer{sdp: h264SDP(aacLines()...), play: func(s *playing) {
			f := w.feeder("h264")
			if s.conn.Index > 0 {
				f.streamBoth(s)
				return
			}
			if s.send(f.unit()...) {
				for still(s, f) {
				}
			}
		}})
	}
	return func(t *testing.T) {
		for variant := range frozen {
			id := "frozen-open-" + variant
			t.Run(variant, func(t *testing.T) {
				shots := w.rig.untilShots(t, id, "pictures after a reconnect", inEpoch(2, 5))
				w.places(t, "h264", shots)
				if got, want := w.rig.stateHistory(id), []camera.State{camera.StateLive, camera.StateStalled, camera.StateConnecting, camera.StateLive}; !slices.Equal(got, want) {
					t.Errorf("states %v, want %v", got, want)
				}
				if n := w.rig.log.count(id, "not live", "no video for 3s, though the connection stands"); n != 1 {
					t.Errorf("%d warnings:\n%s", n, w.rig.log.of(id))
				}
			})
		}
	}
}

// udpBlockedLoss: what does not arrive is said, or counted; half a picture is
// none.
func udpBlockedLoss(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "udp-blocked", Transport: rtsptest.TransportUDP, UDPLost: true}, over(camera.TransportUDP))
	w.peer("udp-loss", &peer{sdp: h264SDP(), play: func(s *playing) {
		clip := w.clip("h264")
		f := newFeeder(clip)
		if !s.sendAll(f.run(5)) {
			return
		}
		f.goTo(clip, 50)
		broken := f.run(4) // a keyframe, and three that need it
		idr := broken[0]
		middle := len(clip.Parameters) + (len(idr)-len(clip.Parameters))/2
		broken[0] = slices.Delete(idr, middle, middle+1)
		if !s.sendAll(broken) {
			return
		}
		f.goTo(clip, 100)
		f.stream(s)
	}})
	return func(t *testing.T) {
		t.Run("udp-loss", func(t *testing.T) {
			shots := pictures(w.rig.untilShots(t, "udp-loss", "pictures after the loss", inEpoch(1, 10)))
			places := w.places(t, "h264", shots)
			if want := []int{0, 1, 2, 3, 4, 100, 101}; !slices.Equal(places[:7], want) {
				t.Errorf("pictures %v, want %v", places[:7], want)
			}
			// The packet, the picture it belonged to, and the three that need it.
			if got := shots[5].lost; got != 5 {
				t.Errorf("%d lost before the keyframe, want 5", got)
			}
			if s := w.rig.status(t, "udp-loss"); s.LostPackets != 1 || s.Reconnects != 0 {
				t.Errorf("status %+v", s)
			}
		})
		t.Run("udp-blocked", func(t *testing.T) {
			if s := w.rig.untilError(t, "udp-blocked", "no"); s.State == camera.StateLive || s.LastFrameAt != (time.Time{}) {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// clockNTP: Drover's clock is the truth, unless the camera's is plainly right.
func clockNTP(w *wire) func(t *testing.T) {
	clocks := map[string]struct {
		now func() time.Time // of the camera; nil: it sends no reports
		own bool             // it is to be believed
	}{
		"none":     {nil, false},
		"1970":     {func() time.Time { return time.Unix(100, 0) }, false},
		"fast":     {func() time.Time { return time.Now().Add(time.Hour) }, false},
		"slow":     {func() time.Time { return time.Now().Add(-time.Hour) }, false},
		"far-away": {func() time.Time { return time.Unix(1<<31, 0) }, false},
		"right":    {time.Now, true},
	}
	for variant, clock := range clocks {
		config := rtsptest.CameraConfig{Path: "clock-ntp-" + variant, AAC: true, Reports: 200 * time.Millisecond, WallClock: clock.now}
		if clock.now == nil {
			config.Reports = -1
		}
		w.camera(config)
	}
	return func(t *testing.T) {
		for variant, clock := range clocks {
			id := "clock-ntp-" + variant
			t.Run(variant, func(t *testing.T) {
				begun := time.Now()
				shots := w.plays(t, id, "h264", 30)
				want := media.WallArrival
				if clock.own {
					want = media.WallSender
				}
				last := shots[len(shots)-1]
				if last.wallSource != want {
					t.Errorf("the time of day comes from %s, want %s", last.wallSource, want)
				}
				if off := last.wall.Sub(begun); off.Abs() > 10*time.Minute {
					t.Errorf("the time of day is %v off", off)
				}
				for i, s := range shots {
					if i > 0 && s.epoch != shots[0].epoch {
						t.Errorf("a new epoch at frame %d", s.seq)
					}
				}
			})
		}
	}
}

// avOffset: sound and picture share their zero, whichever begins first.
func avOffset(w *wire) func(t *testing.T) {
	// paced sends sound from the beginning on and pictures after a while, each when
	// it is due.
	paced := func(s *playing, after time.Duration, each func(f *feeder) bool) {
		f := w.feeder("h264")
		for begun := time.Now(); s.pause(); {
			elapsed := time.Since(begun)
			for time.Duration(f.frames)*64*time.Millisecond <= elapsed {
				if !s.sendOn(1, f.sound()) {
					return
				}
			}
			for after+time.Duration(f.next)*rtsptest.FrameDuration <= elapsed {
				if !each(f) || !s.send(f.unit()...) {
					return
				}
			}
		}
	}
	w.peer("av-offset-sound-first", &peer{sdp: h264SDP(aacLines()...), play: func(s *playing) {
		paced(s, time.Second, func(*feeder) bool { return true })
	}})
	// Reports of the video alone.
	w.peer("av-offset-one-report", &peer{sdp: h264SDP(aacLines()...), play: func(s *playing) {
		paced(s, 0, func(f *feeder) bool { return s.report(0, makeReport(0x1234, time.Now(), f.timestamp())) })
	}})
	return func(t *testing.T) {
		for _, id := range []string{"av-offset-sound-first", "av-offset-one-report"} {
			t.Run(id, func(t *testing.T) {
				shots := w.rig.untilShots(t, id, "sound and pictures", func(shots []shot) bool {
					return len(pictures(shots)) > 20 && len(sound(shots)) > 10
				})
				w.references["h264"].follow(t, pictures(shots))
				w.references["h264"].hear(t, sound(shots))
				if first := shots[0]; first.kind != media.KindVideo || !first.key {
					t.Errorf("a subscriber begins with %s", first.kind)
				}
				seconds := func(s shot) float64 { return float64(s.pts) / float64(s.rate) }
				if apart := seconds(sound(shots)[0]) - seconds(shots[0]); apart < -0.5 || apart > 0.5 {
					t.Errorf("the first sound is %v s after the first picture", apart)
				}
			})
		}
	}
}

// resChange: other parameter sets are other Params, from their keyframe on; the
// same ones again are not.
func resChange(w *wire) func(t *testing.T) {
	w.peer("res-change", &peer{sdp: h264SDP(), play: func(s *playing) {
		large, small := w.clip("h264"), w.clip("h264-small")
		otherPPS := *large
		otherPPS.Parameters = [][]byte{large.Parameters[0], append(bytes.Clone(large.Parameters[1]), 0x42)}
		f := newFeeder(large)
		for _, scene := range []struct {
			clip    *rtsptest.Clip
			picture int
		}{
			{large, 0}, {large, 50}, {small, 0}, {large, 100}, {&otherPPS, 150}, {&otherPPS, 0}, {large, 50},
		} {
			f.goTo(scene.clip, scene.picture)
			if !s.sendAll(f.run(5)) {
				return
			}
		}
		f.stream(s)
	}})
	return func(t *testing.T) {
		shots := pictures(w.rig.untilShots(t, "res-change", "all scenes", inEpoch(1, 36)))
		var params []*media.Params // of each scene
		for i, s := range shots[:35] {
			if i%5 == 0 {
				if !s.key || s.lost != 0 {
					t.Errorf("scene %d begins with: keyframe %v, lost %d", i/5, s.key, s.lost)
				}
				params = append(params, s.params)
			} else if s.params != params[i/5] {
				t.Errorf("scene %d changes its parameters", i/5)
			}
		}
		same := func(a, b int, want bool) {
			t.Helper()
			if (params[a] == params[b]) != want {
				t.Errorf("scenes %d and %d have the same parameters: %v", a, b, !want)
			}
		}
		same(0, 1, true)
		same(1, 2, false)
		same(2, 3, false)
		same(3, 4, false)
		same(4, 5, true)
		same(5, 6, false)
		if params[2].Width != 480 || params[3].Width != 640 || bytes.Equal(params[3].PPS, params[4].PPS) || !bytes.Equal(params[3].SPS, params[4].SPS) {
			t.Errorf("widths %d and %d", params[2].Width, params[3].Width)
		}
		if s := w.rig.status(t, "res-change"); s.Reconnects != 0 || s.Tracks[0].Width != 640 {
			t.Errorf("status %+v", s)
		}
	}
}

// annexBRTP: start codes where none belong.
func annexBRTP(w *wire) func(t *testing.T) {
	join := func(code string, nals ...[]byte) []byte { return bytes.Join(nals, []byte(code)) }
	variants := map[string]func(f *feeder) [][]byte{ // the packets of a unit
		// One NAL unit of type 7 that holds all three, in fragments.
		"in-fragments": func(f *feeder) [][]byte {
			packets := f.nal(join("\x00\x00\x00\x01", append(slices.Clone(f.clip.Parameters), f.nals()...)...), true)
			f.next++
			return packets
		},
		"in-fragments-short": func(f *feeder) [][]byte {
			packets := f.nal(join("\x00\x00\x01", append(slices.Clone(f.clip.Parameters), f.nals()...)...), true)
			f.next++
			return packets
		},
		"before": func(f *feeder) [][]byte {
			packets := f.sets()
			for i, nal := range f.nals() {
				packets = append(packets, f.packet(i == len(f.nals())-1, append([]byte{0, 0, 1}, nal...)))
			}
			f.next++
			return packets
		},
		"before-long": func(f *feeder) [][]byte {
			all := append(slices.Clone(f.clip.Parameters), f.nals()...)
			packets := [][]byte{f.packet(true, append([]byte{0, 0, 0, 1}, join("\x00\x00\x00\x01", all...)...))}
			f.next++
			return packets
		},
	}
	for variant, key := range variants {
		w.peer("annexb-rtp-"+variant, &peer{sdp: h264SDP(), play: func(s *playing) {
			f := w.feeder("h264")
			for {
				unit := f.picture
				if f.atKeyframe() {
					unit = func() [][]byte { return key(f) }
				}
				if !s.send(unit()...) || !s.pause() {
					return
				}
			}
		}})
	}
	return func(t *testing.T) {
		for variant := range variants {
			t.Run(variant, func(t *testing.T) { w.plays(t, "annexb-rtp-"+variant, "h264", 60) })
		}
	}
}

// fuaSE: fragments that are start and end at once, or neither.
func fuaSE(w *wire) func(t *testing.T) {
	w.peer("fua-se-both", &peer{sdp: h264SDP(), play: func(s *playing) {
		f := w.feeder("h264")
		f.size = 1 << 15 // each NAL unit in one packet
		for {
			packets := f.sets()
			for i, nal := range f.nals() {
				packets = append(packets, f.packet(i == len(f.nals())-1, append([]byte{nal[0]&0xe0 | 28, nal[0]&0x1f | 0xc0}, nal[1:]...)))
			}
			f.next++
			if !s.send(packets...) || !s.pause() {
				return
			}
		}
	}})
	w.peer("fua-se-stray", &peer{sdp: h264SDP(), play: func(s *playing) {
		f := w.feeder("h264")
		stray := func(flags byte) [][]byte { // of a picture's time of its own
			packets := [][]byte{f.packet(false, []byte{0x7c, flags | 1, 1, 2, 3})}
			f.base += 3600
			return packets
		}
		// A middle and an end of nothing, before a keyframe and within a GOP.
		if !s.send(stray(0)...) || !s.sendAll(f.run(5)) || !s.send(stray(0x40)...) || !s.sendAll(f.run(5)) {
			return
		}
		f.goTo(f.clip, 50)
		f.stream(s)
	}})
	return func(t *testing.T) {
		t.Run("fua-se-both", func(t *testing.T) { w.plays(t, "fua-se-both", "h264", 60) })
		t.Run("fua-se-stray", func(t *testing.T) {
			shots := pictures(w.rig.untilShots(t, "fua-se-stray", "the second GOP", func(shots []shot) bool { return afterLoss(shots) > 5 }))
			places := w.places(t, "h264", shots)
			if want := []int{0, 1, 2, 3, 4, 50, 51}; !slices.Equal(places[:7], want) {
				t.Errorf("pictures %v, want %v", places[:7], want)
			}
			if n := w.rig.discarded("fua-se-stray", "stray_fragment"); n != 2 {
				t.Errorf("%d stray fragments counted, want 2", n)
			}
			if s := w.rig.status(t, "fua-se-stray"); s.Reconnects != 0 || s.LostPackets != 0 {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// nalLimits: pictures larger than usual are pictures; one larger than any is left
// out, and the stream goes on.
func nalLimits(w *wire) func(t *testing.T) {
	// slices makes a keyframe of n slices; the first bit after the header says which
	// is the first.
	slicesOf := func(codec rtsptest.Codec, n, size int) [][]byte {
		var nals [][]byte
		for i := range n {
			nal := bytes.Repeat([]byte{0x55}, size)
			header := copy(nal, "\x65")
			if codec == rtsptest.H265 {
				header = copy(nal, "\x26\x01")
			}
			nal[header] = 0x7f
			if i == 0 {
				nal[header] = 0xff
			}
			binary.BigEndian.PutUint32(nal[header+1:], uint32(i)+0x10101010)
			nals = append(nals, nal)
		}
		return nals
	}
	rows := []struct {
		id   string
		clip string
		nals [][]byte
		fits bool
	}{
		{"nal-limits-40-slices", "h264", slicesOf(rtsptest.H264, 40, 300), true},
		{"nal-limits-200-slices", "h264", slicesOf(rtsptest.H264, 200, 100), true},
		{"nal-limits-30-slices-h265", "h265", slicesOf(rtsptest.H265, 30, 300), true},
		{"nal-limits-6-mb", "h264", slicesOf(rtsptest.H264, 1, 6<<20), true},
		{"nal-limits-6-mb-h265", "h265", slicesOf(rtsptest.H265, 1, 6<<20), true},
		{"nal-limits-300-slices", "h264", slicesOf(rtsptest.H264, 300, 100), false},
		{"nal-limits-17-mb", "h264", slicesOf(rtsptest.H264, 1, 17<<20), false},
	}
	for _, row := range rows {
		codec := w.clip(row.clip).Codec
		w.peer(row.id, &peer{sdp: videoSDP(string(codec)), play: func(s *playing) {
			clip := *w.clip(row.clip)
			clip.Pictures = slices.Clone(clip.Pictures)
			clip.Pictures[5] = rtsptest.Picture{NALUs: row.nals, Keyframe: true, PTS: clip.Pictures[5].PTS}
			f := newFeeder(&clip)
			f.size = 60000
			if s.sendAll(f.run(6)) {
				f.goTo(&clip, 50)
				f.stream(s)
			}
		}})
	}
	return func(t *testing.T) {
		for _, row := range rows {
			t.Run(row.id, func(t *testing.T) {
				shots := pictures(w.rig.untilShots(t, row.id, "pictures after it", inEpoch(1, 9)))
				var want []byte
				for _, nal := range row.nals {
					want = binary.BigEndian.AppendUint32(want, uint32(len(nal)))
					want = append(want, nal...)
				}
				after := 6
				if !row.fits {
					after = 5
					if w.rig.discarded(row.id, "too_large") == 0 {
						t.Error("nothing was counted as too large")
					}
				} else if got := shots[5]; got.payload != string(want) || !got.key || got.lost != 0 {
					t.Errorf("%d bytes came, keyframe %v, lost %d; want %d bytes", len(got.payload), got.key, got.lost, len(want))
				}
				next := shots[after]
				if w.references[row.clip].index[next.payload] != 50 || !next.key || (next.lost != 0) == row.fits {
					t.Errorf("then comes a picture of %d bytes: keyframe %v, lost %d", len(next.payload), next.key, next.lost)
				}
				if s := w.rig.status(t, row.id); s.Reconnects != 0 || s.LostPackets != 0 {
					t.Errorf("status %+v", s)
				}
			})
		}
	}
}

// framingGarbage: bytes between frames cost what they hit, and not the
// connection.
func framingGarbage(w *wire) func(t *testing.T) {
	variants := map[string]func(s *playing, f *feeder) bool{ // is done between two pictures
		"stray-bytes": func(s *playing, _ *feeder) bool { return s.raw("\x01\x02$\x03\x04\x05\x06") },
		"unknown-channel": func(s *playing, _ *feeder) bool {
			return s.conn.Frame(9, []byte("nothing that anybody asked for")) == nil
		},
		"empty":      func(s *playing, _ *feeder) bool { return s.conn.Frame(0, nil) == nil },
		"blank-line": func(s *playing, _ *feeder) bool { return s.raw("\r\n\r\n") },
		"reply":      func(s *playing, _ *feeder) bool { return s.raw("RTSP/1.0 200 OK\r\nCSeq: 999\r\n\r\n") },
		"not-rtp":    func(s *playing, _ *feeder) bool { return s.send([]byte("this is no packet at all")) },
		// Half of the frame that is then sent whole, as a full send buffer makes
		// live555 do.
		"half-a-frame": func(s *playing, f *feeder) bool {
			ahead := *f
			packets := ahead.unit()
			first := packets[0]
			half := append([]byte{'$', s.channels[0], byte(len(first) >> 8), byte(len(first))}, first[:len(first)/2]...)
			packets = f.unit()
			return s.conn.Write(append(half, frames(s.channels[0], packets)...)) == nil
		},
	}
	for variant, between := range variants {
		w.peer("framing-garbage-"+variant, &peer{sdp: h264SDP(), play: func(s *playing) {
			f := w.feeder("h264")
			f.size = 400
			for s.sendAll(f.run(5)) && between(s, f) {
			}
		}})
	}
	w.peer("framing-garbage-early", early(w))
	return func(t *testing.T) {
		for variant := range variants {
			t.Run(variant, func(t *testing.T) { w.plays(t, "framing-garbage-"+variant, "h264", 70) })
		}
		t.Run("early", func(t *testing.T) {
			shots := w.plays(t, "framing-garbage-early", "h264", 10)
			if places := w.places(t, "h264", shots); places[0] != 0 {
				t.Errorf("begins with picture %d, want the one that came before the reply", places[0])
			}
		})
	}
}

// early sends a keyframe before it answers PLAY.
func early(w *wire) *peer {
	feeders := make(chan *feeder, 16) // from the answer to what follows, by connection
	return &peer{
		sdp: h264SDP(),
		answer: func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
			if request.Method != "PLAY" {
				return false, nil
			}
			f := w.feeder("h264")
			feeders <- f
			if err := conn.Write(frames(0, f.unit())); err != nil {
				return true, err
			}
			return true, conn.Reply(request, "", "Session: 4711")
		},
		play: func(s *playing) { (<-feeders).stream(s) },
	}
}

// statusText: a status line without words.
func statusText(w *wire) func(t *testing.T) {
	lines := map[string]string{"bare": "RTSP/1.0 200\r\n", "blank": "RTSP/1.0 200 \r\n", "long": "RTSP/1.0 200 " + strings.Repeat("OK ", 100) + "\r\n"}
	var ids []string
	for variant, line := range lines {
		ids = append(ids, "status-text-"+variant)
		w.peer("status-text-"+variant, &peer{sdp: h264SDP(),
			answer: func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
				body := ""
				if request.Method == "DESCRIBE" {
					body = h264SDP()
				}
				var b strings.Builder
				b.WriteString(line + "CSeq: " + request.Header("CSeq") + "\r\nSession: 1\r\n")
				if transport := request.Header("Transport"); transport != "" {
					b.WriteString("Transport: " + transport + "\r\n")
				}
				b.WriteString("Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
				return true, conn.Write([]byte(b.String()))
			},
			play: func(s *playing) { w.feeder("h264").stream(s) },
		})
	}
	slices.Sort(ids)
	return func(t *testing.T) { w.playsAll(t, "h264", ids...) }
}
