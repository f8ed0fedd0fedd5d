package hls

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

// jittered makes pictures come at times of their own, in ticks of 90 kHz from the
// first. They repeat.
func (r *rig) jittered(n int, offsets []int64) {
	base := r.frameTicks
	for i := range n {
		at, next := offsets[i%len(offsets)], offsets[(i+1)%len(offsets)]
		r.frameTicks = base + next - at
		r.picture()
	}
	r.frameTicks = base
}

func TestSegmentsAreTheirPartsSideBySide(t *testing.T) {
	r := newRig(t, Config{Window: 10})
	r.sound = aacParams()
	r.gops(2)
	r.pictures(7)
	r.goLive()
	r.gops(4)
	r.pictures(20)
	p := r.livePlaylist()
	seen := 0
	for _, s := range p.Segments {
		if s.Parts == nil {
			continue // too far from the end
		}
		var all strings.Builder
		for _, part := range s.Parts {
			all.WriteString(bodyOf(t, r.get("door/"+part.URI)))
			seen++
		}
		if whole := bodyOf(t, r.get("door/"+s.URI)); whole != all.String() || len(whole) < 20_000 {
			t.Errorf("segment %s of %d bytes is not its %d parts", s.URI, len(whole), len(s.Parts))
		}
	}
	if seen < 30 || p.Open == nil {
		t.Errorf("%d parts, open %v", seen, p.Open)
	}
	for _, part := range p.Open.Parts {
		if body := bodyOf(t, r.get("door/"+part.URI)); len(body) < 2000 {
			t.Errorf("part %s of the open segment has %d bytes", part.URI, len(body))
		}
	}
}

func TestPartsAreWholeFramesNearWhatIsWanted(t *testing.T) {
	for _, c := range []struct {
		name    string
		ticks   int64
		offsets []int64
		target  string
		parts   int // of the first segment
	}{
		{"25", 3600, []int64{0}, "205ms", 10},
		{"29.97", 3003, []int64{0}, "205ms", 17},
		{"30", 3000, []int64{0}, "205ms", 17},
		{"50", 1800, []int64{0}, "205ms", 12},
		{"15", 6000, []int64{0}, "205ms", 17},
		{"12", 7500, []int64{0}, "170ms", 25},
		{"12 with jitter", 7500, []int64{0, 900, -700, 300, -1000, 1000, 0, -400, 600, -900, 200}, "360ms", 0},
		{"5", 18000, []int64{0}, "205ms", 50},
		{"2", 45000, []int64{0}, "505ms", 50},
		{"a picture in two seconds", 180000, []int64{0}, "2.02s", 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{})
			r.frameTicks = c.ticks
			r.jittered(120, c.offsets)
			r.goLive()
			r.jittered(400, c.offsets)
			p := r.livePlaylist()
			if got := p.PartTarget.String(); got != c.target {
				t.Errorf("part target %s, want %s", got, c.target)
			}
			if got := len(p.Segments[len(p.Segments)-1].Parts); c.parts != 0 && got != c.parts {
				t.Errorf("%d parts, want %d", got, c.parts)
			}
			if r.live.Restarts != 0 || r.muxer.live.restarts.Load() != 0 {
				t.Errorf("%d new lives", r.live.Restarts)
			}
		})
	}
}

func TestNobodyWatchingLowLatencyNoneIsMade(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(3)
	if r.muxer.published.Load().live != nil {
		t.Fatal("made before anybody asked")
	}
	r.goLive()
	r.gops(3)
	if r.muxer.published.Load().live == nil {
		t.Fatal("not made")
	}
	asked := r.clock.now()
	for r.muxer.published.Load().live != nil {
		before := r.muxer.published.Load()
		r.pictureUnwatched()
		if r.clock.now().Sub(asked) > 2*liveIdle {
			t.Fatalf("still made %v after the last request, %v", r.clock.now().Sub(asked), before.live)
		}
	}
	if idle := r.clock.now().Sub(asked); idle < liveIdle-time.Second {
		t.Errorf("given up after %v", idle)
	}
	r.gops(3)
	r.live = conform.New() // a viewer that comes later
	r.goLive()
	r.gops(3)
}

