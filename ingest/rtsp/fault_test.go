package rtsp

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// epochs returns how many epochs there are among shots.
func epochs(shots []shot) int {
	n := 0
	var last uint64
	for _, s := range shots {
		if s.epoch != last {
			n++
			last = s.epoch
		}
	}
	return n
}

// ofEpoch returns the shots of the n-th epoch, the first being 1.
func ofEpoch(shots []shot, n int) []shot {
	var some []shot
	var last uint64
	for _, s := range shots {
		if s.epoch != last {
			n--
			last = s.epoch
		}
		if n == 0 {
			some = append(some, s)
		}
	}
	return some
}

// inEpoch reports whether so many pictures of the n-th epoch are there.
func inEpoch(n, count int) func(shots []shot) bool {
	return func(shots []shot) bool { return len(pictures(ofEpoch(shots, n))) >= count }
}

func TestACameraThatFailsComesBackOnTheSameRingAndTimeline(t *testing.T) {
	t.Parallel()
	stalled := []camera.State{camera.StateLive, camera.StateStalled, camera.StateConnecting, camera.StateLive}
	backoff := []camera.State{camera.StateLive, camera.StateBackoff, camera.StateConnecting, camera.StateLive}
	type row struct {
		name      string
		fault     rtsptest.Action
		err       string
		states    []camera.State
		teardowns int // what is still open is parted with
		transport rtsptest.Transport
	}
	var rows []row
	var cameras []rtsptest.CameraConfig
	for _, transport := range []rtsptest.Transport{rtsptest.TransportTCP, rtsptest.TransportUDP} {
		for _, row := range []row{
			{"stall", rtsptest.Stall(), "no video for 1s", stalled, 1, transport},
			{"stall-video", rtsptest.StallVideo(), "no video for 1s", stalled, 1, transport},
			{"close", rtsptest.Close(), "connection", backoff, 0, transport},
			{"reset", rtsptest.Reset(), "connection", backoff, 0, transport},
			{"bye", rtsptest.Bye(), "the camera ended the stream", backoff, 1, transport},
		} {
			row.name += "-" + string(transport)
			rows = append(rows, row)
			cameras = append(cameras, rtsptest.CameraConfig{
				Path: row.name, Clip: "h264-bframes", AAC: true, Transport: transport,
				Faults: []rtsptest.Fault{{After: time.Second, Once: true, Do: row.fault}},
			})
		}
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, func(o *camera.Options) { o.StallTimeout = time.Second }, specsOf(t, server)...)
	ref := loadReference(t, "h264-bframes")
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			shots := r.untilShots(t, row.name, "pictures of the second connection", inEpoch(2, 30))
			if n := epochs(shots); n != 2 {
				t.Errorf("%d epochs, want 2", n)
			}
			ref.follow(t, pictures(shots))
			first, second := pictures(ofEpoch(shots, 1)), pictures(ofEpoch(shots, 2))
			if !second[0].key || len(first) < 20 {
				t.Errorf("%d pictures before, keyframe after: %v", len(first), second[0].key)
			}
			for _, s := range second {
				if last := first[len(first)-1]; s.pts <= last.pts {
					t.Fatalf("a picture of the second connection is shown at %d, the last of the first at %d", s.pts, last.pts)
				}
			}
			if got := r.stateHistory(row.name); !slices.Equal(got, row.states) {
				t.Errorf("states %v, want %v", got, row.states)
			}
			if s := r.status(t, row.name); s.Reconnects != 1 || s.Error != "" {
				t.Errorf("status %+v", s)
			}
			if n := r.log.count(row.name, "not live", row.err); n != 1 {
				t.Errorf("%d warnings that say %q:\n%s", n, row.err, r.log.of(row.name, "not live"))
			}
			want := 2
			if row.transport == rtsptest.TransportUDP {
				want = 3 // TCP was tried, once
			}
			if seen := server.Camera(row.name).Seen(); seen.ConnsEver != want || seen.Teardowns != row.teardowns {
				t.Errorf("%d connections, want %d; %d teardowns, want %d", seen.ConnsEver, want, seen.Teardowns, row.teardowns)
			}
		})
	}
}

