//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for what must come. It is reached only when
// something is wrong.
const patience = time.Minute

// A server is one `drover serve`, which a test may stop and start again with the
// same address and data.
type server struct {
	t       *testing.T
	address string
	folder  string // of the data
	config  string // a file, or "" for none
	log     *logBuffer

	command *exec.Cmd
	ended   chan struct{} // closed when command has ended
}

// newServer starts a server with nothing in it but what configuration says, which
// may be empty.
func newServer(t *testing.T, configuration string) *server {
	t.Helper()
	s := &server{t: t, address: freeAddress(t), folder: filepath.Join(t.TempDir(), "data"), log: &logBuffer{}}
	if configuration != "" {
		s.config = filepath.Join(t.TempDir(), "drover.yaml")
		if err := os.WriteFile(s.config, []byte(configuration), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.finish)
	s.start()
	return s
}

// finish ends the server and, if the test has failed, shows what it said.
func (s *server) finish() {
	s.stop()
	text := s.log.String()
	if strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
		s.t.Error("the server panicked")
	}
	if s.t.Failed() {
		s.t.Logf("the server's log:\n%s", text)
	}
}

func (s *server) start() {
	s.t.Helper()
	arguments := []string{"serve"}
	if s.config != "" {
		arguments = append(arguments, "--config", s.config)
	}
	s.command = exec.Command(os.Getenv(binaryVariable), arguments...)
	s.command.Env = append(os.Environ(), "DROVER_HTTP_ADDRESS="+s.address, "DROVER_DATA_DIR="+s.folder)
	s.command.Stdout, s.command.Stderr = s.log, s.log
	if err := s.command.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.ended = make(chan struct{})
	go func(command *exec.Cmd, ended chan struct{}) {
		defer close(ended)
		// What it ended with is read from ProcessState by stop.
		_ = command.Wait()
	}(s.command, s.ended)
	s.await("/readyz answers 200", func() error {
		select {
		case <-s.ended:
			s.t.Fatalf("the server ended at once: %v", s.command.ProcessState)
		default:
		}
		_, err := s.tryGet("/readyz")
		return err
	})
}

// stop sends SIGTERM and returns how long the server took to end, whatever was
// attached to it. More than stopLimit fails the test, and so does an exit code.
func (s *server) stop() time.Duration {
	s.t.Helper()
	if s.command == nil {
		return 0
	}
	asked := time.Now()
	_ = s.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(stopLimit):
		s.t.Errorf("the server did not end within %v of SIGTERM", stopLimit)
		_ = s.command.Process.Signal(syscall.SIGQUIT) // its goroutines go to the log
		select {
		case <-s.ended:
		case <-time.After(stopLimit):
			_ = s.command.Process.Kill()
			<-s.ended
		}
	}
	took := time.Since(asked)
	if state := s.command.ProcessState; !state.Success() {
		s.t.Errorf("the server ended with %v", state)
	}
	s.command = nil
	return took
}

// stopLimit is what design and README promise.
const stopLimit = 5 * time.Second

// kill ends the server as a power cut would.
func (s *server) kill() {
	s.t.Helper()
	if err := s.command.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
	s.command = nil
}

// on returns the same server for a subtest, whose failures are then its own.
func (s *server) on(t *testing.T) *server {
	mine := *s
	mine.t = t
	return &mine
}

func (s *server) url(path string) string { return "http://" + s.address + path }

// await tries again until check returns nil, and fails the test with its last
// error when it never does.
func (s *server) await(what string, check func() error) {
	s.t.Helper()
	await(s.t, what, check)
}

func await(t *testing.T, what string, check func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s: %v", what, err)
		}
	}
}

// An answer is what an HTTP request brought.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// client keeps no connection, so that no test waits for another's.
func client() *http.Client {
	return &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
}

func (s *server) do(method, path string, body io.Reader, contentType string) (answer, error) {
	request, err := http.NewRequest(method, s.url(path), body)
	if err != nil {
		return answer{}, err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := client().Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, content}, err
}

// tryGet returns the body of a 200.
func (s *server) tryGet(path string) ([]byte, error) {
	a, err := s.do(http.MethodGet, path, nil, "")
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s", path, a.status, bytes.TrimSpace(a.body))
	}
	return a.body, nil
}

func (s *server) get(path string) []byte {
	s.t.Helper()
	body, err := s.tryGet(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return body
}

func (s *server) post(path, body string) answer {
	s.t.Helper()
	a, err := s.do(http.MethodPost, path, strings.NewReader(body), "application/json")
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

// freeAddress finds a port that nobody listens on. It is below those that the
// system gives to connections, so that it stays free while a server restarts.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 12_000+rand.IntN(20_000))
		listener, err := net.Listen("tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		listener.Close()
		return address
	}
	t.Fatal("no free port found")
	return ""
}

// A logBuffer takes what a process says while tests read it.
type logBuffer struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
