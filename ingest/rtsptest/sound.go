package rtsptest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sound is how a camera codes what it hears.
type Sound string

// The codecs of sound beside AAC and A-law, which have fields of their own.
const (
	NoSound Sound = ""
	PCMU    Sound = "PCMU"
	G722    Sound = "G722"
	L16     Sound = "L16"  // 16 kHz
	Opus    Sound = "Opus" // 48 kHz
	LATM    Sound = "LATM" // the AAC of the clip
)

// Sounds lists them.
func Sounds() []Sound { return []Sound{PCMU, G722, L16, Opus, LATM} }

// clockHz is the clock of RTP, which for G.722 is not that of its samples (RFC
// 3551 4.5.2).
func (s Sound) clockHz() int64 {
	switch s {
	case PCMU, G722:
		return 8000
	case Opus:
		return 48000
	default:
		return 16000
	}
}

// A soundtrack is a round of sound as packets.
type soundtrack struct {
	payloadType  byte
	rtpmap, fmtp string
	packets      [][]byte // interleaved frames, as a reel has them
	packetTicks  int64
}

// loadSounds reads the sound that there is in a folder of clips.
func loadSounds(dir string, clip *Clip) (map[Sound]soundtrack, error) {
	tracks := map[Sound]soundtrack{LATM: latmTrack(clip)}
	for _, s := range []struct {
		sound       Sound
		file        string
		payloadType byte
		rtpmap      string
		packetBytes int
	}{
		{PCMU, "tick.ulaw", 0, "PCMU/8000", 160},
		{G722, "tick.g722", 9, "G722/8000", 160},
		{L16, "tick.l16", 98, "L16/16000/1", 640},
		{Opus, "tick.opus", 99, "opus/48000/2", 160},
	} {
		data, err := os.ReadFile(filepath.Join(dir, s.file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // made by MakeClips; a test may do without
		}
		if err != nil {
			return nil, err
		}
		const packets = 400 // of 20 ms
		if len(data) < packets*s.packetBytes {
			return nil, fmt.Errorf("%s has %d bytes, needs %d", s.file, len(data), packets*s.packetBytes)
		}
		track := soundtrack{payloadType: s.payloadType, rtpmap: s.rtpmap, packetTicks: s.sound.clockHz() / 50}
		for i := range packets {
			track.packets = append(track.packets, appendPacket(nil, s.payloadType, false, data[i*s.packetBytes:(i+1)*s.packetBytes]))
		}
		tracks[s.sound] = track
	}
	return tracks, nil
}

// latmTrack is the clip's AAC by RFC 6416, with the configuration in the session
// description.
func latmTrack(clip *Clip) soundtrack {
	const payloadType = 100
	// StreamMuxConfig (ISO 14496-3 table 1.42): version 0, same framing, one
	// subframe, program and layer; the configuration; frames of any length.
	config := uint64(1)<<13<<16 | uint64(clip.AACConfig[0])<<8 | uint64(clip.AACConfig[1])
	config = config<<3<<8 | 0xff
	track := soundtrack{
		payloadType: payloadType, rtpmap: fmt.Sprintf("MP4A-LATM/%d/1", aacClockHz),
		fmtp:        fmt.Sprintf("profile-level-id=15;object=2;cpresent=0;config=%012x", config<<2<<4),
		packetTicks: aacFrameSamples,
	}
	for _, frame := range clip.AAC {
		length := append([]byte(strings.Repeat("\xff", len(frame)/255)), byte(len(frame)%255))
		track.packets = append(track.packets, appendPacket(nil, payloadType, true, length, frame))
	}
	return track
}
