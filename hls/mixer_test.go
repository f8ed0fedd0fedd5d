package hls

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/sample"
)

// A mix is a mixer and what came out of it, with the clock in the test's hands.
type mix struct {
	*mixer
	t     *testing.T
	clock testClock
	sub   *ring.Subscriber
	arena *media.Arena
	heard []heardFrame
}

// A heardFrame is a frame of the mixer's.
type heardFrame struct {
	at    time.Duration
	lasts time.Duration
	epoch uint64
	first byte // of the payload: who it is of; silence is 0
}

func newMix(t *testing.T) *mix {
	t.Helper()
	m := &mix{t: t}
	m.clock.set(zero)
	config, err := Config{Now: m.clock.now}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	config.Epochs = &clockEpochs{now: m.clock.now}
	p := newPeriods("door", &config)
	p.shift(zero.Add(mediaZero), 0)
	pool := media.NewPool()
	m.mixer, m.arena = newMixer(pool, &config, p), media.NewArena(pool, 4<<10)
	if m.sub, err = m.ring.Subscribe(ring.Options{Buffer: 1 << 16}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		m.take()
		m.sub.Close()
		m.close()
		m.arena.Close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
	})
	return m
}

// take takes what has come out.
func (m *mix) take() []heardFrame {
	for {
		select {
		case item := <-m.sub.C:
			f := item.Frame
			h := heardFrame{at: f.Track.Duration(f.DTS), epoch: f.Epoch, first: f.Payload()[0]}
			if n := len(m.heard); n > 0 {
				m.heard[n-1].lasts = h.at - m.heard[n-1].at
			}
			m.heard = append(m.heard, h)
			f.Release()
		default:
			return m.heard
		}
	}
}

// A talker is a source's sound, in frames of 64 ms.
type talker struct {
	name   string
	mark   byte
	track  *media.Track
	params *media.Params
	dts    int64
}

func newTalker(name string, mark byte) *talker {
	return &talker{name: name, mark: mark, params: aacParams(), track: &media.Track{Kind: media.KindAudio, Codec: media.CodecAAC, ClockRate: 16000}}
}

// frame says a frame of a talker, which is heard at a time.
func (m *mix) frame(s *talker, at time.Duration) {
	m.t.Helper()
	m.arena.Begin()
	if err := m.arena.Append([]byte{s.mark, 1, 2, 3}); err != nil {
		m.t.Fatal(err)
	}
	f, err := m.arena.Finish()
	if err != nil {
		m.t.Fatal(err)
	}
	f.Track, f.Params, f.DTS, f.PTS, f.Keyframe = s.track, s.params, s.dts, s.dts, true
	s.dts += 1024
	m.hear(s.name, f, at)
	f.Release()
}

const soundFrameTime = 64 * time.Millisecond

// pass lets time pass, with pictures of sources, and the sound of those who talk.
func (m *mix) pass(from, to time.Duration, pictures []string, talkers ...*talker) {
	for at := from; at < to; at += soundFrameTime {
		m.clock.set(zero.Add(at))
		for _, source := range pictures {
			m.see(source, at)
		}
		for _, s := range talkers {
			m.frame(s, at)
		}
	}
}

// check sees that sound goes on without a hole from a time on, and returns how many
// frames there are of whom.
func (m *mix) check(from time.Duration) map[byte]int {
	m.t.Helper()
	count := map[byte]int{}
	all := m.take()
	for i, h := range all {
		if h.at < from {
			continue
		}
		count[h.first]++
		if i+1 < len(all) && h.lasts != soundFrameTime && h.epoch == all[i+1].epoch {
			m.t.Errorf("the frame at %v lasts %v", h.at, h.lasts)
		}
	}
	return count
}

var bothPictures = []string{"main", "sub"}

func TestSoundIsHandedOnFrameByFrame(t *testing.T) {
	m := newMix(t)
	m.pass(0, 10*time.Second, bothPictures, newTalker("main", 'm'))
	if got := m.check(0); got['m'] != 157 || got[0] != 0 {
		t.Errorf("%v", got)
	}
}

func TestSoundThatFallsSilentIsSilenceUntilItComesBack(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	m.pass(0, 5*time.Second, bothPictures, main)
	m.pass(5*time.Second, 9*time.Second, bothPictures)
	m.take()
	if end := m.heard[len(m.heard)-1].at; end < 8500*time.Millisecond {
		t.Errorf("silence ends at %v", end)
	}
	main.dts = 9 * 16000
	m.pass(9*time.Second, 14*time.Second, bothPictures, main)
	got := m.check(0)
	if got[0] < 55 || got['m'] < 145 || m.heard[len(m.heard)-1].epoch != m.heard[0].epoch {
		t.Errorf("%v, epochs %d to %d", got, m.heard[0].epoch, m.heard[len(m.heard)-1].epoch)
	}
}

