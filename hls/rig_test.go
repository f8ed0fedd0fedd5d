package hls

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// Parameter sets as x264 and x265 write them.
func h264Params() *media.Params {
	return &media.Params{Codec: media.CodecH264, SPS: unhex("6764000cacd941419f9f011000000300100000030320f1429960"), PPS: unhex("68ebe3cb22c0"), Width: 320, Height: 180, FPS: 25}
}

func otherH264Params() *media.Params {
	return &media.Params{Codec: media.CodecH264, SPS: unhex("6742c016d900b0126c0840000003004000000603c58b92"), PPS: unhex("68cb83cb20"), Width: 704, Height: 576, FPS: 12}
}

func h265Params() *media.Params {
	return &media.Params{Codec: media.CodecH265, VPS: unhex("40010c01ffff01600000030090000003000003003c959809"),
		SPS: unhex("42010101600000030090000003000003003ca00a080b9f796566924caf016808000003000800000300c840"), PPS: unhex("4401c172b46240"), Width: 320, Height: 180, FPS: 25}
}

func aacParams() *media.Params {
	return &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x14, 0x08}, SampleRate: 16000, Channels: 1}
}

// zero is when the rig's cameras begin.
var zero = time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)

// A source makes a camera's frames, frame by frame, in real pooled memory.
type source struct {
	t      testing.TB
	pool   *media.Pool
	arenas [2]*media.Arena
	video  *media.Track
	audio  *media.Track
	params *media.Params
	sound  *media.Params // nil: no sound
	out    func(*media.Frame)

	frameTicks int64 // of 90 kHz
	gop        int   // pictures from keyframe to keyframe
	bytes      int   // of a picture

	dts      int64
	count    int
	soundDTS int64
	seq      uint64
	epoch    uint64
	lost     uint32
	drift    time.Duration
}

func newSource(t testing.TB, pool *media.Pool, out func(*media.Frame)) *source {
	s := &source{t: t, pool: pool, out: out, params: h264Params(), frameTicks: 3600, gop: 50, bytes: 400, epoch: 1}
	s.arenas = [2]*media.Arena{media.NewArena(pool, 64<<10), media.NewArena(pool, 16<<10)}
	s.tracks()
	return s
}

func (s *source) tracks() {
	s.video = &media.Track{ID: 0, Kind: media.KindVideo, Codec: s.params.Codec, ClockRate: 90000}
	s.audio = &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: 16000}
}

func (s *source) close() {
	for _, a := range s.arenas {
		a.Close()
	}
}

// reconnect begins a new epoch after a time away, on a keyframe.
func (s *source) reconnect(away time.Duration) {
	s.epoch++
	s.tracks()
	s.skip(away)
	s.count = 0
}

// skip lets time pass without frames.
func (s *source) skip(d time.Duration) {
	s.dts += int64(d) * 90000 / int64(time.Second)
	s.soundDTS += int64(d) * 16000 / int64(time.Second)
}

func (s *source) frame(arena *media.Arena, payload []byte) *media.Frame {
	arena.Begin()
	if err := arena.Append(payload); err != nil {
		s.t.Fatal(err)
	}
	f, err := arena.Finish()
	if err != nil {
		s.t.Fatal(err)
	}
	s.seq++
	f.Seq, f.Epoch = s.seq, s.epoch
	return f
}

// picture makes the next picture, and the sound up to it.
func (s *source) picture() {
	for s.sound != nil && s.soundDTS*90000/16000 <= s.dts {
		s.soundFrame(false)
	}
	n := s.bytes
	payload := make([]byte, 4+n)
	payload[2], payload[3], payload[4] = byte(n>>8), byte(n), 0x41
	f := s.frame(s.arenas[0], payload)
	f.Track, f.Params, f.PTS, f.DTS, f.Lost = s.video, s.params, s.dts, s.dts, s.lost
	f.Keyframe = s.count%s.gop == 0
	f.Entry = f.Keyframe
	f.Wall = zero.Add(s.video.Duration(s.dts) + s.drift)
	s.lost = 0
	s.count++
	s.dts += s.frameTicks
	s.out(f)
}

func (s *source) soundFrame(entry bool) {
	f := s.frame(s.arenas[1], bytes.Repeat([]byte{0x21}, 64))
	f.Track, f.Params, f.PTS, f.DTS = s.audio, s.sound, s.soundDTS, s.soundDTS
	f.Keyframe, f.Entry = true, entry
	f.Wall = zero.Add(s.audio.Duration(s.soundDTS))
	s.soundDTS += 1024
	s.out(f)
}

func (s *source) pictures(n int) {
	for range n {
		s.picture()
	}
}

func (s *source) gops(n int) { s.pictures(n * s.gop) }

// A rig is a source and a muxer without goroutines: what the source makes is
// published before the call returns.
type rig struct {
	*source
	t        testing.TB
	config   Config
	muxer    *Muxer
	pipeline *pipeline
	camera   *Camera
	handler  http.Handler
	line     *line // to the handler; nil: it is called
	missed   uint64
	clock    testClock
	checker  *conform.Checker // of whole segments
	live     *conform.Checker // of parts
	watching bool
}

