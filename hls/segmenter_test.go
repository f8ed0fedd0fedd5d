package hls

import (
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
)

func TestSegmentsAreCutAtKeyframesOnly(t *testing.T) {
	for _, c := range []struct {
		name string
		gop  int // pictures of 40 ms
		want string
	}{
		{"a GOP is a segment", 50, "| 2s 2s 2s"},
		{"several short GOPs are a segment", 20, "| 2.4s 2.4s 2.4s"},
		{"a keyframe in each picture", 1, "| 1.92s 1.92s 1.92s"},
		{"a long GOP is a long segment", 300, "| 12s 12s 12s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{})
			r.gop = c.gop
			for r.muxer.segments.Load() < 3 {
				r.picture()
			}
			if got := r.durations(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestKeyframeThatIsALittleEarlyEndsTheSegment(t *testing.T) {
	r := newRig(t, Config{})
	r.frameTicks = 3540 // 50 pictures are 1.967 s
	r.gops(4)
	if got := r.durations(); got != "| 1.967s 1.967s 1.967s" {
		t.Errorf("got %s", got)
	}
}

func TestReconnectIsADiscontinuityWithTheSameMap(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.pictures(25) // one second of an unfinished segment
	r.reconnect(30 * time.Second)
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 1s | 2s 2s" {
		t.Errorf("got %s", got)
	}
	segments := r.playlist().Segments
	if segments[0].MapURI != segments[4].MapURI {
		t.Error("the same parameters have two maps")
	}
	// Wall-clock time passed while the camera was away: 30 s from where the next
	// picture would have been.
	if got := segments[3].ProgramDateTime.Sub(segments[2].ProgramDateTime); got != 31*time.Second {
		t.Errorf("program date moved by %v", got)
	}
}

func TestRestOfLessThanHalfASecondIsDroppedAtADiscontinuity(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.pictures(10)
	r.reconnect(time.Second)
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s | 2s 2s" {
		t.Errorf("got %s", got)
	}
	if got := r.dropped(DropShort); got != 10 {
		t.Errorf("%d frames counted as short, want 10", got)
	}
}

func TestOnlyAChangeOfParametersCuts(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.params = h264Params() // the same again, as cameras repeat them
	r.gops(2)
	before := r.get("door/main.index.m3u8").Header.Get("Etag")
	r.pictures(1)
	r.params = otherH264Params()
	r.count = 0
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "2s 2s 2s | 2s 2s" {
		t.Errorf("got %s", got)
	}
	if after := r.get("door/main.index.m3u8").Header.Get("Etag"); after == before {
		t.Error("a playlist of other content has the same ETag")
	}
	segments := r.playlist().Segments
	if segments[2].MapURI == segments[3].MapURI {
		t.Error("other parameters have the same map")
	}
	for _, s := range []int{2, 3} {
		if got := r.get("door/" + segments[s].MapURI).StatusCode; got != 200 {
			t.Errorf("map %s: %d", segments[s].MapURI, got)
		}
	}
}

func TestPictureWithParametersOutsideAKeyframeWaitsForOne(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(1)
	r.pictures(20)
	r.params = otherH264Params()
	r.pictures(30) // not decodable with the init segment in force
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s | 2s 2s" {
		t.Errorf("got %s", got)
	}
	if got := r.dropped(DropAwaitingKeyframe); got != 30 {
		t.Errorf("%d frames dropped, want 30", got)
	}
}

func TestLossInsideASegmentIsCoveredByThePictureBefore(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(2)
	r.pictures(20)
	r.skipPictures(30)
	r.lost = 12
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 2s 2s 2s" {
		t.Errorf("got %s", got)
	}
}

// skipPictures is what ingest does after a loss: nothing until the next
// keyframe, while sound goes on.
func (s *source) skipPictures(n int) {
	for range n {
		for s.sound != nil && s.soundDTS*90000/16000 <= s.dts {
			s.soundFrame(false)
		}
		s.dts += s.frameTicks
		s.count++
	}
}

func TestLongHoleIsADiscontinuity(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.pictures(20)
	r.skipPictures(130)
	r.lost = 500
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 800ms | 2s 2s" {
		t.Errorf("got %s", got)
	}
}