func TestAnotherSourceIsHeardWhenTheFirstHasGoneAway(t *testing.T) {
	m := newMix(t)
	main, sub := newTalker("main", 'm'), newTalker("sub", 's')
	m.pass(0, 5*time.Second, bothPictures, main, sub)
	if got := m.check(0); got['s'] != 0 {
		t.Errorf("two are heard at once: %v", got)
	}
	m.lose("main")
	m.pass(5*time.Second, 10*time.Second, []string{"sub"}, sub)
	m.pass(10*time.Second, 15*time.Second, bothPictures, main, sub)
	got := m.check(5 * time.Second)
	if got['s'] < 150 || got['m'] > 1 || got[0] > 1 {
		t.Errorf("%v", got)
	}
}

func TestWithoutSoundOfAnyOtherPicturesAreBesideSilence(t *testing.T) {
	m := newMix(t)
	m.pass(0, 5*time.Second, bothPictures, newTalker("main", 'm'))
	m.lose("main")
	m.pass(5*time.Second, 20*time.Second, []string{"sub"})
	if got := m.check(5 * time.Second); got[0] < 220 {
		t.Errorf("%v", got)
	}
}

func TestSoundThatComesLateIsWaitedForTheNextTime(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	late := 1600 * time.Millisecond
	burst := func(from time.Duration) { // all the sound of a stretch at its end
		m.pass(from, from+late, bothPictures)
		for at := from; at < from+late; at += soundFrameTime {
			m.frame(main, at)
		}
	}
	burst(0)
	for i := range 10 {
		burst(late * time.Duration(i+1))
	}
	m.take()
	m.heard = m.heard[:0]
	before := m.drops[DropTimeBackwards].Load()
	for i := range 10 {
		burst(late * time.Duration(i+11))
	}
	if got := m.check(0); got[0] != 0 || got['m'] < 240 || m.drops[DropTimeBackwards].Load() != before {
		t.Errorf("%v, %d dropped", got, m.drops[DropTimeBackwards].Load()-before)
	}
}

func TestSoundWhoseClockStandsStillCostsNoPicture(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	m.pass(0, 2*time.Second, bothPictures, main)
	for at := 2 * time.Second; at < 12*time.Second; at += soundFrameTime {
		m.clock.set(zero.Add(at))
		m.see("main", at)
		m.frame(main, 2*time.Second)
		main.dts -= 1024
	}
	if got := m.check(2 * time.Second); got[0] < 140 {
		t.Errorf("%v", got)
	}
}

func TestAClockThatJumpsBeginsAnotherStretch(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -20 * time.Minute} {
		m := newMix(t)
		main := newTalker("main", 'm')
		m.pass(time.Hour, time.Hour+2*time.Second, bothPictures, main)
		for at := 2 * time.Second; at < 6*time.Second; at += soundFrameTime {
			m.clock.set(zero.Add(time.Hour + at))
			m.see("main", time.Hour+at+jump)
			m.frame(main, time.Hour+at+jump)
		}
		got := m.check(0)
		if last := m.heard[len(m.heard)-1]; got['m'] < 90 || got[0] > 2 || last.epoch != m.heard[0].epoch+1 || (last.at-time.Hour-6*time.Second-jump).Abs() > 100*time.Millisecond {
			t.Errorf("jump of %v: %v, %+v", jump, got, last)
		}
	}
}

func TestAnotherCodecBeginsAnotherStretch(t *testing.T) {
	m := newMix(t)
	main, sub := newTalker("main", 'm'), newTalker("sub", 's')
	sub.params = &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x12, 0x10}, SampleRate: 44100, Channels: 2}
	sub.track.ClockRate = 44100
	m.pass(0, 2*time.Second, bothPictures, main)
	m.lose("main")
	m.pass(2*time.Second, 3*time.Second, []string{"sub"}, sub)
	m.take()
	if first, last := m.heard[0], m.heard[len(m.heard)-1]; last.first != 's' || last.epoch != first.epoch+1 {
		t.Errorf("%+v and %+v", first, last)
	}
}

func TestSoundThatIsNoneIsNotHandedOn(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	main.params = &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0xff}}
	m.pass(0, time.Second, bothPictures, main)
	if got := m.check(0); len(got) != 0 || m.drops[DropParameters].Load() == 0 || m.mixer.heard() {
		t.Errorf("%v", got)
	}
}

