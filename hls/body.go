package hls

import (
	"io"

	"github.com/drover-video/drover/core/media"
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
	b.slices = media.AppendPayload(b.slices, data)
}

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
