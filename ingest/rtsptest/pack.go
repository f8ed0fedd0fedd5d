package rtsptest

import "encoding/binary"

const (
	framingSize   = 4 // RFC 2326 10.12: '$', channel, length
	rtpHeaderSize = 12

	videoPayloadType = 96
	aacPayloadType   = 97
	alawPayloadType  = 8 // RFC 3551: PCMA
)

// packing is how access units become RTP packets.
type packing struct {
	payloadSize int  // most bytes after the RTP header
	parameters  bool // parameter sets before each keyframe
	aggregate   bool // those in one packet (STAP-A, AP)
}

// reel is a clip as packets: per picture a block of interleaved frames, whole
// but for channel, sequence number, timestamp and SSRC. All cameras that play
// the clip share it.
type reel struct {
	clip     *Clip
	pictures [][]byte
	aac      [][]byte
	alaw     [][]byte
}

func newReel(clip *Clip, p packing) *reel {
	r := &reel{clip: clip}
	for i := range clip.Pictures {
		r.pictures = append(r.pictures, appendPicture(nil, clip, &clip.Pictures[i], p))
	}
	for _, frame := range clip.AAC {
		// RFC 3640 3.3.6, AAC-hbr: 16 bits of headers; 13 bits of size, 3 of index.
		header := []byte{0, 16, byte(len(frame) >> 5), byte(len(frame) << 3)}
		r.aac = append(r.aac, appendPacket(nil, aacPayloadType, true, header, frame))
	}
	for at := 0; at+alawPacketSamples <= len(clip.ALaw); at += alawPacketSamples {
		r.alaw = append(r.alaw, appendPacket(nil, alawPayloadType, false, clip.ALaw[at:at+alawPacketSamples]))
	}
	return r
}

func appendPicture(dst []byte, clip *Clip, picture *Picture, p packing) []byte {
	if clip.Codec == JPEG {
		return appendJPEG(dst, picture.NALUs[0], p.payloadSize)
	}
	if picture.Keyframe && p.parameters {
		if p.aggregate {
			dst = appendPacket(dst, videoPayloadType, false, clip.Codec.aggregate(clip.Parameters))
		} else {
			for _, nalu := range clip.Parameters {
				dst = clip.Codec.appendNALU(dst, nalu, false, p.payloadSize)
			}
		}
	}
	for i, nalu := range picture.NALUs {
		dst = clip.Codec.appendNALU(dst, nalu, i == len(picture.NALUs)-1, p.payloadSize)
	}
	return dst
}

// appendPacket appends one interleaved frame with an RTP packet.
func appendPacket(dst []byte, payloadType byte, marker bool, payload ...[]byte) []byte {
	size := rtpHeaderSize
	for _, part := range payload {
		size += len(part)
	}
	if marker {
		payloadType |= 0x80
	}
	dst = append(dst, '$', 0, byte(size>>8), byte(size))
	dst = append(dst, 0x80, payloadType, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, part := range payload {
		dst = append(dst, part...)
	}
	return dst
}

// appendNALU appends a NAL unit as one packet, or as fragments if it is longer
// than a payload may be.
func (c Codec) appendNALU(dst, nalu []byte, last bool, payloadSize int) []byte {
	if len(nalu) <= payloadSize {
		return appendPacket(dst, videoPayloadType, last, nalu)
	}
	var header []byte // of each fragment; its last byte takes the start and end bits
	var body []byte
	switch c {
	case H264: // RFC 6184 5.8: FU-A
		header = []byte{nalu[0]&0xE0 | 28, nalu[0] & 0x1F}
		body = nalu[1:]
	case H265: // RFC 7798 4.4.3: FU
		header = []byte{nalu[0]&0x81 | 49<<1, nalu[1], nalu[0] >> 1 & 0x3F}
		body = nalu[2:]
	}
	flags := &header[len(header)-1]
	kind := *flags
	step := payloadSize - len(header)
	for at := 0; at < len(body); at += step {
		end := min(at+step, len(body))
		*flags = kind
		if at == 0 {
			*flags |= 0x80
		}
		if end == len(body) {
			*flags |= 0x40
		}
		dst = appendPacket(dst, videoPayloadType, last && end == len(body), header, body[at:end])
	}
	return dst
}

// aggregate returns a payload that holds several NAL units.
func (c Codec) aggregate(nalus [][]byte) []byte {
	payload := []byte{24 | 3<<5} // RFC 6184 5.7.1: STAP-A, of highest importance
	if c == H265 {
		payload = []byte{48 << 1, 1} // RFC 7798 4.4.2: AP, layer 0, temporal id 1
	}
	for _, nalu := range nalus {
		payload = binary.BigEndian.AppendUint16(payload, uint16(len(nalu)))
		payload = append(payload, nalu...)
	}
	return payload
}
