package archive

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// A cutRig is a camera whose frames are cut as they come.
type cutRig struct {
	*fakeCamera
	t      *testing.T
	cutter *cutter
	drops  dropCounters
	got    []*disk.Fragment
	counts [2]int
	missed uint64
}

func newCutRig(t *testing.T) *cutRig {
	r := &cutRig{t: t}
	pool := media.NewPool()
	r.fakeCamera = newFakeCamera(t, pool, func(f *media.Frame) {
		r.cutter.push(ring.Item{Frame: f, Missed: r.missed})
		r.missed = 0
	})
	r.cutter = &cutter{run: 1, drops: &r.drops, emit: r.take}
	t.Cleanup(func() {
		r.cutter.flush()
		r.arenas[0].Close()
		r.arenas[1].Close()
		if left := pool.Stats().Frames; left != 0 {
			t.Errorf("%d frames are never released", left)
		}
	})
	return r
}

// take checks what holds of each fragment by itself, and beside the one before.
func (r *cutRig) take(f *disk.Fragment) {
	r.t.Helper()
	size := int64(len(f.Head))
	sum := layout.CRC(0, f.Head[layout.MarkBytes:])
	for _, b := range f.Body {
		sum = layout.CRC(sum, b)
		size += int64(len(b))
	}
	mark, err := layout.ParseMark(f.Head[:layout.MarkBytes])
	if err != nil {
		r.t.Fatalf("mark: %v", err)
	}
	if size != f.Bytes || mark.CRC != sum || int64(mark.Bytes)+layout.MarkBytes != size {
		r.t.Errorf("a fragment of %d bytes says %d, its mark %d, checksum %x and %x", size, f.Bytes, mark.Bytes, sum, mark.CRC)
	}
	moofBytes := int(binary.BigEndian.Uint32(f.Head[layout.MarkBytes:]))
	runs, samples, err := fmp4.ReadMoof(f.Head[layout.MarkBytes:layout.MarkBytes+moofBytes], nil)
	if err != nil {
		r.t.Fatalf("moof: %v", err)
	}
	if len(samples) != len(f.Frames) || mark.Frames[0]+mark.Frames[1] != uint32(len(samples)) || len(runs) < 1 {
		r.t.Errorf("%d frames, %d samples, mark %v", len(f.Frames), len(samples), mark.Frames)
	}
	if !f.Start.Add(layout.Time(f.Entry.Duration)).Truncate(time.Microsecond).Equal(f.End.Truncate(time.Microsecond)) && f.End.Sub(f.Start.Add(layout.Time(f.Entry.Duration))).Abs() > 2*time.Microsecond {
		r.t.Errorf("from %v to %v, and lasts %v", f.Start, f.End, layout.Time(f.Entry.Duration))
	}
	if len(r.got) == 0 && !(f.Fresh && f.Breaks && f.Entry.Keyframe) {
		r.t.Error("the first fragment begins no file")
	}
	r.counts[0] += int(f.Counts[0])
	r.counts[1] += int(f.Counts[1])
	for _, frame := range f.Frames {
		frame.Release()
	}
	f.Frames, f.Body = nil, nil
	r.got = append(r.got, f)
}

// end ends the stream and holds what was made against what is in fragments.
func (r *cutRig) end(missing [2]int) {
	r.t.Helper()
	r.cutter.flush()
	for i, want := range [2]int{r.made[0] - missing[0], r.made[1] - missing[1]} {
		if r.counts[i] != want {
			r.t.Errorf("track %d: %d frames in fragments, of %d made", i, r.counts[i], r.made[i])
		}
	}
}

// seconds returns how long fragments are.
func (r *cutRig) seconds() []float64 {
	var all []float64
	for _, f := range r.got {
		all = append(all, float64(f.Entry.Duration)/layout.TicksPerSecond)
	}
	return all
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if d := a[i] - b[i]; d > 1e-4 || d < -1e-4 {
			return false
		}
	}
	return true
}

