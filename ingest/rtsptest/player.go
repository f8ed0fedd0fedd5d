package rtsptest

import (
	"math/rand/v2"
	"time"
)

// player is one client's playing of a camera: its streams and what is wrong
// with them. Its camera's lock guards it.
type player struct {
	conn    *conn
	camera  *Camera
	remote  remotes // nil over TCP; does not change
	udpLost bool    // what is sent does not arrive

	video, aac, alaw, sound *rtpStream // nil if not set up

	pictures int64 // since PLAY, sent or not
	waitKey  bool  // says nothing before the next keyframe
	faults   []Fault

	stalled, videoStalled bool
	bye, ended            bool
	shift                 time.Duration
	outlier               time.Duration
	freeze                int
	frozen                *int64 // media ticks that pictures are frozen at
	dropPercent           float64
	dropAt                int
	dropArmed, dropCounts bool
	inject                []byte
	shuffle               int  // as many packets in reverse, over UDP
	repeat                bool // over UDP
}

// moment is where a camera stands in a tick.
type moment struct {
	reel     *reel
	picture  int       // of the reel
	position int64     // pictures since the camera's start
	delay    int64     // in ticks of 90 kHz, that the clip needs for reordering
	wall     time.Time // what the camera's clock shows
}

// clipTicks is the capture time of what is sent now, at a clock of hz.
func (m *moment) clipTicks(hz int64) int64 {
	return (m.position*ticksPerPicture - m.delay) * hz / videoClockHz
}

// videoTicks is the presentation time of the picture. Pictures are sent in
// decoding order, so it goes back and forth with B-frames.
func (m *moment) videoTicks() int64 {
	reordered := m.reel.clip.Pictures[m.picture].PTS - int64(m.picture)*ticksPerPicture
	return m.clipTicks(videoClockHz) + reordered
}

func (p *player) streams() []*rtpStream {
	var streams []*rtpStream
	for _, s := range []*rtpStream{p.video, p.aac, p.alaw, p.sound} {
		if s != nil {
			streams = append(streams, s)
		}
	}
	return streams
}

// dueFaults applies the faults whose time has come.
func (p *player) dueFaults() {
	for i := 0; i < len(p.faults); {
		if p.faults[i].After > time.Duration(p.pictures)*FrameDuration {
			i++
			continue
		}
		action := p.faults[i].Do
		p.faults = append(p.faults[:i:i], p.faults[i+1:]...)
		p.camera.applyTo(p, action)
	}
}

// appendTick appends all that the client is sent in this tick, as the network
// lets it through.
func (p *player) appendTick(dst []byte, m *moment) []byte {
	dst = p.appendPackets(dst, m)
	if p.remote != nil && p.shuffle > 1 {
		dst = shuffle(dst, p.shuffle)
	}
	if p.remote != nil && p.repeat {
		dst = repeat(dst)
	}
	return dst
}

func (p *player) appendPackets(dst []byte, m *moment) []byte {
	if p.ended {
		return dst
	}
	if p.bye {
		p.ended = true
		for _, s := range p.streams() {
			dst = s.appendBye(dst)
		}
		return dst
	}
	key := m.reel.clip.Pictures[m.picture].Keyframe
	if key {
		p.waitKey = false
		p.dropCounts = p.dropCounts || p.dropArmed
	}
	if p.remote == nil {
		dst = append(dst, p.inject...)
	}
	p.inject = nil
	if p.reportIsDue() {
		for _, s := range p.streams() {
			dst = s.appendReport(dst, m.wall, m.clipTicks(s.clockHz)+p.shiftTicks(s))
		}
	}
	if p.stalled || p.waitKey {
		return dst
	}
	if p.video != nil && !p.videoStalled {
		dst = p.video.appendBlock(dst, m.reel.pictures[m.picture], p.pictureTicks(m), p.losing())
	}
	if p.aac != nil {
		dst = p.appendSound(dst, p.aac, m, m.reel.aac, aacFrameSamples)
	}
	if p.alaw != nil {
		dst = p.appendSound(dst, p.alaw, m, m.reel.alaw, alawPacketSamples)
	}
	if track, ok := m.reel.clip.sounds[p.camera.config.Sound]; ok && p.sound != nil {
		dst = p.appendSound(dst, p.sound, m, track.packets, track.packetTicks)
	}
	return dst
}

func (p *player) reportIsDue() bool {
	every := int64(p.camera.config.Reports / FrameDuration)
	return every > 0 && p.pictures%every == 0
}

func (p *player) shiftTicks(s *rtpStream) int64 {
	return int64(p.shift.Seconds() * float64(s.clockHz))
}

// pictureTicks is the media time that the picture is stamped with.
func (p *player) pictureTicks(m *moment) int64 {
	ticks := m.videoTicks() + p.shiftTicks(p.video)
	ticks += int64(p.outlier.Seconds() * videoClockHz)
	p.outlier = 0
	if p.freeze > 0 {
		if p.frozen == nil {
			p.frozen = &ticks
		}
		p.freeze--
		return *p.frozen
	}
	return ticks
}

// losing returns what decides which packets of a picture are lost, nil for none.
func (p *player) losing() func() bool {
	if p.dropPercent <= 0 && !p.dropCounts {
		return nil
	}
	return func() bool {
		lost := rand.Float64()*100 < p.dropPercent
		if p.dropCounts {
			if p.dropAt == 0 {
				lost = true
				p.dropArmed, p.dropCounts = false, false
			}
			p.dropAt--
		}
		return lost
	}
}

// appendSound appends the packets of sound that start within this tick.
func (p *player) appendSound(dst []byte, s *rtpStream, m *moment, packets [][]byte, samples int64) []byte {
	next := *m
	next.position++
	from, to := m.clipTicks(s.clockHz), next.clipTicks(s.clockHz)
	for i := ceilDiv(from, samples); i*samples < to; i++ {
		ticks := i*samples + p.shiftTicks(s)
		at := i % int64(len(packets))
		dst = s.appendBlock(dst, packets[at], ticks, nil)
	}
	return dst
}

func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
