package fmp4_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/drover-video/drover/core/fmp4"
)

func readRuns() map[string][]fmp4.Run {
	return map[string][]fmp4.Run{
		"a GOP and its sound": {
			{TrackID: 1, BaseTime: 900_000, Samples: []fmp4.Sample{{3600, 5000, 7200, true}, {3600, 300, 0, false}, {3600, 200, 3600, false}}},
			{TrackID: 2, BaseTime: 1 << 40, Samples: []fmp4.Sample{{1024, 300, 0, true}, {1024, 301, 0, true}}},
		},
		"pictures of all durations": {{TrackID: 1, Samples: []fmp4.Sample{{1, 1, -5, true}, {2, 2, 0, false}, {3, 3, 9, true}, {4, 4, 0, false}}}},
		"one keyframe":              {{TrackID: 1, BaseTime: 7, Samples: []fmp4.Sample{{180_000, 60_000, 0, true}}}},
		"one that is none":          {{TrackID: 1, BaseTime: 7, Samples: []fmp4.Sample{{180_000, 60_000, 0, false}}}},
	}
}

// moof is what AppendFragment writes, without the header of mdat.
func moof(runs []fmp4.Run) []byte {
	b := fmp4.AppendFragment(nil, 1, runs)
	return b[:len(b)-8]
}

func TestAFragmentsHeaderReadsBackWhatItWasMadeOf(t *testing.T) {
	var room []fmp4.Sample
	for name, want := range readRuns() {
		t.Run(name, func(t *testing.T) {
			b := moof(want)
			if n, err := fmp4.MoofBytes(b[:8]); err != nil || n != int64(len(b)) {
				t.Errorf("moof of %d bytes, %v, want %d", n, err, len(b))
			}
			runs, samples, err := fmp4.ReadMoof(b, room)
			room = samples
			if err != nil || len(runs) != len(want) {
				t.Fatalf("got %d runs, %v", len(runs), err)
			}
			offset := int64(len(b) + 8)
			for i := range want {
				if !reflect.DeepEqual(runs[i].Run, want[i]) || runs[i].Offset != offset {
					t.Errorf("run %d: %+v, want %+v at %d", i, runs[i], want[i], offset)
				}
				offset += want[i].Bytes()
			}
		})
	}
}

func TestAnInitSegmentReadsBackWhatItWasMadeOf(t *testing.T) {
	opus, err := fmp4.NewOpus(2)
	if err != nil {
		t.Fatal(err)
	}
	init := fmp4.AppendInit(nil, []fmp4.Track{{ID: 2, Timescale: 48_000, Codec: opus}})
	tracks, err := fmp4.ReadInit(init)
	if err != nil || len(tracks) != 1 || tracks[0].ID != 2 || tracks[0].Timescale != 48_000 || tracks[0].Video || string(tracks[0].SampleEntry[4:8]) != "Opus" {
		t.Errorf("got %+v, %v", tracks, err)
	}
}

func TestDamagedHeadersAreErrors(t *testing.T) {
	whole := moof(readRuns()["a GOP and its sound"])
	for n := range whole {
		if _, _, err := fmp4.ReadMoof(whole[:n], nil); !errors.Is(err, fmp4.ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v, want ErrDamaged", n, err)
		}
	}
	if _, err := fmp4.ReadInit([]byte("no MP4 at all, but text")); !errors.Is(err, fmp4.ErrDamaged) {
		t.Errorf("text: %v, want ErrDamaged", err)
	}
}

func FuzzReadMoof(f *testing.F) {
	for _, runs := range readRuns() {
		f.Add(moof(runs))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		runs, _, err := fmp4.ReadMoof(b, nil)
		if err != nil {
			return
		}
		var again []fmp4.Run
		for _, r := range runs {
			if len(r.Samples) > 0 {
				again = append(again, r.Run)
			}
		}
		media := int64(0)
		for i := range again {
			media += again[i].Bytes()
		}
		if len(again) == 0 || media > 1<<30 {
			return // more than offsets in a fragment can say
		}
		back, _, err := fmp4.ReadMoof(moof(again), nil)
		if err != nil || len(back) != len(again) {
			t.Fatalf("written again: %v", err)
		}
	})
}

func FuzzReadInit(f *testing.F) {
	opus, err := fmp4.NewOpus(2)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(fmp4.AppendInit(nil, []fmp4.Track{{ID: 1, Timescale: 48_000, Codec: opus}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		tracks, err := fmp4.ReadInit(b)
		for _, track := range tracks {
			if err == nil && !bytes.Contains(b, track.SampleEntry) {
				t.Errorf("a sample entry from elsewhere")
			}
		}
	})
}
