//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/drover-video/drover/benchmarks/proc"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// crowdVariable says how many a crowd is: these tests hold for 10000 too, which
// takes descriptors (`ulimit -n`) and a while.
const crowdVariable = "DROVER_E2E_CROWD"

func crowd(t *testing.T) int {
	t.Helper()
	text := os.Getenv(crowdVariable)
	if text == "" {
		return 500
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is no number of viewers", crowdVariable, text)
	}
	return n
}

// Each of a crowd costs at most so much of the server's own memory: net/http, which
// has those who send more than a simple request, takes more.
const (
	mostBytesOfOne       = 32 << 10
	mostBytesOfPipelined = 64 << 10
)

// A toll is what a server has at one moment.
type toll struct {
	goroutines, connections, blocked int
	memory                           int64
}

func (s *server) toll() toll {
	s.t.Helper()
	metrics := string(s.get("/metrics"))
	number := func(name string) int {
		match := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(metrics)
		if match == nil {
			s.t.Fatalf("there is no %s", name)
		}
		n, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		return int(n)
	}
	memory, err := proc.MemoryOf(s.command.Process.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	return toll{number("go_goroutines"), number("drover_http_connections"), number("drover_http_blocked_connections"), memory.Anonymous}
}

// awaitAllGone waits until nothing is left of a crowd.
func (s *server) awaitAllGone(before toll) {
	s.t.Helper()
	s.await("nothing is left of them", func() error {
		if now := s.toll(); now.goroutines > before.goroutines+20 || now.connections > before.connections+5 || now.blocked > 0 {
			return fmt.Errorf("there are %+v, and were %+v", now, before)
		}
		return nil
	})
}

// eachOf runs for every one of n at once, and returns when all have ended.
func eachOf(n int, do func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { do(i) })
	}
	all.Wait()
}

// liveQuestion returns the path of the playlist with the part that comes next.
func (s *server) liveQuestion(path string) string {
	s.t.Helper()
	s.awaitPlaylist(path)
	w, err := parseWindow(string(s.get(path)))
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s?_HLS_msn=%d", path, w.sequence+int64(len(w.segments))+1)
}

func TestReadersThatTakeNothingCostABoundedAmountAndGo(t *testing.T) {
	t.Parallel()
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Clip: "h264-720p"})
	// Long enough that the first is still waited for when the last has come, on a busy
	// machine too.
	s := newServer(t, "http:\n  write_timeout: 25s\n")
	s.addCamera("door", rack.Camera("door").URL())
	f := follow(t, s, waitForIndex(s, "door"))
	segment := resolve(t, f.path, f.collect(1)[0].uri)
	before, n := s.toll(), crowd(t)
	conns := make([]net.Conn, n)
	defer func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	// A window that a packet fills.
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(socket uintptr) {
			_ = syscall.SetsockoptInt(int(socket), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		})
	}}
	eachOf(n, func(i int) {
		conn, err := dialer.Dial("tcp", s.address)
		if err != nil {
			t.Error(err)
			return
		}
		conns[i] = conn
		// Of each answer they take a byte.
		_, err = io.WriteString(conn, strings.Repeat(request("GET", segment), 20))
		if _, readErr := io.ReadFull(conn, make([]byte, 1)); err != nil || readErr != nil {
			t.Errorf("%v, %v", err, readErr)
		}
	})
	var most toll
	// All but those at whom the first bytes of an answer came to stand.
	s.await("nearly all are waited for", func() error {
		now := s.toll()
		most.memory = max(most.memory, now.memory)
		if now.blocked < n*9/10 {
			return fmt.Errorf("%d of %d", now.blocked, n)
		}
		return nil
	})
	if each := (most.memory - before.memory) / int64(n); each > mostBytesOfPipelined {
		t.Errorf("each costs %d bytes", each)
	}
	// Others are served meanwhile.
	f.collect(1)
	s.awaitAllGone(before)
}

func TestAStormBeforeTheFirstPictureIsAnswered(t *testing.T) {
	t.Parallel()
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", Start: rtsptest.StartAny})
	s := newServer(t, "")
	before, n := s.toll(), crowd(t)
	s.addCamera("door", rack.Camera("door").URL())
	var mu sync.Mutex
	statuses := map[string]int{}
	eachOf(n, func(i int) {
		path := "/hls/door/" + []string{"index.m3u8", "live.m3u8", "main.index.m3u8", "main.live.m3u8"}[i%4]
		a, err := s.do("GET", path, nil, "")
		mu.Lock()
		defer mu.Unlock()
		statuses[fmt.Sprint(a.status, err)]++
	})
	if len(statuses) != 1 || statuses["200 <nil>"] != n {
		t.Errorf("they were answered with %v", statuses)
	}
	if each := (s.toll().memory - before.memory) / int64(n); each > mostBytesOfOne+(16<<20)/int64(n) { // the camera takes some too
		t.Errorf("each costs %d bytes", each)
	}
	s.awaitAllGone(before)
}

func TestViewersWhoLeaveWhileTheyWaitLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	question := s.liveQuestion("/hls/door/main.live.m3u8")
	before, n := s.toll(), crowd(t)
	for range 3 {
		conns := make([]net.Conn, n)
		eachOf(n, func(i int) {
			conn, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Error(err)
				return
			}
			conns[i] = conn
			_, _ = io.WriteString(conn, request("GET", question)) // it fails where the server has left, which shows below
		})
		eachOf(n, func(i int) {
			if tcp, ok := conns[i].(*net.TCPConn); ok {
				if i%2 == 0 {
					_ = tcp.SetLinger(0) // a reset
				}
				tcp.Close()
			}
		})
		question = s.liveQuestion("/hls/door/main.live.m3u8")
	}
	s.awaitAllGone(before)
	s.get("/hls/door/main.live.m3u8")
}

func TestStreamsOfHTTP2ThatAreResetInALoopLeaveNothing(t *testing.T) {
	t.Parallel()
	s := newWatchedServer(t)
	question := s.liveQuestion("/hls/door/main.live.m3u8")
	before := s.toll()
	for range 5 {
		resetInALoop(t, s.address, question)
	}
	s.awaitAllGone(before)
	if grown := s.toll().memory - before.memory; grown > 32<<20 {
		t.Errorf("%d bytes are left", grown)
	}
	s.get("/hls/door/main.live.m3u8")
}

// resetInALoop asks for what has to be waited for, and takes each request back.
func resetInALoop(t *testing.T, address, path string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, conn)
	}()
	defer func() {
		conn.Close()
		<-drained
	}()
	var block bytes.Buffer
	out := bufio.NewWriter(conn)
	_, _ = out.WriteString(http2.ClientPreface) // what fails shows at Flush
	framer, encoder := http2.NewFramer(out, nil), hpack.NewEncoder(&block)
	_ = framer.WriteSettings()
	for stream := uint32(1); stream < 10_000; stream += 2 {
		block.Reset()
		for _, field := range [][2]string{{":method", http.MethodGet}, {":scheme", "http"}, {":authority", address}, {":path", path}} {
			_ = encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]})
		}
		_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
		_ = framer.WriteRSTStream(stream, http2.ErrCodeCancel)
		if out.Flush() != nil {
			return // the server has had enough, as it may
		}
	}
}
