package depacket

import (
	"encoding/binary"

	"github.com/drover-video/drover/core/media"
)

// Bounds of what a picture brings beside itself.
const (
	maxJPEGTables    = 256 // bytes of quantisation tables: two of 64, or of more components
	jpegTableBytes   = 64
	jpegHeaderBytes  = 8
	jpegRestartBytes = 4
)

// JPEG makes files of pictures whose headers were left at the camera (RFC 2435).
type JPEG struct {
	arena  *media.Arena
	sink   Sink
	params *media.Params
	lost   uint32

	delivered bool
	tables    [256]*[128]byte // by quality: those the camera has sent before

	// The picture being built.
	open      bool
	broken    bool
	timestamp uint32
	header    jpegHeader
	headBytes int // that stand before its scan in the arena
}

// jpegHeader is the main header of RFC 2435 section 3.1, without the fragment's
// offset, and the restart interval of section 3.1.7.
type jpegHeader struct {
	kind          byte // 0: 4:2:2, 1: 4:2:0; 64 more with restart markers
	quality       byte
	width, height int // pixels
	restart       uint16
}

// NewJPEG returns a depacketizer that writes into arena.
func NewJPEG(arena *media.Arena, sink Sink) *JPEG { return &JPEG{arena: arena, sink: sink} }

// Params returns nil: only pictures say how large they are.
func (d *JPEG) Params() *media.Params { return d.params }

// Close implements Depacketizer.
func (d *JPEG) Close() { d.arena.Close() }

// Packet implements Depacketizer.
func (d *JPEG) Packet(p Packet, missing int) {
	if missing > 0 {
		d.lost += uint32(min(missing, 1<<16))
		d.broken = d.open
	}
	if len(p.Payload) == 0 {
		return
	}
	h, offset, rest, ok := readJPEGHeader(p.Payload)
	if !ok {
		d.spoil(ReasonMalformed)
		return
	}
	if offset == 0 {
		if d.open {
			d.finish() // its end was not marked
		}
		if rest, ok = d.begin(h, rest, p.Timestamp); !ok {
			return
		}
	}
	switch {
	case !d.open:
		d.sink.Discard(ReasonFragment) // of a picture that was given up, and counted
		return
	case d.broken, p.Timestamp != d.timestamp, offset != d.arena.Len()-d.headBytes:
		d.open = false
		d.discard(ReasonLoss)
		return
	}
	if err := d.arena.Append(rest); err != nil {
		d.spoil(ReasonTooLarge)
		return
	}
	if p.Marker {
		d.finish()
	}
}

// readJPEGHeader reads what stands before each fragment.
func readJPEGHeader(b []byte) (h jpegHeader, offset int, rest []byte, ok bool) {
	if len(b) < jpegHeaderBytes {
		return h, 0, nil, false
	}
	offset = int(b[1])<<16 | int(b[2])<<8 | int(b[3])
	h = jpegHeader{kind: b[4], quality: b[5], width: int(b[6]) * 8, height: int(b[7]) * 8}
	rest = b[jpegHeaderBytes:]
	if h.kind&0x40 != 0 {
		if len(rest) < jpegRestartBytes {
			return h, 0, nil, false
		}
		h.restart = binary.BigEndian.Uint16(rest)
		rest = rest[jpegRestartBytes:]
	}
	return h, offset, rest, true
}

// begin starts a picture with the headers of its file, and returns what is left
// of its first fragment.
func (d *JPEG) begin(h jpegHeader, rest []byte, timestamp uint32) ([]byte, bool) {
	if h.kind&^0x40 > 1 || h.width == 0 || h.height == 0 {
		// Other subsampling, or a picture wider or higher than 2040 pixels, whose
		// size is said elsewhere.
		d.spoil(ReasonUnsupported)
		return nil, false
	}
	tables, rest, reason := d.quantisation(h.quality, rest)
	if tables == nil {
		d.spoil(reason)
		return nil, false
	}
	d.arena.Begin()
	d.open, d.broken, d.timestamp, d.header = true, false, timestamp, h
	var room [1024]byte
	head := appendJPEGHead(room[:0], h, tables)
	d.headBytes = len(head)
	if err := d.arena.Append(head); err != nil {
		d.spoil(ReasonTooLarge)
		return nil, false
	}
	return rest, true
}

