//go:build e2e

package e2e

import (
	"bytes"
	"testing"
	"time"

	"github.com/Eyevinn/mp4ff/mp4"
)

// ptsTolerance is what rounding to ticks and to a playlist's decimals may cost.
const ptsTolerance = 2 * time.Millisecond

// checkFragments holds fMP4 segments against each other and against what their
// playlist says: a gap between fragments is something that few players report.
func checkFragments(t *testing.T, f *follower, pieces []piece) {
	t.Helper()
	type progress struct {
		end  uint64
		seen bool
	}
	tracks := map[uint32]*progress{}
	for i, one := range pieces {
		moov := parseInit(t, f.init[one.initURI])
		if one.discontinuity {
			clear(tracks)
		}
		var video time.Duration
		firstOfVideo := true
		for _, fragment := range parseFragments(t, one) {
			for _, traf := range fragment.Moof.Trafs {
				id := traf.Tfhd.TrackID
				trak := findTrack(t, moov, id)
				trex, _ := moov.Mvex.GetTrex(id)
				p := tracks[id]
				if p == nil {
					p = &progress{}
					tracks[id] = p
				}
				start := traf.Tfdt.BaseMediaDecodeTime()
				if p.seen && ticksApart(start, p.end) > slackOf(trak) {
					t.Errorf("segment %d, track %d: a fragment begins at %d, the one before ended at %d", one.number, id, start, p.end)
				}
				var total uint64
				for _, trun := range traf.Truns {
					trun.AddSampleDefaultValues(traf.Tfhd, trex)
					for _, sample := range trun.Samples {
						total += uint64(sample.Dur)
						if isVideo(trak) && firstOfVideo {
							firstOfVideo = false
							if !sample.IsSync() {
								t.Errorf("segment %d does not begin with a keyframe", one.number)
							}
						}
					}
				}
				p.end, p.seen = start+total, true
				if isVideo(trak) {
					video += time.Duration(total) * time.Second / time.Duration(trak.Mdia.Mdhd.Timescale)
				}
			}
		}
		if off := (video - one.duration).Abs(); off > ptsTolerance {
			t.Errorf("segment %d: the playlist says %v, its pictures last %v", one.number, one.duration, video)
		}
		if i > 0 && !one.discontinuity {
			apart := one.date.Sub(pieces[i-1].date)
			if off := (apart - pieces[i-1].duration).Abs(); off > dateTolerance {
				t.Errorf("segment %d is dated %v after the one before, which lasts %v", one.number, apart, pieces[i-1].duration)
			}
		}
	}
}

// slackOf is by how many ticks a fragment may begin off the end of the one before.
// Pictures last until the next begins. Sound is moved by fractions of a frame to
// stay with a picture whose camera has two clocks; durations are whole frames.
func slackOf(trak *mp4.TrakBox) uint64 {
	if isVideo(trak) {
		return 0
	}
	return uint64(trak.Mdia.Mdhd.Timescale) / 500 // 2 ms
}

func ticksApart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// dateTolerance allows the estimate of the camera's wall clock to get better from
// one segment to the next.
const dateTolerance = 100 * time.Millisecond

func parseInit(t *testing.T, content []byte) *mp4.MoovBox {
	t.Helper()
	file, err := mp4.DecodeFile(bytes.NewReader(content))
	if err != nil || file.Init == nil {
		t.Fatalf("init segment of %d bytes: %v", len(content), err)
	}
	return file.Init.Moov
}

func parseFragments(t *testing.T, one piece) []*mp4.Fragment {
	t.Helper()
	file, err := mp4.DecodeFile(bytes.NewReader(one.bytes))
	if err != nil {
		t.Fatalf("segment %d: %v", one.number, err)
	}
	var fragments []*mp4.Fragment
	for _, part := range file.Segments {
		fragments = append(fragments, part.Fragments...)
	}
	if len(fragments) == 0 {
		t.Fatalf("segment %d has no fragment", one.number)
	}
	return fragments
}

func findTrack(t *testing.T, moov *mp4.MoovBox, id uint32) *mp4.TrakBox {
	t.Helper()
	for _, trak := range moov.Traks {
		if trak.Tkhd.TrackID == id {
			return trak
		}
	}
	t.Fatalf("the init segment has no track %d", id)
	return nil
}

func isVideo(trak *mp4.TrakBox) bool { return trak.Mdia.Hdlr.HandlerType == "vide" }
