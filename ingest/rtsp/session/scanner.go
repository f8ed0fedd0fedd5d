package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// scanBufferBytes is the size of a session's read buffer. Every session holds
// one, idle or not, so it must be small; a read that fills it costs a system
// call, so it must not be too small. By BenchmarkInterleavedRead, 4 KB cost
// about 830 ns a packet, 16 KB 320 ns (11 packets a read) and 64 KB 220 ns:
// the last step buys 1000 cameras at 2 Mbit/s two hundredths of a core for
// 48 MB. Only a frame or a message that does not fit makes it grow.
const scanBufferBytes = 16 << 10

// maxScanBytes holds the largest frame (64 KB and 4) and the largest message.
const maxScanBytes = maxHeadBytes + maxBodyBytes + 4<<10

type itemKind uint8

const (
	itemNone    itemKind = iota // more bytes are needed
	itemFrame                   // an interleaved frame
	itemMessage                 // a reply or a request
)

// An item is what a scanner found. Payload and the body of the message are
// valid until the next fill.
type item struct {
	kind    itemKind
	channel byte
	payload []byte
	message *message
}

// A scanner cuts what a camera sends over one connection into interleaved
// frames and messages. Where the bytes make no sense it looks for the next
// place where they do, and counts what it left out.
type scanner struct {
	buf  []byte
	r, w int
	need int  // bytes from r on without which next cannot go on
	lost bool // out of step: a frame must prove to be one

	// plausible reports whether a frame on this channel may begin with these
	// bytes (12 of them, or all there are). It is asked only out of step.
	plausible func(channel byte, start []byte) bool

	// certain is asked the same where a frame would begin within another, which
	// by chance alone looks so often enough: it must be of a source that is known.
	certain func(channel byte, start []byte) bool

	garbageBytes atomic.Uint64
	resyncs      atomic.Uint64 // times that it fell out of step
}

func newScanner(size int, plausible, certain func(byte, []byte) bool) *scanner {
	return &scanner{buf: make([]byte, size), plausible: plausible, certain: certain}
}

// shrink gives back what a large message made the buffer grow by.
func (s *scanner) shrink(size int) {
	if len(s.buf) <= size || s.w-s.r > size {
		return
	}
	buf := make([]byte, size)
	s.w = copy(buf, s.buf[s.r:s.w])
	s.r = 0
	s.buf = buf
}

// fill reads once. It makes room first, which ends the life of earlier items.
func (s *scanner) fill(from io.Reader) (int, error) {
	if s.r > 0 {
		copy(s.buf, s.buf[s.r:s.w])
		s.w -= s.r
		s.r = 0
	}
	if want := max(s.need, s.w+1); want > len(s.buf) {
		if want > maxScanBytes {
			return 0, ErrTooLarge
		}
		grown := make([]byte, min(max(want, 2*len(s.buf)), maxScanBytes))
		copy(grown, s.buf[:s.w])
		s.buf = grown
	}
	n, err := from.Read(s.buf[s.w:])
	s.w += n
	return n, err
}

// next returns the next item of what has been read.
func (s *scanner) next() (item, error) {
	for s.r < s.w {
		b := s.buf[s.r:s.w]
		switch {
		case b[0] == '$':
			found, wait := s.frame(b)
			if wait {
				return item{}, nil
			}
			if found.kind == itemFrame {
				return found, nil
			}
		case b[0] == '\r' || b[0] == '\n' || b[0] == 0:
			s.r++ // blank lines between messages are common
			if s.lost {
				s.garbageBytes.Add(1)
			}
		default:
			found, wait, err := s.text(b)
			if wait || err != nil || found.kind == itemMessage {
				return found, err
			}
		}
	}
	s.need = 0
	return item{}, nil
}

// skip leaves n bytes out that are neither a frame nor a message.
func (s *scanner) skip(n int) {
	if !s.lost {
		s.lost = true
		s.resyncs.Add(1)
	}
	s.r += n
	s.garbageBytes.Add(uint64(n))
}