func TestFramesMissedByTheMuxerAreADiscontinuity(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.pictures(20)
	r.skipPictures(30)
	r.missed = 30
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 800ms | 2s 2s" {
		t.Errorf("got %s", got)
	}
}

func TestFramesMissedThatWereNoneCutNothing(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.missed = 1 // a frame of sound, say
	r.gops(2)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 2s 2s" {
		t.Errorf("got %s", got)
	}
}

func TestSegmentBeyondItsBoundsIsDroppedHonestly(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"in bytes", Config{MaxSegmentBytes: 30_000, MaxWindowBytes: 1 << 20}},
		{"in time", Config{MaxSegmentDuration: 3 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.config)
			r.gops(2)
			r.gop = 100
			r.gops(1)
			r.gop = 50
			r.gops(2)
			r.picture()
			if got := r.durations(); got != "| 2s 2s | 2s 2s" {
				t.Errorf("got %s", got)
			}
			if got := r.dropped(DropOversize) + r.dropped(DropAwaitingKeyframe); got != 100 {
				t.Errorf("%d frames counted, want 100", got)
			}
		})
	}
}

func TestLateSoundDelaysNothingAndJoinsOnce(t *testing.T) {
	r := newRig(t, Config{Window: 10})
	r.gops(3)
	r.sound = aacParams()
	r.soundDTS = r.dts * 16000 / 90000
	r.gops(4)
	r.picture()
	if got := r.durations(); got != "| 2s 2s 2s 2s | 2s 2s 2s" {
		t.Errorf("got %s", got)
	}
	if got := r.muxer.published.Load().variant.codecs; got != "avc1.64000C,mp4a.40.2" {
		t.Errorf("codecs %s", got)
	}
	r.sound = nil
	r.gops(4)
	if got := r.muxer.published.Load().variant.codecs; got != "avc1.64000C" {
		t.Errorf("codecs without sound %s", got)
	}
}

func TestSoundThatCannotBeWrittenIsLeftOut(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0xff}}
	r.gops(3)
	if got := r.muxer.published.Load().variant.codecs; got != "avc1.64000C" {
		t.Errorf("codecs %s", got)
	}
	if r.dropped(DropParameters) == 0 {
		t.Error("nothing counted")
	}
}

func TestPictureThatCannotBeWrittenPublishesNothing(t *testing.T) {
	r := newRig(t, Config{})
	r.params = &media.Params{Codec: media.CodecH264, SPS: []byte{0x67, 1}, PPS: []byte{0x68, 1}}
	r.gops(3)
	if r.muxer.published.Load().media != nil || r.dropped(DropParameters) == 0 {
		t.Error("published, or not counted")
	}
}

func TestSoundAloneIsCutByTime(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	for range 200 { // of 64 ms
		r.soundFrame(true)
	}
	if got := r.durations(); got != "1.92s 1.92s 1.92s 1.92s 1.92s" {
		t.Errorf("got %s", got)
	}
	if got := r.muxer.published.Load().variant; got.codecs != "mp4a.40.2" || got.width != 0 || got.fps != 0 {
		t.Errorf("variant %+v", got)
	}
}

func TestSoundThatOutlivesThePictureIsBounded(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(2)
	for range 4000 { // four minutes of sound, the picture frozen
		r.soundFrame(false)
	}
	if held := r.muxer.held.Load(); held > 400_000 {
		t.Errorf("%d bytes are held", held)
	}
	if r.dropped(DropOversize) == 0 {
		t.Error("nothing counted")
	}
}

func TestTimeThatGoesBackIsDropped(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(1)
	r.pictures(20)
	r.dts -= 10 * 3600
	r.pictures(30)
	r.gops(1)
	if got := r.dropped(DropTimeBackwards); got != 10 {
		t.Errorf("%d frames dropped, want 10", got)
	}
}

func TestSecondTrackOfAKindIsLeftOut(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(1)
	r.video = &media.Track{ID: 3, Kind: media.KindVideo, Codec: media.CodecH264, ClockRate: 90000}
	r.gops(1)
	if got := r.dropped(DropOtherTrack); got != 50 {
		t.Errorf("%d frames dropped, want 50", got)
	}
}
