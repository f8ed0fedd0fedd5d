package archive

import (
	"testing"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

func h265Params() *media.Params {
	return &media.Params{Codec: media.CodecH265, VPS: unhex("40010c01ffff01600000030090000003000003003c959809"),
		SPS: unhex("42010101600000030090000003000003003ca00a080b9f796566924caf016808000003000800000300c840"), PPS: unhex("4401c172b46240"), Width: 320, Height: 180, FPS: 25}
}

func initOf(t testing.TB, params ...*media.Params) []byte {
	t.Helper()
	var tracks []fmp4.Track
	for i, p := range params {
		var codec fmp4.Codec
		var err error
		if p.Codec.Kind() == media.KindVideo {
			codec, err = sample.NewPicture(p)
		} else {
			codec, err = sample.NewSound(&media.Track{ClockRate: 48000}, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		tracks = append(tracks, fmp4.Track{ID: uint32(i + 1), Timescale: 90000, Codec: codec})
	}
	return fmp4.AppendInit(nil, tracks)
}

func inits(t testing.TB) map[string][]byte {
	return map[string][]byte{
		"avc1.64000C,mp4a.40.2": initOf(t, h264Params(), aacParams()),
		"hvc1.1.6.L60.90,fLaC":  initOf(t, h265Params(), &media.Params{Codec: media.CodecFLAC, AudioConfig: flac.AppendStreamInfo(nil, flac.Format{SampleRate: 8000, Channels: 1})}),
		"Opus":                  initOf(t, &media.Params{Codec: media.CodecOpus, Channels: 2}),
	}
}

func TestAFormatIsReadFromTheFileItself(t *testing.T) {
	for want, init := range inits(t) {
		got, err := formatOf(init)
		if err != nil || got.Codecs != want {
			t.Errorf("got %+v, %v, want %s", got, err, want)
		}
	}
	want := index.Format{Codecs: "avc1.64000C", Width: 320, Height: 180, FPS: 25}
	if got, err := formatOf(initOf(t, h264Params())); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzFormatOf(f *testing.F) {
	for _, init := range inits(f) {
		f.Add(init)
	}
	f.Fuzz(func(_ *testing.T, init []byte) {
		_, _ = formatOf(init) // It must not panic.
	})
}
