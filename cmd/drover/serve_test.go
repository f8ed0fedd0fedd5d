package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A running server is all that `drover serve` is, in this process.
type running struct {
	t   *testing.T
	url string
}

// run serves one simulated camera until the test ends.
func run(t *testing.T) *running {
	t.Helper()
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"}).Camera("door")
	file := filepath.Join(t.TempDir(), "drover.yaml")
	if err := os.WriteFile(file, []byte("cameras:\n  door: "+camera.URL()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(config.Source{File: file, Environ: []string{
		"DROVER_HTTP_ADDRESS=127.0.0.1:0", "DROVER_DATA_DIR=" + t.TempDir(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	addresses := make(addressLog, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, c, slog.New(slog.NewTextHandler(addresses, nil)), "") }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	select {
	case address := <-addresses:
		return &running{t, address}
	case err := <-ended:
		ended <- err
		t.Fatal("the server did not start")
		return nil
	}
}

// An addressLog finds in the log where the server is.
type addressLog chan string

func (l addressLog) Write(line []byte) (int, error) {
	if found := regexp.MustCompile(`address=(http\S+)`).FindSubmatch(line); found != nil {
		l <- string(found[1])
	}
	return len(line), nil
}

func (r *running) get(method, path, asked string) (int, []byte) {
	r.t.Helper()
	return r.getBy(http.DefaultClient, method, path, asked)
}

// getBy asks by a client of the test's own, for its connections.
func (r *running) getBy(client *http.Client, method, path, asked string) (int, []byte) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if asked != "" {
		request.Header.Set("Range", asked)
	}
	response, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, body
}

// metric returns one of the server's own figures.
func (r *running) metric(name string) float64 {
	r.t.Helper()
	_, text := r.get(http.MethodGet, "/metrics", "")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return v
		}
	}
	r.t.Fatalf("there is no %s", name)
	return 0
}

// segment waits for one of the camera and returns its path and bytes.
func (r *running) segment() (path string, data []byte) {
	r.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		status, playlist := r.get(http.MethodGet, "/hls/door/main.index.m3u8", "")
		if names := regexp.MustCompile(`(?m)^main\S+\.m4s$`).FindAll(playlist, -1); status == http.StatusOK && len(names) > 0 {
			path = "/hls/door/" + string(names[len(names)-1])
			_, data = r.get(http.MethodGet, path, "")
			return path, data
		}
		select {
		case <-tick.C:
		case <-r.t.Context().Done():
			r.t.Fatal("the camera has no segment")
		}
	}
}

// Whatever stands between the handler and the connection must let memory files
// through: what wraps a ResponseWriter and has no ReadFrom loses them silently.
func TestTheKernelSendsSegmentsThroughAllThatServes(t *testing.T) {
	if !memfile.Sendable {
		return // the handler's own tests show that segments are sent all the same
	}
	r := run(t)
	path, want := r.segment()
	for range 2 { // one was fetched already
		r.get(http.MethodGet, path, "")
	}
	t.Run("ahead of net/http", func(t *testing.T) {
		// This client's connection has never asked for anything else.
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		r.kernelSends(t, &http.Client{Transport: transport}, path, want, 0)
	})
	t.Run("through net/http", func(t *testing.T) {
		const withTheHeader = 512
		r.kernelSends(t, http.DefaultClient, path, want, withTheHeader)
	})
	if files, held := r.metric("drover_memory_files"), r.metric("drover_memory_file_bytes"); files != 1 || held != float64(len(want)) {
		t.Errorf("%v files of %v bytes in memory, want 1 of %d", files, held, len(want))
	}
	if ahead := r.metric("drover_http_ahead_requests_total"); ahead < 3 { // counted when they begin
		t.Errorf("%v requests were answered ahead of net/http", ahead)
	}
}

// kernelSends asks for a segment and some of it, all but so many bytes of which the
// kernel is to send.
func (r *running) kernelSends(t *testing.T, client *http.Client, path string, want []byte, others int) {
	for _, c := range []struct {
		name, method, asked string
		from, to            int
	}{
		{"whole", http.MethodGet, "", 0, len(want)},
		{"a range", http.MethodGet, fmt.Sprintf("bytes=1000-%d", len(want)-1001), 1000, len(want) - 1000},
		{"the head alone", http.MethodHead, "", 0, 0},
	} {
		before := r.metric("drover_http_kernel_sent_bytes_total")
		if _, got := r.getBy(client, c.method, path, c.asked); !bytes.Equal(got, want[c.from:c.to]) {
			t.Errorf("%s: %d other bytes", c.name, len(got))
		}
		// The client may have the last byte before it is counted.
		sent, least := 0.0, float64(max(0, c.to-c.from-others))
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if sent = r.metric("drover_http_kernel_sent_bytes_total") - before; sent >= least {
				break
			}
		}
		if sent != least {
			t.Errorf("%s: the kernel sent %v bytes of %d", c.name, sent, c.to-c.from)
		}
	}
}
