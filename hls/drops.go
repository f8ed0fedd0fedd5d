package hls

import "sync/atomic"

// DropReason says why frames did not become part of a segment.
type DropReason uint8

// The reasons of dropping frames.
const (
	DropAwaitingKeyframe DropReason = iota // no keyframe yet, or one was lost
	DropTimeBackwards                      // decode time not after the one before
	DropOtherTrack                         // a second track of its kind
	DropParameters                         // codec parameters that cannot be written
	DropOversize                           // the segment outgrew its bounds
	DropShort                              // a rest of less than half a second at a discontinuity
	DropAudioUncertain                     // sound that comes and goes
	DropCrowded                            // segments that come faster than their numbers may grow
	DropUnplayable                         // pictures that no player of HLS shows: JPEG
	dropReasons
)

// String names the reason as metrics do.
func (r DropReason) String() string {
	names := [dropReasons]string{"awaiting_keyframe", "time_backwards", "other_track", "parameters", "oversize", "short", "audio_uncertain", "crowded", "unplayable_codec"}
	if r < dropReasons {
		return names[r]
	}
	return "unknown"
}

type dropCounters [dropReasons]atomic.Uint64

func (c *dropCounters) add(reason DropReason, n int) { c[reason].Add(uint64(n)) }