// pictureUnwatched is a picture without a viewer of parts.
func (r *rig) pictureUnwatched() {
	out := r.source.out
	r.source.out = func(f *media.Frame) {
		r.clock.set(zero.Add(f.Track.Duration(f.DTS)))
		r.pipeline.segmenter.push(ring.Item{Frame: f})
		r.pipeline.publish()
	}
	r.picture()
	r.source.out = out
}

func TestPlaylistIsThereBeforeTheFirstSegmentIsWhole(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gop = 1500
	r.pictures(11)
	r.goLive()
	p := r.livePlaylist()
	if len(p.Segments) != 0 || len(p.Open.Parts) != 2 || p.TargetDuration != 4 {
		t.Fatalf("%d segments, parts %v, target %d", len(p.Segments), p.Open, p.TargetDuration)
	}
	if status := r.get("door/" + p.Open.MapURI).StatusCode; status != 200 {
		t.Errorf("map: %d", status)
	}
	multivariant := bodyOf(t, r.get("door/live.m3u8"))
	if !strings.Contains(multivariant, "main.live.m3u8") || !strings.Contains(multivariant, `CODECS="avc1.64000C,mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=25.000`) {
		t.Errorf("multivariant\n%s", multivariant)
	}
	if status := r.get("door/index.m3u8").StatusCode; status != 503 {
		t.Errorf("playlist of whole segments: %d", status)
	}
	r.pictures(3100)
	p = r.livePlaylist()
	if got := r.live.Restarts; got != 4 || p.TargetDuration != 64 { // 4, 8, 16, 32, 64
		t.Errorf("%d new lives, target %d", got, p.TargetDuration)
	}
	if len(p.Segments) != 2 || len(p.Segments[0].Parts) != 300 {
		t.Errorf("%d segments, %d parts", len(p.Segments), len(p.Segments[0].Parts))
	}
}

func TestLongerGOPWhileLiveIsANewLifeInMidSegment(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(8)
	r.goLive()
	r.gops(2)
	r.gop, r.count = 500, 0
	r.gops(3)
	r.gop, r.count = 50, 0
	r.gops(30)
	if p := r.livePlaylist(); p.TargetDuration != 32 || r.live.Restarts != 4 {
		t.Errorf("target %d, %d new lives", p.TargetDuration, r.live.Restarts)
	}
	if r.checker.Restarts != 1 {
		t.Errorf("%d new lives of the playlist of whole segments", r.checker.Restarts)
	}
}

func TestSlowerPicturesWhileLiveAreANewPartTarget(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(5)
	r.goLive()
	r.gops(2)
	r.pictures(13)
	r.frameTicks = 30000 // a third of a second: night
	r.pictures(200)
	r.frameTicks = 3600
	r.gops(10)
	if p := r.livePlaylist(); p.PartTarget < 333*time.Millisecond || p.PartTarget > 345*time.Millisecond || r.live.Restarts != 5 {
		t.Errorf("part target %v, %d new lives", p.PartTarget, r.live.Restarts)
	}
}

func TestPlayerThatIsAPlaylistBehindMissesNoPart(t *testing.T) {
	type change struct {
		every    int   // how many of the playlists the player sees: each, each other one…
		pictures int   // of the segment that is cut short
		gap      int64 // in ticks, behind it
		params   *media.Params
	}
	var changes []change
	for every := 1; every <= 3; every++ {
		for pictures := 1; pictures < 50; pictures += 6 {
			for _, gap := range []int64{0, 3, 9, 25, 80} {
				for _, params := range []*media.Params{h264Params(), otherH264Params()} {
					changes = append(changes, change{every, pictures, gap * 3600, params})
				}
			}
		}
	}
	for _, c := range changes {
		t.Run(fmt.Sprintf("%d of %d pictures, gap %d, %dx%d", c.every, c.pictures, c.gap, c.params.Width, c.params.Height), func(t *testing.T) {
			r := newRig(t, Config{})
			player := conform.New()
			seen := 0
			play := func(n int) {
				for range n {
					before := r.muxer.published.Load().live
					r.picture()
					live := r.muxer.published.Load().live
					if live == before {
						continue
					}
					if seen++; seen%c.every == 0 {
						player.Watch(live.full.plain.data)
					}
				}
			}
			r.gops(4)
			r.goLive()
			play(50 + c.pictures)
			r.dts += c.gap
			r.params, r.count = c.params, 0
			play(120)
			for _, v := range player.Violations() {
				t.Error(v)
			}
			if player.Loads < 4 {
				t.Errorf("%d loads", player.Loads)
			}
		})
	}
}

