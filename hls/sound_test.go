package hls

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/media"
)

// speaker makes sound of 8 kHz, as a camera's G.711 becomes, in frames of 20 ms.
type speaker struct {
	*source
	track   *media.Track
	params  *media.Params
	encoder *flac.Encoder
	ticks   int64
	state   uint32
	said    []byte // all samples
	entry   bool   // no picture beside it
}

func newSpeaker(t *testing.T, s *source) *speaker {
	t.Helper()
	format := flac.Format{SampleRate: 8000, Channels: 1}
	encoder, err := flac.NewEncoder(format)
	if err != nil {
		t.Fatal(err)
	}
	return &speaker{
		source: s, encoder: encoder, state: 1,
		track:  &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecFLAC, ClockRate: 8000},
		params: &media.Params{Codec: media.CodecFLAC, AudioConfig: flac.AppendStreamInfo(nil, format), SampleRate: 8000, Channels: 1},
	}
}

// speak makes as much sound as lasts for one picture of 25 a second.
func (s *speaker) speak() {
	for range 2 {
		samples := make([]int16, 160)
		for i := range samples {
			s.state = s.state*1664525 + 1013904223
			samples[i] = int16(s.state>>16) / 8
			s.said = binary.LittleEndian.AppendUint16(s.said, uint16(samples[i]))
		}
		s.hand(s.encoder.AppendFrame(nil, samples), 160)
	}
}

func (s *speaker) hand(payload []byte, ticks int64) {
	f := s.frame(s.arenas[1], payload)
	f.Track, f.Params, f.PTS, f.DTS, f.Keyframe, f.Entry = s.track, s.params, s.ticks, s.ticks, true, s.entry
	f.Wall = zero.Add(s.track.Duration(s.ticks))
	s.ticks += ticks
	s.out(f)
}

// fetch writes all that a playlist lists into one file.
func (r *rig) fetch(playlist string) string {
	r.t.Helper()
	var file []byte
	base := playlist[:strings.LastIndexByte(playlist, '/')+1]
	for line := range strings.Lines(bodyOf(r.t, r.get(playlist))) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, `#EXT-X-MAP:URI="`); ok {
			line = strings.TrimSuffix(rest, `"`)
		}
		if line != "" && line[0] != '#' {
			file = append(file, bodyOf(r.t, r.get(base+line))...)
		}
	}
	path := filepath.Join(r.t.TempDir(), "media")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// tool runs a program of ffmpeg's. Its complaints about pictures, of which there
// are none in this package's rig, are no matter.
func tool(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, append([]string{"-v", "quiet"}, args...)...).Output()
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return out
}

func TestFLACIsInFMP4SampleForSampleAndNotInMPEGTS(t *testing.T) {
	r := newRig(t, Config{})
	s := newSpeaker(t, r.source)
	for range 9 * 50 {
		r.picture()
		s.speak()
	}
	if text := bodyOf(t, r.get("door/index.m3u8")); !strings.Contains(text, `CODECS="avc1.64000C,fLaC"`) {
		t.Errorf("multivariant playlist:\n%s", text)
	}
	if text := bodyOf(t, r.get("door/ts/index.m3u8")); !strings.Contains(text, `CODECS="avc1.64000C"`) {
		t.Errorf("multivariant playlist of MPEG-TS:\n%s", text)
	}
	file := r.fetch("door/main.index.m3u8")
	if got := string(tool(t, "ffprobe", "-select_streams", "a", "-show_entries", "stream=codec_name,sample_rate,channels", "-of", "csv=p=0", file)); got != "flac,8000,1\n" {
		t.Errorf("ffprobe says %q", got)
	}
	got := tool(t, "ffmpeg", "-i", file, "-vn", "-f", "s16le", "-")
	segments := r.playlist().Segments
	if want := len(segments) * 2 * 8000 * 2; len(got) < want-2*320 || len(got) > want+2*320 {
		t.Errorf("%d bytes of samples in %d segments of 2 s", len(got), len(segments))
	}
	if !bytes.Contains(s.said, got) {
		t.Error("other samples than those that were said, or not one after the other")
	}
	ts := r.fetch("door/ts/main.index.m3u8")
	if got := string(tool(t, "ffprobe", "-show_entries", "stream=codec_type", "-of", "csv=p=0", ts)); strings.Contains(got, "audio") || !strings.Contains(got, "video") {
		t.Errorf("ffprobe finds %q in MPEG-TS", got)
	}
}

