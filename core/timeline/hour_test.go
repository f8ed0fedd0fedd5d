package timeline

import (
	"math/rand/v2"
	"testing"
	"time"
)

// A simulated camera: what its sampling clock and its clock of the day do, and
// what the network does to packets. Time is simulated.
type simulated struct {
	pace      float64       // ticks that the video clock counts for each real one
	audioPace float64       // the same of audio
	clockOff  time.Duration // of the camera's clock of the day
	audioLate time.Duration // arrival of audio after video of the same moment
	jitter    time.Duration
	reports   [2]bool // sender reports of video, audio
}

// observed is what a frame became.
type observed struct {
	sent             time.Time
	track            int
	position         time.Duration
	wall             time.Time
	byReport         bool
	step, senderStep time.Duration // since the track's frame before
}

// run feeds a timeline for a time and shows each frame to look.
func (c simulated) run(length time.Duration, look func(observed)) *Timeline {
	random := rand.New(rand.NewPCG(7, 7))
	timeline := New(0)
	tracks := timeline.Connect(90000, 16000)
	rates := []float64{90000 * c.pace, 16000 * c.audioPace}
	var last [2]time.Duration
	var lastSent [2]time.Duration
	for at := time.Duration(0); at < length; at += 40 * time.Millisecond {
		delay := 5*time.Millisecond + time.Duration(random.Int64N(int64(c.jitter)+1))
		for i, track := range tracks {
			arrival := start.Add(at + delay)
			if i == 1 {
				arrival = arrival.Add(c.audioLate)
			}
			rtp := uint32(int64(at.Seconds()*rates[i]) + int64(i)*77777)
			if c.reports[i] && at > 0 && at%(5*time.Second) == 0 {
				track.Report(start.Add(at+c.clockOff), rtp, arrival)
			}
			pts := track.PTS(rtp, arrival)
			position := track.Position(pts)
			wall, byReport := timeline.Wall(position)
			look(observed{start.Add(at), i, position, wall, byReport, position - last[i], at - lastSent[i]})
			last[i], lastSent[i] = position, at
		}
	}
	return timeline
}

func TestAnHourOfEachKindOfClock(t *testing.T) {
	cases := []struct {
		name   string
		camera simulated
		// How far positions may be from real time at the end, how fast they may
		// move against it, and how far the wall clock may be off.
		off, wall time.Duration
		pace      float64
		byReport  bool
	}{
		{"right", simulated{pace: 1, audioPace: 1}, 50 * time.Millisecond, 50 * time.Millisecond, 0.001, false},
		{"right, jittery", simulated{pace: 1, audioPace: 1, jitter: 150 * time.Millisecond}, 100 * time.Millisecond, 200 * time.Millisecond, 0.021, false},
		{"500 ppm slow", simulated{pace: 0.9995, audioPace: 0.9995, jitter: 50 * time.Millisecond}, 150 * time.Millisecond, 200 * time.Millisecond, 0.021, false},
		{"500 ppm fast", simulated{pace: 1.0005, audioPace: 1.0005, jitter: 50 * time.Millisecond}, 150 * time.Millisecond, 200 * time.Millisecond, 0.021, false},
		{"72 s of timestamps in 60 s", simulated{pace: 1.2, audioPace: 1.2}, 4 * time.Second, 4 * time.Second, 0.45, false},
		{"48 s of timestamps in 60 s", simulated{pace: 0.8, audioPace: 0.8}, 4 * time.Second, 4 * time.Second, 0.45, false},
		{"sane reports", simulated{pace: 1, audioPace: 1, jitter: 100 * time.Millisecond, clockOff: -200 * time.Millisecond, reports: [2]bool{true, true}}, 100 * time.Millisecond, 20 * time.Millisecond, 0.021, true},
		{"reports of 1970", simulated{pace: 1, audioPace: 1, clockOff: -50 * 365 * 24 * time.Hour, reports: [2]bool{true, true}}, 50 * time.Millisecond, 50 * time.Millisecond, 0.001, false},
		{"reports an hour ahead", simulated{pace: 1, audioPace: 1, clockOff: time.Hour, reports: [2]bool{true, true}}, 50 * time.Millisecond, 50 * time.Millisecond, 0.001, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var end observed
			timeline := c.camera.run(time.Hour, func(o observed) {
				if o.track != 0 {
					return
				}
				if o.senderStep > 0 {
					if pace := float64(o.step)/float64(o.senderStep) - 1; pace > c.pace || pace < -c.pace {
						t.Fatalf("at %v the stream runs %.1f %% fast", o.sent.Sub(start), 100*pace)
					}
				}
				end = o
			})
			if off := end.position - end.sent.Sub(start); off.Abs() > c.off {
				t.Errorf("after an hour the stream is %v off real time", off)
			}
			sent := end.sent
			if c.byReport {
				sent = sent.Add(c.camera.clockOff)
			}
			if off := end.wall.Sub(sent); off.Abs() > c.wall || end.byReport != c.byReport {
				t.Errorf("the wall clock is %v off, by reports: %t", off, end.byReport)
			}
			if timeline.Epoch() != 1 || timeline.Entry() {
				t.Error("a drift was taken for a jump")
			}
			for i, track := range timeline.tracks {
				if track.Restamped() != 0 {
					t.Errorf("track %d: %d timestamps not believed", i, track.Restamped())
				}
			}
		})
	}
}

