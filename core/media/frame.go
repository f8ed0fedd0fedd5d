package media

import (
	"sync/atomic"
	"time"
)

// WallSource says where a frame's wall-clock time comes from.
type WallSource uint8

// The sources of wall-clock time.
const (
	WallArrival WallSource = iota // when the frame reached Drover
	WallSender                    // the camera's RTCP sender reports
)

// String returns "arrival" or "sender_report".
func (w WallSource) String() string {
	if w == WallSender {
		return "sender_report"
	}
	return "arrival"
}

// Frame is one access unit: a picture with all its slices, or an audio frame.
// It is immutable once it is in a ring, and its payload is valid while the
// reader holds a reference.
//
// Whoever is handed a frame owns one reference and calls Release when done.
type Frame struct {
	Track  *Track
	Params *Params // in force for this frame; compared by pointer
	Seq    uint64  // grows by one per source, over all its tracks
	Epoch  uint64  // grows when timestamps before and after do not relate

	PTS, DTS int64 // ticks of Track.ClockRate; DTS grows within a track, over epochs too

	// Keyframe: decoding can start here (IDR, or a CRA or BLA picture of H.265).
	Keyframe bool

	// Entry: a subscriber may start here and will be able to decode all that
	// follows, of every track. A video keyframe; in a source without video,
	// every frame.
	Entry bool

	// Lost is how many packets were lost, or frames discarded, between the
	// track's frame before and this one. 0: none.
	Lost uint32

	Wall       time.Time // wall-clock time of PTS, an estimate
	WallSource WallSource

	payload []byte
	block   *block
	refs    atomic.Int32
}

// Payload returns the access unit. H.264 and H.265: NAL units, each behind its
// length in 4 bytes, big-endian, without parameter sets and access unit
// delimiters. JPEG: a whole file. AAC: one raw_data_block without ADTS header.
// Opus: one packet. FLAC: one frame.
//
// It must not be written to.
func (f *Frame) Payload() []byte {
	if Poisoned && f.refs.Load() <= 0 {
		panic("media: frame read after release")
	}
	return f.payload
}

// Retain adds a reference, for somebody who will call Release as well. The
// caller holds one already.
func (f *Frame) Retain() {
	if f.refs.Add(1) <= 1 {
		panic("media: frame retained after release")
	}
}

// Release gives one reference up. The frame must not be touched after it.
func (f *Frame) Release() {
	switch refs := f.refs.Add(-1); {
	case refs > 0:
		return
	case refs < 0:
		panic("media: frame released more often than held")
	}
	b := f.block
	poison(f.payload)
	f.payload, f.block, f.Track, f.Params = nil, nil, nil, nil
	b.pool.alive.Add(-1)
	if !Poisoned {
		// Under poison the struct stays dead, so that a late use is seen.
		b.pool.frames.Put(f)
	}
	b.release()
}

// Duration converts ticks of the frame's track to time.
func (t *Track) Duration(ticks int64) time.Duration {
	rate := int64(t.ClockRate)
	return time.Duration(ticks/rate)*time.Second + time.Duration(ticks%rate)*time.Second/time.Duration(rate)
}

// Ticks converts time to ticks of the track.
func (t *Track) Ticks(d time.Duration) int64 {
	rate := int64(t.ClockRate)
	seconds, rest := int64(d/time.Second), int64(d%time.Second)
	return seconds*rate + rest*rate/int64(time.Second)
}
