package rtsp

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/timeline"
	"github.com/drover-video/drover/ingest/rtsp/session"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// sourceFunc is a camera.Source of a function.
type sourceFunc func(ctx context.Context, feed *camera.Feed) error

func (f sourceFunc) Pull(ctx context.Context, feed *camera.Feed) error { return f(ctx, feed) }

// errDone ends a pull that has done what it was to do.
var errDone = errors.New("done")

// withFeed runs a function as a source's one pull, and returns the tape of the
// frames that came of it.
func withFeed(t *testing.T, pull func(feed *camera.Feed)) *tape {
	t.Helper()
	pool := media.NewPool()
	output := &rig{tapes: map[string]*tape{}, attached: make(chan string, 1)}
	done := make(chan struct{})
	registry, err := camera.NewRegistry(t.Context(), camera.Options{
		Open: func(camera.SourceSpec) camera.Source {
			return sourceFunc(func(ctx context.Context, feed *camera.Feed) error {
				// Outside of the puller's guard, which would hide a panic.
				pulled := make(chan struct{})
				go func() {
					defer close(pulled)
					pull(feed)
				}()
				<-pulled
				close(done)
				<-ctx.Done()
				return errDone
			})
		},
		Store: noStore{}, Pool: pool, Outputs: []camera.Output{output}, Ring: ring.Limits{Buffer: 4096},
	}, []camera.Spec{spec(t, "fuzz", "rtsp://camera/x")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- registry.Run(ctx) }()
	<-done
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
	return output.tape("fuzz")
}

// fewPackets is a short stream as the fuzz target reads it: parameter sets, a
// keyframe, a few pictures that are shown in another order, and sound.
func fewPackets(tb testing.TB, codec rtsptest.Codec) []byte {
	name, key, other := "h264-bframes", []byte{0x65, 0x88}, []byte{0x41, 0x9a}
	if codec == rtsptest.H265 {
		name, key, other = "h265-bframes", []byte{0x26, 1, 0xaf}, []byte{2, 1, 0xd0}
	}
	clip := *loadClip(tb, name)
	clip.Pictures = append([]rtsptest.Picture(nil), clip.Pictures[:6]...)
	for i := range clip.Pictures {
		clip.Pictures[i].NALUs = [][]byte{append(other[:len(other):len(other)], 1, 2, 3, 4, 5, 6, 7, byte(i))}
	}
	clip.Pictures[0].NALUs = [][]byte{append(key, 1, 2, 3, 4, 5, 6, 7, 8)}
	clip.AAC = [][]byte{{1, 2, 3, 4}}
	feeder := newFeeder(&clip)
	feeder.size = 8
	var data []byte
	add := func(media byte, packet []byte) {
		data = append(append(data, media, 0, byte(len(packet)), byte(len(packet)>>8)), packet...)
	}
	for range clip.Pictures {
		for _, packet := range feeder.unit() {
			add(0, packet)
		}
		add(1, feeder.sound())
	}
	return data
}

// FuzzPacketsBecomeFramesThatKeepTheRules takes packets as they come from a
// camera, good ones changed at random among them, through all that is behind the
// session.
func FuzzPacketsBecomeFramesThatKeepTheRules(f *testing.F) {
	for _, codec := range []rtsptest.Codec{rtsptest.H264, rtsptest.H265} {
		f.Add(codec == rtsptest.H265, fewPackets(f, codec))
	}
	f.Add(false, append([]byte{0, 200, 20, 0}, rtsptest.RTP(96, true, 1, 1<<31, 1, []byte{0x65, 0x88, 1, 2})...))
	f.Add(true, []byte{2, 0, 28, 0, 0x80, 200, 0, 6, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, h265 bool, data []byte) {
		codec := "H264"
		if h265 {
			codec = "H265"
		}
		medias := []session.Media{
			{Index: 0, Kind: "video", Protocol: "RTP/AVP", Formats: []session.Format{{PayloadType: 96, Encoding: codec, ClockRate: 90000, FMTP: map[string]string{}}}},
			{Index: 1, Kind: "audio", Protocol: "RTP/AVP", Formats: []session.Format{{PayloadType: 97, Encoding: "MPEG4-GENERIC", ClockRate: 16000, FMTP: map[string]string{"config": "1408"}}}},
		}
		tape := withFeed(t, func(feed *camera.Feed) {
			plan := choose(medias, Options{})
			feed.Connected(camera.TransportTCP, plan.offers())
			stream := newStream(feed, plan, &timeline.Reorder{})
			defer stream.close()
			// Each packet stands behind its media or report, the time since the one
			// before in tenths of seconds, and its length.
			now := time.Unix(1_700_000_000, 0)
			for len(data) >= 4 {
				size := min(int(binary.LittleEndian.Uint16(data[2:])), len(data)-4)
				packet := data[4 : 4+size]
				now = now.Add(time.Duration(data[1]) * time.Second / 10)
				if data[0]&2 != 0 {
					stream.RTCP(int(data[0]&1), packet, now)
				} else {
					stream.RTP(int(data[0]&1), packet, now)
				}
				data = data[4+size:]
			}
			stream.BatchEnd()
		})
		for _, problem := range tape.problems {
			t.Error(problem)
		}
	})
}

// FuzzADescriptionIsPlannedFor takes any description of a camera.
func FuzzADescriptionIsPlannedFor(f *testing.F) {
	f.Add("video", "H264", uint8(96), 90000, "sprop-parameter-sets", "Z0IAH5WoFAFuQA==,aM48gA==")
	f.Add("video", "H265", uint8(96), 90000, "sprop-sps", "QgEBAWAAAAMAkAAAAwAAAwBdoAKAgC0WWVmkkyuAQAAA+kAAF3AC")
	f.Add("audio", "MPEG4-GENERIC", uint8(97), 48000, "config", "1190")
	f.Add("audio", "MP4A-LATM", uint8(97), 48000, "config", "400026203fc0")
	f.Add("audio", "PCMA", uint8(8), 8000, "", "")
	f.Add("audio", "OPUS", uint8(111), 48000, "sprop-stereo", "1")
	f.Add("audio", "L16", uint8(11), 44100, "", "")
	f.Add("video", "JPEG", uint8(26), 90000, "", "")
	f.Fuzz(func(t *testing.T, kind, encoding string, number uint8, rate int, key, value string) {
		format := session.Format{PayloadType: number, Encoding: encoding, ClockRate: rate, FMTP: map[string]string{key: value}}
		plan := choose([]session.Media{{Kind: kind, Protocol: "RTP/AVP", Formats: []session.Format{format}}}, Options{})
		for _, c := range plan {
			switch {
			case c.offer.Codec == "":
				t.Error("a track without a name")
			case c.install == nil && c.offer.Reason == "":
				t.Error("a track that is left out for no reason")
			case c.install != nil && (c.track == nil || c.track.ClockRate <= 0):
				t.Errorf("a track that is used: %+v", c.track)
			}
		}
		if len(plan) > 0 && plan.describe() == "" {
			t.Error("nothing is said")
		}
	})
}