func TestReconnectWhileLiveEndsTheSegmentWithItsLastPart(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(4)
	r.goLive()
	for i := range 10 {
		r.pictures(25 + i*7)
		r.reconnect(time.Duration(i) * 900 * time.Millisecond)
	}
	r.gops(4)
	if r.live.Loads < 60 || r.live.Restarts != 0 {
		t.Errorf("%d loads, %d new lives", r.live.Loads, r.live.Restarts)
	}
	breaks := 0
	for _, s := range r.livePlaylist().Segments {
		if s.Discontinuity {
			breaks++
		}
	}
	if breaks == 0 {
		t.Error("no discontinuity")
	}
}

func TestLossWhileLiveIsADiscontinuityAndNotALongPart(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(4)
	r.goLive()
	r.pictures(20)
	r.skipPictures(30)
	r.lost = 12
	r.gops(2)
	r.pictures(6)
	p := r.livePlaylist()
	last := p.Segments[len(p.Segments)-2:]
	if !last[0].Discontinuity || r.live.Restarts != 0 {
		t.Errorf("%+v, %d new lives", last, r.live.Restarts)
	}
}

func TestChangeOfResolutionWhileLiveHasAMapBeforeItsFirstPart(t *testing.T) {
	r := newRig(t, Config{})
	r.gops(4)
	r.goLive()
	r.pictures(20)
	r.params, r.count = otherH264Params(), 0
	r.pictures(8)
	p := r.livePlaylist()
	if p.Open == nil || !p.Open.Discontinuity || p.Open.MapURI == p.Segments[len(p.Segments)-1].MapURI {
		t.Fatalf("open segment %+v", p.Open)
	}
	if status := r.get("door/" + p.Open.MapURI).StatusCode; status != 200 {
		t.Errorf("map: %d", status)
	}
	r.gops(3)
}

func TestOversizeSegmentKeepsThePartsThatWereTold(t *testing.T) {
	r := newRig(t, Config{MaxSegmentBytes: 30_000, MaxWindowBytes: 1 << 20})
	r.gops(4)
	r.goLive()
	r.gop, r.count = 100, 0
	r.gops(1)
	r.gop = 50
	r.gops(3)
	if r.dropped(DropOversize) == 0 {
		t.Error("nothing counted")
	}
}

func TestSoundThatGoesAndComesWhileLiveChangesOnSegments(t *testing.T) {
	r := newRig(t, Config{Window: 20})
	r.sound = aacParams()
	r.gops(4)
	r.goLive()
	r.gops(2)
	r.sound = nil
	r.gops(4)
	r.sound = aacParams()
	r.soundDTS = r.dts * 16000 / 90000
	r.gops(5)
	changes := 0
	segments := r.livePlaylist().Segments
	for i := 1; i < len(segments); i++ {
		if segments[i].Discontinuity {
			changes++
		}
	}
	if changes != 2 {
		t.Errorf("%d changes", changes)
	}
}

func TestLateSoundBehindABreakIsWaitedForAndNotAChange(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(3)
	r.goLive()
	r.gops(1)
	r.reconnect(time.Second)
	r.sound = nil
	r.pictures(25)
	r.sound = aacParams()
	r.soundDTS = r.dts * 16000 / 90000
	r.gops(3)
	segments := r.livePlaylist().Segments
	if last := segments[len(segments)-1]; last.Discontinuity || last.MapURI != segments[0].MapURI {
		t.Errorf("%+v", segments)
	}
}

func TestSoundAloneHasParts(t *testing.T) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	for range 100 {
		r.soundFrame(true)
	}
	r.goLive()
	for range 200 {
		r.soundFrame(true)
	}
	p := r.livePlaylist()
	if p.PartTarget != 195*time.Millisecond || len(p.Segments[len(p.Segments)-1].Parts) != 10 {
		t.Errorf("part target %v, %d parts", p.PartTarget, len(p.Segments[len(p.Segments)-1].Parts))
	}
}

