package hls

import (
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// A clipSource plays real clips into a ring, as fast as the muxer reads.
type clipSource struct {
	t      testing.TB
	ring   *ring.Ring
	arenas [2]*media.Arena
	sound  bool
	epoch  uint64
	tick   int64 // pictures so far, over clips
	frames int64 // of sound so far

	due func() bool // waits until a picture is due; false ends it; nil: all are
}

func newClipSource(t testing.TB, pool *media.Pool, r *ring.Ring, sound bool) *clipSource {
	return &clipSource{t: t, ring: r, sound: sound, epoch: 1,
		arenas: [2]*media.Arena{media.NewArena(pool, 64<<10), media.NewArena(pool, 16<<10)}}
}

func (c *clipSource) close() {
	for _, a := range c.arenas {
		a.Close()
	}
}

func clipParams(clip *rtsptest.Clip) *media.Params {
	p := &media.Params{Codec: media.Codec(clip.Codec)}
	switch sets := clip.Parameters; clip.Codec {
	case rtsptest.H264:
		p.SPS, p.PPS = sets[0], sets[1]
	default:
		p.VPS, p.SPS, p.PPS = sets[0], sets[1], sets[2]
	}
	return p
}

// play writes rounds of a clip.
func (c *clipSource) play(clip *rtsptest.Clip, rounds int) {
	c.t.Helper()
	video := &media.Track{ID: 0, Kind: media.KindVideo, Codec: media.Codec(clip.Codec), ClockRate: 90000}
	audio := &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: 16000}
	params := clipParams(clip)
	sound := &media.Params{Codec: media.CodecAAC, AudioConfig: clip.AACConfig, SampleRate: 16000, Channels: 1}
	ahead := int64(0) // how much a picture is decoded before it is shown
	for i, p := range clip.Pictures {
		ahead = max(ahead, int64(i)*3600-p.PTS)
	}
	for range rounds {
		first := c.tick
		for _, p := range clip.Pictures {
			if c.due != nil && !c.due() {
				return
			}
			dts := c.tick * 3600
			c.tick++
			f := c.frame(c.arenas[0], func(a *media.Arena) error {
				for _, nal := range p.NALUs {
					at, err := a.AppendLength()
					if err != nil {
						return err
					}
					if err := a.Append(nal); err != nil {
						return err
					}
					a.SetLength(at)
				}
				return nil
			})
			f.Track, f.Params = video, params
			f.DTS, f.PTS = dts, first*3600+p.PTS+ahead
			f.Keyframe, f.Entry = p.Keyframe, p.Keyframe
			f.Wall = zero.Add(video.Duration(f.PTS))
			c.write(f)
			for c.sound && c.frames*1024*90000/16000 <= dts {
				f := c.frame(c.arenas[1], func(a *media.Arena) error { return a.Append(clip.AAC[c.frames%int64(len(clip.AAC))]) })
				f.Track, f.Params, f.Keyframe = audio, sound, true
				f.DTS = c.frames * 1024
				f.PTS = f.DTS
				f.Wall = zero.Add(audio.Duration(f.PTS))
				c.frames++
				c.write(f)
			}
		}
	}
}

func (c *clipSource) frame(a *media.Arena, fill func(*media.Arena) error) *media.Frame {
	c.t.Helper()
	a.Begin()
	if err := fill(a); err != nil {
		c.t.Fatal(err)
	}
	f, err := a.Finish()
	if err != nil {
		c.t.Fatal(err)
	}
	f.Epoch = c.epoch
	return f
}

// write waits until the muxer has room: a camera does not write as fast as this.
func (c *clipSource) write(f *media.Frame) {
	c.t.Helper()
	await(c.t, func() bool {
		for _, s := range c.ring.Subscribers() {
			if s.Behind > 200 {
				return false
			}
		}
		return true
	})
	c.ring.Write(f)
}

// await returns when the condition holds.
func await(t testing.TB, condition func() bool) {
	t.Helper()
	if condition() {
		return
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	timeout := time.After(time.Minute)
	for !condition() {
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatal("what is awaited did not come in a minute")
		}
	}
}

func loadClip(t testing.TB, name string) *rtsptest.Clip {
	t.Helper()
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return clip
}
