package mpegts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"
)

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// pictures reads an Annex B stream with access unit delimiters.
func pictures(stream []byte) (all []Picture, sps, pps []byte) {
	for _, unit := range bytes.Split(stream, []byte("\x00\x00\x00\x01\x09"))[1:] {
		p := Picture{}
		for _, nal := range bytes.Split(unit, []byte("\x00\x00\x01"))[1:] {
			nal = bytes.TrimSuffix(nal, []byte{0})
			switch nal[0] & 31 {
			case 7:
				sps = nal
			case 8:
				pps = nal
			case 5:
				p.Keyframe = true
				fallthrough
			default:
				p.Data = append(p.Data, lengthPrefixed(nal)...)
			}
		}
		p.PTS = int64(len(all)) * 3600
		p.DTS = p.PTS
		p.SPS, p.PPS = sps, pps
		all = append(all, p)
	}
	return all, sps, pps
}

// TestStreamIsCleanForTwoIndependentReaders crosses the wrap of 33 bits on its way.
func TestStreamIsCleanForTwoIndependentReaders(t *testing.T) {
	dir := t.TempDir()
	h264, aac, out := filepath.Join(dir, "v.h264"), filepath.Join(dir, "a.aac"), filepath.Join(dir, "out.ts")
	run(t, "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=s=320x180:r=25", "-f", "lavfi", "-i", "sine=r=44100", "-t", "6",
		"-map", "0", "-c:v", "libx264", "-g", "50", "-bf", "0", "-pix_fmt", "yuv420p", "-bsf:v", "h264_metadata=aud=insert", h264,
		"-map", "1", "-t", "6", "-c:a", "aac", "-b:a", "64k", aac)
	video, err := os.ReadFile(h264)
	if err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(aac)
	if err != nil {
		t.Fatal(err)
	}
	var adts mpeg4audio.ADTSPackets
	if err := adts.Unmarshal(sound); err != nil {
		t.Fatal(err)
	}
	all, _, _ := pictures(video)
	if len(all) != 150 {
		t.Fatalf("%d pictures", len(all))
	}
	program := &Program{Video: true, Audio: true, ADTS: mustADTS(t, 0x12, 0x08)}
	var ts []byte
	var cc Counters
	const start = 1<<33 - clockOffset - 3*90000
	at := 0
	for i := range all {
		p := &all[i]
		p.PTS, p.DTS = p.PTS+start, p.DTS+start
		if p.Keyframe {
			ts = AppendTables(ts, program, &cc)
		}
		ts = AppendPicture(ts, p, &cc)
		for at < len(adts) && int64(at)*1024*90000/44100+start <= p.DTS {
			s := Sound{PTS: int64(at)*1024*90000/44100 + start}
			for len(s.Frames) < MaxAudioFrames && at < len(adts) {
				s.Frames = append(s.Frames, adts[at].AU)
				at++
			}
			ts = AppendSound(ts, program, &s, &cc)
		}
	}
	checkCounters(t, parsePackets(t, ts))
	if err := os.WriteFile(out, ts, 0o600); err != nil {
		t.Fatal(err)
	}
	if said := run(t, "ffmpeg", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", out, "-f", "null", "-"); said != "" {
		t.Errorf("ffmpeg: %s", said)
	}
	count := run(t, "ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_name,nb_read_frames", "-of", "csv=p=0", out)
	if want := fmt.Sprintf("h264,150\naac,%d\n", at); !strings.HasPrefix(count, want) {
		t.Errorf("ffprobe counts %q, want %q", count, want)
	}
	report := run(t, "tsreport", "-buffering", out)
	if strings.Contains(report, "###") || !strings.Contains(report, "duplicate packets: 0") || !strings.Contains(report, "Bad (>.1s) gaps: 0") {
		t.Errorf("tsreport: %s", report)
	}
}
