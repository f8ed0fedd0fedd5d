package hls

import (
	"strings"
	"testing"
	"time"
)

func TestWindowListsFiveSegmentsAndASegmentThatLeftItIsGone(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(2)
	r.picture()
	first := r.playlist().Segments[0].URI
	for i := range 12 {
		status := r.get("door/" + first).StatusCode
		// Two segments linger: 4 s.
		if want := map[bool]int{true: 200, false: 404}[i <= 5]; status != want {
			t.Errorf("after %d more segments: %d, want %d", i, status, want)
		}
		r.gops(1)
	}
	p := r.playlist()
	if len(p.Segments) != 5 || p.TargetDuration != 2 {
		t.Errorf("%d segments, target %d", len(p.Segments), p.TargetDuration)
	}
	if got := r.pipeline.window; len(got.lingering) != 2 {
		t.Errorf("%d segments linger", len(got.lingering))
	}
}

func TestWithoutLingerASegmentGoesWithItsPlaylistEntry(t *testing.T) {
	r := newRig(t, Config{Linger: -1})
	r.gops(20)
	if got := len(r.muxer.published.Load().segments); got != 5 {
		t.Errorf("%d segments are to be had, want 5", got)
	}
}

func TestLongSegmentsAreFewButThreeTargetDurations(t *testing.T) {
	r := newRig(t, Config{})
	r.gop = 300
	r.gops(8)
	if got := r.durations(); got != "12s 12s 12s" {
		t.Errorf("got %s", got)
	}
}

func TestWindowStaysInItsBytes(t *testing.T) {
	r := newRig(t, Config{MaxSegmentBytes: 50_000, MaxWindowBytes: 50_000})
	r.watching = false // a playlist of less than three target durations is what this costs
	r.bytes = 400
	r.gops(20)
	held := r.muxer.held.Load()
	if held > 50_000+21_000 { // the window and the open segment
		t.Errorf("%d bytes are held", held)
	}
}

func TestLongerGOPBeginsANewLifeOfThePlaylist(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(8)
	r.gop = 175 // 7 s
	r.count = 0
	r.gops(2)
	r.picture()
	p := r.playlist()
	if got := r.durations(); got != "7s 7s" || p.TargetDuration != 9 {
		t.Errorf("got %s, target %d", got, p.TargetDuration)
	}
	r.gop, r.count = 50, 0
	r.gops(20)
	p = r.playlist()
	if p.TargetDuration != 9 || r.checker.Restarts != 1 || r.muxer.restarts.Load() != 1 {
		t.Errorf("target %d, %d restarts", p.TargetDuration, r.checker.Restarts)
	}
	// RFC 8216 6.2.2: three target durations stay listed.
	if len(p.Segments) != 14 {
		t.Errorf("%d segments", len(p.Segments))
	}
}

func TestNumbersNeverGoBackOverManyReconnects(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	for i := range 20 {
		r.pictures(10 + i*17%120)
		r.reconnect(time.Duration(i) * 700 * time.Millisecond)
	}
	r.gops(3)
	if r.checker.Loads < 20 {
		t.Errorf("only %d playlists were seen", r.checker.Loads)
	}
}

func TestNumbersNeverGoBackOverARestartOfTheServer(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(30)
	r.reconnect(time.Second)
	r.gops(1)
	before := r.playlist()
	r.start(rigEpoch + 70_000) // after a minute's segments
	r.reconnect(time.Second)
	r.gops(2)
	r.picture()
	after := r.playlist()
	if after.MediaSequence <= before.MediaSequence+5 || after.DiscontinuitySequence <= before.DiscontinuitySequence {
		t.Errorf("media sequence %d after %d, discontinuity sequence %d after %d",
			after.MediaSequence, before.MediaSequence, after.DiscontinuitySequence, before.DiscontinuitySequence)
	}
	if !after.Segments[0].Discontinuity {
		t.Error("no discontinuity")
	}
	if strings.Split(after.Segments[0].URI, ".")[1] == strings.Split(before.Segments[0].URI, ".")[1] {
		t.Error("names hold the same epoch")
	}
}

func TestProgramDateFollowsTheClockSlowly(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(3)
	r.drift = 300 * time.Millisecond
	r.gops(30)
	p := r.playlist()
	last := p.Segments[len(p.Segments)-1]
	position := r.video.Duration(r.dts) - 2*last.Duration // the open segment is the newest
	want := zero.Add(position + r.drift)
	if got := last.ProgramDateTime.Sub(want).Abs(); got > 5*time.Millisecond {
		t.Errorf("program date is %v off after a minute", got)
	}
	r.drift = time.Hour
	r.watching = false // a clock that is set is a step
	r.gops(2)
	last = r.playlist().Segments[4]
	if got := last.ProgramDateTime.Sub(zero); got < time.Hour {
		t.Errorf("program date %v did not follow a clock that was set", got)
	}
}

func TestProgramDateOfALongSegmentFollowsNoFasterThanThatOfAShortOne(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(3)
	r.drift = 250 * time.Millisecond // too little for a discontinuity
	r.gop, r.count = 500, 0
	r.gops(3) // the checker sees whether a date is off
	if p := r.playlist(); p.Segments[len(p.Segments)-1].Duration != 20*time.Second {
		t.Errorf("segments of %v", p.Segments[len(p.Segments)-1].Duration)
	}
}

func TestTargetCoversTheLongestSegmentWithoutGrowingByJitter(t *testing.T) {
	r := newRig(t, Config{})
	w := r.pipeline.window
	if got := targetFor(w.config, 2040*time.Millisecond); got != 2 {
		t.Errorf("target for a GOP of 2.04 s is %d", got)
	}
	for longest, want := range map[time.Duration]int{0: 2, 2 * time.Second: 2, 2400 * time.Millisecond: 3, 12 * time.Second: 12, 12300 * time.Millisecond: 13} {
		if got := targetFor(w.config, longest); got != want {
			t.Errorf("target for %v is %d, want %d", longest, got, want)
		}
	}
}
