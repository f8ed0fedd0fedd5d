package sample_test

import (
	"testing"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

func TestFramesOfSoundLastAsLongAsTheirCodecSays(t *testing.T) {
	for name, c := range map[string]struct {
		rate   int
		params media.Params
		frame  []byte
		want   int64
	}{
		"AAC of 16 kHz":            {16000, media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x14, 0x08}}, []byte{1}, 1024},
		"Opus of 20 ms":            {48000, media.Params{Codec: media.CodecOpus, Channels: 1}, []byte{0x08, 0}, 960},
		"nothing that Opus packed": {48000, media.Params{Codec: media.CodecOpus, Channels: 1}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sound, err := sample.NewSound(&media.Track{Kind: media.KindAudio, ClockRate: c.rate}, &c.params)
			if err != nil {
				t.Fatal(err)
			}
			if got := sound.Ticks(c.frame); got != c.want {
				t.Errorf("got %d ticks, want %d", got, c.want)
			}
		})
	}
}

func TestFLACOfAClockThatIsNotItsRateLastsInTheClock(t *testing.T) {
	format := flac.Format{SampleRate: 16000, Channels: 1} // G.722: a clock of 8 kHz
	params := &media.Params{Codec: media.CodecFLAC, AudioConfig: flac.AppendStreamInfo(nil, format)}
	sound, err := sample.NewSound(&media.Track{Kind: media.KindAudio, ClockRate: 8000}, params)
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := flac.NewEncoder(format)
	if err != nil {
		t.Fatal(err)
	}
	if got := sound.Ticks(encoder.AppendFrame(nil, make([]int16, 640))); got != 320 {
		t.Errorf("got %d ticks, want 320", got)
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	track := &media.Track{Kind: media.KindAudio, ClockRate: 8000}
	for name, p := range map[string]*media.Params{
		"no parameters":     nil,
		"a picture's codec": {Codec: media.CodecJPEG},
		"damaged AAC":       {Codec: media.CodecAAC},
		"damaged FLAC":      {Codec: media.CodecFLAC, AudioConfig: []byte{1}},
		"many channels":     {Codec: media.CodecOpus, Channels: 9},
	} {
		if _, err := sample.NewSound(track, p); err == nil {
			t.Errorf("%s: sound was made of it", name)
		}
		if _, err := sample.NewPicture(p); err == nil {
			t.Errorf("%s: a picture was made of it", name)
		}
	}
}

func TestParametersAreComparedByWhatIsWrittenOfThem(t *testing.T) {
	a := &media.Params{Codec: media.CodecH264, SPS: []byte{1}, PPS: []byte{2}, FPS: 25}
	b := &media.Params{Codec: media.CodecH264, SPS: []byte{1}, PPS: []byte{2}}
	if !sample.SameParams(a, b) {
		t.Error("the frame rate makes a difference, and is not written")
	}
	b.PPS = []byte{3}
	if sample.SameParams(a, b) || sample.SameParams(a, nil) || !sample.SameParams(nil, nil) {
		t.Error("parameters that differ are the same, or none are not")
	}
}
