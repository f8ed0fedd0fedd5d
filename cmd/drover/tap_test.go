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

func TestWorkersTakeARunningServersFrames(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"}).Camera("door")
	folder, err := os.MkdirTemp("", "tap") // short, for a socket is in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	file := filepath.Join(folder, "drover.yaml")
	if err := os.WriteFile(file, []byte("cameras:\n  door: "+camera.URL()+"\n"), 0o600); err != nil {
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
	grpc, err := log.await(ctx, `grpc=(\S+)`)
	if err != nil {
		t.Fatal(err)
	}
	site, err := log.await(ctx, `address=(http\S+)`)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{grpc, "unix:" + filepath.Join(folder, "tap.sock")} {
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
	metrics, err := http.Get(site + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(metrics.Body)
	metrics.Body.Close()
	if err != nil || !strings.Contains(string(text), `drover_ai_worker_frames_total{worker="worker"}`) {
		t.Errorf("workers are not in the metrics: %v", err)
	}
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
	request := "GET /api/v1/tap?camera=door HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
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
