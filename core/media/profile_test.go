package media

import (
	"encoding/hex"
	"testing"
)

func TestProfiles(t *testing.T) {
	cases := []struct {
		name   string
		codec  Codec
		sps    string
		config string
		want   string
	}{
		{"H.264 High", CodecH264, "6764001eacb405017fcb80880000030008000003019078b175", "", "High 3.0"},
		{"H.264 Constrained Baseline", CodecH264, "6742c01fda014016", "", "Constrained Baseline 3.1"},
		{"H.264 Main", CodecH264, "674d4028", "", "Main 4.0"},
		{"H.264 unheard of", CodecH264, "67030028", "", "profile 3 4.0"},
		{"H.264 cut", CodecH264, "6764", "", ""},
		{"H.265 Main, emulation bytes in between", CodecH265, "42010101600000030090000003000003003fa005020171f2e595952930bc05a02000000300200000030321", "", "Main 2.1"},
		{"H.265 cut", CodecH265, "4201010160", "", ""},
		{"AAC-LC", CodecAAC, "", "1408", "AAC-LC"},
		{"HE-AAC", CodecAAC, "", "2b8a0800", "HE-AAC"},
		{"AAC without configuration", CodecAAC, "", "", ""},
		{"JPEG", CodecJPEG, "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sps, err := hex.DecodeString(c.sps)
			if err != nil {
				t.Fatal(err)
			}
			config, err := hex.DecodeString(c.config)
			if err != nil {
				t.Fatal(err)
			}
			p := Params{Codec: c.codec, SPS: sps, AudioConfig: config}
			if got := p.Profile(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzProfile(f *testing.F) {
	f.Add([]byte{0x42, 1, 1, 1, 0x60, 0, 0, 3})
	f.Fuzz(func(_ *testing.T, data []byte) {
		for _, codec := range []Codec{CodecH264, CodecH265, CodecAAC} {
			p := Params{Codec: codec, SPS: data, AudioConfig: data}
			p.Profile()
		}
	})
}
