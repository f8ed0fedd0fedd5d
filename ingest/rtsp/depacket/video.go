package depacket

import (
	"bytes"

	"github.com/drover-video/drover/core/media"
)

// maxUnits bounds the NAL units of an access unit: far above what cameras send,
// forty slices included.
const maxUnits = 256

// class is what a NAL unit is to the assembler.
type class uint8

const (
	classSlice   class = iota // of a picture
	classKey                  // slice of a picture that decoding can start at
	classLeading              // slice of a picture that is lost when decoding starts at the keyframe before
	classVPS
	classSPS
	classPPS
	classOther   // kept: SEI
	classDropped // not kept: delimiters, filler
	classInvalid
)

// nalCodec is what differs between H.264 and H.265.
type nalCodec interface {
	headerBytes() int
	classify(nal []byte) class
	params(vps, sps, pps []byte) (*media.Params, error)
}

// assembler builds access units out of NAL units and fragments of them, in the
// arena: each NAL unit behind its length in 4 bytes, without parameter sets,
// which go into Params.
type assembler struct {
	codec nalCodec
	arena *media.Arena
	sink  Sink

	params *media.Params // in force
	sets   parameterSets

	// The access unit being built.
	timestamp uint32
	open      bool // something of it came
	units     int
	pictured  bool // has a slice
	started   bool // its first slice is the first of the picture
	key       bool
	leading   bool
	broken    bool

	// The NAL unit being built.
	unitOpen bool
	unitAt   int
	head     [3]byte // of a unit that came in fragments: its header, and a byte more

	// The stream.
	needKeyframe bool
	skipLeading  bool
	delivered    bool // has brought a frame
	lost         uint32
	byMarker     bool   // the access unit before ended with a marker
	ended        uint32 // its timestamp
	markersLie   bool   // the camera marks slices, not pictures
}

func newAssembler(codec nalCodec, arena *media.Arena, sink Sink) assembler {
	return assembler{codec: codec, arena: arena, sink: sink, needKeyframe: true}
}

// begin is called with each packet before its contents.
func (a *assembler) begin(timestamp uint32, missing int) {
	if missing > 0 {
		a.lost += uint32(min(missing, 1<<16))
		a.needKeyframe = true
		a.unitOpen = false
		if a.open {
			a.broken = true
		}
	}
	if a.open && timestamp != a.timestamp {
		a.finish()
	}
	if !a.open {
		a.start(timestamp)
	}
}

func (a *assembler) start(timestamp uint32) {
	a.arena.Begin()
	a.timestamp = timestamp
	a.open, a.units = true, 0
	a.pictured, a.started, a.key, a.leading, a.broken = false, false, false, false, false
	a.unitOpen = false
}

// end is called after each packet's contents.
func (a *assembler) end(marker bool) {
	if !marker || a.markersLie {
		return
	}
	if a.unitOpen {
		a.closeUnit() // a fragment whose end was not marked
	}
	if !a.pictured {
		return // parameter sets, marked for themselves
	}
	a.finish()
	a.byMarker, a.ended = true, a.timestamp
}

// whole adds a NAL unit that came in one piece.
func (a *assembler) whole(nal []byte) {
	if len(nal) < a.codec.headerBytes()+1 && a.codec.classify(nal) != classDropped {
		a.spoil(ReasonMalformed)
		return
	}
	if a.openUnit(nal) {
		a.closeUnit()
	}
}

// openUnit begins a NAL unit with its header and as much as came with it.
func (a *assembler) openUnit(head []byte) bool {
	if a.unitOpen {
		a.closeUnit()
	}
	switch c := a.codec.classify(head); c {
	case classSlice, classKey, classLeading:
		first := len(head) > a.codec.headerBytes() && head[a.codec.headerBytes()]&0x80 != 0
		if !a.beginSlice(first) {
			return false
		}
	}
	if a.units++; a.units > maxUnits {
		a.spoil(ReasonTooLarge)
		return false
	}
	at, err := a.arena.AppendLength()
	if err != nil {
		a.spoil(ReasonTooLarge)
		return false
	}
	a.unitAt, a.unitOpen = at, true
	return a.more(head)
}

// beginSlice is told of each slice as it begins, and whether it is the first of
// its picture (H.264 7.4.3: first_mb_in_slice; H.265 7.4.7.1:
// first_slice_segment_in_pic_flag).
func (a *assembler) beginSlice(first bool) bool {
	if !first && !a.pictured && a.byMarker && a.ended == a.timestamp && !a.broken {
		// Slices of a picture that was taken for whole: this camera marks each
		// slice. From here on only the timestamp tells where a picture ends.
		a.markersLie = true
		a.lost++
		a.needKeyframe = true
		a.broken = true
		a.sink.Discard(ReasonMarker)
		return false
	}
	if first && a.pictured {
		// The next picture, though nothing marked the end of this one.
		timestamp := a.timestamp
		a.finish()
		a.start(timestamp)
	}
	if !a.pictured {
		a.pictured, a.started = true, first
	}
	a.byMarker = false
	return true
}

// more adds to the NAL unit being built.
func (a *assembler) more(data []byte) bool {
	if err := a.arena.Append(data); err != nil {
		a.spoil(ReasonTooLarge)
		return false
	}
	return true
}

