package rtsptest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options make a Server.
type Options struct {
	Address string      // default "127.0.0.1:0"
	TLS     *tls.Config // for rtsps://; default none
	Clips   string      // folder that MakeClips has filled
	Cameras []CameraConfig
	// OnEvent hears what happens, from several goroutines. It must not call back.
	OnEvent func(Event)
}

// Server is an RTSP server with cameras.
type Server struct {
	options Options
	address string // with the port that was given
	nonce   string // of HTTP
	cameras []*Camera
	reels   *reels
	udp     *udpPair
	buffers sync.Pool // of *[]byte

	mu        sync.Mutex // guards all below
	listener  net.Listener
	running   bool
	ended     bool
	conns     map[*conn]struct{}
	connsEver int
	tunnels   map[string]*io.PipeWriter // where the requests of a tunnel go, by its cookie
	tasks     sync.WaitGroup            // accepting and connections; added to while running only
}

// New makes a server that listens already; Run lets it answer.
func New(options Options) (*Server, error) {
	if options.Address == "" {
		options.Address = "127.0.0.1:0"
	}
	s := &Server{
		options: options,
		reels:   &reels{dir: options.Clips, clips: map[string]*Clip{}, made: map[reelKey]*reel{}},
		nonce:   fmt.Sprintf("%016x", rand.Uint64()),
		conns:   map[*conn]struct{}{},
		tunnels: map[string]*io.PipeWriter{},
	}
	s.buffers.New = func() any { return new([]byte) }
	listener, err := net.Listen("tcp", options.Address)
	if err != nil {
		return nil, fmt.Errorf("simulated cameras: %w", err)
	}
	s.listener = listener
	s.address = listener.Addr().String()
	if s.udp, err = listenUDPPair(listener.Addr().(*net.TCPAddr).IP); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("simulated cameras: %w", err)
	}
	if err := s.addCameras(); err != nil {
		_ = listener.Close()
		s.udp.close()
		return nil, fmt.Errorf("simulated cameras: %w", err)
	}
	return s, nil
}

func (s *Server) addCameras() error {
	for i, config := range s.options.Cameras {
		if err := config.setDefaults(); err != nil {
			return err
		}
		if s.Camera(config.Path) != nil {
			return fmt.Errorf("two cameras have the path %s", config.Path)
		}
		if err := s.reels.load(config.Faults); err != nil {
			return err
		}
		r, err := s.reels.get(config.Clip, config.packing())
		if err != nil {
			return err
		}
		camera := newCamera(s, i, config, r)
		if config.Group != "" {
			if camera.groupPorts, err = freePorts(4); err != nil {
				return err
			}
		}
		s.cameras = append(s.cameras, camera)
	}
	return nil
}

// Start runs a server of cameras until the test ends.
func Start(tb testing.TB, cameras ...CameraConfig) *Server {
	tb.Helper()
	return StartWith(tb, Options{Cameras: cameras})
}

// StartWith is Start with more options.
func StartWith(tb testing.TB, options Options) *Server {
	tb.Helper()
	options.Clips = ClipDir(tb)
	s, err := New(options)
	if err != nil {
		tb.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	tb.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
	return s
}

// Addr is the address that the server listens on.
func (s *Server) Addr() string { return s.address }

// Camera returns the camera of a path, nil if there is none.
func (s *Server) Camera(path string) *Camera {
	for _, camera := range s.cameras {
		if camera.path == strings.Trim(path, "/") {
			return camera
		}
	}
	return nil
}

// Cameras returns all cameras, in the order of the options.
func (s *Server) Cameras() []*Camera { return s.cameras }

// Conns returns how many connections there are now, and have been since the start.
func (s *Server) Conns() (now, ever int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns), s.connsEver
}

