package rtsptest

import (
	"bytes"
	"encoding/binary"
)

// jpegPayloadType is that of RFC 3551.
const jpegPayloadType = 26

func (c Codec) payloadType() byte {
	if c == JPEG {
		return jpegPayloadType
	}
	return videoPayloadType
}

// splitJPEG cuts a run of JPEG files at their ends. All pictures stand alone.
func splitJPEG(stream []byte) []Picture {
	var pictures []Picture
	end := []byte{0xff, 0xd9, 0xff, 0xd8}
	for len(stream) > 0 {
		n := len(stream)
		if i := bytes.Index(stream, end); i >= 0 {
			n = i + 2
		}
		pictures = append(pictures, Picture{NALUs: [][]byte{stream[:n:n]}, Keyframe: true})
		stream = stream[n:]
	}
	return pictures
}

// appendJPEG appends a file of 4:2:0 as packets (RFC 2435), its quantisation
// tables in the first of them.
func appendJPEG(dst, file []byte, payloadSize int) []byte {
	var tables, scan []byte
	var width, height int
	for at := 2; scan == nil; {
		kind, size := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		body := file[at+4 : at+2+size]
		switch kind {
		case 0xdb: // DQT: a byte of number and 64 of table, for each
			for ; len(body) >= 65; body = body[65:] {
				tables = append(tables, body[1:65]...)
			}
		case 0xc0: // SOF0
			height, width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
		case 0xda: // SOS
			scan = bytes.TrimSuffix(file[at+2+size:], []byte{0xff, 0xd9})
		}
		at += 2 + size
	}
	if len(tables) == 64 {
		tables = append(tables, tables...) // one for all components
	}
	for at := 0; at < len(scan); {
		header := []byte{0, byte(at >> 16), byte(at >> 8), byte(at), 1, 255, byte(width / 8), byte(height / 8)}
		if at == 0 {
			header = append(header, 0, 0, 0, byte(len(tables)))
			header = append(header, tables...)
		}
		end := min(at+max(payloadSize-len(header), 64), len(scan))
		dst = appendPacket(dst, jpegPayloadType, end == len(scan), header, scan[at:end])
		at = end
	}
	return dst
}
