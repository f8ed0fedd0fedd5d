package play

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sync"
)

// A strip is the text of a playlist in pieces that lie side by side, and of which most
// have been compressed before.
type strip struct {
	head   []byte
	reels  []*reel
	joints []joint
}

func newStrip(head []byte, reels []*reel, joints []joint) *strip {
	return &strip{head: head, reels: reels, joints: joints}
}

func (s *strip) document(tag, cacheControl string) *document {
	return &document{tag: tag, cacheControl: cacheControl, write: s.text, compress: s.gzip}
}

func (s *strip) size() int {
	n := len(s.head)
	for i, r := range s.reels {
		n += len(s.joints[i].text) + len(r.text)
	}
	return n
}

func (s *strip) text() []byte {
	text := append(make([]byte, 0, s.size()), s.head...)
	for i, r := range s.reels {
		text = append(append(text, s.joints[i].text...), r.text...)
	}
	return text
}

// gzipHead begins a gzip file (RFC 1952) of which nothing is said but its method.
const gzipHead = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"

// gzip lays compressed pieces side by side, as one gzip file: in the deflate format
// (RFC 1951), blocks follow each other, and none of these looks back into another.
func (s *strip) gzip() []byte {
	packed := append(make([]byte, 0, 1024+s.size()/5), gzipHead...)
	sum, size := crc32.ChecksumIEEE(s.head), len(s.head)
	packed = appendStored(packed, s.head)
	for i, r := range s.reels {
		if joint := s.joints[i].text; len(joint) > 0 {
			packed = appendStored(packed, joint)
			sum, size = crc32.Update(sum, crc32.IEEETable, joint), size+len(joint)
		}
		packed = append(packed, r.packed()...)
		sum, size = crc32.Update(sum, crc32.IEEETable, r.text), size+len(r.text)
	}
	packed = append(packed, 1, 0, 0, 0xff, 0xff) // the last block, of nothing
	packed = binary.LittleEndian.AppendUint32(packed, sum)
	return binary.LittleEndian.AppendUint32(packed, uint32(size))
}

// appendStored appends text as deflate blocks that are not compressed.
func appendStored(dst, text []byte) []byte {
	for len(text) > 0 {
		n := min(len(text), 1<<16-1)
		dst = append(dst, 0)
		dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
		dst = binary.LittleEndian.AppendUint16(dst, ^uint16(n))
		dst = append(dst, text[:n]...)
		text = text[n:]
	}
	return dst
}

// packed returns the reel's text as deflate blocks that end on a whole byte.
func (r *reel) packed() []byte {
	r.once.Do(func() { r.deflated = r.flat.deflate(r.text) })
	return r.deflated
}

// A flattener keeps the state of compressors, which is large, from one text to the
// next. The zero value is ready; all may call it.
type flattener struct{ writers sync.Pool }

func (f *flattener) deflate(text []byte) []byte {
	var out bytes.Buffer
	w, ok := f.writers.Get().(*flate.Writer)
	if !ok {
		w, _ = flate.NewWriter(nil, flate.DefaultCompression) // it is a level there is
	}
	w.Reset(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Flush()
	f.writers.Put(w)
	return out.Bytes()
}
