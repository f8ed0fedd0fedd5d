package hls

import (
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
)

func TestACameraOfWhichNothingCanBeShownSaysWhy(t *testing.T) {
	changing := func(r *rig) {
		for i := range 600 {
			r.params = []*media.Params{otherH264Params(), h264Params()}[i%2]
			r.count = 0
			r.picture()
		}
	}
	for _, c := range []struct {
		name string
		run  func(r *rig)
		want string
	}{
		{"all is well", func(r *rig) { r.gops(20) }, ""},
		{"a GOP of a minute", func(r *rig) { r.gop = 1500; r.pictures(1400) }, ""},
		{"no keyframe but the first", func(r *rig) { r.gop = 1e9; r.pictures(130 * 25) }, "keyframe interval"},
		{"another size with each picture", changing, "parameters of the picture change"},
		{"another size with each picture, with low latency", func(r *rig) {
			r.pictures(5)
			r.goLive()
			changing(r)
		}, "parameters of the picture change"},
		{"sound alone where a picture was offered", func(r *rig) {
			r.sound = aacParams()
			for range 300 {
				r.soundFrame(false)
			}
		}, "sound comes, and no picture"},
		{"parameters that are nonsense", func(r *rig) {
			r.params = &media.Params{Codec: media.CodecH264, SPS: []byte{1}, PPS: []byte{2}}
			r.gops(12)
		}, "cannot be written"},
		{"MJPEG", func(r *rig) {
			r.params = &media.Params{Codec: media.CodecJPEG}
			r.tracks()
			r.gop = 1
			r.pictures(500)
		}, "MJPEG"},
		{"what is lost again and again", func(r *rig) {
			r.pictures(1)
			for range 600 {
				r.lost = 1
				r.count = 1
				r.picture()
			}
		}, "no keyframe comes that is whole"},
		{"what was wrong and is not any more", func(r *rig) {
			changing(r)
			r.count = 0
			r.gops(3)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{})
			c.run(r)
			hub := newHub(t, Config{})
			hub.cameras["door"] = r.camera
			got := hub.Troubles("door")["main"]
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want something of %q", got, c.want)
			}
		})
	}
}

func TestNumbersDoNotOvertakeTheClockHoweverOftenAStreamBreaks(t *testing.T) {
	r := newRig(t, Config{})
	r.pictures(5)
	r.goLive()
	for i := range 25 * 60 {
		r.params = []*media.Params{otherH264Params(), h264Params()}[i%2]
		r.count = 0
		r.pictures(1)
		if i%100 == 0 {
			r.gops(1)
		}
	}
	used, clock := r.pipeline.window.next, sequenceOf(rigEpoch)+uint64(r.clock.now().Sub(zero)/(250*time.Millisecond))
	if used > clock+mostAhead+1 {
		t.Errorf("number %d is used, and a run that began now would begin at %d", used, clock)
	}
	// A stream that breaks a little more often than may be, with parts of each piece.
	r.frameTicks = 3600
	for i := range 25 * 20 {
		r.params = []*media.Params{otherH264Params(), h264Params()}[i%2]
		r.count = 0
		r.pictures(6)
	}
	used, clock = r.pipeline.window.next, sequenceOf(rigEpoch)+uint64(r.clock.now().Sub(zero)/(250*time.Millisecond))
	if used > clock+mostAhead+1 {
		t.Errorf("number %d is used, and a run that began now would begin at %d", used, clock)
	}
}
