package rtsp

import (
	"context"
	"net"
	"testing"

	"github.com/drover-video/drover/ingest/rtsp/session"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// vanish pulls a camera and goes away without a word, as a server does that is
// killed.
func vanish(t *testing.T, c *rtsptest.Camera) {
	t.Helper()
	var conn net.Conn
	s, err := session.Open(t.Context(), session.Options{
		URL: c.URL(),
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			var err error
			conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
			return conn, err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Setup(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := s.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.WaitUntil(t, "playing", func(seen rtsptest.Seen) bool { return seen.Playing == 1 })
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	c.WaitUntil(t, "the end of it", func(seen rtsptest.Seen) bool { return seen.Playing == 0 && seen.Conns == 0 })
	if err := s.Close(); err != nil { // finds no one to say goodbye to
		t.Fatal(err)
	}
}
