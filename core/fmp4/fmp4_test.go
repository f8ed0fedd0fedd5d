package fmp4

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/drover-video/drover/core/flac"
)

const (
	high264SPS     = "6764000cacd941419f9f011000000300100000030320f1429960"
	high264PPS     = "68ebe3cb22c0"
	baseline264SPS = "6742c016d900b0126c0840000003004000000603c58b92"
	baseline264PPS = "68cb83cb20"
	main265VPS     = "40010c01ffff01600000030090000003000003003c959809"
	main265SPS     = "42010101600000030090000003000003003ca00a080b9f796566924caf016808000003000800000300c840"
	main265PPS     = "4401c172b46240"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustH264(t testing.TB, sps, pps string) *H264 {
	t.Helper()
	c, err := NewH264(unhex(t, sps), unhex(t, pps))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustH265(t testing.TB) *H265 {
	t.Helper()
	c, err := NewH265(unhex(t, main265VPS), unhex(t, main265SPS), unhex(t, main265PPS))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustAAC(t testing.TB, config ...byte) *AAC {
	t.Helper()
	c, err := NewAAC(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCodecStringsAreExact(t *testing.T) {
	for _, c := range []struct {
		name  string
		codec Codec
		want  string
	}{
		{"h264 high 1.2", mustH264(t, high264SPS, high264PPS), "avc1.64000C"},
		{"h264 constrained baseline 2.2", mustH264(t, baseline264SPS, baseline264PPS), "avc1.42C016"},
		{"h265 main 2.0", mustH265(t), "hvc1.1.6.L60.90"},
		{"aac-lc 44.1 kHz stereo", mustAAC(t, 0x12, 0x10), "mp4a.40.2"},
		{"he-aac 24/48 kHz stereo", mustAAC(t, 0x2b, 0x11, 0x88, 0), "mp4a.40.5"},
		{"he-aac v2 24/48 kHz", mustAAC(t, 0xeb, 0x09, 0x88, 0), "mp4a.40.29"},
		{"opus", mustOpus(t, 2), "Opus"},
		{"flac", mustFLAC(t, flac.Format{SampleRate: 8000, Channels: 1}), "fLaC"},
	} {
		if got := c.codec.CodecString(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestH265CodecStringCountsAllConstraintBytesUpToTheLast(t *testing.T) {
	c := mustH265(t)
	c.ptl = [12]byte{0x62, 0x20, 0, 0, 0, 0xb0, 0, 0x10, 0, 0, 0, 93}
	if got, want := c.CodecString(), "hvc1.A2.4.H93.B0.0.10"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
}

func TestPictureFormComesFromTheParameterSets(t *testing.T) {
	p := mustH264(t, baseline264SPS, baseline264PPS).Picture()
	if p.Width != 704 || p.Height != 576 || p.SARWidth != 12 || p.SARHeight != 11 || p.FPS != 12 {
		t.Errorf("h264: %+v", p)
	}
	if got := p.DisplayWidth(); got != 768 {
		t.Errorf("display width %d, want 768", got)
	}
	p = mustH265(t).Picture()
	if p.Width != 320 || p.Height != 180 || p.SARWidth != p.SARHeight || p.FPS != 25 {
		t.Errorf("h265: %+v", p)
	}
}

func TestInitSegmentIsReadBackByAnIndependentParser(t *testing.T) {
	tracks := []Track{
		{ID: 1, Timescale: 90000, Codec: mustH264(t, baseline264SPS, baseline264PPS)},
		{ID: 2, Timescale: 90000, Codec: mustH265(t)},
		{ID: 3, Timescale: 44100, Codec: mustAAC(t, 0x12, 0x10)},
	}
	out := AppendInit([]byte("prefix"), tracks)
	if !bytes.HasPrefix(out, []byte("prefix")) {
		t.Fatal("prefix overwritten")
	}
	file, err := mp4.DecodeFile(bytes.NewReader(out[len("prefix"):]))
	if err != nil {
		t.Fatal(err)
	}
	moov := file.Init.Moov
	if len(moov.Traks) != 3 || len(moov.Mvex.Trexs) != 3 {
		t.Fatalf("%d tracks, %d trex", len(moov.Traks), len(moov.Mvex.Trexs))
	}
	avc := moov.Traks[0].Mdia.Minf.Stbl.Stsd.AvcX
	if avc == nil || avc.Type() != "avc1" || avc.Width != 704 || avc.Height != 576 {
		t.Fatalf("avc1: %+v", avc)
	}
	if !bytes.Equal(avc.AvcC.SPSnalus[0], unhex(t, baseline264SPS)) || !bytes.Equal(avc.AvcC.PPSnalus[0], unhex(t, baseline264PPS)) {
		t.Error("avcC holds other parameter sets")
	}
	if avc.Pasp == nil || avc.Pasp.HSpacing != 12 || avc.Pasp.VSpacing != 11 {
		t.Errorf("pasp: %+v", avc.Pasp)
	}
	if w := moov.Traks[0].Tkhd.Width >> 16; w != 768 {
		t.Errorf("tkhd width %d, want 768", w)
	}
	hevc := moov.Traks[1].Mdia.Minf.Stbl.Stsd.HvcX
	if hevc == nil || hevc.Type() != "hvc1" || hevc.Width != 320 || hevc.Height != 180 {
		t.Fatalf("hvc1: %+v", hevc)
	}
	config := hevc.HvcC.DecConfRec
	if config.GeneralProfileIDC != 1 || config.GeneralLevelIDC != 60 || config.LengthSizeMinusOne != 3 ||
		config.ChromaFormatIDC != 1 || config.NumTemporalLayers != 1 || config.TemporalIDNested != 1 || len(config.NaluArrays) != 3 {
		t.Errorf("hvcC: %+v", config)
	}
	for i, want := range []string{main265VPS, main265SPS, main265PPS} {
		array := config.NaluArrays[i]
		if array.Complete() != 1 || len(array.Nalus) != 1 || !bytes.Equal(array.Nalus[0], unhex(t, want)) {
			t.Errorf("hvcC array %d: %+v", i, array)
		}
	}
	mp4a := moov.Traks[2].Mdia.Minf.Stbl.Stsd.Mp4a
	if mp4a == nil || mp4a.SampleRate != 44100 || mp4a.ChannelCount != 2 {
		t.Fatalf("mp4a: %+v", mp4a)
	}
	if got := mp4a.Esds.DecConfigDescriptor.DecSpecificInfo.DecConfig; !bytes.Equal(got, []byte{0x12, 0x10}) {
		t.Errorf("esds config % x", got)
	}
}

func TestHighProfileConfigNamesChromaAndDepth(t *testing.T) {
	out := AppendInit(nil, []Track{{ID: 1, Timescale: 90000, Codec: mustH264(t, high264SPS, high264PPS)}})
	file, err := mp4.DecodeFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	c := file.Init.Moov.Trak.Mdia.Minf.Stbl.Stsd.AvcX.AvcC
	if c.NoTrailingInfo || c.ChromaFormat != 1 || c.BitDepthLumaMinus1 != 0 {
		t.Fatalf("avcC: %+v", c)
	}
}

func TestMalformedParameterSetsAreErrors(t *testing.T) {
	sps, pps := unhex(t, high264SPS), unhex(t, high264PPS)
	for name, f := range map[string]func() error{
		"no pps":        func() error { _, err := NewH264(sps); return err },
		"empty sps":     func() error { _, err := NewH264(nil, pps); return err },
		"pps for sps":   func() error { _, err := NewH264(pps, pps); return err },
		"cut sps":       func() error { _, err := NewH264(sps[:6], pps); return err },
		"long pps":      func() error { _, err := NewH264(sps, append([]byte{0x68}, make([]byte, 70000)...)); return err },
		"h265 of h264":  func() error { _, err := NewH265(sps, sps, pps); return err },
		"aac nothing":   func() error { _, err := NewAAC(nil); return err },
		"aac one byte":  func() error { _, err := NewAAC([]byte{0x12}); return err },
		"aac main type": func() error { _, err := NewAAC([]byte{0x0a, 0x10}); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzParameterSets(f *testing.F) {
	f.Add(unhex(f, high264SPS), unhex(f, high264PPS), []byte{0x12, 0x10})
	f.Add(unhex(f, main265SPS), unhex(f, main265PPS), []byte{0xeb, 0x09, 0x88, 0})
	f.Fuzz(func(t *testing.T, sps, pps, config []byte) {
		if c, err := NewH264(sps, pps); err == nil {
			AppendInit(nil, []Track{{ID: 1, Timescale: 90000, Codec: c}})
			c.CodecString()
		}
		if c, err := NewH265(unhex(t, main265VPS), sps, pps); err == nil {
			AppendInit(nil, []Track{{ID: 1, Timescale: 90000, Codec: c}})
			c.CodecString()
		}
		if c, err := NewAAC(config); err == nil {
			AppendInit(nil, []Track{{ID: 1, Timescale: 48000, Codec: c}})
			c.CodecString()
		}
	})
}
