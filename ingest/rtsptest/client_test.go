package rtsptest

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"
)

// client is the least that pulls a camera. All reads are bounded in time.
type client struct {
	tb     testing.TB
	net    net.Conn
	in     *bufio.Reader
	url    string
	cseq   int
	id     string // session
	frames []frame
}

type frame struct {
	channel byte
	packet  []byte
}

type reply struct {
	status  int
	line    string
	headers textproto.MIMEHeader
	body    string
}

func dial(tb testing.TB, camera *Camera) *client {
	tb.Helper()
	c, err := net.Dial("tcp", camera.server.Addr())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return &client{tb: tb, net: c, in: bufio.NewReaderSize(c, 1<<17), url: camera.URL()}
}

func (c *client) send(method, url string, headers ...string) {
	c.tb.Helper()
	c.cseq++
	text := fmt.Sprintf("%s %s RTSP/1.0\r\nCSeq: %d\r\n", method, url, c.cseq)
	if c.id != "" {
		text += "Session: " + c.id + "\r\n"
	}
	for _, header := range headers {
		text += header + "\r\n"
	}
	if _, err := io.WriteString(c.net, text+"\r\n"); err != nil {
		c.tb.Fatal(err)
	}
}

// ask sends a request and returns the answer; frames on the way are kept.
func (c *client) ask(method, url string, headers ...string) reply {
	c.tb.Helper()
	c.send(method, url, headers...)
	for {
		f, r, err := c.read()
		switch {
		case err != nil:
			c.tb.Fatalf("%s: %v", method, err)
		case f != nil:
			c.frames = append(c.frames, *f)
		default:
			if got := r.headers.Get("CSeq"); got != strconv.Itoa(c.cseq) {
				c.tb.Fatalf("%s: CSeq %s, want %d", method, got, c.cseq)
			}
			return *r
		}
	}
}

// read returns the next frame or the next reply.
func (c *client) read() (*frame, *reply, error) {
	_ = c.net.SetReadDeadline(time.Now().Add(20 * time.Second))
	first, err := c.in.Peek(1)
	if err != nil {
		return nil, nil, err
	}
	if first[0] == '$' {
		var head [4]byte
		if _, err := io.ReadFull(c.in, head[:]); err != nil {
			return nil, nil, err
		}
		packet := make([]byte, binary.BigEndian.Uint16(head[2:]))
		_, err := io.ReadFull(c.in, packet)
		return &frame{channel: head[1], packet: packet}, nil, err
	}
	text := textproto.NewReader(c.in)
	r := &reply{}
	if r.line, err = text.ReadLine(); err != nil {
		return nil, nil, err
	}
	fields := strings.SplitN(r.line, " ", 3)
	if len(fields) < 2 || fields[0] != "RTSP/1.0" {
		return nil, nil, fmt.Errorf("not a status line: %q", r.line)
	}
	if r.status, err = strconv.Atoi(fields[1]); err != nil {
		return nil, nil, err
	}
	if r.headers, err = text.ReadMIMEHeader(); err != nil {
		return nil, nil, err
	}
	size, _ := strconv.Atoi(r.headers.Get("Content-Length"))
	body := make([]byte, size)
	_, err = io.ReadFull(c.in, body)
	r.body = string(body)
	return nil, r, err
}

// nextFrame returns the next interleaved frame.
func (c *client) nextFrame() (frame, error) {
	if len(c.frames) > 0 {
		f := c.frames[0]
		c.frames = c.frames[1:]
		return f, nil
	}
	f, r, err := c.read()
	if err != nil {
		return frame{}, err
	}
	if r != nil {
		return frame{}, fmt.Errorf("a reply among frames: %s", r.line)
	}
	return *f, nil
}

// setup sets up so many media, interleaved from channel 0.
func (c *client) setup(media int) {
	c.tb.Helper()
	for i := range media {
		r := c.ask("SETUP", fmt.Sprintf("%s/trackID=%d", c.url, i),
			fmt.Sprintf("Transport: RTP/AVP/TCP;unicast;interleaved=%d-%d", 2*i, 2*i+1))
		if r.status != 200 {
			c.tb.Fatalf("SETUP: %s", r.line)
		}
		c.id, _, _ = strings.Cut(r.headers.Get("Session"), ";")
	}
}

// play pulls so many media.
func play(tb testing.TB, camera *Camera, media int) *client {
	tb.Helper()
	c := dial(tb, camera)
	c.setup(media)
	if r := c.ask("PLAY", c.url); r.status != 200 {
		tb.Fatalf("PLAY: %s", r.line)
	}
	return c
}

// rtp is what a test looks at in an RTP packet.
type rtp struct {
	seq       uint16
	timestamp uint32
	marker    bool
	payload   []byte
}

func parseRTP(tb testing.TB, packet []byte) rtp {
	tb.Helper()
	if len(packet) < rtpHeaderSize || packet[0] != 0x80 {
		tb.Fatalf("not an RTP packet: % x", packet[:min(len(packet), 16)])
	}
	return rtp{
		seq:       binary.BigEndian.Uint16(packet[2:]),
		timestamp: binary.BigEndian.Uint32(packet[4:]),
		marker:    packet[1]&0x80 != 0,
		payload:   packet[rtpHeaderSize:],
	}
}

// video returns the next video packet and steps over all else.
func (c *client) video() rtp {
	c.tb.Helper()
	for {
		f, err := c.nextFrame()
		if err != nil {
			c.tb.Fatal(err)
		}
		if f.channel == 0 {
			return parseRTP(c.tb, f.packet)
		}
	}
}

// pictureTimes returns the timestamps of the next n pictures.
func (c *client) pictureTimes(n int) []uint32 {
	c.tb.Helper()
	var times []uint32
	for len(times) < n {
		if p := c.video(); p.marker {
			times = append(times, p.timestamp)
		}
	}
	return times
}