func TestSoundAndPictureComeTogether(t *testing.T) {
	cases := []struct {
		name   string
		camera simulated
		apart  time.Duration // at the end, at most
		moved  bool          // the tracks came closer
	}{
		{"together from the start", simulated{pace: 1, audioPace: 1, reports: [2]bool{true, true}}, 10 * time.Millisecond, false},
		{"sound arrives 250 ms late", simulated{pace: 1, audioPace: 1, audioLate: 250 * time.Millisecond, reports: [2]bool{true, true}}, 40 * time.Millisecond, true},
		{"sound arrives 2 s late", simulated{pace: 1, audioPace: 1, audioLate: 2 * time.Second, reports: [2]bool{true, true}}, 40 * time.Millisecond, true},
		{"the sound's clock 0.1 % fast", simulated{pace: 1, audioPace: 1.001, reports: [2]bool{true, true}}, 100 * time.Millisecond, true},
		{"reports of the picture alone", simulated{pace: 1, audioPace: 1, audioLate: 250 * time.Millisecond, reports: [2]bool{true, false}}, 260 * time.Millisecond, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var newest [2]observed
			c.camera.run(30*time.Minute, func(o observed) {
				if o.senderStep > 0 {
					if pace := float64(o.step)/float64(o.senderStep) - 1; pace > 0.075 || pace < -0.075 {
						t.Fatalf("track %d runs %.1f %% fast at %v", o.track, 100*pace, o.sent.Sub(start))
					}
				}
				newest[o.track] = o
			})
			if apart := newest[1].position - newest[0].position; apart.Abs() > c.apart {
				t.Errorf("sound and picture of one moment are %v apart", apart)
			}
		})
	}
}

func TestABadAudioClockDoesNotSteerThePicture(t *testing.T) {
	for _, pace := range []float64{0.5, 0.9, 1.01, 1.1, 2} {
		simulated{pace: 1, audioPace: pace}.run(10*time.Minute, func(o observed) {
			if o.track != 0 {
				return
			}
			if off := o.position - o.sent.Sub(start); off.Abs() > 50*time.Millisecond {
				t.Fatalf("audio clock at %v: the picture is %v off real time at %v", pace, off, o.sent.Sub(start))
			}
			if off := o.wall.Sub(o.sent); off.Abs() > 50*time.Millisecond {
				t.Fatalf("audio clock at %v: the time of day is %v off at %v", pace, off, o.sent.Sub(start))
			}
		})
	}
}

func TestReportsThatEndAreForgotten(t *testing.T) {
	timeline := New(0)
	track := timeline.Connect(90000)[0]
	for i := range 25 * 180 {
		at := start.Add(time.Duration(i) * 40 * time.Millisecond)
		if i == 100 {
			track.Report(at.Add(-time.Second), uint32(i*frame), at)
		}
		pts := track.PTS(uint32(i*frame), at)
		_, reported := timeline.Wall(track.Position(pts))
		if want := i >= 100 && i < 100+25*60; reported != want && i != 100+25*60 {
			t.Fatalf("frame %d: by report %t, want %t", i, reported, want)
		}
	}
}
