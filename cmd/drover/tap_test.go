package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	worker "github.com/drover-video/drover/ai/tap"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// found picks addresses out of the log.
type found struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (f *found) Write(line []byte) (int, error) {
	f.mu.Lock()
	f.text.Write(line)
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
	return len(line), nil
}

// await returns what a pattern finds.
func (f *found) await(ctx context.Context, pattern string) (string, error) {
	for {
		f.mu.Lock()
		match := regexp.MustCompile(pattern).FindSubmatch(f.text.Bytes())
		f.mu.Unlock()
		if match != nil {
			return string(match[1]), nil
		}
		select {
		case <-f.more:
		case <-ctx.Done():
			return "", fmt.Errorf("%s: %w", pattern, ctx.Err())
		}
	}
}

// A tapped server is one whose frames workers take.
type tapped struct {
	ctx                context.Context // ends when the test has taken too long
	site, grpc, socket string
}

// startTapped serves one simulated camera until the test ends. What is said of the camera
// beside its URL is in lines, indented.
func startTapped(t *testing.T, camera rtsptest.CameraConfig, lines string) *tapped {
	t.Helper()
	camera.Path = "door"
	url := rtsptest.Start(t, camera).Camera("door").URL()
	folder, err := os.MkdirTemp("", "tap") // short, for a socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "drover.yaml")
	if err := os.WriteFile(file, []byte("cameras:\n  door:\n    url: "+url+"\n"+lines), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(config.Source{File: file, Environ: []string{
		"DROVER_HTTP_ADDRESS=127.0.0.1:0", "DROVER_GRPC_ADDRESS=127.0.0.1:0", "DROVER_DATA_DIR=" + folder,
	}})
	if err != nil {
		t.Fatal(err)
	}
	log := &found{more: make(chan struct{}, 1)}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	running, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(running, c, slog.New(slog.NewTextHandler(log, nil)), "") }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		cancel()
	})
	s := &tapped{ctx: ctx, socket: filepath.Join(folder, "tap.sock")}
	if s.grpc, err = log.await(ctx, `grpc=(\S+)`); err != nil {
		t.Fatal(err)
	}
	if s.site, err = log.await(ctx, `address=(http\S+)`); err != nil {
		t.Fatal(err)
	}
	return s
}

// metrics returns what the server counts.
func (s *tapped) metrics(t *testing.T) string {
	t.Helper()
	answer, err := http.Get(s.site + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sum adds up what is counted in lines that a pattern finds.
func sum(t *testing.T, metrics, pattern string) float64 {
	t.Helper()
	total := 0.0
	for _, match := range regexp.MustCompile(`(?m)^`+pattern+` (\S+)$`).FindAllStringSubmatch(metrics, -1) {
		n, err := strconv.ParseFloat(match[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		total += n
	}
	return total
}

func TestWorkersTakeARunningServersFrames(t *testing.T) {
	s := startTapped(t, rtsptest.CameraConfig{}, "")
	ctx, site := s.ctx, s.site
	for _, target := range []string{s.grpc, "unix:" + s.socket} {
		client, err := worker.Dial(target)
		if err != nil {
			t.Fatal(err)
		}
		frames := 0
		for frame, err := range client.Frames(ctx, worker.Request{Cameras: []string{"door"}}) {
			if err != nil {
				t.Fatalf("%s: %v", target, err)
			}
			if frames == 0 && (!frame.Keyframe || frame.Config.GetWidth() == 0 || !bytes.HasPrefix(frame.Data, []byte{0, 0, 0, 1})) {
				t.Errorf("%s: begins with %+v", target, frame.Config)
			}
			if frames++; frames == 10 {
				break
			}
		}
		client.Close()
	}
	answer, err := http.Get(site + "/api/v1/cameras/door/frames/latest")
	if err != nil {
		t.Fatal(err)
	}
	still, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK || !bytes.Contains(still[:min(len(still), 12)], []byte("ftyp")) {
		t.Errorf("the latest frame: %v, %v, %.40q", answer.Status, err, still)
	}
	testUpgrade(t, site)
	if !strings.Contains(s.metrics(t), `drover_ai_worker_frames_total{worker="worker"}`) {
		t.Error("workers are not in the metrics")
	}
}

func TestStuckWorkersCostNeitherViewersNorTheRecorderAFrame(t *testing.T) {
	s := startTapped(t, rtsptest.CameraConfig{Clip: "h264-720p"}, "    record:\n      mode: continuous\n")
	ctx, stop := context.WithCancel(s.ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer stop()
	for _, target := range []string{s.grpc, s.grpc, "unix:" + s.socket} {
		client, err := worker.Dial(target)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		workers.Go(func() {
			for range client.Frames(ctx, worker.Request{Cameras: []string{"door"}, Worker: "stuck", MaxBehind: time.Millisecond}) {
				<-ctx.Done() // one frame, and no more
			}
		})
	}
	for range 3 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.site, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4096)
		if _, err := io.WriteString(conn, upgrade("camera=door&worker=stuck&max_behind_ms=1")); err != nil {
			t.Fatal(err)
		}
	}
	frames := `drover_source_frames_total\{camera="door".*\}`
	for {
		m := s.metrics(t)
		if sum(t, m, `drover_ai_worker_missed_frames_total\{worker="stuck"\}`) > 50 && sum(t, m, frames) > 100 {
			break
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-s.ctx.Done():
			t.Fatal("workers that take nothing miss nothing")
		}
	}
	m := s.metrics(t)
	for _, lost := range []string{
		`drover_subscriber_dropped_frames_total\{.*subscriber="hls"\}`, `drover_subscriber_dropped_frames_total\{.*subscriber="archive"\}`,
		`drover_archive_dropped_frames_total\{.*\}`, `drover_hls_dropped_frames_total\{.*\}`,
	} {
		if n := sum(t, m, lost); n != 0 {
			t.Errorf("%s: %v frames are lost", lost, n)
		}
	}
	// Those on their way to the recorder are yet to come.
	if came, taken := sum(t, m, frames), sum(t, m, `drover_archive_frames_total\{.*\}`); taken < came-50 {
		t.Errorf("of %v frames the recorder took %v", came, taken)
	}
	answer, err := http.Get(s.site + "/hls/door/index.m3u8")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("a viewer is answered %s", answer.Status)
	}
}

// upgrade is a request for the tap by WebSocket.
func upgrade(query string) string {
	return "GET /api/v1/tap?" + query + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
}

// testUpgrade asks for a WebSocket through all of the server's layers, and waits for
// bytes of it.
func testUpgrade(t *testing.T, site string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(site, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, upgrade("camera=door")); err != nil {
		t.Fatal(err)
	}
	came := make([]byte, 20_000)
	if _, err := io.ReadFull(conn, came); err != nil {
		t.Fatalf("%v: %.200q", err, came)
	}
	head, body, _ := bytes.Cut(came, []byte("\r\n\r\n"))
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 101 ")) || len(body) == 0 || body[0] != 0x82 {
		t.Errorf("got %q and %x", head, body[:min(len(body), 8)])
	}
}