func (s *scanner) take(n int) {
	s.r += n
	s.need = 0
	s.lost = false
}

// frame looks at bytes that begin with "$". It returns a frame, or asks to
// wait for more bytes, or skips at least one byte.
func (s *scanner) frame(b []byte) (found item, wait bool) {
	if len(b) < 4 {
		s.need = 4
		return item{}, true
	}
	size := 4 + (int(b[2])<<8 | int(b[3]))
	if s.lost {
		if proof := min(size, 4+12); len(b) < proof {
			s.need = proof
			return item{}, true
		}
		if !s.plausible(b[1], b[4:min(size, len(b))]) {
			s.skip(1)
			return item{}, false
		}
	}
	if len(b) < size {
		s.need = size
		return item{}, true
	}
	// A camera whose send buffer is full may write half a frame and go on
	// with the next one. What follows a frame tells: if it is neither a frame
	// nor a message, or not there yet, a frame that began within this one is
	// looked for.
	if !s.follows(b[size:]) {
		if cut := s.frameWithin(b[:size]); cut > 0 {
			s.skip(cut)
			return item{}, false
		}
	}
	s.take(size)
	return item{kind: itemFrame, channel: b[1], payload: b[4:size:size]}, false
}

// follows reports whether bytes may well follow a frame: those of another, or of a
// message. A "$" alone is one of 256.
func (s *scanner) follows(b []byte) bool {
	if len(b) == 0 || b[0] != '$' {
		return beginsMessage(b) != no && len(b) > 0
	}
	if len(b) < 4 {
		return true
	}
	size := 4 + (int(b[2])<<8 | int(b[3]))
	if proof := min(size, 4+rtpHeaderBytes); len(b) < proof {
		return true
	}
	return s.plausible(b[1], b[4:min(size, len(b))])
}

// frameWithin returns where in a broken frame another one begins, or 0.
func (s *scanner) frameWithin(b []byte) int {
	for from := 1; ; from++ {
		i := bytes.IndexByte(b[from:], '$')
		if i < 0 {
			return 0
		}
		from += i
		if len(b)-from >= 4+12 && s.certain(b[from+1], b[from+4:]) {
			return from
		}
	}
}

// text looks at bytes that may begin a message. It returns a message, or
// asks to wait for more bytes, or skips at least one byte.
func (s *scanner) text(b []byte) (found item, wait bool, err error) {
	switch beginsMessage(b) {
	case no:
		s.skip(1)
		return item{}, false, nil
	case maybe:
		s.need = len(b) + 1
		return item{}, true, nil
	}
	end := headEnd(b[:min(len(b), maxHeadBytes)])
	if end == 0 {
		if len(b) >= maxHeadBytes {
			return item{}, false, fmt.Errorf("%w: more than %d bytes of headers", ErrTooLarge, maxHeadBytes)
		}
		s.need = len(b) + 1
		return item{}, true, nil
	}
	m, length, err := parseHead(b[:end])
	if errors.Is(err, errNotMessage) {
		s.skip(1)
		return item{}, false, nil
	}
	if err != nil {
		return item{}, false, err
	}
	if len(b) < end+length {
		s.need = end + length
		return item{}, true, nil
	}
	m.body = b[end : end+length : end+length]
	s.take(end + length)
	return item{kind: itemMessage, message: m}, false, nil
}

type guess uint8

const (
	no guess = iota
	maybe
	yes
)

// beginsMessage tells whether bytes are the beginning of a message. Only
// methods that a camera may send are known, so that garbage is seen early.
func beginsMessage(b []byte) guess {
	for _, start := range [...]string{
		"RTSP/", "OPTIONS ", "GET_PARAMETER ", "SET_PARAMETER ", "ANNOUNCE ",
		"REDIRECT ", "TEARDOWN ", "PLAY_NOTIFY ", "DESCRIBE ", "PAUSE ", "PLAY ",
	} {
		n := min(len(b), len(start))
		if string(b[:n]) != start[:n] {
			continue
		}
		if n == len(start) {
			return yes
		}
		return maybe
	}
	return no
}
