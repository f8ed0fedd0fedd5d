package session

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/secret"
)

// A peer is the camera's end of one connection, held by a script. It lives on
// a pipe, so that a test owns its clock and meets no port of the machine.
type peer struct {
	conn    net.Conn
	in      *bufio.Reader
	address string // that was dialled
	frames  []byte // interleaved frames that came from the client
	streams sync.WaitGroup
}

// stream sends something at an interval until the connection is closed.
func (p *peer) stream(every time.Duration, next func(i uint16) string) {
	p.streams.Go(func() {
		for i := uint16(0); ; i++ {
			if _, err := io.WriteString(p.conn, next(i)); err != nil {
				return
			}
			time.Sleep(every)
		}
	})
}

type request struct {
	method, uri string
	header      textproto.MIMEHeader
}

// next returns the next request, or nil when the client is gone.
func (p *peer) next() *request {
	for {
		first, err := p.in.Peek(1)
		if err != nil {
			return nil
		}
		if first[0] != '$' {
			break
		}
		head := make([]byte, 4)
		if _, err := io.ReadFull(p.in, head); err != nil {
			return nil
		}
		payload := make([]byte, binary.BigEndian.Uint16(head[2:]))
		if _, err := io.ReadFull(p.in, payload); err != nil {
			return nil
		}
		p.frames = append(append(p.frames, head...), payload...)
	}
	reader := textproto.NewReader(p.in)
	line, err := reader.ReadLine()
	if err != nil {
		return nil
	}
	headers, err := reader.ReadMIMEHeader()
	if err != nil {
		return nil
	}
	method, rest, _ := strings.Cut(line, " ")
	uri, _, _ := strings.Cut(rest, " ")
	return &request{method: method, uri: uri, header: headers}
}

// write ignores errors: a client that leaves is seen by next.
func (p *peer) write(text string) { _, _ = io.WriteString(p.conn, text) }

// reply answers with a status line's rest, a body and further header lines.
func (p *peer) reply(r *request, status, body string, headers ...string) {
	text := "RTSP/1.0 " + status + "\r\nCSeq: " + r.header.Get("Cseq") + "\r\n"
	for _, h := range headers {
		text += h + "\r\n"
	}
	if body != "" {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	p.write(text + "\r\n" + body)
}

// usual answers a request as a good camera does.
func (p *peer) usual(r *request, sdp string) {
	switch r.method {
	case "OPTIONS":
		p.reply(r, "200 OK", "", "Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN")
	case "DESCRIBE":
		p.reply(r, "200 OK", sdp, "Content-Type: application/sdp")
	case "SETUP":
		p.reply(r, "200 OK", "", "Transport: "+r.header.Get("Transport"), "Session: 4711;timeout=60")
	default:
		p.reply(r, "200 OK", "", "Session: 4711")
	}
}

// handshake answers as a good camera does up to PLAY, and returns what it was
// asked.
func (p *peer) handshake(sdp string) []*request {
	var seen []*request
	for r := p.next(); r != nil; r = p.next() {
		seen = append(seen, r)
		p.usual(r, sdp)
		if r.method == "PLAY" {
			break
		}
	}
	return seen
}

// rest answers until the client leaves, and returns what it was asked.
func (p *peer) rest(sdp string) []*request {
	var seen []*request
	for r := p.next(); r != nil; r = p.next() {
		seen = append(seen, r)
		p.usual(r, sdp)
	}
	return seen
}

// script returns options whose every connection is held by talk. The scripts
// have ended when the test has.
func script(t testing.TB, talk func(p *peer)) Options {
	var scripts sync.WaitGroup
	t.Cleanup(scripts.Wait)
	return Options{
		URL: "rtsp://192.0.2.1/live",
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			client, server := net.Pipe()
			scripts.Go(func() {
				p := &peer{conn: server, in: bufio.NewReader(server), address: address}
				defer p.streams.Wait()
				defer func() { _ = server.Close() }()
				talk(p)
			})
			return client, nil
		},
	}
}

func (o Options) withLogin(username, password string) Options {
	o.Username, o.Password = username, secret.New(password)
	return o
}

const videoSDP = "v=0\r\no=- 0 0 IN IP4 0.0.0.0\r\ns=x\r\nt=0 0\r\n" +
	"m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=control:trackID=0\r\n"

const bothSDP = videoSDP + "m=audio 0 RTP/AVP 8\r\na=control:trackID=1\r\n"

// rtp makes a packet of an SSRC that is all one letter.
func rtp(ssrc byte, sequence uint16, payload string) string {
	b := []byte{0x80, 96, 0, 0, 0, 0, 0, 0, ssrc, ssrc, ssrc, ssrc}
	binary.BigEndian.PutUint16(b[2:], sequence)
	binary.BigEndian.PutUint32(b[4:], uint32(sequence)*3600)
	return string(b) + payload
}

func bye(ssrc byte) string { return string([]byte{0x81, 203, 0, 1, ssrc, ssrc, ssrc, ssrc}) }

func frame(channel byte, payload string) string {
	return string([]byte{'$', channel, byte(len(payload) >> 8), byte(len(payload))}) + payload
}

// record is a Handler that writes down what it hears.
type record struct {
	mu      sync.Mutex
	rtp     []string // "media:payload"
	rtcp    []string
	batches int
	changed chan struct{} // gets a token when something is added
}

func newRecord() *record { return &record{changed: make(chan struct{}, 1)} }

func (r *record) note() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

func (r *record) RTP(media int, packet []byte, _ time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rtp = append(r.rtp, fmt.Sprintf("%d:%s", media, packet[rtpHeaderBytes:]))
}

func (r *record) RTCP(media int, packet []byte, _ time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rtcp = append(r.rtcp, fmt.Sprintf("%d:%d", media, packet[1]))
}

func (r *record) BatchEnd() {
	r.mu.Lock()
	r.batches++
	r.mu.Unlock()
	r.note()
}

func (r *record) packets() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.rtp, " ")
}

// waitFor waits until so many packets have come.
func (r *record) waitFor(t testing.TB, packets int) {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		r.mu.Lock()
		n := len(r.rtp)
		r.mu.Unlock()
		if n >= packets {
			return
		}
		select {
		case <-r.changed:
		case <-timeout:
			t.Fatalf("%d packets came, want %d", n, packets)
		}
	}
}

// open opens a session that the test closes.
func open(t testing.TB, options Options) *Session {
	t.Helper()
	s, err := Open(t.Context(), options)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// play opens a session, sets all medias up and plays.
func play(t testing.TB, options Options) *Session {
	t.Helper()
	s := open(t, options)
	for _, m := range Playable(s.Medias()) {
		if err := s.Setup(t.Context(), m.Index); err != nil {
			t.Fatalf("Setup: %v", err)
		}
	}
	if err := s.Play(t.Context()); err != nil {
		t.Fatalf("Play: %v", err)
	}
	return s
}
