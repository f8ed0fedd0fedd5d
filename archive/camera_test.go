package archive

import (
	"bytes"
	"encoding/hex"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// Parameter sets as x264 writes them.
func h264Params() *media.Params {
	return &media.Params{Codec: media.CodecH264, SPS: unhex("6764000cacd941419f9f011000000300100000030320f1429960"), PPS: unhex("68ebe3cb22c0"), Width: 320, Height: 180, FPS: 25}
}

func otherH264Params() *media.Params {
	return &media.Params{Codec: media.CodecH264, SPS: unhex("6742c016d900b0126c0840000003004000000603c58b92"), PPS: unhex("68cb83cb20"), Width: 704, Height: 576, FPS: 12}
}

func aacParams() *media.Params {
	return &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x14, 0x08}, SampleRate: 16000, Channels: 1}
}

// zero is when the tests' cameras begin, at which minutes begin for a stagger of 0.
var zero = time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)

// A fakeCamera makes frames, in real pooled memory.
type fakeCamera struct {
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
	made     [2]int // pictures, frames of sound
}

func newFakeCamera(t testing.TB, pool *media.Pool, out func(*media.Frame)) *fakeCamera {
	s := &fakeCamera{t: t, pool: pool, out: out, params: h264Params(), frameTicks: 3600, gop: 50, bytes: 400, epoch: 1}
	s.arenas = [2]*media.Arena{media.NewArena(pool, 64<<10), media.NewArena(pool, 16<<10)}
	s.tracks()
	t.Cleanup(func() { s.arenas[0].Close(); s.arenas[1].Close() })
	return s
}

func (s *fakeCamera) tracks() {
	s.video = &media.Track{ID: 0, Kind: media.KindVideo, Codec: s.params.Codec, ClockRate: 90000}
	s.audio = &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: 16000}
}

// reconnect begins a new epoch after a time away, on a keyframe.
func (s *fakeCamera) reconnect(away time.Duration) {
	s.epoch++
	s.tracks()
	s.skip(away)
	s.count = 0
}

// skip lets time pass without frames.
func (s *fakeCamera) skip(d time.Duration) {
	s.dts += int64(d) * 90000 / int64(time.Second)
	s.soundDTS += int64(d) * 16000 / int64(time.Second)
}

// lose loses pictures of so much time: the next one is a keyframe that says so.
func (s *fakeCamera) lose(d time.Duration) {
	s.skip(d)
	s.lost, s.count = 7, 0
}

func (s *fakeCamera) frame(arena *media.Arena, payload []byte) *media.Frame {
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
func (s *fakeCamera) picture() {
	for s.sound != nil && s.soundDTS*90000/16000 <= s.dts {
		s.soundFrame(false)
	}
	payload := make([]byte, 4+s.bytes)
	payload[2], payload[3], payload[4] = byte(s.bytes>>8), byte(s.bytes), 0x41
	f := s.frame(s.arenas[0], payload)
	f.Track, f.Params, f.PTS, f.DTS, f.Lost = s.video, s.params, s.dts, s.dts, s.lost
	f.Keyframe = s.count%s.gop == 0
	f.Entry = f.Keyframe
	f.Wall = zero.Add(s.video.Duration(s.dts) + s.drift)
	s.lost = 0
	s.count++
	s.made[0]++
	s.dts += s.frameTicks
	s.out(f)
}

func (s *fakeCamera) soundFrame(entry bool) {
	f := s.frame(s.arenas[1], bytes.Repeat([]byte{0x21}, 64))
	f.Track, f.Params, f.PTS, f.DTS = s.audio, s.sound, s.soundDTS, s.soundDTS
	f.Keyframe, f.Entry = true, entry
	f.Wall = zero.Add(s.audio.Duration(s.soundDTS))
	s.made[1]++
	s.soundDTS += 1024
	s.out(f)
}

func (s *fakeCamera) pictures(n int) {
	for range n {
		s.picture()
	}
}

func (s *fakeCamera) gops(n int) { s.pictures(n * s.gop) }
