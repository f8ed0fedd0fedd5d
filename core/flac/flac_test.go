package flac

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

func newEncoder(t testing.TB, f Format) *Encoder {
	t.Helper()
	e, err := NewEncoder(f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// signal makes n values of a function.
func signal(n int, at func(i int) float64) []int16 {
	out := make([]int16, n)
	for i := range out {
		out[i] = int16(max(min(math.Round(at(i)), 32767), -32768))
	}
	return out
}

func random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

// sounds are what a frame may have to hold; of two channels alternating.
func sounds() map[string][]int16 {
	rnd := random(1)
	noise := signal(8192, func(int) float64 { return rnd.NormFloat64() * 9000 })
	sine := signal(8192, func(i int) float64 { return 12000 * math.Sin(float64(i)/17) })
	coarse := slices.Clone(sine)
	for i := range coarse {
		coarse[i] &^= 7
	}
	extremes := make([]int16, 4096)
	for i := range extremes {
		extremes[i] = math.MinInt16
		if i%2 == 0 {
			extremes[i] = math.MaxInt16
		}
	}
	opposed := make([]int16, 4096)
	for i := range opposed {
		opposed[i] = int16(65535 * (i / 2 % 2)) // the difference of the channels needs 17 bits
		if i%2 == 1 {
			opposed[i] = math.MinInt16
		} else if i/2%3 == 0 {
			opposed[i] = math.MaxInt16
		}
	}
	click := make([]int16, 2048)
	click[999] = -32768
	similar := make([]int16, 4096)
	for i := range similar {
		similar[i] = sine[i/2] + int16(i%2*(i%5))
	}
	return map[string][]int16{
		"silence":             make([]int16, 320),
		"one value":           slices.Repeat([]int16{-32768}, 320),
		"one sample":          {5, 6},
		"four samples":        {5, -6, 7, 8, 1, 1, 1, 2},
		"five samples":        {5, -6, 7, 8, 1, 1, 1, 2, 3, 4},
		"noise":               noise,
		"sine":                sine,
		"sine of 13 bits":     coarse,
		"ramp":                signal(1000, func(i int) float64 { return float64(i*60 - 30000) }),
		"extremes":            extremes,
		"opposed channels":    opposed,
		"one click":           click,
		"similar channels":    similar,
		"odd block":           noise[:2*317],
		"prime block of sine": sine[:2*1021],
		"block of 257":        sine[:2*257],
		"largest block":       noise[:8192],
		"quiet noise":         signal(960, func(int) float64 { return rnd.NormFloat64() * 3 }),
		"all but silence":     append(make([]int16, 318), 1, 0),
	}
}

func TestWhatIsEncodedDecodesToTheSameSamples(t *testing.T) {
	for name, samples := range sounds() {
		for _, format := range []Format{{8000, 1}, {16000, 2}, {44100, 1}, {11025, 2}, {48000, 2}, {1, 1}, {65535, 2}} {
			t.Run(name+" at "+strconv.Itoa(format.SampleRate), func(t *testing.T) {
				e := newEncoder(t, format)
				in := samples
				if format.Channels == 1 {
					in = in[:len(in)/2]
				}
				prefix := []byte("before")
				out := e.AppendFrame(slices.Clone(prefix), in)
				if !bytes.HasPrefix(out, prefix) {
					t.Fatal("prefix overwritten")
				}
				frame := out[len(prefix):]
				if got, want := BlockSamples(frame), len(in)/format.Channels; got != want {
					t.Errorf("BlockSamples says %d, want %d", got, want)
				}
				got, err := decodeFrame(frame)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.samples, in) {
					t.Error("other samples")
				}
				if got.used != len(frame) || got.rate != format.SampleRate {
					t.Errorf("%d of %d bytes, %d Hz", got.used, len(frame), got.rate)
				}
				if most := 32 + len(in)*17/8; len(frame) > most {
					t.Errorf("%d bytes, and samples as they are take %d", len(frame), most)
				}
			})
		}
	}
}

func TestFramesAreNumberedByTheirFirstSample(t *testing.T) {
	e := newEncoder(t, Format{8000, 1})
	for _, start := range []uint64{0, 127, 128, 0x7ff, 0x800, 0xffff, 0x10000, 0x1fffff, 0x200000, 0x3ffffff, 0x4000000, 0x7fffffff, 0x80000000, numberMask - 9} {
		e.next = start
		for i, want := range []uint64{start, (start + 10) & numberMask} {
			got, err := decodeFrame(e.AppendFrame(nil, make([]int16, 10)))
			if err != nil {
				t.Fatal(err)
			}
			if got.number != want {
				t.Errorf("from %d: frame %d has number %d, want %d", start, i, got.number, want)
			}
		}
	}
}

func TestSoundOfGoodShapeBecomesSmall(t *testing.T) {
	for _, c := range []struct {
		name    string
		percent int
	}{{"silence", 5}, {"sine", 40}, {"sine of 13 bits", 40}, {"ramp", 10}, {"one click", 20}, {"similar channels", 45}} {
		format := Format{8000, 1}
		samples := sounds()[c.name]
		if c.name == "similar channels" {
			format.Channels = 2
		}
		samples = samples[:min(len(samples), MaxBlock*format.Channels)]
		got := len(newEncoder(t, format).AppendFrame(nil, samples))
		if got*100 > len(samples)*2*c.percent {
			t.Errorf("%s: %d bytes of %d", c.name, got, len(samples)*2)
		}
	}
}

func TestStreamInfoSaysWhatTheStreamIs(t *testing.T) {
	for _, format := range []Format{{8000, 1}, {44100, 2}, {65535, 1}} {
		block := AppendStreamInfo([]byte("x"), format)[1:]
		if len(block) != StreamInfoBytes {
			t.Fatalf("%d bytes", len(block))
		}
		got, err := ReadStreamInfo(block)
		if err != nil || got != format {
			t.Errorf("read %+v, %v; want %+v", got, err, format)
		}
	}
	for name, block := range map[string][]byte{
		"empty": nil, "short": make([]byte, 33), "of zeros": make([]byte, 34),
		"six channels": AppendStreamInfo(nil, Format{8000, 6}),
	} {
		if _, err := ReadStreamInfo(block); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, format := range []Format{{0, 1}, {8000, 0}, {8000, 3}, {96000, 1}} {
		if _, err := NewEncoder(format); err == nil {
			t.Errorf("%+v: no error", format)
		}
	}
}

func TestFFmpegDecodesTheSameSamples(t *testing.T) {
	rnd := random(2)
	for _, format := range []Format{{8000, 1}, {16000, 1}, {44100, 2}, {11025, 2}} {
		e := newEncoder(t, format)
		file := append([]byte("fLaC"), 0x80, 0, 0, StreamInfoBytes)
		file = AppendStreamInfo(file, format)
		var want []byte
		for _, name := range []string{"sine", "noise", "silence", "sine of 13 bits", "similar channels", "one click", "opposed channels", "block of 257"} {
			samples := sounds()[name]
			for len(samples) > 0 {
				n := min(len(samples), format.Channels*(16+rnd.IntN(MaxBlock-16)))
				file = e.AppendFrame(file, samples[:n])
				for _, v := range samples[:n] {
					want = binary.LittleEndian.AppendUint16(want, uint16(v))
				}
				samples = samples[n:]
			}
		}
		path := filepath.Join(t.TempDir(), "a.flac")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "ffmpeg", "-v", "warning", "-err_detect", "explode", "-xerror", "-i", path, "-f", "s16le", "-c:a", "pcm_s16le", "-")
		var complaints bytes.Buffer
		cmd.Stderr = &complaints
		got, err := cmd.Output()
		if err != nil || complaints.Len() > 0 {
			t.Fatalf("%+v: ffmpeg: %v\n%s", format, err, complaints.String())
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%+v: ffmpeg decodes %d bytes, and others than the %d that went in", format, len(got), len(want))
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint16(8000), false)
	f.Add(bytes.Repeat([]byte{0, 128, 255, 127}, 300), uint16(44100), true)
	f.Add(make([]byte, 1000), uint16(1), true)
	f.Fuzz(func(t *testing.T, data []byte, rate uint16, stereo bool) {
		format := Format{max(int(rate), 1), 1}
		if stereo {
			format.Channels = 2
		}
		samples := make([]int16, min(len(data)/2, MaxBlock)/format.Channels*format.Channels)
		if len(samples) == 0 {
			return
		}
		for i := range samples {
			samples[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
		}
		e := newEncoder(t, format)
		for range 2 { // what the first left in the encoder must not matter
			got, err := decodeFrame(e.AppendFrame(nil, samples))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.samples, samples) {
				t.Fatal("other samples")
			}
		}
	})
}

func FuzzBlockSamples(f *testing.F) {
	f.Add(newEncoder(f, Format{8000, 1}).AppendFrame(nil, make([]int16, 300)))
	f.Fuzz(func(t *testing.T, frame []byte) {
		if n := BlockSamples(frame); n < 0 || n > 1<<16 {
			t.Fatalf("%d samples", n)
		}
	})
}

// BenchmarkEncoder takes a second of 8 kHz mono in packets of 20 ms, as cameras
// send it. A minute costs 60 times what it reports.
func BenchmarkEncoder(b *testing.B) {
	rnd := random(3)
	speech := signal(8000, func(i int) float64 {
		return 4000*math.Sin(float64(i)/9)*math.Sin(float64(i)/800) + rnd.NormFloat64()*200
	})
	coarse := slices.Clone(speech)
	for i := range coarse {
		coarse[i] &^= 7 // as of A-law
	}
	for name, samples := range map[string][]int16{"16 bits": speech, "13 bits": coarse, "silence": make([]int16, 8000)} {
		b.Run(name, func(b *testing.B) {
			e := newEncoder(b, Format{8000, 1})
			room := make([]byte, 0, 1024)
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				size = 0
				for at := 0; at < len(samples); at += 160 {
					size += len(e.AppendFrame(room, samples[at:at+160]))
				}
			}
			b.ReportMetric(float64(size*8)/1000, "kbit/s")
		})
	}
}
