package rtsp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A peer is a camera by script, where one says what no simulated camera would
// say: it converses as a good camera does, but for what a test overrides, and
// sends what the test lets it send.
type peer struct {
	sdp string

	// answer takes a request over, if it reports true.
	answer func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (handled bool, err error)

	// play sends media, in a goroutine of its own, from the answer to PLAY on.
	play func(s *playing)

	mu    sync.Mutex
	conns int
	asked []*rtsptest.Request
}

// playing is a peer's connection that is sent media.
type playing struct {
	conn     *rtsptest.ScriptConn
	channels []byte // of RTP, in the order of the SETUP requests
	gone     <-chan struct{}
}

// start begins to listen, until the test ends, and returns the URL.
func (p *peer) start(t testing.TB) string {
	t.Helper()
	return "rtsp://" + rtsptest.Script(t, p.talk) + "/live"
}

func (p *peer) talk(conn *rtsptest.ScriptConn) {
	p.mu.Lock()
	p.conns++
	p.mu.Unlock()
	var media sync.WaitGroup
	defer media.Wait()
	gone := make(chan struct{})
	defer close(gone)
	defer func() { _ = conn.Net.Close() }() // ends a write that the client does not read
	s := &playing{conn: conn, gone: gone}
	for {
		request, err := conn.ReadRequest()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue // a client that only listens
		}
		if err != nil {
			return
		}
		p.mu.Lock()
		p.asked = append(p.asked, request)
		p.mu.Unlock()
		handled := false
		if p.answer != nil {
			if handled, err = p.answer(conn, request); err != nil {
				return
			}
		}
		if !handled {
			if err := p.usual(s, request); err != nil {
				return
			}
		}
		if request.Method == "SETUP" {
			s.noteChannel(request)
		}
		if request.Method == "PLAY" && p.play != nil {
			media.Go(func() { p.play(s) })
		}
	}
}

// usual answers as a good camera does.
func (p *peer) usual(s *playing, request *rtsptest.Request) error {
	switch request.Method {
	case "OPTIONS":
		return s.conn.Reply(request, "", "Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER, TEARDOWN")
	case "DESCRIBE":
		return s.conn.Reply(request, p.sdp, "Content-Type: application/sdp")
	case "SETUP":
		if !strings.Contains(request.Header("Transport"), "interleaved=") {
			return s.conn.ReplyStatus(request, 461, "")
		}
		return s.conn.Reply(request, "", "Session: 4711", "Transport: "+request.Header("Transport"))
	}
	return s.conn.Reply(request, "", "Session: 4711")
}

func (s *playing) noteChannel(request *rtsptest.Request) {
	_, channels, _ := strings.Cut(request.Header("Transport"), "interleaved=")
	var channel int
	if _, err := fmt.Sscanf(channels, "%d-", &channel); err == nil {
		s.channels = append(s.channels, byte(channel))
	}
}

// requests returns what was asked so far.
func (p *peer) requests() []*rtsptest.Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

// asks returns how often a method was asked for.
func (p *peer) asks(method string) int {
	n := 0
	for _, request := range p.requests() {
		if request.Method == method {
			n++
		}
	}
	return n
}

// connections returns how many there were.
func (p *peer) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.conns
}

// send sends packets of the first media, and reports whether the client is still
// there.
func (s *playing) send(packets ...[]byte) bool { return s.sendOn(0, packets...) }

// sendOn sends packets of the n-th media that was set up.
func (s *playing) sendOn(n int, packets ...[]byte) bool {
	return s.conn.Write(frames(s.channels[n], packets)) == nil
}

// frames returns packets as interleaved frames (RFC 2326 10.12).
func frames(channel byte, packets [][]byte) []byte {
	var all []byte
	for _, packet := range packets {
		all = append(all, '$', channel, byte(len(packet)>>8), byte(len(packet)))
		all = append(all, packet...)
	}
	return all
}

// raw sends bytes as they are.
func (s *playing) raw(text string) bool { return s.conn.Write([]byte(text)) == nil }

// pause waits as long as a picture lasts, and reports whether the client is still
// there.
func (s *playing) pause() bool { return s.wait(rtsptest.FrameDuration) }

func (s *playing) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-s.gone:
		return false
	}
}
