//go:build e2e

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestTheServerEndsInTimeWhateverIsAttached(t *testing.T) {
	rack := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "door", Clip: "h264-720p", AAC: true},
		rtsptest.CameraConfig{Path: "yard"},
		rtsptest.CameraConfig{Path: "silent", Answer: rtsptest.AnswerNever},
		rtsptest.CameraConfig{Path: "stalled", Faults: []rtsptest.Fault{{Do: rtsptest.Stall()}}},
	)
	s := newServer(t, "")
	for _, id := range []string{"door", "yard", "silent", "stalled"} {
		s.addCamera(id, rack.Camera(id).URL())
	}
	s.awaitState("door", "live")
	s.awaitState("yard", "live")
	f := follow(t, s, waitForIndex(s, "door"))
	segment := resolve(t, f.path, f.collect(1)[0].uri)

	held := []net.Conn{
		// A viewer between two requests, and one that has said nothing yet.
		attach(t, s, request("GET", f.path), true),
		attach(t, s, "", false),
		// One that has sent half a request.
		attach(t, s, "GET /hls/door/index.m3u8 HTTP/1.1\r\nHost: x\r\n", false),
		// Slow readers: a segment each, of which they take nothing.
		attach(t, s, strings.Repeat(request("GET", segment), 20), false),
		attach(t, s, strings.Repeat(request("GET", segment), 20), false),
		// Live events, where there are any, and a probe of a camera that never answers.
		attach(t, s, "GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n", false),
		attach(t, s, probeRequest(rack.Camera("silent").URL()), false),
		// A body that does not come.
		attach(t, s, "POST /api/v1/cameras HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", false),
	}
	rack.Camera("silent").WaitUntil(t, "a client is waiting", func(seen rtsptest.Seen) bool { return seen.Conns > 0 })
	s.stop()
	for _, id := range []string{"door", "yard"} {
		rack.Camera(id).WaitUntil(t, "one TEARDOWN and no client", func(seen rtsptest.Seen) bool {
			return seen.Teardowns == 1 && seen.Playing == 0
		})
	}
	for _, conn := range held {
		conn.Close()
	}
}

func request(method, path string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path)
}

func probeRequest(camera string) string {
	body := fmt.Sprintf(`{"url":%q}`, camera)
	return fmt.Sprintf("POST /api/v1/probe HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// attach connects, sends, and reads one answer if there is one to read.
func attach(t *testing.T, s *server, text string, answered bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if answered {
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}