func TestAFragmentIsAGOPOrSeveralShortOnesOrAPieceOfALongOne(t *testing.T) {
	for name, c := range map[string]struct {
		gop, pictures int
		want          []float64
	}{
		"GOPs of two seconds":          {50, 150, []float64{2, 2, 2}},
		"GOPs of a second":             {25, 75, []float64{1, 1, 1}},
		"GOPs of 0.4 s":                {10, 60, []float64{1.2, 1.2}},
		"every picture a keyframe":     {1, 50, []float64{1, 1}},
		"GOPs of five seconds":         {125, 375, []float64{2, 2, 1, 1.68, 1.68, 1.64, 1.68, 1.68, 1.64}},
		"GOPs a little over two":       {52, 156, []float64{2, 0.08, 2.08, 2.08}},
		"one picture in five seconds":  {1, 0, nil},
		"a GOP that has not ended yet": {1000, 30, []float64{1.2}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCutRig(t)
			r.gop = c.gop
			r.pictures(c.pictures)
			r.end([2]int{})
			if got := r.seconds(); !equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestFilesEndAtTheFirstKeyframeAfterTheirMinute(t *testing.T) {
	r := newCutRig(t)
	r.cutter.stagger = 13 * time.Second
	r.gops(70)
	r.end([2]int{})
	var at []float64
	for _, f := range r.got {
		if f.Fresh {
			at = append(at, f.Start.Sub(zero).Seconds())
			if f.Breaks != (len(at) == 1) {
				t.Errorf("at %v: breaks: %t", f.Start, f.Breaks)
			}
		}
	}
	if !equal(at, []float64{0, 14, 74, 134}) {
		t.Errorf("files begin at %v", at)
	}
}

func TestSoundIsBesideThePictureThatItBelongsTo(t *testing.T) {
	r := newCutRig(t)
	r.sound = aacParams()
	r.gops(5)
	r.end([2]int{})
	for i, f := range r.got[:4] {
		if n := f.Counts[1]; n < 30 || n > 33 {
			t.Errorf("fragment %d has %d frames of sound", i, n)
		}
	}
	if f := r.got[0]; f.Spec.Format.Codecs != "avc1.64000C,mp4a.40.2" || f.Spec.Format.Width != 320 {
		t.Errorf("got %+v", f.Spec.Format)
	}
}

func TestSoundThatBeginsLateBeginsAFileAndLosesNothing(t *testing.T) {
	r := newCutRig(t)
	r.gops(2)
	r.soundDTS, r.sound = r.dts*16/90, aacParams()
	r.gops(3)
	r.end([2]int{})
	fresh := 0
	for _, f := range r.got {
		if f.Fresh {
			fresh++
		}
	}
	if fresh != 2 || r.got[len(r.got)-1].Spec.Format.Codecs != "avc1.64000C,mp4a.40.2" {
		t.Errorf("%d files, the last with %s", fresh, r.got[len(r.got)-1].Spec.Format.Codecs)
	}
}

func TestSoundThatNobodyCanWriteCostsTheSoundOnly(t *testing.T) {
	r := newCutRig(t)
	r.sound = &media.Params{Codec: media.CodecAAC}
	r.gops(3)
	r.end([2]int{0, r.made[1]})
	if r.drops[DropParameters].Load() == 0 {
		t.Error("nothing was counted")
	}
}

func TestSoundAloneIsRecorded(t *testing.T) {
	r := newCutRig(t)
	r.sound = aacParams()
	for range 100 {
		r.soundFrame(true)
	}
	r.cutter.flush()
	if r.counts[0] != 100 || r.got[0].Spec.Format.Codecs != "mp4a.40.2" {
		t.Errorf("got %v of %+v", r.counts, r.got[0].Spec.Format)
	}
	for i, s := range r.seconds()[:3] {
		if s < 1 || s > 1.1 {
			t.Errorf("fragment %d lasts %v s", i, s)
		}
	}
}

func TestAPictureAfterAllBeginsAFileWithIt(t *testing.T) {
	r := newCutRig(t)
	r.sound = aacParams()
	for range 20 {
		r.soundFrame(true)
	}
	r.gops(2)
	r.cutter.flush()
	if last := r.got[len(r.got)-1].Spec.Format.Codecs; last != "avc1.64000C,mp4a.40.2" {
		t.Errorf("got %s", last)
	}
	if total := r.counts[0] + r.counts[1]; total != r.made[0]+r.made[1] {
		t.Errorf("%d of %d frames are in fragments", total, r.made[0]+r.made[1])
	}
}

func TestBehindALossAFileBeginsThatSaysSo(t *testing.T) {
	r := newCutRig(t)
	r.sound = aacParams()
	r.gops(2)
	r.pictures(20)
	r.lose(700 * time.Millisecond)
	r.gops(2)
	r.end([2]int{})
	got := r.seconds()
	if !equal(got, []float64{2, 2, 0.8, 2, 2}) {
		t.Fatalf("got %v: a picture was stretched over a hole", got)
	}
	f := r.got[3]
	if !f.Fresh || !f.Breaks || !f.Entry.Hole || !f.Lost {
		t.Errorf("got %+v", f)
	}
	if hole := f.Start.Sub(r.got[2].End); hole != 700*time.Millisecond {
		t.Errorf("the hole lasts %v", hole)
	}
}

func TestALossOfNoTimeIsNoHole(t *testing.T) {
	r := newCutRig(t)
	r.gops(1)
	r.lost = 1
	r.gops(1)
	r.end([2]int{})
	if r.got[1].Entry.Hole || r.got[1].Fresh {
		t.Errorf("got %+v", r.got[1].Entry)
	}
}

func TestFramesTheRecorderMissedAreAHole(t *testing.T) {
	r := newCutRig(t)
	r.gops(1)
	r.skip(2 * time.Second)
	r.missed = 50
	r.gops(1)
	r.end([2]int{})
	if f := r.got[1]; !f.Entry.Hole || !f.Busy || f.Lost || f.Start.Sub(r.got[0].End) != 2*time.Second {
		t.Errorf("got %+v", f.Entry)
	}
}

func TestSilenceIsAHoleAndASlowCameraIsNot(t *testing.T) {
	r := newCutRig(t)
	r.gops(1)
	r.skip(5 * time.Second)
	r.gops(1)
	r.frameTicks, r.gop = 10*90000, 1 // a picture in ten seconds
	r.skip(10 * time.Second)
	r.gops(6)
	r.end([2]int{})
	holes := 0
	for _, f := range r.got[3:] {
		if f.Entry.Hole {
			holes++
		}
	}
	if !r.got[1].Entry.Hole || holes > 0 {
		t.Errorf("the first silence: %t, among ten seconds each: %d", r.got[1].Entry.Hole, holes)
	}
}

func TestANewSizeBeginsAFileAndNoTimeIsMissing(t *testing.T) {
	r := newCutRig(t)
	r.gops(2)
	r.pictures(10)
	r.params, r.count = otherH264Params(), 0
	r.gops(2)
	r.end([2]int{})
	f := r.got[3]
	if !f.Fresh || !f.Breaks || f.Entry.Hole || f.Spec == r.got[0].Spec || f.Spec.Format.Height != 576 {
		t.Errorf("got %+v of %+v", f, f.Spec.Format)
	}
	if !f.Start.Equal(r.got[2].End.Truncate(time.Microsecond)) {
		t.Errorf("begins at %v, the one before ends at %v", f.Start, r.got[2].End)
	}
}

func TestAReconnectBeginsAFileWhereTheClockSays(t *testing.T) {
	r := newCutRig(t)
	r.sound = aacParams()
	r.pictures(75)
	r.reconnect(30 * time.Second)
	r.gops(2)
	r.end([2]int{})
	f := r.got[2]
	if !f.Fresh || !f.Breaks || f.Spec.Epoch != 2 {
		t.Errorf("got %+v of epoch %d", f, f.Spec.Epoch)
	}
	if gone := f.Start.Sub(r.got[1].End); gone != 30*time.Second {
		t.Errorf("it was away for %v", gone)
	}
}

func TestWhatNeedsFramesThatAreNotThereIsLeftOut(t *testing.T) {
	r := newCutRig(t)
	r.gops(1)
	r.pictures(10)
	r.missed = 5
	r.pictures(20) // in mid-GOP
	r.count = 0
	r.gops(1)
	r.end([2]int{20, 0})
	if n := r.drops[DropAwaitingKeyframe].Load(); n != 20 {
		t.Errorf("counted %d", n)
	}
	if !r.got[2].Entry.Hole {
		t.Error("no hole is told")
	}
}

func TestMJPEGIsCountedAndLeftOut(t *testing.T) {
	r := newCutRig(t)
	r.params = &media.Params{Codec: media.CodecJPEG}
	r.tracks()
	r.pictures(5)
	r.end([2]int{5, 0})
	if n := r.drops[DropUnplayable].Load(); n != 5 {
		t.Errorf("counted %d", n)
	}
}

func TestFootageFollowsTheEstimateOfTimeSmoothly(t *testing.T) {
	r := newCutRig(t)
	r.gops(5)
	r.drift = 3 * time.Second // a sender report came
	r.gops(200)
	r.end([2]int{})
	for i := 1; i < len(r.got); i++ {
		between := r.got[i].Start.Sub(r.got[i-1].End)
		if between.Abs() > 40*time.Millisecond || between > r.got[i].Slack {
			t.Fatalf("fragment %d begins %v after the one before", i, between)
		}
	}
	last := r.got[len(r.got)-1]
	want := zero.Add(r.video.Duration(r.dts)).Add(3 * time.Second)
	if off := last.End.Sub(want); off.Abs() > deadband {
		t.Errorf("in the end it is off by %v", off)
	}
}

func TestSteadyFootageHasNoShifts(t *testing.T) {
	r := newCutRig(t)
	r.frameTicks = 3003 // 29.97 a second
	r.drift = 20 * time.Millisecond
	r.gops(100)
	r.drift = -20 * time.Millisecond // jitter of the estimate
	r.gops(100)
	clock := layout.Clock{}
	for i, f := range r.got {
		if f.Fresh {
			clock = layout.NewClock(f.Start)
		}
		if shift := clock.Shift(f.Start); shift < -2 || shift > 2 {
			t.Fatalf("fragment %d is shifted by %d µs", i, shift)
		}
		clock.Next(&f.Entry)
	}
}