// Run serves until ctx ends, and returns when all clients are gone. It runs once.
func (s *Server) Run(ctx context.Context) error {
	s.mu.Lock()
	if s.running || s.ended {
		s.mu.Unlock()
		return errors.New("simulated cameras: already run")
	}
	s.running = true
	if s.listener != nil {
		s.acceptFrom(s.listener)
	}
	s.mu.Unlock()
	var udp sync.WaitGroup
	udp.Go(func() { drain(s.udp.rtp) })
	udp.Go(func() { drain(s.udp.rtcp) })

	s.pace(ctx)

	s.mu.Lock()
	s.running, s.ended = false, true
	s.closeAll()
	s.mu.Unlock()
	s.tasks.Wait()
	s.udp.close()
	udp.Wait()
	return nil
}

// Down refuses connections and resets those there are, like a camera without
// power. Up brings it back.
func (s *Server) Down() {
	s.mu.Lock()
	s.closeAll()
	s.mu.Unlock()
}

// Up listens again on the same port.
func (s *Server) Up() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil || s.ended {
		return nil
	}
	listener, err := net.Listen("tcp", s.address)
	if err != nil {
		return fmt.Errorf("simulated cameras: %w", err)
	}
	s.listener = listener
	if s.running {
		s.acceptFrom(listener)
	}
	return nil
}

// closeAll is called with the lock held.
func (s *Server) closeAll() {
	if s.listener != nil {
		_ = s.listener.Close()
		s.listener = nil
	}
	for c := range s.conns {
		c.end(hangUpReset)
	}
}

// acceptFrom is called with the lock held, while running.
func (s *Server) acceptFrom(listener net.Listener) {
	s.tasks.Go(func() {
		for {
			accepted, err := s.accept(listener)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil { // out of files, as a rule
				s.event(Event{Kind: "error", Detail: err.Error()})
				time.Sleep(FrameDuration)
				continue
			}
			s.serve(listener, accepted)
		}
	})
}

// accept returns the next client. A handshake is made when it is first read from.
func (s *Server) accept(listener net.Listener) (net.Conn, error) {
	accepted, err := listener.Accept()
	if err == nil && s.options.TLS != nil {
		accepted = tls.Server(accepted, s.options.TLS)
	}
	return accepted, err
}

func (s *Server) serve(listener net.Listener, accepted net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != listener { // Down came between
		_ = accepted.Close()
		return
	}
	c := newConn(s, accepted)
	s.conns[c] = struct{}{}
	s.connsEver++
	s.tasks.Go(func() {
		c.serve()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	})
}

func (s *Server) event(e Event) {
	if s.options.OnEvent != nil {
		s.options.OnEvent(e)
	}
}

func (s *Server) scheme() string {
	if s.options.TLS != nil {
		return "rtsps"
	}
	return "rtsp"
}

// find returns the camera with the longest path that begins the URL's.
func (s *Server) find(url string) *Camera {
	_, path, _ := strings.Cut(url, "://")
	_, path, _ = strings.Cut(path, "/")
	path, _, _ = strings.Cut(path, "?")
	var found *Camera
	for _, camera := range s.cameras {
		if path != camera.path && !strings.HasPrefix(path, camera.path+"/") {
			continue
		}
		if found == nil || len(camera.path) > len(found.path) {
			found = camera
		}
	}
	return found
}

// phaseGroups is how many parts of a picture's time the cameras are spread
// over, so that they do not all send in the same instant.
const phaseGroups = 8

// pace lets each camera send 25 pictures a second, until ctx ends. When the
// machine was too slow it catches up.
func (s *Server) pace(ctx context.Context) {
	const step = FrameDuration / phaseGroups
	start := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for n := 0; ; n++ {
		due := start.Add(time.Duration(n) * step)
		if wait := time.Until(due); wait > 0 {
			timer.Reset(wait)
			select {
			case <-timer.C:
			case <-ctx.Done():
				return
			}
		} else if ctx.Err() != nil {
			return
		}
		for i := n % phaseGroups; i < len(s.cameras); i += phaseGroups {
			s.cameras[i].tick(due)
		}
	}
}
