package fmp4

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/drover-video/drover/core/flac"
)

func mustFLAC(t testing.TB, format flac.Format) *FLAC {
	t.Helper()
	c, err := NewFLAC(flac.AppendStreamInfo(nil, format))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustOpus(t testing.TB, channels int) *Opus {
	t.Helper()
	c, err := NewOpus(channels)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ffmpeg runs a tool of its and returns what it writes; a warning fails the test.
func ffmpeg(t *testing.T, tool string, args ...string) []byte {
	t.Helper()
	var complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), tool, append([]string{"-v", "warning"}, args...)...)
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, complaints.String())
	}
	return out
}

// writeFile makes a file of one fragment.
func writeFile(t *testing.T, track Track, run Run, media []byte) string {
	t.Helper()
	out := AppendFragment(AppendInit(nil, []Track{track}), 1, []Run{run})
	path := filepath.Join(t.TempDir(), "a.mp4")
	if err := os.WriteFile(path, append(out, media...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFFmpegDecodesOpus(t *testing.T) {
	// At a constant rate of 64 kbit/s, each packet of 20 ms has 160 bytes.
	media := ffmpeg(t, "ffmpeg", "-f", "lavfi", "-i", "sine=r=48000", "-map", "0:a", "-t", "2", "-c:a", "libopus", "-b:a", "64k", "-vbr", "off", "-f", "data", "-")
	run := Run{TrackID: 1}
	for packet := media; len(packet) > 0; packet = packet[160:] {
		if got := OpusSamples(packet[:160]); got != 960 {
			t.Fatalf("packet of %d samples", got)
		}
		run.Samples = append(run.Samples, Sample{Duration: 960, Size: 160, Sync: true})
	}
	path := writeFile(t, Track{ID: 1, Timescale: OpusRate, Codec: mustOpus(t, 2)}, run, media)
	named := ffmpeg(t, "ffprobe", "-show_entries", "stream=codec_name,codec_tag_string,channels", "-of", "csv=p=0", path)
	if string(named) != "opus,Opus,2\n" {
		t.Errorf("ffprobe says %q", named)
	}
	sound := ffmpeg(t, "ffmpeg", "-xerror", "-err_detect", "explode", "-i", path, "-ac", "1", "-ar", "48000", "-f", "s16le", "-")
	if got, want := len(sound)/2, 960*len(run.Samples); got != want {
		t.Errorf("%d samples, want %d", got, want)
	}
}

// TestFFmpegReadsFLACSampleForSample writes an MP4 file as hls does.
func TestFFmpegReadsFLACSampleForSample(t *testing.T) {
	for _, c := range []struct {
		format    flac.Format
		timescale int
	}{
		{flac.Format{SampleRate: 8000, Channels: 1}, 8000},
		{flac.Format{SampleRate: 16000, Channels: 1}, 8000}, // G.722, whose RTP clock is that of G.711
		{flac.Format{SampleRate: 44100, Channels: 2}, 44100},
	} {
		encoder, err := flac.NewEncoder(c.format)
		if err != nil {
			t.Fatal(err)
		}
		var want, media []byte
		run := Run{TrackID: 1}
		state := uint32(1)
		for range 50 {
			samples := make([]int16, 320*c.format.Channels)
			for i := range samples {
				state = state*1664525 + 1013904223
				samples[i] = int16(state>>16) / 4
				want = binary.LittleEndian.AppendUint16(want, uint16(samples[i]))
			}
			frame := encoder.AppendFrame(nil, samples)
			media = append(media, frame...)
			run.Samples = append(run.Samples, Sample{
				Duration: uint32(320 * c.timescale / c.format.SampleRate), Size: uint32(len(frame)), Sync: true,
			})
		}
		path := writeFile(t, Track{ID: 1, Timescale: uint32(c.timescale), Codec: mustFLAC(t, c.format)}, run, media)
		named := ffmpeg(t, "ffprobe", "-show_entries", "stream=codec_name,codec_tag_string", "-of", "csv=p=0", path)
		if string(named) != "flac,fLaC\n" {
			t.Errorf("ffprobe says %q", named)
		}
		got := ffmpeg(t, "ffmpeg", "-xerror", "-err_detect", "explode", "-i", path, "-f", "s16le", "-")
		if !bytes.Equal(got, want) {
			t.Errorf("%+v: ffmpeg decodes %d bytes, and others than the %d that went in", c.format, len(got), len(want))
		}
	}
}

func TestOpusPacketsTellHowLongTheyAre(t *testing.T) {
	for _, c := range []struct {
		name   string
		packet []byte
		want   int
	}{
		{"silk 20 ms", []byte{1 << 3}, 960},
		{"silk 60 ms", []byte{3 << 3}, 2880},
		{"two of silk 60 ms", []byte{3<<3 | 1}, 5760},
		{"hybrid 10 ms", []byte{12 << 3}, 480},
		{"hybrid 20 ms stereo", []byte{15<<3 | 4}, 960},
		{"celt 2.5 ms", []byte{16 << 3}, 120},
		{"celt 20 ms", []byte{31<<3 | 4}, 960},
		{"three of celt 20 ms", []byte{31<<3 | 3, 3}, 2880},
		{"more than 120 ms", []byte{31<<3 | 3, 7}, 0},
		{"none", []byte{31<<3 | 3, 0}, 0},
		{"cut", []byte{3}, 0},
		{"empty", nil, 0},
	} {
		if got := OpusSamples(c.packet); got != c.want {
			t.Errorf("%s: %d samples, want %d", c.name, got, c.want)
		}
	}
}

func TestAudioThatCannotBeWrittenIsAnError(t *testing.T) {
	for name, f := range map[string]func() error{
		"opus of no channels":    func() error { _, err := NewOpus(0); return err },
		"opus of three channels": func() error { _, err := NewOpus(3); return err },
		"flac of nothing":        func() error { _, err := NewFLAC(nil); return err },
		"flac of zeros":          func() error { _, err := NewFLAC(make([]byte, 34)); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
