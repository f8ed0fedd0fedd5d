package fmp4

import (
	"bytes"
	"testing"

	"github.com/Eyevinn/mp4ff/mp4"
)

// decode reads a fragment back with an independent parser, whose samples carry
// the media found at the offsets that the fragment names.
func decode(t *testing.T, out []byte, runs []Run) [][]mp4.FullSample {
	t.Helper()
	file, err := mp4.DecodeFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	fragment := file.Segments[0].Fragments[0]
	var tracks [][]mp4.FullSample
	for i := range runs {
		samples, err := fragment.GetFullSamples(&mp4.TrexBox{TrackID: runs[i].TrackID})
		if err != nil {
			t.Fatal(err)
		}
		tracks = append(tracks, samples)
	}
	return tracks
}

func TestFragmentIsReadBackByAnIndependentParser(t *testing.T) {
	video := func(n int, change func(i int, s *Sample)) Run {
		r := Run{TrackID: 1, BaseTime: 1 << 40}
		for i := range n {
			s := Sample{Duration: 3600, Size: uint32(10 + i), Sync: i == 0}
			if change != nil {
				change(i, &s)
			}
			r.Samples = append(r.Samples, s)
		}
		return r
	}
	audio := Run{TrackID: 2, BaseTime: 77, Samples: []Sample{{1024, 5, 0, true}, {1024, 6, 0, true}, {1024, 7, 0, true}}}
	for _, c := range []struct {
		name string
		runs []Run
	}{
		{"a GOP", []Run{video(5, nil)}},
		{"a GOP and audio", []Run{video(5, nil), audio}},
		{"one keyframe", []Run{video(1, nil)}},
		{"only audio", []Run{audio}},
		{"no keyframe", []Run{video(4, func(_ int, s *Sample) { s.Sync = false })}},
		{"a keyframe last", []Run{video(4, func(i int, s *Sample) { s.Sync = i == 3 })}},
		{"two keyframes", []Run{video(6, func(i int, s *Sample) { s.Sync = i%3 == 0 })}},
		{"uneven durations", []Run{video(6, func(i int, s *Sample) { s.Duration += uint32(i) }), audio}},
		{"B-frames and an early picture", []Run{video(6, func(i int, s *Sample) { s.CTS = int32(i-2) * 3600 })}},
		{"all at once", []Run{audio, video(6, func(i int, s *Sample) {
			s.CTS, s.Sync, s.Duration = int32(-i), i%2 == 1, uint32(i+1)
		})}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := AppendFragment([]byte("prefix"), 9, c.runs)
			if !bytes.HasPrefix(out, []byte("prefix")) {
				t.Fatal("prefix overwritten")
			}
			out = out[len("prefix"):]
			if got := FragmentSize(c.runs); got != len(out) {
				t.Fatalf("size said %d, is %d", got, len(out))
			}
			marker := byte(0)
			for _, r := range c.runs {
				for _, s := range r.Samples {
					out = append(out, bytes.Repeat([]byte{marker}, int(s.Size))...)
					marker++
				}
			}
			marker = 0
			for i, samples := range decode(t, out, c.runs) {
				run := c.runs[i]
				if len(samples) != len(run.Samples) {
					t.Fatalf("run %d: %d samples, want %d", i, len(samples), len(run.Samples))
				}
				at := run.BaseTime
				for j, got := range samples {
					want := run.Samples[j]
					if got.Dur != want.Duration || got.Size != want.Size || got.CompositionTimeOffset != want.CTS || got.DecodeTime != at {
						t.Errorf("run %d sample %d: got %+v at %d, want %+v at %d", i, j, got.Sample, got.DecodeTime, want, at)
					}
					if got.IsSync() != want.Sync || got.Flags != flagsOf(want.Sync) {
						t.Errorf("run %d sample %d: flags %08x, want sync %v", i, j, got.Flags, want.Sync)
					}
					if len(got.Data) != int(want.Size) || got.Data[0] != marker || got.Data[len(got.Data)-1] != marker {
						t.Errorf("run %d sample %d: wrong media", i, j)
					}
					marker++
					at += uint64(want.Duration)
				}
			}
		})
	}
}

func TestRunWithoutSamplesIsLeftOut(t *testing.T) {
	full := Run{TrackID: 1, Samples: []Sample{{Duration: 1, Size: 1, Sync: true}}}
	with := AppendFragment(nil, 1, []Run{full, {TrackID: 2}})
	if without := AppendFragment(nil, 1, []Run{full}); !bytes.Equal(with, without) {
		t.Fatal("an empty run left a trace")
	}
}

func gopAndAudio() []Run {
	runs := []Run{{TrackID: 1, BaseTime: 1 << 33}, {TrackID: 2, BaseTime: 1 << 33}}
	for i := range 50 {
		runs[0].Samples = append(runs[0].Samples, Sample{Duration: 3600 + uint32(i%3), Size: 8000, Sync: i == 0})
	}
	for range 94 {
		runs[1].Samples = append(runs[1].Samples, Sample{Duration: 1024, Size: 300, Sync: true})
	}
	return runs
}

func TestFragmentAllocatesNothing(t *testing.T) {
	runs := gopAndAudio()
	dst := make([]byte, 0, FragmentSize(runs))
	if n := testing.AllocsPerRun(100, func() { dst = AppendFragment(dst[:0], 1, runs) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkFragmentHeader(b *testing.B) {
	runs := gopAndAudio()
	dst := make([]byte, 0, FragmentSize(runs))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendFragment(dst[:0], 1, runs)
	}
}
