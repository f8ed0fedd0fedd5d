package rtsptest

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestEveryClipLoopsWithoutASeam(t *testing.T) {
	dir := ClipDir(t)
	for _, name := range ClipNames() {
		clip, err := LoadClip(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		var times []int64
		slices := map[int]bool{}
		for _, picture := range clip.Pictures {
			times = append(times, picture.PTS)
			slices[sliceCount(clip.Codec, picture)] = true
		}
		if reordered := strings.HasSuffix(name, "bframes"); isSorted(times) == reordered {
			t.Errorf("%s: reordered pictures: want %v", name, reordered)
		}
		if want := map[int]bool{sliceWant(name): true}; !reflect.DeepEqual(slices, want) {
			t.Errorf("%s: pictures have slice counts %v, want %v", name, slices, want)
		}
		checkEvenTimes(t, name, times)
		if want := map[Codec]int{H264: 2, H265: 3}[clip.Codec]; len(clip.Parameters) != want {
			t.Errorf("%s: %d parameter sets, want %d", name, len(clip.Parameters), want)
		}
		if len(clip.AAC) != aacFrames || string(clip.AACConfig) != "\x14\x08" {
			t.Errorf("%s: %d frames of AAC, config %x", name, len(clip.AAC), clip.AACConfig)
		}
	}
}

func isSorted(times []int64) bool { return slices.IsSorted(times) }

func sliceWant(name string) int {
	if name == "h264-slices" {
		return 4
	}
	return 1
}

func sliceCount(codec Codec, picture Picture) int {
	count := 0
	for _, nalu := range picture.NALUs {
		if codec.kindOf(nalu) != naluOther {
			count++
		}
	}
	return count
}

// checkEvenTimes checks that each picture time of a round is there once.
func checkEvenTimes(t *testing.T, name string, times []int64) {
	t.Helper()
	times = slices.Sorted(slices.Values(times))
	for i, time := range times {
		if want := int64(i) * ticksPerPicture; time != want {
			t.Errorf("%s: picture time %d is %d, want %d", name, i, time, want)
			return
		}
	}
}

func TestClipThatIsDamagedSaysWhy(t *testing.T) {
	good := ClipDir(t)
	tests := []struct{ file, content, want string }{
		{"h264.csv", "0\n3600\n", "2 times"},
		{"h264.csv", strings.Repeat("x\n", ClipPictures), "time of picture 0"},
		{"h264.h264", "\x00\x00\x01\x65\x88", "1 pictures"},
		{"tick.aac", "no sound", "not ADTS"},
		{"tick.aac", "\xff\xf1\x60\x40\xff\xff\xfc", "cut short"},
		{"tick.alaw", "short", "5 bytes"},
	}
	for _, test := range tests {
		dir := t.TempDir()
		for _, name := range []string{"h264.h264", "h264.csv", "tick.aac", "tick.alaw"} {
			content, err := os.ReadFile(filepath.Join(good, name))
			if err != nil {
				t.Fatal(err)
			}
			if name == test.file {
				content = []byte(test.content)
			}
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := LoadClip(dir, "h264"); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s of %.10q: error %v, want one with %q", test.file, test.content, err, test.want)
		}
	}
}