// quantisation returns the tables of a picture, and what follows them if they
// were sent with it (RFC 2435 section 3.1.8).
func (d *JPEG) quantisation(quality byte, rest []byte) (tables *[128]byte, after []byte, reason Reason) {
	switch {
	case quality == 0, quality > 99 && quality < 128:
		return nil, nil, ReasonUnsupported
	case quality < 128:
		if d.tables[quality] == nil {
			made := jpegTables(int(quality))
			d.tables[quality] = &made
		}
		return d.tables[quality], rest, 0
	}
	if len(rest) < 4 {
		return nil, nil, ReasonMalformed
	}
	precision, size := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
	rest = rest[4:]
	if size == 0 {
		if d.tables[quality] == nil || quality == 255 {
			return nil, nil, ReasonNoConfig // it said them before we came
		}
		return d.tables[quality], rest, 0
	}
	if size > len(rest) || size < jpegTableBytes || size > maxJPEGTables {
		return nil, nil, ReasonMalformed
	}
	if precision != 0 {
		return nil, nil, ReasonUnsupported // 16 bits, which no baseline picture has
	}
	if d.tables[quality] == nil {
		d.tables[quality] = new([128]byte)
	}
	tables = d.tables[quality]
	copy(tables[:jpegTableBytes], rest)
	if size < 2*jpegTableBytes {
		copy(tables[jpegTableBytes:], rest[:jpegTableBytes]) // one for all
	} else {
		copy(tables[jpegTableBytes:], rest[jpegTableBytes:])
	}
	return tables, rest[size:], 0
}

// appendJPEGHead appends a file up to its scan (ITU-T T.81 annex B).
func appendJPEGHead(dst []byte, h jpegHeader, tables *[128]byte) []byte {
	dst = append(dst, 0xff, 0xd8) // SOI
	for i := range 2 {
		dst = append(dst, 0xff, 0xdb, 0, 2+1+jpegTableBytes, byte(i)) // DQT
		dst = append(dst, tables[i*jpegTableBytes:][:jpegTableBytes]...)
	}
	if h.restart > 0 {
		dst = append(dst, 0xff, 0xdd, 0, 4) // DRI
		dst = binary.BigEndian.AppendUint16(dst, h.restart)
	}
	dst = append(dst, 0xff, 0xc0, 0, 17, 8) // SOF0: 8 bits
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.height))
	dst = binary.BigEndian.AppendUint16(dst, uint16(h.width))
	sampling := byte(0x21)
	if h.kind&1 == 1 {
		sampling = 0x22
	}
	dst = append(dst, 3, 1, sampling, 0, 2, 0x11, 1, 3, 0x11, 1)
	dst = append(dst, jpegHuffman...)
	return append(dst, 0xff, 0xda, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0) // SOS
}

// finish hands the picture on.
func (d *JPEG) finish() {
	d.open = false
	if d.broken {
		d.discard(ReasonLoss)
		return
	}
	if b := d.arena.Bytes(); len(b) < 2 || b[len(b)-2] != 0xff || b[len(b)-1] != 0xd9 {
		if err := d.arena.Append([]byte{0xff, 0xd9}); err != nil { // EOI
			d.discard(ReasonTooLarge)
			return
		}
	}
	f, err := d.arena.Finish()
	if err != nil {
		d.discard(ReasonTooLarge)
		return
	}
	if d.params == nil || d.params.Width != d.header.width || d.params.Height != d.header.height {
		d.params = &media.Params{Codec: media.CodecJPEG, Width: d.header.width, Height: d.header.height}
	}
	f.Params, f.Keyframe = d.params, true
	if d.delivered {
		f.Lost = d.lost
	}
	d.lost, d.delivered = 0, true
	d.sink.Unit(Unit{Frame: f, Timestamp: d.timestamp})
}

// spoil gives the picture being built up.
func (d *JPEG) spoil(reason Reason) {
	d.open = false
	d.discard(reason)
}

func (d *JPEG) discard(reason Reason) {
	d.lost++
	d.sink.Discard(reason)
}
