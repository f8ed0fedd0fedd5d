package timeline

import (
	"math/rand/v2"
	"testing"
	"time"
)

const frame = 3600 // ticks at 25 fps

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A camera sends frames and notes what becomes of them.
type rig struct {
	timeline *Timeline
	track    *Track
	now      time.Time
	pts      []int64
	dts      []int64
}

func newRig() *rig {
	timeline := New(0)
	return &rig{timeline: timeline, track: timeline.Connect(90000)[0], now: start}
}

func (r *rig) send(rtp uint32) {
	pts := r.track.PTS(rtp, r.now)
	pts, dts := r.track.DTS(pts, pts)
	r.pts, r.dts = append(r.pts, pts), append(r.dts, dts)
	r.now = r.now.Add(40 * time.Millisecond)
}

// steps returns the distances from frame to frame.
func (r *rig) steps() []int64 {
	var steps []int64
	for i := 1; i < len(r.dts); i++ {
		steps = append(steps, r.dts[i]-r.dts[i-1])
	}
	return steps
}

func TestTimestamps(t *testing.T) {
	regular := func(n int, from uint32) []uint32 {
		var rtp []uint32
		for i := range n {
			rtp = append(rtp, from+uint32(i)*frame)
		}
		return rtp
	}
	join := func(parts ...[]uint32) (all []uint32) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	const wrap = 1<<32 - 10*frame - 17
	outlier := regular(20, 5000)
	outlier[10] += 37600 * 90000 % (1 << 32)
	backOutlier := regular(20, 5000)
	backOutlier[10] -= 600 * 90000
	still := regular(20, 5000)
	for i := 8; i < 13; i++ {
		still[i] = still[7]
	}
	cases := []struct {
		name      string
		rtp       []uint32
		restamped uint64
		jumped    bool
		uneven    int // steps that may differ from a frame
	}{
		{"regular", regular(20, 5000), 0, false, 0},
		{"begins anywhere", regular(20, 4294967000), 0, false, 0},
		{"wraps at 2^32", regular(20, wrap), 0, false, 0},
		{"jumps back by 3 s for good", join(regular(10, 300000), regular(10, 30000)), 3, true, 0},
		{"jumps ahead by hours for good", join(regular(10, 0), regular(10, 1<<30)), 3, true, 0},
		{"jumps by half the range for good", join(regular(10, 0), regular(10, 1<<31)), 3, true, 0},
		{"one frame hours ahead", outlier, 1, false, 0},
		{"one frame minutes back", backOutlier, 1, false, 0},
		{"two different strays", join(regular(10, 0), []uint32{1 << 30, 1 << 29}, regular(10, 12*frame)), 2, false, 0},
		{"stands still for 5 frames", still, 0, false, 6},
		{"jumps there and back", join(regular(10, 0), regular(10, 1<<30), regular(10, 20*frame)), 3, true, 0},
		{"jumps to and fro", join(regular(10, 0), regular(10, 1<<30), regular(10, 20*frame), regular(10, 1<<30+20*frame), regular(3, 40*frame), regular(3, 1<<30+33*frame)), 3, true, 0},
		{"jumps back to where it was long ago", join(regular(10, 0), regular(10, 1<<30), regular(10, 0)), 6, true, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			rig := newRig()
			for _, rtp := range c.rtp {
				rig.send(rtp)
			}
			uneven := 0
			for i, step := range rig.steps() {
				if step <= 0 {
					t.Errorf("frame %d: decoding time goes %d", i+1, step)
				}
				if step != frame {
					uneven++
				}
			}
			if uneven > c.uneven {
				t.Errorf("%d steps are not a frame long, want at most %d: %d", uneven, c.uneven, rig.steps())
			}
			if got := rig.track.Restamped(); got != c.restamped {
				t.Errorf("%d timestamps not believed, want %d", got, c.restamped)
			}
			epoch := rig.timeline.Epoch()
			if got := rig.timeline.Entry(); got != c.jumped {
				t.Errorf("Entry says a new epoch is %t, want %t", got, c.jumped)
			}
			if grown := rig.timeline.Epoch() - epoch; grown != 0 != c.jumped {
				t.Errorf("the epoch grew by %d", grown)
			}
			if rig.timeline.Entry() {
				t.Error("a second new epoch for one jump")
			}
			want := int64(len(c.rtp)-1) * frame
			if got := rig.dts[len(rig.dts)-1] - rig.dts[0]; got < want-frame || got > want+frame {
				t.Errorf("%d ticks in all, want about %d", got, want)
			}
		})
	}
}

func TestReorderedPicturesKeepTheirTimes(t *testing.T) {
	rig := newRig()
	order := []uint32{0, 3, 1, 2, 6, 4, 5, 9, 7, 8}
	for _, n := range order {
		pts := rig.track.PTS(1000+n*frame, rig.now)
		if want := int64(n) * frame; pts != want {
			t.Errorf("picture %d at %d, want %d", n, pts, want)
		}
		rig.now = rig.now.Add(40 * time.Millisecond)
	}
	if rig.track.Restamped() != 0 {
		t.Errorf("%d timestamps not believed", rig.track.Restamped())
	}
}

