package pcm

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// ffmpeg runs it on input and returns what it writes.
func ffmpeg(t *testing.T, input []byte, args ...string) []byte {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(in, input, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		if arg == "IN" {
			args[i] = in
		}
	}
	cmd := exec.CommandContext(t.Context(), "ffmpeg", append([]string{"-v", "error"}, args...)...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("ffmpeg %v: %v\n%s", args, err, complaints.String())
	}
	return out
}

func samplesOf(data []byte) []int16 {
	var out []int16
	for ; len(data) >= 2; data = data[2:] {
		out = append(out, int16(binary.LittleEndian.Uint16(data)))
	}
	return out
}

func allCodes() []byte {
	codes := make([]byte, 256)
	for i := range codes {
		codes[i] = byte(i)
	}
	return codes
}

func TestEveryCodeOfG711DecodesAsByFFmpeg(t *testing.T) {
	for format, decode := range map[string]func([]int16, []byte) []int16{"alaw": AppendALaw, "mulaw": AppendMuLaw} {
		want := samplesOf(ffmpeg(t, allCodes(), "-f", format, "-ar", "8000", "-i", "IN", "-f", "s16le", "-"))
		got := decode([]int16{7}, allCodes())
		if got[0] != 7 {
			t.Errorf("%s: prefix overwritten", format)
		}
		if !slices.Equal(got[1:], want) {
			t.Errorf("%s: got %v, want %v", format, got[1:], want)
		}
	}
}

func TestL16IsInNetworkOrder(t *testing.T) {
	got := AppendL16([]int16{7}, []byte{0, 1, 0xff, 0xfe, 0x80, 0, 5})
	if want := []int16{7, 1, -2, -32768}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// g722Streams are codes as an encoder makes them of sounds, and codes at random,
// which drive the decoder into all its limits.
func g722Streams(t *testing.T) map[string][]byte {
	encoded := func(source string) []byte {
		return ffmpeg(t, nil, "-f", "lavfi", "-i", source, "-t", "4", "-ar", "16000", "-ac", "1", "-c:a", "g722", "-f", "g722", "-")
	}
	random := make([]byte, 64000)
	state := uint32(1)
	for i := range random {
		state = state*1664525 + 1013904223
		random[i] = byte(state >> 24)
	}
	return map[string][]byte{
		"sine":    encoded("sine=f=1000:r=16000"),
		"chirp":   encoded("aevalsrc='0.9*sin(2*PI*t*900*t)':s=16000"),
		"noise":   encoded("anoisesrc=r=16000:a=0.8"),
		"silence": encoded("anullsrc=r=16000"),
		"random":  random,
	}
}

func TestG722DecodesAsByFFmpegBitForBit(t *testing.T) {
	for name, codes := range g722Streams(t) {
		want := samplesOf(ffmpeg(t, codes, "-f", "g722", "-i", "IN", "-f", "s16le", "-"))
		var decoder G722
		var got []int16
		for rest := codes; len(rest) > 0; { // in packets
			n := min(len(rest), 160)
			got = decoder.Append(got, rest[:n])
			rest = rest[n:]
		}
		if len(got) != 2*len(codes) || len(want) != len(got) {
			t.Fatalf("%s: %d samples, ffmpeg has %d, want two for each of %d bytes", name, len(got), len(want), len(codes))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: sample %d is %d, ffmpeg says %d", name, i, got[i], want[i])
				break
			}
		}
	}
}

func FuzzG722(f *testing.F) {
	f.Add(allCodes())
	f.Fuzz(func(t *testing.T, codes []byte) {
		var decoder G722
		if got := decoder.Append(nil, codes); len(got) != 2*len(codes) {
			t.Fatalf("%d samples of %d bytes", len(got), len(codes))
		}
		for _, b := range []*band{&decoder.low, &decoder.high} {
			if b.s != clamp16(b.s) || b.a[1] != clamp(b.a[1], 12288) {
				t.Fatalf("predictor out of its bounds: %+v", b)
			}
		}
	})
}

// Benchmarks decode a second of sound. A minute costs 60 times what they report.
func BenchmarkSecond(b *testing.B) {
	room := make([]int16, 0, 16000)
	codes := bytes.Repeat(allCodes(), 32)[:8000]
	var g722 G722
	for name, decode := range map[string]func([]int16, []byte) []int16{"alaw": AppendALaw, "g722": g722.Append} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				decode(room, codes)
			}
		})
	}
}