func TestACamerasClockMayJumpWithoutAReconnect(t *testing.T) {
	t.Parallel()
	type row struct {
		name   string
		fault  rtsptest.Action
		epochs int
		clip   string
	}
	var rows []row
	var cameras []rtsptest.CameraConfig
	for _, clip := range []string{"h264", "h264-bframes"} {
		for _, row := range []row{
			{"back", rtsptest.Jump(-3 * time.Second), 2, clip},
			{"forth", rtsptest.Jump(time.Hour), 2, clip},
			{"far-back", rtsptest.Jump(-10 * time.Hour), 2, clip},
			{"outlier", rtsptest.Outlier(37600 * time.Second), 1, clip},
			{"outlier-back", rtsptest.Outlier(-time.Hour), 1, clip},
			{"freeze", rtsptest.Freeze(5), 1, clip},
			{"freeze-long", rtsptest.Freeze(30), 1, clip},
		} {
			row.name += "-" + clip
			rows = append(rows, row)
			cameras = append(cameras, rtsptest.CameraConfig{
				Path: row.name, Clip: clip, AAC: true,
				Faults: []rtsptest.Fault{{After: 2400 * time.Millisecond, Do: row.fault}},
			})
		}
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			ref := loadReference(t, row.clip)
			shots := r.untilShots(t, row.name, "pictures after the fault", func(shots []shot) bool {
				return len(pictures(shots)) > 3*rtsptest.GOPPictures-20 && epochs(shots) >= row.epochs
			})
			if n := epochs(shots); n != row.epochs {
				t.Errorf("%d epochs, want %d", n, row.epochs)
			}
			seen := pictures(shots)
			for i, s := range seen {
				place, ok := ref.index[s.payload]
				if !ok {
					t.Fatalf("picture %d is none of the clip", i)
				}
				if i == 0 {
					continue
				}
				if before := ref.index[seen[i-1].payload]; place != (before+1)%rtsptest.ClipPictures {
					t.Errorf("picture %d of the clip comes after %d", place, before)
				}
				// Whatever the camera says, pictures follow each other as they came.
				if step := s.dts - seen[i-1].dts; step > 4*90000 {
					t.Errorf("a gap of %d ticks before picture %d", step, place)
				}
			}
			if s := r.status(t, row.name); s.Reconnects != 0 || s.State != camera.StateLive {
				t.Errorf("status %+v", s)
			}
			// After all, pictures are again as far apart as the clip says.
			ref.follow(t, seen[len(seen)-10:])
		})
	}
}

