package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/shm"
)

// Server hands memories over at a socket.
type Server struct {
	options  Options
	listener *net.UnixListener
	work     sync.WaitGroup

	mu      sync.Mutex
	sets    map[string]*set // by what was asked for
	clients int
}

// Listen makes the socket, which only this user may use. The caller calls Serve, or
// Close.
func Listen(options Options) (*Server, error) {
	if err := options.fill(); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(options.Path); err == nil && info.Mode().Type() == os.ModeSocket {
		// Left by a server that was killed: the folder of data belongs to one alone.
		if err := os.Remove(options.Path); err != nil {
			return nil, fmt.Errorf("shared memory: %w", err)
		}
	}
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: options.Path, Net: "unixpacket"})
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	if err := os.Chmod(options.Path, 0o600); err != nil {
		listener.Close()
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	return &Server{options: options, listener: listener, sets: map[string]*set{}}, nil
}

// Close is for a server that does not Serve.
func (s *Server) Close() error { return s.listener.Close() }

// Serve answers until ctx ends, and returns when all workers have been told.
func (s *Server) Serve(ctx context.Context) error {
	defer s.work.Wait()
	stop := context.AfterFunc(ctx, func() { s.listener.Close() })
	defer stop()
	for {
		conn, err := s.listener.AcceptUnix()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("shared memory: %w", err)
		case err != nil: // out of descriptors, say: others go on
			s.options.Log.Warn("a worker's connection was not taken", "err", err)
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			continue
		}
		s.work.Go(func() {
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })()
			s.serve(ctx, conn)
		})
	}
}

// serve talks to one worker until it leaves, or nothing comes any more.
func (s *Server) serve(ctx context.Context, conn *net.UnixConn) {
	request, err := s.ask(conn) // first, for an answer to what was not asked yet is not heard
	if err == nil {
		err = s.attend(ctx, conn, request)
	}
	if err != nil {
		refuse(conn, err)
	}
}

// attend lets a worker read until it leaves. The error is for it to be told, when it no
// longer counts.
func (s *Server) attend(ctx context.Context, conn *net.UnixConn, request feed.Request) error {
	if !s.enter() {
		return feed.ErrTooMany
	}
	defer s.leave()
	shared, err := s.join(request)
	if err != nil {
		return err
	}
	defer s.part(shared)
	wake, err := shared.add(conn)
	if err != nil {
		return err
	}
	defer shared.remove(wake)
	s.options.Log.Info("a worker watches in shared memory", "worker", request.Worker, "cameras", len(request.Cameras), "all", len(request.Cameras) == 0)
	// It has nothing more to say: what is read is its end, or the set's.
	_, left := conn.Read(make([]byte, 1))
	ended := shared.end()
	if ended == nil && ctx.Err() != nil {
		ended = feed.ErrClosed
	}
	s.options.Log.Info("a worker has left shared memory", "worker", request.Worker, "reason", cmp.Or(ended, left))
	return ended
}

func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients++
	if s.clients > s.options.MaxWorkers {
		s.clients--
		return false
	}
	return true
}

func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients--
}

// ask reads what a worker wants.
func (s *Server) ask(conn *net.UnixConn) (feed.Request, error) {
	if err := sameUser(conn); err != nil {
		return feed.Request{}, err
	}
	_ = conn.SetReadDeadline(time.Now().Add(requestTimeout))
	packet := make([]byte, shm.MaxPacket)
	n, err := conn.Read(packet)
	if err != nil {
		return feed.Request{}, fmt.Errorf("%w: it did not come", feed.ErrRequest)
	}
	_ = conn.SetReadDeadline(time.Time{})
	var in schema.WatchRequest
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(packet[:n], &in); err != nil {
		return feed.Request{}, fmt.Errorf("%w: it is no WatchRequest in JSON", feed.ErrRequest)
	}
	return feed.NewRequest(&in)
}

// sameUser refuses who is neither this user nor root. The socket's mode says the same,
// but can be changed by hand.
func sameUser(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	if controlErr := raw.Control(func(fd uintptr) { peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); controlErr != nil {
		return controlErr
	}
	if err != nil {
		return err
	}
	if peer.Uid != 0 && int(peer.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: the worker belongs to another user than the server", errDenied)
	}
	return nil
}

var errDenied = errors.New("permission denied")

// refuse tells a worker why nothing comes, or nothing any more. One that does not listen
// is not waited for.
func refuse(conn *net.UnixConn, why error) {
	answer := shm.Answer{Version: shm.Version, Error: why.Error()}
	switch {
	case errors.Is(why, feed.ErrRequest):
		answer.Code = "invalid_argument"
	case errors.Is(why, feed.ErrUnknownCamera), errors.Is(why, feed.ErrRemoved):
		answer.Code = "not_found"
	case errors.Is(why, feed.ErrTooMany), errors.Is(why, errTooManySets):
		answer.Code = "resource_exhausted"
	case errors.Is(why, feed.ErrClosed):
		answer.Code = "unavailable"
	case errors.Is(why, errDenied):
		answer.Code = "permission_denied"
	default:
		answer.Code = "internal"
	}
	text, err := json.Marshal(answer)
	if err != nil { // a struct of texts and numbers has no way to fail
		return
	}
	_ = conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	_, _ = conn.Write(text) // the error is that of a worker that is gone
}
