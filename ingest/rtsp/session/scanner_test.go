package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// scan reads all of a stream and writes down what it finds. Channels 0 and 1
// are those of a media whose SSRC is all "S".
func scan(in io.Reader, bufferBytes int) (found []string, s *scanner, err error) {
	s = newScanner(bufferBytes, func(channel byte, start []byte) bool {
		switch channel {
		case 0:
			return isRTPPacket(start) && string(start[8:12]) == "SSSS"
		case 1:
			return isRTCPPacket(start)
		}
		return false
	}, func(channel byte, start []byte) bool {
		return channel == 0 && isRTPPacket(start) && string(start[8:12]) == "SSSS" ||
			channel == 1 && isRTCPPacket(start) && string(start[4:8]) == "SSSS"
	})
	for {
		it, err := s.next()
		if err != nil {
			return found, s, err
		}
		switch it.kind {
		case itemFrame:
			payload := it.payload
			if len(payload) > rtpHeaderBytes {
				payload = payload[rtpHeaderBytes:]
			}
			found = append(found, fmt.Sprintf("%d:%.12q", it.channel, payload))
			continue
		case itemMessage:
			m := it.message
			found = append(found, fmt.Sprintf("%s%d[%s][%s]", m.method, m.status, m.reason, m.body))
			continue
		}
		if _, err := s.fill(in); err == io.EOF {
			return found, s, nil
		} else if err != nil {
			return found, s, err
		}
	}
}

const okReply = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 2\r\n\r\nhi"

func TestTheScannerCutsFramesAndMessagesApart(t *testing.T) {
	a, b := frame(0, rtp('S', 1, "aaa")), frame(0, rtp('S', 2, "bbb"))
	c := frame(1, bye('S'))
	truncated := frame(0, rtp('S', 9, strings.Repeat("x", 500)))[:200]
	// What would follow the truncated frame, were it whole, is a "$" within this one.
	dollar := frame(0, rtp('S', 10, strings.Repeat("q", 300)+"$"+strings.Repeat("q", 200)))
	for _, test := range []struct {
		name, in, want  string
		garbage, resync uint64
	}{
		{"frames", a + b + c, `0:"aaa" 0:"bbb" 1:"\x81\xcb\x00\x01SSSS"`, 0, 0},
		{"a message between", a + okReply + b, `0:"aaa" 200[OK][hi] 0:"bbb"`, 0, 0},
		{"a request between", a + "GET_PARAMETER rtsp://x RTSP/1.0\r\nCSeq: 3\r\n\r\n" + b, `0:"aaa" GET_PARAMETER0[][] 0:"bbb"`, 0, 0},
		{"blank lines", "\r\n" + okReply + "\r\n\r\n" + a, `200[OK][hi] 0:"aaa"`, 0, 0},
		{"an empty frame", frame(0, "") + a, `0:"" 0:"aaa"`, 0, 0},
		{"a frame of 64 KB", frame(0, rtp('S', 1, strings.Repeat("y", 65535-12))) + a, `0:"yyyyyyyyyyyy" 0:"aaa"`, 0, 0},

		{"a frame within which another seems to begin", frame(0, rtp('S', 1, "$\x01\x00\x1c\x80\xc8\x00\x06"+strings.Repeat("z", 40))) + b, `0:"$\x01\x00\x1c\x80\xc8\x00\x06zzzz" 0:"bbb"`, 0, 0},

		{"framing-garbage: stray bytes", a + "\x01\x02\x03\x04\x05\x06\x07" + b, `0:"aaa" 0:"bbb"`, 7, 1},
		{"framing-garbage: letters", a + "GARBAGE" + b, `0:"aaa" 0:"bbb"`, 7, 1},
		{"framing-garbage: dollars", a + "\x01$$$$$$" + b, `0:"aaa" 0:"bbb"`, 7, 1},
		{"framing-garbage: before a message", a + "\x01\x02" + okReply + b, `0:"aaa" 200[OK][hi] 0:"bbb"`, 2, 1},
		{"framing-garbage: the second half of a frame again", a + a[12:] + b, `0:"aaa" 0:"bbb"`, uint64(len(a) - 12), 1},
		{"framing-garbage: half a frame, and a dollar where it would end", a + truncated + dollar + b, `0:"aaa" 0:"qqqqqqqqqqqq" 0:"bbb"`, 200, 1},
		{"framing-garbage: half a frame, then it whole", truncated + a + b + strings.Repeat(a, 20), `0:"aaa" 0:"bbb"` + strings.Repeat(` 0:"aaa"`, 20), 200, 1},
		{"framing-garbage: an unknown channel", a + frame(7, rtp('S', 5, "zzz")) + b, `0:"aaa" 7:"zzz" 0:"bbb"`, 0, 0},
		{"framing-garbage: a dollar first", a + "$\x30\x02\x00" + strings.Repeat(b, 40), `0:"aaa"` + strings.Repeat(` 0:"bbb"`, 40), 4, 1},
		{"framing-garbage: a message that is none", a + "RTSP/1.0 oops\r\n\r\n" + b, `0:"aaa" 0:"bbb"`, 17, 1},

		{"status-text: none", "RTSP/1.0 200\r\nCSeq: 1\r\n\r\n" + a, `200[][] 0:"aaa"`, 0, 0},
		{"status-text: none, with a blank", "RTSP/1.0 200 \r\nCSeq: 1\r\n\r\n" + a, `200[][] 0:"aaa"`, 0, 0},
		{"status-text: bare line feeds", "RTSP/1.0 200 OK\nCSeq: 1\n\n" + a, `200[OK][] 0:"aaa"`, 0, 0},
		{"a length that is none", "RTSP/1.0 200 OK\r\nContent-Length: x\r\n\r\n" + a, `200[OK][] 0:"aaa"`, 0, 0},
		{"lines that are no headers", "RTSP/1.0 200 OK\r\nhello\r\n: \r\n x\r\nContent-Length: 1\r\n\r\n!" + a, `200[OK][!] 0:"aaa"`, 0, 0},
	} {
		readers := map[string]func(io.Reader) io.Reader{
			"at once": func(r io.Reader) io.Reader { return r },
			"halves":  iotest.HalfReader,
			"bytes":   iotest.OneByteReader,
		}
		for how, reader := range readers {
			t.Run(test.name+"/"+how, func(t *testing.T) {
				found, s, err := scan(reader(strings.NewReader(test.in)), 4096)
				if err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(found, " "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				if got := s.garbageBytes.Load(); got != test.garbage {
					t.Errorf("%d bytes of garbage, want %d", got, test.garbage)
				}
				if got := s.resyncs.Load(); got != test.resync {
					t.Errorf("%d resyncs, want %d", got, test.resync)
				}
			})
		}
	}
}

func TestMessagesAreBounded(t *testing.T) {
	const start = "RTSP/1.0 200 OK\r\n"
	for name, in := range map[string]string{
		"a long line":        start + "A: " + strings.Repeat("x", maxLineBytes) + "\r\n\r\n",
		"a long first line":  "RTSP/1.0 200 " + strings.Repeat("x", maxLineBytes) + "\r\n\r\n",
		"many headers":       start + strings.Repeat("A: b\r\n", maxHeaders+1) + "\r\n",
		"a head without end": start + strings.Repeat("A: b\r\n", maxHeadBytes),
		"a large body":       start + fmt.Sprintf("Content-Length: %d\r\n\r\n", maxBodyBytes+1),
	} {
		if _, _, err := scan(strings.NewReader(in), 4096); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: got %v, want ErrTooLarge", name, err)
		}
	}
	large := start + fmt.Sprintf("Content-Length: %d\r\n", maxBodyBytes) + strings.Repeat("A: b\r\n", maxHeaders-1) + "\r\n" + strings.Repeat("b", maxBodyBytes)
	if found, _, err := scan(strings.NewReader(large), 4096); err != nil || len(found) != 1 {
		t.Errorf("the largest message: %d found, %v", len(found), err)
	}
}