// closeUnit ends the NAL unit being built, and takes parameter sets out.
func (a *assembler) closeUnit() {
	a.unitOpen = false
	nal := a.arena.Bytes()[a.unitAt+4:]
	c := a.codec.classify(nal)
	switch c {
	case classVPS, classSPS, classPPS, classInvalid:
		if annexB := splitAnnexB(nal); annexB != nil {
			a.reopen(annexB)
			return
		}
	}
	keep := false
	switch c {
	case classSlice:
		keep = true
	case classKey:
		keep, a.key = true, true
	case classLeading:
		keep, a.leading = true, true
	case classOther:
		keep = true
	case classVPS, classSPS, classPPS:
		if len(nal) > maxSetBytes {
			a.sink.Discard(ReasonTooLarge)
			break
		}
		keep = !a.sets.take(c, nal, a.codec.headerBytes())
	case classInvalid:
		a.sink.Discard(ReasonMalformed)
	}
	if keep {
		a.arena.SetLength(a.unitAt)
	} else {
		a.arena.Truncate(a.unitAt)
	}
}

// reopen adds NAL units that a camera sent as one, with start codes between.
func (a *assembler) reopen(nals [][]byte) {
	a.arena.Truncate(a.unitAt)
	for _, nal := range nals {
		a.whole(nal)
	}
}

// spoil gives the access unit being built up.
func (a *assembler) spoil(reason Reason) {
	a.sink.Discard(reason)
	a.broken = true
	a.unitOpen = false
	a.needKeyframe = true
	a.lost++
}

// finish hands the access unit on, or discards it.
func (a *assembler) finish() {
	if a.unitOpen {
		a.closeUnit()
	}
	a.open = false
	switch {
	case !a.pictured && !a.broken:
		return
	case a.broken, !a.started:
		a.discard(ReasonLoss)
		a.needKeyframe = true
		return
	case a.key:
		if !a.refresh() {
			a.discard(ReasonNoParams)
			a.needKeyframe = true
			return
		}
		a.skipLeading = a.needKeyframe
		a.needKeyframe = false
	case a.needKeyframe:
		a.discard(ReasonNoKeyframe)
		return
	case a.leading && a.skipLeading:
		a.sink.Discard(ReasonLeading)
		return
	}
	f, err := a.arena.Finish()
	if err != nil {
		a.discard(ReasonTooLarge)
		a.needKeyframe = true
		return
	}
	f.Params, f.Keyframe = a.params, a.key
	if a.delivered {
		f.Lost = a.lost
	}
	a.lost, a.delivered = 0, true
	a.sink.Unit(Unit{Frame: f, Timestamp: a.timestamp})
}

func (a *assembler) discard(reason Reason) {
	a.lost++
	a.sink.Discard(reason)
}

// refresh puts the newest parameter sets in force, which may be done at a
// keyframe only. It reports whether there are any.
func (a *assembler) refresh() bool {
	if a.params != nil && !a.sets.changed {
		return true
	}
	params, err := a.codec.params(a.sets.vps, a.sets.sps, a.sets.pps)
	if err != nil {
		// Without new ones that make sense, the old ones are as good as any.
		return a.params != nil
	}
	a.sets.changed = false
	a.params = params
	return true
}

// Close implements Depacketizer.
func (a *assembler) Close() { a.arena.Close() }

// parameterSets are the newest of a stream.
type parameterSets struct {
	vps, sps, pps []byte
	changed       bool // since they were put in force
}

// maxSetBytes bounds a parameter set: real ones have some dozen bytes, those with
// scaling lists some hundred.
const maxSetBytes = 16 << 10

// take stores a parameter set, and reports false for one that must stay where it
// is: a picture parameter set of another id beside the one that Params has room
// for.
func (s *parameterSets) take(c class, nal []byte, headerBytes int) bool {
	slot := &s.sps
	switch c {
	case classVPS:
		slot = &s.vps
	case classPPS:
		slot = &s.pps
		if s.pps != nil && setID(nal, headerBytes) != setID(s.pps, headerBytes) {
			return false
		}
	}
	if !bytes.Equal(*slot, nal) {
		*slot = bytes.Clone(nal)
		s.changed = true
	}
	return true
}

// setID reads the Exp-Golomb code after a NAL unit's header (H.264 9.1), which in
// a picture parameter set is its id: below 256, so 17 bits at most.
func setID(nal []byte, headerBytes int) int {
	var bits uint32
	for i := range 3 {
		bits <<= 8
		if headerBytes+i < len(nal) {
			bits |= uint32(nal[headerBytes+i])
		}
	}
	bits <<= 8
	for zeros := range 9 {
		if bits&(1<<(31-zeros)) != 0 {
			return int(bits>>(31-2*zeros)) - 1
		}
	}
	return -1
}

// splitAnnexB splits what a camera sent with start codes in it (H.264 annex B) in
// place of one NAL unit. It returns nil where there are none.
func splitAnnexB(data []byte) [][]byte {
	startCode := []byte{0, 0, 1}
	if !bytes.Contains(data, startCode) {
		return nil
	}
	var nals [][]byte
	for rest, more := bytes.Clone(data), true; more && len(nals) <= maxUnits; {
		var part []byte
		part, rest, more = bytes.Cut(rest, startCode)
		if nal := bytes.TrimRight(part, "\x00"); len(nal) > 0 {
			nals = append(nals, nal)
		}
	}
	return nals
}