func TestABurstAfterANetworkHoldUpIsNoJump(t *testing.T) {
	rig := newRig()
	rtp := uint32(0)
	send := func(n int, apart time.Duration) {
		for range n {
			rig.send(rtp)
			rtp += frame
			rig.now = rig.now.Add(apart - 40*time.Millisecond)
		}
	}
	send(50, 40*time.Millisecond)
	rig.now = rig.now.Add(8 * time.Second)
	send(200, time.Millisecond)
	send(50, 40*time.Millisecond)
	if rig.track.Restamped() != 0 || rig.timeline.Entry() {
		t.Errorf("%d timestamps not believed", rig.track.Restamped())
	}
}

func TestAnOutlierThatWasHeldUpKeepsItsPlaceAmongThePictures(t *testing.T) {
	rig := newRig()
	for i := range uint32(100) {
		rtp := i * frame
		switch {
		case i == 50: // two come late, and those behind them at once
			rig.now = rig.now.Add(800 * time.Millisecond)
			rtp += 37600 * 90000 % (1 << 32)
		case i == 51:
			rtp -= 5 * 90000
		}
		rig.send(rtp)
		if i >= 50 && i < 71 {
			rig.now = rig.now.Add(-39 * time.Millisecond)
		}
	}
	for i, step := range rig.steps() {
		if step != frame {
			t.Errorf("picture %d is %d ticks after the one before, want %d", i+1, step, frame)
		}
	}
	if rig.track.Restamped() != 2 || rig.timeline.Entry() {
		t.Errorf("%d timestamps not believed", rig.track.Restamped())
	}
}

func TestAJumpAfterAPauseGoesOnAsMuchLater(t *testing.T) {
	rig := newRig()
	for i := range uint32(50) {
		rig.send(i * frame)
	}
	rig.now = rig.now.Add(5 * time.Second)
	for i := range uint32(50) {
		rig.send(1<<31 + i*frame)
	}
	if total, want := rig.dts[99]-rig.dts[49], int64(5*90000+50*frame); total != want {
		t.Errorf("%d ticks passed, want %d", total, want)
	}
	if !rig.timeline.Entry() {
		t.Error("no new epoch is due")
	}
}

func TestReconnectGoesOnLaterInANewEpoch(t *testing.T) {
	timeline := New(7)
	var lastVideo, lastAudio time.Duration
	now := start
	for connection := range 3 {
		tracks := timeline.Connect(90000, 16000)
		if got, want := timeline.Epoch(), uint64(8+connection); got != want {
			t.Fatalf("epoch %d, want %d", got, want)
		}
		for i := range 100 {
			video := tracks[0].PTS(uint32(i*frame)+12345, now)
			video, _ = tracks[0].DTS(video, video-2*frame)
			audio := tracks[1].PTS(uint32(i*640)+999, now.Add(7*time.Millisecond))
			if got := tracks[0].Position(video); got <= lastVideo && i+connection > 0 {
				t.Fatalf("connection %d, frame %d: video goes from %v to %v", connection, i, lastVideo, got)
			}
			if got := tracks[1].Position(audio); got <= lastAudio && i+connection > 0 {
				t.Fatalf("connection %d, frame %d: audio goes from %v to %v", connection, i, lastAudio, got)
			}
			lastVideo, lastAudio = tracks[0].Position(video), tracks[1].Position(audio)
			if apart := lastAudio - lastVideo; apart < -10*time.Millisecond || apart > 10*time.Millisecond {
				t.Fatalf("sound and picture of one moment are %v apart", apart)
			}
			now = now.Add(40 * time.Millisecond)
		}
		now = now.Add(20 * time.Second)
	}
}

func TestWallClockFollowsArrivalAndNotJitter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rig := newRig()
	// A camera whose clock runs 500 ppm slow, behind a network that delays by up
	// to 100 ms, for an hour.
	for i := range 25 * 3600 {
		sent := start.Add(time.Duration(i) * 40 * time.Millisecond)
		rtp := uint32(float64(i) * frame * (1 - 500e-6))
		arrival := sent.Add(time.Duration(random.IntN(100)) * time.Millisecond)
		pts := rig.track.PTS(rtp, arrival)
		if i < 50 {
			continue
		}
		wall, _ := rig.timeline.Wall(rig.track.Position(pts))
		off := wall.Sub(sent)
		if off < -100*time.Millisecond || off > 200*time.Millisecond {
			t.Fatalf("frame %d: wall clock is %v off", i, off)
		}
	}
	if rig.track.Restamped() != 0 || rig.timeline.Entry() {
		t.Error("a slow clock was taken for a jump")
	}
}

func FuzzDecodingTimesGrow(f *testing.F) {
	f.Add([]byte{0, 0, 14, 16, 0, 0, 28, 32, 255, 255, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		timeline := New(0)
		track := timeline.Connect(90000)[0]
		now, last, first := start, int64(0), true
		for len(data) >= 5 {
			rtp := uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3])
			now = now.Add(time.Duration(data[4]) * 5 * time.Millisecond)
			if data[4] == 255 {
				track = timeline.Connect(90000)[0]
			}
			data = data[5:]
			pts := track.PTS(rtp, now)
			pts, dts := track.DTS(pts, pts)
			if pts < dts {
				t.Fatalf("shown at %d, decoded at %d", pts, dts)
			}
			if !first && dts <= last {
				t.Fatalf("decoding time goes from %d to %d", last, dts)
			}
			first, last = false, dts
		}
	})
}
