package shm

import "sync/atomic"

// What follows is for readers, who trust nothing of what they read: a writer that went
// astray must not lead them outside the memory.

// outcome of looking at a slot.
type outcome uint8

const (
	there outcome = iota
	notYet
	gone // overwritten
)

// barrier keeps loads before it from being made after it: on some processors an atomic
// load only keeps back those that follow.
func barrier() {
	var own uint64
	atomic.AddUint64(&own, 0)
}

// slot reads the slot of a number.
func (m *Memory) slot(n uint64, s *Slot) outcome {
	at := m.slotAt(n)
	lock, b := m.counter(at+slotLock), m.bytes[at:at+SlotBytes]
	switch version := atomic.LoadUint64(lock); {
	case version == 2*n+2:
	case version > 2*n+2:
		return gone
	default:
		return notYet
	}
	*s = Slot{
		Position: le.Uint64(b[slotPosition:]), Size: le.Uint32(b[slotSize:]), Entry: le.Uint32(b[slotEntry:]),
		Number: le.Uint32(b[slotNumber:]), Flags: le.Uint32(b[slotFlags:]), Sequence: le.Uint64(b[slotSequence:]),
		Epoch: le.Uint64(b[slotEpoch:]), PTS: int64(le.Uint64(b[slotPTS:])), DTS: int64(le.Uint64(b[slotDTS:])),
		Wall: int64(le.Uint64(b[slotWall:])), Arrival: int64(le.Uint64(b[slotArrival:])), Ordinal: le.Uint64(b[slotOrdinal:]),
		Lost: le.Uint32(b[slotLost:]), Kind: le.Uint32(b[slotKind:]),
	}
	barrier()
	if atomic.LoadUint64(lock) != 2*n+2 {
		return gone
	}
	return there
}

// appendData appends the data of a slot. False: it has been overwritten.
func (m *Memory) appendData(dst []byte, s *Slot) ([]byte, bool) {
	data := m.data()
	offset := int(s.Position % uint64(len(data)))
	if int64(s.Size) > int64(len(data)-offset) || !m.held(s.Position, len(data)) {
		return dst, false
	}
	from := len(dst)
	dst = append(dst, data[offset:offset+int(s.Size)]...)
	barrier()
	if !m.held(s.Position, len(data)) {
		return dst[:from], false
	}
	return dst, true
}

// readTrack reads an entry of the table of tracks. False: there is none of this number,
// or it changes just now.
func (m *Memory) readTrack(entry, number uint32) (t Track, ok bool) {
	if int64(entry) >= int64(m.sizes.Tracks) {
		return t, false
	}
	b, lock := m.track(int(entry)), m.counter(HeaderBytes+int(entry)*TrackBytes+trackLock)
	version := atomic.LoadUint64(lock)
	if version%2 != 0 {
		return t, false
	}
	t = Track{
		Number: le.Uint32(b[trackNumber:]), Track: le.Uint32(b[trackTrack:]), Codec: le.Uint32(b[trackCodec:]), Format: le.Uint32(b[trackFormat:]),
		Width: le.Uint32(b[trackWidth:]), Height: le.Uint32(b[trackHeight:]), FPS: getFloat(b[trackFPS:]),
		SampleRate: le.Uint32(b[trackSampleRate:]), Channels: le.Uint32(b[trackChannels:]),
		Camera: string(b[trackCamera : trackCamera+min(MaxName, int(b[trackLengths]))]),
		Source: string(b[trackSource : trackSource+min(MaxName, int(b[trackLengths+1]))]),
	}
	rest := b[trackSets:]
	for i, set := range [...]*[]byte{&t.VPS, &t.SPS, &t.PPS, &t.Audio} {
		size := min(len(rest), int(le.Uint16(b[trackLengths+2+2*i:])))
		*set, rest = append([]byte(nil), rest[:size]...), rest[size:]
	}
	barrier()
	return t, atomic.LoadUint64(lock) == version && t.Number == number && number != 0
}

// resume returns the number of the slot that a reader who begins, or who has been
// overtaken, goes on with: the oldest of the tracks' newest keyframes that will not be
// gone in a moment, or the next slot to be written.
func (m *Memory) resume() uint64 {
	next := m.Written()
	from := next
	var s Slot
	for i := range m.sizes.Tracks {
		key := atomic.LoadUint64(m.newestKey(i))
		if key == 0 || key > next || key-1 >= from {
			continue
		}
		// Half of the memory is left to copy it in.
		if next-(key-1) <= uint64(m.sizes.Slots/2) && m.slot(key-1, &s) == there && m.held(s.Position, m.sizes.Data/2) {
			from = key - 1
		}
	}
	return from
}