func TestSoundAloneOfFLACIsPlayedAndNotInMPEGTS(t *testing.T) {
	r := newRig(t, Config{})
	s := newSpeaker(t, r.source)
	s.entry = true
	for range 400 {
		s.speak()
	}
	if text := bodyOf(t, r.get("door/index.m3u8")); !strings.Contains(text, `CODECS="fLaC"`) {
		t.Errorf("multivariant playlist:\n%s", text)
	}
	if got := tool(t, "ffmpeg", "-i", r.fetch("door/main.index.m3u8"), "-f", "s16le", "-"); len(got) == 0 || !bytes.Contains(s.said, got) {
		t.Errorf("%d bytes of samples, and others than those that were said", len(got))
	}
	if response := r.get("door/ts/index.m3u8"); response.StatusCode != http.StatusNotAcceptable {
		t.Errorf("MPEG-TS: %s", response.Status)
	}
}

func TestOpusIsInFMP4(t *testing.T) {
	// At a constant rate of 64 kbit/s, each packet of 20 ms has 160 bytes.
	packets := tool(t, "ffmpeg", "-f", "lavfi", "-i", "sine=r=48000", "-map", "0:a", "-t", "12", "-c:a", "libopus", "-b:a", "64k", "-vbr", "off", "-f", "data", "-")
	r := newRig(t, Config{})
	s := newSpeaker(t, r.source)
	s.track = &media.Track{ID: 1, Kind: media.KindAudio, Codec: media.CodecOpus, ClockRate: 48000}
	s.params = &media.Params{Codec: media.CodecOpus, SampleRate: 48000, Channels: 2}
	for range 6 * 50 {
		r.picture()
		for range 2 {
			s.hand(packets[:160], 960)
			packets = packets[160:]
		}
	}
	if text := bodyOf(t, r.get("door/index.m3u8")); !strings.Contains(text, `CODECS="avc1.64000C,Opus"`) {
		t.Errorf("multivariant playlist:\n%s", text)
	}
	file := r.fetch("door/main.index.m3u8")
	if got := string(tool(t, "ffprobe", "-select_streams", "a", "-show_entries", "stream=codec_name,channels", "-of", "csv=p=0", file)); got != "opus,2\n" {
		t.Errorf("ffprobe says %q", got)
	}
	got := tool(t, "ffmpeg", "-i", file, "-vn", "-ac", "1", "-ar", "48000", "-f", "s16le", "-")
	if want := len(r.playlist().Segments) * 2 * 48000 * 2; len(got) < want-4*1920 || len(got) > want+4*1920 {
		t.Errorf("%d bytes of samples, want about %d", len(got), want)
	}
}

func TestMJPEGIsNotInHLSAndSaysSo(t *testing.T) {
	r := newRig(t, Config{})
	r.source.params = &media.Params{Codec: media.CodecJPEG, Width: 320, Height: 180}
	r.source.tracks()
	r.gop = 1
	r.pictures(200)
	for _, path := range []string{"door/index.m3u8", "door/main.index.m3u8", "door/ts/index.m3u8"} {
		response := r.get(path)
		if body := bodyOf(t, response); response.StatusCode != http.StatusNotAcceptable || !strings.Contains(body, "codec-not-in-hls") || !strings.Contains(body, "snapshot.jpg") {
			t.Errorf("%s: %s %s", path, response.Status, body)
		}
	}
	if got := r.muxer.Stats().Dropped["unplayable_codec"]; got != 200 {
		t.Errorf("%d pictures counted", got)
	}
}

func TestACameraWithAnMJPEGSourceBesideAnotherIsWaitedFor(t *testing.T) {
	r := newRig(t, Config{})
	r.muxer.unplayable.Store(true)
	r.camera.muxers.Store(&[]*Muxer{newMuxer("other", nil, &r.config, r.camera), r.muxer})
	if response := r.get("door/index.m3u8"); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the other source has sent anything: %s", response.Status)
	}
}

func TestSoundBesideMJPEGIsPlayed(t *testing.T) {
	r := newRig(t, Config{})
	r.source.params = &media.Params{Codec: media.CodecJPEG, Width: 320, Height: 180}
	r.source.tracks()
	r.gop = 1
	s := newSpeaker(t, r.source)
	s.entry = true
	for range 200 {
		r.picture()
		s.speak()
	}
	if text := bodyOf(t, r.get("door/index.m3u8")); !strings.Contains(text, `CODECS="fLaC"`) {
		t.Errorf("multivariant playlist:\n%s", text)
	}
	if got := len(r.playlist().Segments); got < 3 {
		t.Errorf("%d segments in 8 s", got)
	}
}
