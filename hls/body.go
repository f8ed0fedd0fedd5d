package hls

import (
	"io"
	"unsafe"
)

// A body is the bytes of something that is sent, as the pieces of memory where
// they lie: for a segment, headers of its own and the buffers of frames. A
// segment of several fragments, or a part of one, is the same with other pieces;
// a copy in a file in memory is one that is sent another way.
type body struct {
	slices [][]byte
	size   int64
}

func (b *body) append(data []byte) {
	if len(data) == 0 {
		return
	}
	b.size += int64(len(data))
	if n := len(b.slices); n > 0 {
		if joined, ok := join(b.slices[n-1], data); ok {
			b.slices[n-1] = joined
			return
		}
	}
	b.slices = append(b.slices, data)
}

// join returns one slice over two that lie side by side, as frames of one track
// do. Both stay alive by their frames.
func join(a, b []byte) ([]byte, bool) {
	if len(a) == 0 || len(b) == 0 || address(a)+uintptr(len(a)) != address(b) {
		return nil, false
	}
	return unsafe.Slice(unsafe.SliceData(a), len(a)+len(b)), true
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// writeChunk bounds one write, so that a deadline can be set for each.
const writeChunk = 256 << 10

// writeRange writes n bytes from an offset. before is called ahead of each write
// of at most writeChunk bytes.
func (b *body) writeRange(w io.Writer, offset, n int64, before func()) (int64, error) {
	written := int64(0)
	for _, s := range b.slices {
		if offset >= int64(len(s)) {
			offset -= int64(len(s))
			continue
		}
		s = s[offset:]
		offset = 0
		s = s[:min(int64(len(s)), n-written)]
		for len(s) > 0 {
			chunk := s[:min(len(s), writeChunk)]
			if before != nil {
				before()
			}
			wrote, err := w.Write(chunk)
			written += int64(wrote)
			if err != nil {
				return written, err
			}
			s = s[len(chunk):]
		}
		if written == n {
			break
		}
	}
	return written, nil
}
