package rtsptest

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// scriptTime bounds each read and write of a script, so that a test whose client
// falls silent fails instead of hanging.
const scriptTime = 30 * time.Second

// Script listens and lets talk hold the conversation with each client, one
// goroutine per connection; a connection is closed when talk returns. It returns
// the address, "127.0.0.1:port". It ends with the test.
func Script(tb testing.TB, talk func(conn *ScriptConn)) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &script{conns: map[net.Conn]struct{}{}}
	s.tasks.Go(func() {
		for index := 0; ; index++ {
			accepted, err := listener.Accept()
			if err != nil {
				return
			}
			s.serve(accepted, index, talk)
		}
	})
	tb.Cleanup(func() {
		_ = listener.Close()
		s.closeAll()
		s.tasks.Wait()
	})
	return listener.Addr().String()
}

type script struct {
	tasks sync.WaitGroup

	mu    sync.Mutex // guards all below
	ended bool
	conns map[net.Conn]struct{}
}

func (s *script) serve(accepted net.Conn, index int, talk func(conn *ScriptConn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		_ = accepted.Close()
		return
	}
	s.conns[accepted] = struct{}{}
	s.tasks.Go(func() {
		talk(&ScriptConn{Index: index, Net: accepted, in: bufio.NewReaderSize(accepted, maxLineSize)})
		s.mu.Lock()
		delete(s.conns, accepted)
		s.mu.Unlock()
		_ = accepted.Close()
	})
}

func (s *script) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for c := range s.conns {
		_ = c.Close()
	}
}

// ScriptConn is a client's connection in a Script. Its methods return errors
// rather than fail the test: a client that leaves early is often what is wanted.
type ScriptConn struct {
	Index int      // 0 for the first connection
	Net   net.Conn // for what the methods do not do

	in *bufio.Reader
}

// ReadRequest returns the next request; interleaved frames are stepped over.
func (c *ScriptConn) ReadRequest() (*Request, error) {
	_ = c.Net.SetReadDeadline(time.Now().Add(scriptTime))
	return readRequest(c.in)
}

// Write sends bytes as they are.
func (c *ScriptConn) Write(raw []byte) error {
	_ = c.Net.SetWriteDeadline(time.Now().Add(scriptTime))
	_, err := c.Net.Write(raw)
	return err
}

// Reply answers a request with 200, the headers ("Name: value") and a body.
func (c *ScriptConn) Reply(request *Request, body string, headers ...string) error {
	return c.ReplyStatus(request, 200, body, headers...)
}

// ReplyStatus answers a request.
func (c *ScriptConn) ReplyStatus(request *Request, status int, body string, headers ...string) error {
	answer := &response{status: status, headers: headers, body: body}
	return c.Write(answer.appendTo(nil, request.Header("CSeq"), false))
}

// Handshake answers everything up to PLAY, and PLAY too: the session description
// is sdp, and media is interleaved on the channels that the client asks for. It
// returns those of RTP, in the order of the SETUP requests.
func (c *ScriptConn) Handshake(sdp string) (channels []byte, err error) {
	for {
		request, err := c.ReadRequest()
		if err != nil {
			return nil, err
		}
		switch request.Method {
		case "OPTIONS":
			err = c.Reply(request, "", "Public: "+publicMethods)
		case "DESCRIBE":
			err = c.Reply(request, sdp, "Content-Type: application/sdp",
				"Content-Base: "+strings.TrimRight(request.URL, "/")+"/")
		case "SETUP":
			t, ok := chooseTransport(request.Header("Transport"), func(t transport) bool { return !t.udp })
			if !ok {
				err = c.ReplyStatus(request, 461, "")
				break
			}
			if !t.explicit {
				t.rtp = 2 * len(channels)
			}
			channels = append(channels, byte(t.rtp))
			err = c.Reply(request, "", "Session: 12345678",
				fmt.Sprintf("Transport: RTP/AVP/TCP;unicast;interleaved=%d-%d", t.rtp, t.rtp+1))
		case "PLAY":
			return channels, c.Reply(request, "", "Session: 12345678")
		default:
			err = c.ReplyStatus(request, 501, "")
		}
		if err != nil {
			return nil, err
		}
	}
}

// Frame sends a payload (an RTP or RTCP packet, or anything else) as an
// interleaved frame.
func (c *ScriptConn) Frame(channel byte, payload []byte) error {
	frame := append([]byte{'$', channel, byte(len(payload) >> 8), byte(len(payload))}, payload...)
	return c.Write(frame)
}

// Answer answers requests (keepalives, TEARDOWN) with 200 until the client
// leaves. A script that has sent all it wants to ends with it.
func (c *ScriptConn) Answer() {
	for {
		request, err := c.ReadRequest()
		if err != nil || c.Reply(request, "", "Session: 12345678") != nil || request.Method == "TEARDOWN" {
			return
		}
	}
}

// RTP makes an RTP packet.
func RTP(payloadType byte, marker bool, seq uint16, timestamp, ssrc uint32, payload []byte) []byte {
	packet := appendPacket(nil, payloadType, marker, payload)
	s := rtpStream{seq: seq, base: timestamp, ssrc: ssrc}
	return s.appendBlock(nil, packet, 0, nil)[framingSize:]
}
