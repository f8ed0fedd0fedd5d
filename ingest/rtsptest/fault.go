package rtsptest

import (
	"fmt"
	"time"
)

// Fault is something that goes wrong for a client of a camera.
type Fault struct {
	// After is the time from PLAY, counted in pictures (FrameDuration each). At 0
	// not one packet has been sent.
	After time.Duration
	Once  bool // for the camera's first client only
	Do    Action
}

// Action is what goes wrong.
type Action struct {
	name  string
	clip  string // that has to be at hand
	apply func(p *player)
}

// String names the action for logs.
func (a Action) String() string { return a.name }

// Stall stops all RTP. The connection stays, and sender reports go on.
func Stall() Action {
	return Action{name: "stall", apply: func(p *player) { p.stalled = true }}
}

// StallVideo stops the pictures; sound and sender reports go on.
func StallVideo() Action {
	return Action{name: "stall video", apply: func(p *player) { p.videoStalled = true }}
}

// Resume ends a stall. The client goes on where the camera is now.
func Resume() Action {
	return Action{name: "resume", apply: func(p *player) { p.stalled, p.videoStalled = false, false }}
}

// Close closes the connection.
func Close() Action {
	return Action{name: "close", apply: func(p *player) { p.conn.hangUp(hangUpClose) }}
}

// Reset closes the connection with a TCP reset.
func Reset() Action {
	return Action{name: "reset", apply: func(p *player) { p.conn.hangUp(hangUpReset) }}
}

// Bye sends RTCP BYE for each media, and nothing after it. The connection stays.
func Bye() Action {
	return Action{name: "bye", apply: func(p *player) { p.bye = true }}
}

// Jump moves all timestamps by d from now on.
func Jump(d time.Duration) Action {
	return Action{name: fmt.Sprintf("jump %v", d), apply: func(p *player) { p.shift += d }}
}

// Outlier gives the next picture alone a timestamp that is off by d.
func Outlier(d time.Duration) Action {
	return Action{name: fmt.Sprintf("outlier %v", d), apply: func(p *player) { p.outlier = d }}
}

// Freeze gives the next so many pictures the timestamp of the first of them.
func Freeze(pictures int) Action {
	return Action{name: fmt.Sprintf("freeze %d", pictures), apply: func(p *player) { p.freeze, p.frozen = pictures, nil }}
}

// Change plays another clip from the next keyframe on, for all clients of the camera.
func Change(clip string) Action {
	return Action{name: "change " + clip, clip: clip, apply: func(p *player) { p.camera.changeTo(clip) }}
}

// DropPercent loses video packets at random from now on; 0 ends it.
func DropPercent(percent float64) Action {
	return Action{name: fmt.Sprintf("drop %g %%", percent), apply: func(p *player) { p.dropPercent = percent }}
}

// DropPacket loses one video packet: the k-th, counted from 0 at the first
// packet of the next keyframe. A k beyond the keyframe's packets hits a later
// picture of the GOP.
func DropPacket(k int) Action {
	return Action{name: fmt.Sprintf("drop packet %d", k), apply: func(p *player) { p.dropAt, p.dropArmed = k, true }}
}

// Shuffle sends each n packets in reverse from now on, over UDP; 1 ends it.
func Shuffle(n int) Action {
	return Action{name: fmt.Sprintf("shuffle %d", n), apply: func(p *player) { p.shuffle = n }}
}

// Repeat sends each packet twice from now on, over UDP.
func Repeat() Action {
	return Action{name: "repeat", apply: func(p *player) { p.repeat = true }}
}

// Inject puts bytes of any kind between two interleaved frames. Over UDP it
// does nothing.
func Inject(raw []byte) Action {
	return Action{name: fmt.Sprintf("inject %d bytes", len(raw)), apply: func(p *player) { p.inject = append(p.inject, raw...) }}
}
