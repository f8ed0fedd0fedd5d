package rtsp

import (
	"encoding/binary"
	"testing"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// near reports whether a step in time is the one that was expected. Where frames
// come in fits and starts, as on a busy machine, the timeline is paced by up to a
// quarter to keep step with ours.
func near(got, want int64) bool {
	off, most := got-want, max(want, -want)*27/100+2
	return off >= -most && off <= most
}

// roundTicks is how long a clip lasts, in ticks of video.
const roundTicks = int64(rtsptest.ClipDuration/rtsptest.FrameDuration) * 3600

// A reference is a clip as its frames ought to come.
type reference struct {
	clip  *rtsptest.Clip
	index map[string]int // payload to picture
}

func loadReference(t testing.TB, name string) *reference {
	t.Helper()
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	r := &reference{clip: clip, index: map[string]int{}}
	for i, picture := range clip.Pictures {
		var payload []byte
		for _, nal := range picture.NALUs {
			payload = binary.BigEndian.AppendUint32(payload, uint32(len(nal)))
			payload = append(payload, nal...)
		}
		if other, twice := r.index[string(payload)]; twice {
			t.Fatalf("clip %s: pictures %d and %d are the same", name, other, i)
		}
		r.index[string(payload)] = i
	}
	return r
}

// follow checks that pictures are the clip's, bit for bit and one after the
// other but for those that were lost, and at their times within an epoch. It
// returns their places in the clip.
func (r *reference) follow(t testing.TB, shots []shot) []int {
	t.Helper()
	places := make([]int, len(shots))
	for i, s := range shots {
		place, ok := r.index[s.payload]
		if !ok {
			t.Fatalf("picture %d (frame %d, %d bytes, keyframe %v) is none of clip %s", i, s.seq, len(s.payload), s.key, r.clip.Name)
		}
		places[i] = place
		if want := r.clip.Pictures[place].Keyframe; s.key != want {
			t.Errorf("picture %d of the clip: keyframe %v, want %v", place, s.key, want)
		}
		if i > 0 && s.epoch == shots[i-1].epoch {
			before := places[i-1]
			if s.lost == 0 && place != (before+1)%rtsptest.ClipPictures {
				t.Errorf("picture %d of the clip comes after %d, and nothing is said to be lost", place, before)
			}
			step := r.clip.Pictures[place].PTS - r.clip.Pictures[before].PTS
			if place < before {
				step += roundTicks
			}
			got := s.pts - shots[i-1].pts
			if s.lost > 0 { // so many that the clip may have begun again meanwhile
				step += (got - step + roundTicks/2) / roundTicks * roundTicks
			}
			if !near(got, step) {
				t.Errorf("picture %d of the clip is shown %d ticks after %d, want %d", place, got, before, step)
			}
		}
		r.checkParams(t, s.params)
	}
	return places
}

func (r *reference) checkParams(t testing.TB, p *media.Params) {
	t.Helper()
	got := [][]byte{p.SPS, p.PPS}
	if r.clip.Codec == rtsptest.H265 {
		got = [][]byte{p.VPS, p.SPS, p.PPS}
	}
	for i, set := range r.clip.Parameters {
		if string(got[i]) != string(set) {
			t.Fatalf("clip %s: parameter set %d is %x, want %x", r.clip.Name, i, got[i], set)
		}
	}
	width, height := 640, 360
	switch r.clip.Name {
	case "h264-small":
		width, height = 480, 270
	case "h264-720p":
		width, height = 1280, 720
	}
	if p.Width != width || p.Height != height || p.FPS != 25 || string(p.Codec) != string(r.clip.Codec) {
		t.Fatalf("clip %s: parameters say %s %dx%d, %v fps", r.clip.Name, p.Codec, p.Width, p.Height, p.FPS)
	}
}

// hear checks that sound is the clip's, bit for bit, one frame after the other.
func (r *reference) hear(t testing.TB, shots []shot) {
	t.Helper()
	// Silent frames are alike, so a few beginnings may be possible at first.
	var possible []int
	for place := range r.clip.AAC {
		possible = append(possible, place)
	}
	for i, s := range shots {
		var left []int
		for _, begin := range possible {
			if s.payload == string(r.clip.AAC[(begin+i)%len(r.clip.AAC)]) {
				left = append(left, begin)
			}
		}
		if len(left) == 0 {
			t.Fatalf("sound frame %d (frame %d) is not the one after those before", i, s.seq)
		}
		possible = left
		if i > 0 && !near(s.pts-shots[i-1].pts, 1024) {
			t.Errorf("sound frame %d comes %d ticks after the one before", i, s.pts-shots[i-1].pts)
		}
		if s.params.Codec != media.CodecAAC || s.params.SampleRate != 16000 || s.params.Channels != 1 ||
			string(s.params.AudioConfig) != string(r.clip.AACConfig) || s.rate != 16000 || !s.key || s.lost != 0 {
			t.Fatalf("sound frame %d: %+v", i, s.params)
		}
	}
}
