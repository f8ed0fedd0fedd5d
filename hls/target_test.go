package hls

import (
	"testing"
	"time"
)

func TestATargetThatIsNeededNoMoreIsLetGoOf(t *testing.T) {
	r := newRig(t, Config{})
	r.frameTicks, r.gop = 18_000, 10 // five pictures a second, that an hour be short
	r.gops(4)
	r.goLive()
	r.gops(2)
	r.gop, r.count = 100, 0
	r.gops(3) // of 20 s
	if whole, live := r.playlist().TargetDuration, r.livePlaylist().TargetDuration; whole < 20 || live < 20 {
		t.Fatalf("targets of %d and %d s", whole, live)
	}
	r.gop, r.count = 10, 0
	r.gops(int(targetCalm / (2 * time.Second) / 2))
	if whole, live := r.playlist().TargetDuration, r.livePlaylist().TargetDuration; whole < 20 || live < 20 {
		t.Errorf("targets of %d and %d s, too soon", whole, live)
	}
	r.gops(int(2 * targetCalm / (2 * time.Second)))
	if whole, live := r.playlist().TargetDuration, r.livePlaylist().TargetDuration; whole != 2 || live != 2 {
		t.Errorf("targets of %d and %d s", whole, live)
	}
	if n := len(r.playlist().Segments); n != 5 {
		t.Errorf("%d segments are listed", n)
	}
	if r.checker.Restarts != 2 {
		t.Errorf("%d new lives", r.checker.Restarts)
	}
}

func TestAPartTargetThatIsNeededNoMoreIsLetGoOf(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(5)
	r.goLive()
	r.gops(2)
	before := r.livePlaylist().PartTarget
	r.pictures(13)
	r.skip(7 * time.Second) // the camera's network was away, and no keyframe came
	r.pictures(37)
	if got := r.livePlaylist().PartTarget; got < 7*time.Second {
		t.Fatalf("part target %v", got)
	}
	r.gops(int(partCalm/(2*time.Second)) / 2)
	if got := r.livePlaylist().PartTarget; got < 7*time.Second {
		t.Errorf("part target %v, too soon", got)
	}
	r.gops(int(partCalm / (2 * time.Second)))
	if got := r.livePlaylist().PartTarget; got != before {
		t.Errorf("part target %v, it was %v", got, before)
	}
}

func TestACamerasTargetIsThatOfWhoNeedsTheLongest(t *testing.T) {
	p := &periods{members: map[string]*member{}}
	for _, step := range []struct {
		source string
		needs  int
		want   int
	}{
		{"main", 2, 2}, {"sub", 4, 4}, {"main", 2, 4}, {"main", 12, 12}, {"sub", 4, 12},
		{"main", 7, 12}, {"main", 6, 6}, {"sub", 2, 6}, {"main", 2, 2},
	} {
		if got := p.cover(step.source, step.needs); got != step.want {
			t.Errorf("%s needs %d: %d, want %d", step.source, step.needs, got, step.want)
		}
	}
	p.cover("sub", 30)
	p.leave("sub")
	if got := p.cover("main", 2); got != 2 {
		t.Errorf("%d is what a source needs that has gone", got)
	}
}

func TestWhatIsNeededIsForgottenAfterAWhile(t *testing.T) {
	var n need
	at := func(minutes int) time.Time { return zero.Add(time.Duration(minutes) * time.Minute) }
	for _, step := range []struct{ minute, seconds, want int }{
		{0, 2, 2}, {1, 12, 12}, {19, 2, 12}, {21, 2, 12}, {40, 2, 12}, {42, 2, 2}, {50, 5, 5}, {20, 2, 5}, {41, 2, 2},
	} {
		if got := n.note(step.seconds, at(step.minute)); got != step.want {
			t.Errorf("minute %d: %d, want %d", step.minute, got, step.want)
		}
	}
}