func TestAChangeOfTheClipIsANewParamsAtItsKeyframe(t *testing.T) {
	t.Parallel()
	rows := []struct{ path, from, to string }{
		{"smaller", "h264", "h264-small"},
		{"larger", "h264", "h264-720p"},
		{"to-bframes", "h264", "h264-bframes"},
		{"from-bframes", "h264-bframes", "h264-small"},
		{"h265-to-bframes", "h265", "h265-bframes"},
		{"h265-from-bframes", "h265-bframes", "h265"},
	}
	var cameras []rtsptest.CameraConfig
	for _, row := range rows {
		cameras = append(cameras, rtsptest.CameraConfig{
			Path: row.path, Clip: row.from,
			Faults: []rtsptest.Fault{
				{After: time.Second, Do: rtsptest.Change(row.to)},
				{After: 5 * time.Second, Do: rtsptest.Change(row.from)},
			},
		})
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	for _, row := range rows {
		t.Run(row.path, func(t *testing.T) {
			from, to := loadReference(t, row.from), loadReference(t, row.to)
			// Runs of pictures with the same Params: one of each clip, and the first again.
			runs := func(shots []shot) [][]shot {
				var runs [][]shot
				for i, s := range pictures(shots) {
					if i == 0 || s.params != runs[len(runs)-1][0].params {
						runs = append(runs, nil)
					}
					runs[len(runs)-1] = append(runs[len(runs)-1], s)
				}
				return runs
			}
			got := runs(r.untilShots(t, row.path, "the change back", func(shots []shot) bool {
				runs := runs(shots)
				return len(runs) > 2 && len(runs[2]) > 20
			}))
			if len(got) != 3 {
				t.Fatalf("%d runs of Params, want 3", len(got))
			}
			for i, ref := range []*reference{from, to, from} {
				ref.follow(t, got[i])
				if !got[i][0].key || got[i][0].lost != 0 && i > 0 {
					t.Errorf("run %d begins with: keyframe %v, lost %d", i, got[i][0].key, got[i][0].lost)
				}
			}
			if s := r.status(t, row.path); s.Reconnects != 0 || s.Tracks[0].Width != got[2][0].params.Width {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestAnAudioTrackThatCannotBeUsedIsLeftOutWithOneWarningPerConnection(t *testing.T) {
	t.Parallel()
	rows := []struct {
		path, reason string
		config       rtsptest.CameraConfig
		codec        string
	}{
		{"g726", "G726-32 audio has no place in HLS", rtsptest.CameraConfig{PCMA: true, RewriteSDP: func(sdp string) string {
			return strings.ReplaceAll(strings.ReplaceAll(sdp, "RTP/AVP 8\r", "RTP/AVP 98\r"), "rtpmap:8 PCMA", "rtpmap:98 G726-32")
		}}, "G726-32"},
		{"second", "another audio track is used", rtsptest.CameraConfig{AAC: true, PCMA: true, RewriteSDP: func(sdp string) string {
			return strings.ReplaceAll(sdp, "a=rtpmap:8 PCMA/8000", "a=rtpmap:8 MPEG4-GENERIC/16000/1\r\na=fmtp:8 sizelength=13;indexlength=3;indexdeltalength=3;config=1408")
		}}, "AAC"},
	}
	var cameras []rtsptest.CameraConfig
	for _, row := range rows {
		row.config.Path = row.path
		row.config.Faults = []rtsptest.Fault{{After: time.Second, Once: true, Do: rtsptest.Close()}}
		cameras = append(cameras, row.config)
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	ref := loadReference(t, "h264")
	for _, row := range rows {
		t.Run(row.path, func(t *testing.T) {
			shots := r.untilShots(t, row.path, "pictures of the second connection", inEpoch(2, 30))
			ref.follow(t, pictures(shots))
			if heard := sound(shots); row.config.AAC {
				ref.hear(t, of(media.KindAudio, ofEpoch(shots, 1)))
			} else if len(heard) != 0 {
				t.Errorf("%d frames of sound", len(heard))
			}
			if n := r.log.count(row.path, "level=WARN", row.reason); n != 2 {
				t.Errorf("%d warnings in 2 connections:\n%s", n, r.log.of(row.path, "WARN"))
			}
			tracks := r.status(t, row.path).Tracks
			if last := tracks[len(tracks)-1]; last.Codec != row.codec || last.Playable || !strings.Contains(last.Reason, row.reason) || last.SampleRate == 0 {
				t.Errorf("track %+v", last)
			}
			// What is not used is not asked for.
			setups := 0
			for _, request := range server.Camera(row.path).Seen().Requests {
				if request.Method == "SETUP" {
					setups++
				}
			}
			if want := 2 * (len(tracks) - 1); setups != want {
				t.Errorf("%d SETUPs in 2 connections, want %d", setups, want)
			}
		})
	}
}

func TestACameraThatWasSwitchedOffComesBack(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Clip: "h264-bframes", AAC: true})
	r := pull(t, nil, specsOf(t, server)...)
	ref := loadReference(t, "h264-bframes")
	r.untilShots(t, "door", "pictures", inEpoch(1, 10))
	for n := 2; n <= 3; n++ {
		server.Down()
		r.untilStatus(t, "door", "a refused connection", func(s camera.SourceStatus) bool {
			return s.State == camera.StateBackoff && strings.Contains(s.Error, "no connection to the camera")
		})
		if err := server.Up(); err != nil {
			t.Fatal(err)
		}
		r.untilShots(t, "door", "pictures after the power came back", func(shots []shot) bool {
			return len(pictures(shots)) > 0 && epochs(shots) == n && inEpoch(n, 10)(shots)
		})
	}
	shots := r.tape("door").shots()
	ref.follow(t, pictures(shots))
	if s := r.untilLive(t, "door"); s.Error != "" || s.Reconnects < 2 {
		t.Errorf("status %+v", s)
	}
	// However often it was tried in between, that is one line each time.
	if n := r.log.count("door", "not live", "no connection"); n > 6 {
		t.Errorf("%d warnings about 2 outages:\n%s", n, r.log.of("door", "not live"))
	}
	if _, err := r.registry.Update(t.Context(), "door", func(*camera.Spec) error { return nil }); !errors.Is(err, camera.ErrReadOnly) {
		t.Errorf("a camera of the file: %v", err)
	}
}
