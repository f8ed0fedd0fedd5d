package timeline

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestTimestampsThatDoNotCountTheTimeGiveWayToArrival(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		rtp  func(i int) uint32
		want string // in what is said; "": they are believed
	}{
		"right":                   {func(i int) uint32 { return uint32(i) * frame }, ""},
		"a fifth too fast":        {func(i int) uint32 { return uint32(i) * frame * 6 / 5 }, ""},
		"half as fast":            {func(i int) uint32 { return uint32(i) * frame / 2 }, ""},
		"standing still":          {func(int) uint32 { return 77 }, "stand still"},
		"milliseconds":            {func(i int) uint32 { return uint32(i) * 40 }, "0.011 of a second"},
		"microseconds":            {func(i int) uint32 { return uint32(i) * 40_000 }, "11 seconds"},
		"numbers without meaning": {func(int) uint32 { return random.Uint32() }, "jump about"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			jitter := rand.New(rand.NewPCG(3, 4))
			for i := range 25 * 40 {
				r.now = start.Add(time.Duration(i)*40*time.Millisecond + time.Duration(jitter.IntN(15))*time.Millisecond)
				r.send(c.rtp(i))
				if i%50 == 0 {
					r.timeline.Entry()
				}
			}
			why := r.track.Irregular()
			if c.want == "" && why != "" || !strings.Contains(why, c.want) {
				t.Fatalf("it is said that %q, want something of %q", why, c.want)
			}
			if c.want == "" {
				return
			}
			// The last twenty seconds are twenty seconds, and smooth.
			const from = 25 * 20
			if got := r.track.duration(r.dts[len(r.dts)-1] - r.dts[from]); got < 19500*time.Millisecond || got > 20500*time.Millisecond {
				t.Errorf("twenty seconds last %v", got)
			}
			for i, step := range r.steps()[from:] {
				if step < frame*3/4 || step > frame*5/4 {
					t.Fatalf("frame %d lasts %d ticks, want about %d", from+i, step, frame)
				}
			}
		})
	}
}

func TestAStalledNetworkAndItsBurstAreNotTakenForAWrongClock(t *testing.T) {
	r := newRig()
	for i := range 25 * 60 {
		sent := start.Add(time.Duration(i) * 40 * time.Millisecond)
		// Of each twenty seconds nothing comes for nine, and then all at once.
		if second := i / 25 % 20; second >= 11 {
			sent = start.Add(time.Duration(i/500*20+20) * time.Second)
		}
		at := sent
		r.now = at
		r.send(uint32(i) * frame)
	}
	if why := r.track.Irregular(); why != "" {
		t.Errorf("it is said that %s", why)
	}
}

func TestATrackBesideThePictureIsNotTimedByArrival(t *testing.T) {
	timeline := New(0)
	tracks := timeline.Connect(90000, 8000)
	for i := range 25 * 30 {
		at := start.Add(time.Duration(i) * 40 * time.Millisecond)
		tracks[0].PTS(uint32(i)*frame, at)
		tracks[1].PTS(5, at)
	}
	if why := tracks[1].Irregular(); why != "" {
		t.Errorf("it is said that %s", why)
	}
}