func TestSilenceIsSilentAndLastsAsLongAsAFrame(t *testing.T) {
	format := flac.Format{SampleRate: 8000, Channels: 1}
	encoder, err := flac.NewEncoder(format)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		params   *media.Params
		clock    int
		frame    []byte
		samples  int // of a frame, of all channels
		channels int
	}{
		{"AAC mono", aacParams(), 16000, []byte{1}, 1024, 1},
		{"AAC stereo", &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x11, 0x90}, SampleRate: 48000, Channels: 2}, 48000, []byte{1}, 2048, 2},
		{"FLAC", &media.Params{Codec: media.CodecFLAC, AudioConfig: flac.AppendStreamInfo(nil, format), SampleRate: 8000, Channels: 1}, 8000, encoder.AppendFrame(nil, make([]int16, 160)), 160, 1},
		{"Opus", &media.Params{Codec: media.CodecOpus, SampleRate: 48000, Channels: 2}, 48000, []byte{0xfc, 1}, 1920, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMix(t)
			track := &media.Track{Kind: media.KindAudio, Codec: c.params.Codec, ClockRate: c.clock}
			m.arena.Begin()
			if err := m.arena.Append(c.frame); err != nil {
				t.Fatal(err)
			}
			f, err := m.arena.Finish()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Release()
			f.Track, f.Params = track, c.params
			quiet := newSilence(f)
			if quiet.frame == nil || track.Duration(quiet.ticks) != time.Duration(c.samples/c.channels)*time.Second/time.Duration(c.params.SampleRate) {
				t.Fatalf("%+v", quiet)
			}
			codec, err := sample.NewSound(track, c.params)
			if err != nil {
				t.Fatal(err)
			}
			const frames = 50
			file := fmp4.AppendInit(nil, []fmp4.Track{{ID: 1, Timescale: uint32(c.clock), Codec: codec}})
			samples := make([]fmp4.Sample, frames)
			for i := range samples {
				samples[i] = fmp4.Sample{Duration: uint32(quiet.ticks), Size: uint32(len(quiet.frame)), Sync: true}
			}
			file = fmp4.AppendFragment(file, 1, []fmp4.Run{{TrackID: 1, Samples: samples}})
			file = append(file, bytes.Repeat(quiet.frame, frames)...)
			path := filepath.Join(t.TempDir(), "silence.mp4")
			if err := os.WriteFile(path, file, 0o600); err != nil {
				t.Fatal(err)
			}
			if said := execute(t, "ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", path, "-f", "null", "-"); said != "" {
				t.Errorf("ffmpeg says %s", said)
			}
			got := tool(t, "ffmpeg", "-i", path, "-f", "s16le", "-")
			if len(got) < (frames-1)*c.samples*2 || len(got) > (frames+1)*c.samples*2 {
				t.Errorf("%d bytes of samples, want %d", len(got), frames*c.samples*2)
			}
			for i := 0; i+1 < len(got); i += 2 {
				if v := int16(binary.LittleEndian.Uint16(got[i:])); v != 0 {
					t.Fatalf("sample %d is %d", i/2, v)
				}
			}
		})
	}
}

func TestOfSomeSoundNoSilenceIsKnown(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	main.params = &media.Params{Codec: media.CodecAAC, AudioConfig: []byte{0x2b, 0x09, 0x88, 0x00}, SampleRate: 24000, Channels: 1} // HE-AAC
	main.track.ClockRate = 24000
	m.pass(0, 2*time.Second, bothPictures, main)
	n := len(m.take())
	m.pass(2*time.Second, 6*time.Second, bothPictures)
	if got := len(m.take()); n == 0 || got != n {
		t.Errorf("%d frames, then %d", n, got)
	}
}

func TestSoundOfAnotherTimeThanItsPictureIsNotHeard(t *testing.T) {
	m := newMix(t)
	main := newTalker("main", 'm')
	m.pass(time.Hour, time.Hour+2*time.Second, bothPictures, main)
	for at := 2 * time.Second; at < 12*time.Second; at += soundFrameTime {
		m.clock.set(zero.Add(time.Hour + at))
		m.see("main", time.Hour+at)
		m.frame(main, at)
	}
	if got := m.check(time.Hour + 2*time.Second); got[0] < 140 || m.heard[len(m.heard)-1].epoch != m.heard[0].epoch {
		t.Errorf("%v", got)
	}
}

func TestOldSoundIsNotWaitedOut(t *testing.T) {
	m := newMix(t)
	config, err := Config{Now: m.clock.now}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	config.Epochs = &clockEpochs{now: m.clock.now}
	camera := newCamera("door", &config, func() {})
	camera.mixer.Store(m.mixer)
	muxer := newMuxer(soundSource, m.ring, &config, camera)
	voice, at := newTalker("main", 1), 10*time.Second
	talk := func(frames int) {
		for range frames {
			m.see("main", at)
			m.frame(voice, at)
			m.clock.set(m.clock.now().Add(64 * time.Millisecond))
			at += 64 * time.Millisecond
		}
	}
	talk(150)
	m.clock.set(m.clock.now().Add(time.Hour))
	at += time.Hour

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := muxer.run(ctx, 0)
		ended <- err
	}()
	defer func() {
		stop()
		<-ended
	}()
	await(t, func() bool { return len(m.ring.Subscribers()) == 2 })
	talk(100) // fewer than there are old ones, and three segments
	await(t, func() bool { return muxer.published.Load().media != nil })
}