// A testClock is set by the test and read by handlers on goroutines of their own.
type testClock struct{ nanoseconds atomic.Int64 }

func (c *testClock) now() time.Time { return time.Unix(0, c.nanoseconds.Load()).UTC() }

func (c *testClock) set(at time.Time) { c.nanoseconds.Store(at.UnixNano()) }

const rigEpoch = 1_790_000_000_000

func newRig(t testing.TB, config Config) *rig {
	t.Helper()
	if config.Files == nil {
		config.Files = filesOfWay()
	}
	r := &rig{t: t, checker: conform.New(), live: conform.New(), watching: true}
	r.clock.set(zero)
	config.Now = r.clock.now
	config.Epochs = &clockEpochs{now: r.clock.now}
	config, err := config.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	r.config = config
	pool := media.NewPool()
	r.source = newSource(t, pool, func(f *media.Frame) {
		if at := zero.Add(f.Track.Duration(f.DTS)); at.After(r.clock.now()) {
			r.clock.set(at)
		}
		r.pipeline.feed(f)
		r.pipeline.segmenter.push(ring.Item{Frame: f, Missed: r.missed})
		r.missed = 0
		r.publish()
	})
	r.camera = newCamera("door", &r.config, func() {})
	r.muxer = newMuxer("main", nil, &r.config, r.camera)
	r.camera.muxers.Store(&[]*Muxer{r.muxer})
	r.start(rigEpoch)
	r.handler = NewHandler(lookup{"door": r.camera, "new": newCamera("new", &r.config, func() {}), "off": nil}, config.Now)
	t.Cleanup(func() {
		r.pipeline.end()
		r.source.close()
		if n := r.muxer.held.Load(); n != 0 {
			t.Errorf("%d bytes are still held", n)
		}
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
		for _, v := range r.checker.Violations() {
			t.Errorf("playlist: %s", v)
		}
		if r.checker.Short > 0 && r.live.Loads == 0 {
			t.Errorf("%d segments of less than half a second before a discontinuity", r.checker.Short)
		}
		for _, v := range r.live.Violations() {
			t.Errorf("playlist with parts: %s", v)
		}
	})
	r.line = way(t, r.handler) // it ends before the rig does
	return r
}

// publish does what the muxer's goroutine does behind each frame.
func (r *rig) publish() {
	before := r.muxer.published.Load()
	segments := r.pipeline.publish()
	now := r.muxer.published.Load()
	if segments && r.watching {
		r.checker.Watch(now.media.plain.data)
	}
	if now.live != nil && now.live != before.live {
		r.muxer.want(r.clock.now())
		r.live.Watch(now.live.full.plain.data)
	}
}

// goLive does what the muxer's goroutine does when somebody asks for low latency.
func (r *rig) goLive() {
	r.camera.want(r.clock.now())
	<-r.muxer.wake
	r.pipeline.goLive()
	r.publish()
}

// livePlaylist is the playlist with parts as it is.
func (r *rig) livePlaylist() *conform.Playlist {
	r.t.Helper()
	p, err := conform.Parse(r.muxer.published.Load().live.full.plain.data)
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// start begins a run, as after a restart of the server.
func (r *rig) start(epoch int64) {
	if r.pipeline != nil {
		r.pipeline.end()
	}
	r.camera.periods = newPeriods("door", &r.config)
	if err := r.camera.periods.open(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	r.pipeline = newPipeline(r.muxer, numbers{epoch: epoch, sequence: sequenceOf(epoch)})
}

type lookup map[string]*Camera

func (l lookup) Lookup(camera string) (*Camera, bool) {
	c, known := l[camera]
	return c, known
}

// Await implements Cameras: nothing is waited for.
func (l lookup) Await(string) (*Place, bool) { return nil, false }

func (r *rig) get(path string, headers ...string) *http.Response {
	return r.do(http.MethodGet, path, headers...)
}

func (r *rig) do(method, path string, headers ...string) *http.Response {
	r.t.Helper()
	request := httptest.NewRequest(method, "/hls/"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	if r.line != nil {
		return r.line.do(r.t, request)
	}
	recorder := httptest.NewRecorder()
	r.handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func bodyOf(t testing.TB, response *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (r *rig) playlist() *conform.Playlist {
	r.t.Helper()
	response := r.get("door/main.index.m3u8")
	if response.StatusCode != http.StatusOK {
		r.t.Fatalf("playlist: %s", response.Status)
	}
	p, err := conform.Parse([]byte(bodyOf(r.t, response)))
	if err != nil {
		r.t.Fatal(err)
	}
	return p
}

// durations lists what the playlist lists, in seconds, discontinuities as a bar.
func (r *rig) durations() string {
	var out []string
	for _, s := range r.playlist().Segments {
		if s.Discontinuity {
			out = append(out, "|")
		}
		out = append(out, s.Duration.Round(time.Millisecond).String())
	}
	return strings.Join(out, " ")
}

func (r *rig) dropped(reason DropReason) uint64 { return r.muxer.drops[reason].Load() }