func TestDeltaUpdateIsOfferedWhereTheWindowIsLongEnough(t *testing.T) {
	for _, c := range []struct {
		window int
		skip   bool
	}{{5, false}, {6, false}, {7, true}, {20, true}} {
		t.Run(fmt.Sprint(c.window), func(t *testing.T) {
			r := newRig(t, Config{Window: c.window})
			r.gops(c.window + 3)
			r.goLive()
			r.gops(2)
			r.pictures(7)
			if got := r.livePlaylist().Control.CanSkipUntil; (got != 0) != c.skip {
				t.Fatalf("CAN-SKIP-UNTIL %v", got)
			}
			full := bodyOf(t, r.get("door/main.live.m3u8"))
			delta := bodyOf(t, r.get("door/main.live.m3u8?_HLS_skip=YES"))
			if !c.skip {
				if full != delta {
					t.Error("a delta update that was not offered")
				}
				return
			}
			checker := conform.New()
			checker.Watch([]byte(full))
			merged := checker.Watch([]byte(delta))
			if merged == nil || len(merged.Segments) != len(r.livePlaylist().Segments) || len(delta) >= len(full) {
				t.Errorf("full\n%s\ndelta\n%s", full, delta)
			}
			for _, v := range checker.Violations() {
				t.Error(v)
			}
		})
	}
}

func TestDirectivesAreWholeNumbersGivenOnce(t *testing.T) {
	for _, c := range []struct {
		query string
		want  directives
		bad   bool
	}{
		{query: ""},
		{query: "_HLS_msn="},
		{query: "_HLS_msn=&_HLS_part="},
		{query: "CMCD=x&utm_source=5&token=_HLS_msn"},
		{query: "_HLS_msn=5", want: directives{msn: 5, hasMSN: true}},
		{query: "a=b&_HLS_msn=5&_HLS_part=0&c", want: directives{msn: 5, hasMSN: true, hasPart: true}},
		{query: "_HLS_part=7&_HLS_msn=5&_HLS_skip=YES", want: directives{msn: 5, part: 7, hasMSN: true, hasPart: true, skip: true}},
		{query: "_HLS_skip=v2", want: directives{skip: true}},
		{query: "_HLS_skip=no"},
		{query: "_HLS_msn=&_HLS_msn=5", want: directives{msn: 5, hasMSN: true}},
		{query: "_HLS_msn=18446744073709551615", want: directives{msn: 1<<64 - 1, hasMSN: true}},
		{query: "_HLS_msn=18446744073709551616", bad: true},
		{query: "_HLS_msn=99999999999999999999999999", bad: true},
		{query: "_HLS_msn=-1", bad: true},
		{query: "_HLS_msn=+1", bad: true},
		{query: "_HLS_msn=1.5", bad: true},
		{query: "_HLS_msn=1e3", bad: true},
		{query: "_HLS_msn=%35", bad: true},
		{query: "_HLS_msn=5&_HLS_msn=5", bad: true},
		{query: "_HLS_msn=5&_HLS_part=1&_HLS_part=1", bad: true},
		{query: "_HLS_part=1", bad: true},
		{query: "_HLS_msn=&_HLS_part=1", bad: true},
		{query: "_HLS_msn=5&_HLS_part=x", bad: true},
	} {
		got, ok := parseDirectives(c.query)
		if ok == c.bad || !c.bad && got != c.want {
			t.Errorf("%s: %+v %v", c.query, got, ok)
		}
	}
}

func FuzzDirectives(f *testing.F) {
	for _, seed := range []string{"_HLS_msn=5&_HLS_part=3&_HLS_skip=YES", "_HLS_msn=18446744073709551616", "&&=&_HLS_msn", "_HLS_msn=5=6"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		d, ok := parseDirectives(query)
		if !ok && d != (directives{}) || d.hasPart && !d.hasMSN && ok || !d.hasMSN && d.msn != 0 {
			t.Fatalf("%q: %+v %v", query, d, ok)
		}
		if d.hasMSN && !strings.Contains(query, "_HLS_msn=") {
			t.Fatalf("%q: %+v", query, d)
		}
	})
}
