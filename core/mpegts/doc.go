// Package mpegts writes MPEG transport streams (ISO 13818-1) of one program:
// H.264, AAC, or both.
//
// What is written depends on nothing but its input, and how many packets a
// picture or a group of audio frames takes is known without writing it. So a
// segment can be rendered late, twice, or out of order, and its continuity
// counters still follow those of the segment before it.
package mpegts

// PacketSize is the size of a transport packet.
const PacketSize = 188

const payloadSize = PacketSize - 4

// Packet identifiers of the program. PAT is 0 by definition.
const (
	pidPMT   = 0x1000
	pidVideo = 0x100
	pidAudio = 0x101
)

// Counters holds the continuity counter of the next packet of each packet
// identifier. Its zero value starts a stream.
type Counters struct {
	Tables uint8 // of PAT and of PMT, which are always written together
	Video  uint8
	Audio  uint8
}

// Program says what a transport stream holds.
type Program struct {
	Video bool // H.264
	Audio bool // AAC
	ADTS  ADTS // of the audio
}

// clockOffset is added to all times, so that a clock reference is not before
// zero at the start of a stream.
const clockOffset = 10 * 90000

// clockDelay is how long before its decode time a picture is said to arrive: a
// large keyframe must have come whole by then.
const clockDelay = 90000 / 2

const clockMask = 1<<33 - 1
