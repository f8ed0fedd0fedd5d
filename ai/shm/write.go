package shm

import (
	"encoding/binary"
	"sync/atomic"
)

var le = binary.LittleEndian

// What follows is for the one writer.

// Claim takes room for the data of the next slot, whose readers know from now on that
// what was there is gone. False: the memory is too small for it.
func (m *Memory) Claim(size int) (position uint64, room []byte, ok bool) {
	if size > m.sizes.Data/4 { // others need some, too
		return 0, nil, false
	}
	claimed := m.counter(headerClaimed)
	position = atomic.LoadUint64(claimed)
	offset := int(position % uint64(m.sizes.Data))
	if left := m.sizes.Data - offset; size > left { // it lies in one piece
		position += uint64(left)
		offset = 0
	}
	// Swapped, for a store may be overtaken by those of the data on some processors.
	atomic.SwapUint64(claimed, position+uint64(size))
	return position, m.data()[offset : offset : offset+size], true
}

// Publish writes the next slot and returns its number.
func (m *Memory) Publish(s *Slot) uint64 {
	n := m.Written()
	at := m.slotAt(n)
	lock, b := m.counter(at+slotLock), m.bytes[at:at+SlotBytes]
	atomic.SwapUint64(lock, 2*n+1)
	le.PutUint64(b[slotPosition:], s.Position)
	le.PutUint32(b[slotSize:], s.Size)
	le.PutUint32(b[slotEntry:], s.Entry)
	le.PutUint32(b[slotNumber:], s.Number)
	le.PutUint32(b[slotFlags:], s.Flags)
	le.PutUint64(b[slotSequence:], s.Sequence)
	le.PutUint64(b[slotEpoch:], s.Epoch)
	le.PutUint64(b[slotPTS:], uint64(s.PTS))
	le.PutUint64(b[slotDTS:], uint64(s.DTS))
	le.PutUint64(b[slotWall:], uint64(s.Wall))
	le.PutUint64(b[slotArrival:], uint64(s.Arrival))
	le.PutUint64(b[slotOrdinal:], s.Ordinal)
	le.PutUint32(b[slotLost:], s.Lost)
	le.PutUint32(b[slotKind:], s.Kind)
	atomic.StoreUint64(lock, 2*n+2)
	if s.Kind == KindFrame && s.Flags&FlagKeyframe != 0 {
		atomic.StoreUint64(m.newestKey(int(s.Entry)), n+1)
	}
	atomic.StoreUint64(m.counter(headerWritten), n+1)
	return n
}

func (m *Memory) newestKey(entry int) *uint64 {
	return m.counter(HeaderBytes + entry*TrackBytes + trackNewestKey)
}

// SetTrack writes an entry of the table of tracks, which no longer has a keyframe. False:
// its names or parameter sets are too long.
func (m *Memory) SetTrack(entry int, t *Track) bool {
	sets := [...][]byte{t.VPS, t.SPS, t.PPS, t.Audio}
	total := 0
	for _, set := range sets {
		total += len(set)
	}
	if len(t.Camera) > MaxName || len(t.Source) > MaxName || total > MaxSets {
		return false
	}
	b, lock := m.track(entry), m.counter(HeaderBytes+entry*TrackBytes+trackLock)
	version := atomic.LoadUint64(lock)
	atomic.SwapUint64(lock, version+1)
	atomic.StoreUint64(m.newestKey(entry), 0)
	le.PutUint32(b[trackNumber:], t.Number)
	le.PutUint32(b[trackTrack:], t.Track)
	le.PutUint32(b[trackCodec:], t.Codec)
	le.PutUint32(b[trackFormat:], t.Format)
	le.PutUint32(b[trackWidth:], t.Width)
	le.PutUint32(b[trackHeight:], t.Height)
	putFloat(b[trackFPS:], t.FPS)
	le.PutUint32(b[trackSampleRate:], t.SampleRate)
	le.PutUint32(b[trackChannels:], t.Channels)
	b[trackLengths], b[trackLengths+1] = byte(len(t.Camera)), byte(len(t.Source))
	copy(b[trackCamera:], t.Camera)
	copy(b[trackSource:], t.Source)
	at := trackSets
	for i, set := range sets {
		le.PutUint16(b[trackLengths+2+2*i:], uint16(len(set)))
		at += copy(b[at:], set)
	}
	atomic.StoreUint64(lock, version+2)
	return true
}
