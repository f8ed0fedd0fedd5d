package hls

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A pipeListener is a listener whose connections hold nothing, so that a reader
// that stops is felt at once.
type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.done)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestReaderThatStopsLetsItsSegmentGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, segment := served(t)
		listener := &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
		server := &http.Server{Handler: r.handler}
		served := make(chan struct{})
		go func() {
			defer close(served)
			_ = server.Serve(listener)
		}()
		client, inner := net.Pipe()
		listener.conns <- inner
		if _, err := io.WriteString(client, "GET /hls/"+segment+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(client, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		n := parseName(segment)
		s := r.muxer.published.Load().segment(n.epoch, n.sequence)
		s.release()
		if refs := s.refs.Load(); refs != 2 {
			t.Fatalf("%d references while it is sent", refs)
		}
		time.Sleep(writePatience + time.Second) // in the bubble's time
		synctest.Wait()
		if refs := s.refs.Load(); refs != 1 {
			t.Errorf("%d references after the reader stopped", refs)
		}
		client.Close()
		server.Close()
		<-served
	})
}