func TestTheBufferShrinksAfterALargeMessage(t *testing.T) {
	s := newScanner(1024, nil, nil)
	in := strings.NewReader("RTSP/1.0 200 OK\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("b", 5000) + "$\x00\x00\x03abc")
	for found, err := s.next(); found.kind != itemMessage; found, err = s.next() {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.fill(in); err != nil {
			t.Fatal(err)
		}
	}
	for s.w-s.r < 7 {
		if _, err := s.fill(in); err != nil {
			t.Fatal(err)
		}
	}
	s.shrink(1024)
	if len(s.buf) != 1024 {
		t.Errorf("the buffer has %d bytes", len(s.buf))
	}
	if found, err := s.next(); err != nil || string(found.payload) != "abc" {
		t.Errorf("then came %q, %v", found.payload, err)
	}
}

func FuzzScanner(f *testing.F) {
	f.Add([]byte(frame(0, rtp('S', 1, "a"))+okReply+"\x01\x02"+frame(0, rtp('S', 2, "b"))), uint8(3))
	f.Add([]byte("$\x00\xff\xff"+frame(0, rtp('S', 1, "a"))), uint8(1))
	f.Add([]byte("RTSP/1.0 200 OK\nA:b\n c\n\n"), uint8(0))
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		found, s, err := scan(&stepReader{in: bytes.NewReader(in), step: int(step) + 1}, 64)
		if err != nil && !errors.Is(err, ErrTooLarge) {
			t.Fatal(err)
		}
		if len(s.buf) > maxScanBytes {
			t.Errorf("the buffer has %d bytes", len(s.buf))
		}
		if len(found) > len(in)/4 {
			t.Errorf("%d items in %d bytes", len(found), len(in))
		}
	})
}

type stepReader struct {
	in   io.Reader
	step int
}

func (r *stepReader) Read(b []byte) (int, error) { return r.in.Read(b[:min(len(b), r.step)]) }
