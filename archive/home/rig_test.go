package home_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/secret"
)

const (
	accessKey = "DROVERACCESS"
	secretKey = "veryVerySecretKey0123456789"
	bucket    = "drover-test"
)

// longAgo is when the tests' cameras were recorded: all that is to be copied is ready.
var longAgo = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

// A fault stands between Drover and the store. It does what it likes with a request
// and returns true, or lets it pass.
type fault func(w http.ResponseWriter, r *http.Request, pass http.Handler) bool

// A bench is an S3 server, a proxy in front of it, and an archive.
type bench struct {
	t      testing.TB
	proxy  *httptest.Server
	direct *http.Client // not by the proxy
	dir    string
	index  *index.Index
	log    lockedBuffer

	mu     sync.Mutex
	fault  fault
	counts map[string]int // requests by method
	events []event.Event
	now    time.Time // zero: the real one
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), counts: make(map[string]int)}
	socket := b.startServer()
	unix := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
		DisableCompression: true, ExpectContinueTimeout: 5 * time.Second,
	}
	t.Cleanup(unix.CloseIdleConnections)
	pass := &httputil.ReverseProxy{
		Transport: unix, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0), FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(&url.URL{Scheme: "http", Host: "store"})
			p.Out.Host = p.In.Host // it is signed
		},
	}
	b.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.mu.Lock()
		b.counts[r.Method]++
		fault := b.fault
		b.mu.Unlock()
		if fault == nil || !fault(w, r, pass) {
			pass.ServeHTTP(w, r)
		}
	}))
	b.proxy.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(b.proxy.Close)
	b.direct = &http.Client{Transport: unix}
	b.makeBucket()
	b.index = b.openIndex(b.dir)
	return b
}

// startServer starts the S3 server and returns its socket.
func (b *bench) startServer() string {
	b.t.Helper()
	// The name of a socket is short.
	dir, err := os.MkdirTemp("", "s3")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	command := exec.Command(os.Getenv(serverVariable), dir, socket, accessKey, secretKey)
	var output lockedBuffer
	command.Stdout, command.Stderr = &output, &output
	stdin, err := command.StdinPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		stdin.Close()
		timer := time.AfterFunc(10*time.Second, func() { _ = command.Process.Kill() })
		defer timer.Stop()
		_ = command.Wait()
		if b.t.Failed() {
			b.t.Logf("the S3 server:\n%s", output.String())
		}
	})
	return socket
}

// makeBucket waits for the server to answer.
func (b *bench) makeBucket() {
	b.t.Helper()
	b.until("the S3 server answers", func() bool {
		ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
		defer cancel()
		answer, err := b.ask(ctx, http.MethodPut, "")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// ask asks the S3 server for something about the bucket, not by the proxy.
func (b *bench) ask(ctx context.Context, method, query string) (*http.Response, error) {
	const noBody = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	r, err := http.NewRequestWithContext(ctx, method, "http://store/"+bucket+query, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Amz-Content-Sha256", noBody)
	if err := v4.NewSigner().SignHTTP(ctx, aws.Credentials{AccessKeyID: accessKey, SecretAccessKey: secretKey}, r, noBody, "s3", "us-east-1", time.Now()); err != nil {
		return nil, err
	}
	return b.direct.Do(r)
}

func (b *bench) openIndex(dir string) *index.Index {
	b.t.Helper()
	x, err := index.Open(b.t.Context(), dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { x.Close() })
	return x
}

// until waits for something that happens by itself.
func (b *bench) until(what string, happened func() bool) {
	b.t.Helper()
	deadline := time.Now().Add(60 * time.Second)
	for !happened() {
		if time.Now().After(deadline) {
			b.t.Fatalf("waited in vain until %s; log:\n%s", what, b.log.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (b *bench) stand(between fault) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = between
}

func (b *bench) requests(method string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.counts[method]
}

func (b *bench) setNow(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = now
}

func (b *bench) options() home.Options {
	return home.Options{
		Dir: b.dir, Index: b.index, Endpoint: b.proxy.URL, Bucket: bucket, Prefix: "site/a/", AccessKey: accessKey, SecretKey: secret.New(secretKey),
		Log: slog.New(slog.NewTextHandler(&b.log, nil)),
		Now: func() time.Time {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.now.IsZero() {
				return time.Now()
			}
			return b.now
		},
		Event: func(e event.Event) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.events = append(b.events, e)
		},
		Poll: 10 * time.Millisecond, BackoffMin: time.Millisecond, BackoffMax: 20 * time.Millisecond, Stall: 2 * time.Second, Sweep: 20 * time.Millisecond, SlotWait: 20 * time.Millisecond,
	}
}

func (b *bench) home(change func(*home.Options)) *home.Home {
	b.t.Helper()
	o := b.options()
	if change != nil {
		change(&o)
	}
	h, err := home.New(o)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { h.Close() })
	return h
}

// run runs a second home until stop is called, or the test ends.
func (b *bench) run(h *home.Home) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := h.Run(ctx); err != nil {
			b.t.Errorf("run: %v", err)
		}
	}()
	stop = func() { cancel(); <-ended }
	b.t.Cleanup(stop)
	return stop
}

func (b *bench) status(h *home.Home) home.Status {
	b.t.Helper()
	s, err := h.Status(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// copyAll runs a second home until all is copied.
func (b *bench) copyAll(h *home.Home) {
	b.t.Helper()
	stop := b.run(h)
	b.until("all is copied", func() bool {
		s := b.status(h)
		return s.Objects > 0 && s.Backlog.Files == 0
	})
	stop()
}

// fragmentBytes is what the fragments of the tests' files have.
const fragmentBytes = 4000

// record makes n files of a minute each, from longAgo on, and returns what is in them.
func (b *bench) record(camera string, n int) map[index.Key][]byte {
	b.t.Helper()
	return b.recordFrom(camera, longAgo, n)
}

func (b *bench) recordFrom(camera string, from time.Time, n int) map[index.Key][]byte {
	b.t.Helper()
	s, err := b.index.Stream(b.t.Context(), camera, "main")
	if err != nil {
		b.t.Fatal(err)
	}
	all := make(map[index.Key][]byte)
	for i := range n {
		f := &index.File{Stream: s.ID, Run: 1, Start: from.Add(time.Duration(i) * time.Minute), Init: 800, Header: 900, Bytes: 900,
			Format: index.Format{Codecs: "avc1.640028", Width: 1920, Height: 1080, FPS: 25}}
		if err := b.index.Begin(b.t.Context(), f); err != nil {
			b.t.Fatal(err)
		}
		size := int64(900)
		for range 30 {
			piece := layout.Fragment{Offset: size, Bytes: fragmentBytes, Head: 300, Duration: 180_000, Keyframe: true}
			if err := b.index.Append(f.Key(), piece, [2]int64{50, 94}); err != nil {
				b.t.Fatal(err)
			}
			size += piece.Bytes
		}
		content := make([]byte, size)
		random := rand.NewChaCha8([32]byte{byte(i), byte(s.ID)})
		_, _ = random.Read(content)
		b.write(s, f, content)
		if err := b.index.Finish(b.t.Context(), f.Key()); err != nil {
			b.t.Fatal(err)
		}
		all[f.Key()] = content
	}
	return all
}

func path(s index.Stream, f *index.File) string {
	return string(layout.AppendPath(nil, layout.Name{Camera: s.Camera, Source: s.Source, Start: f.Start, Number: f.Number}))
}

func (b *bench) write(s index.Stream, f *index.File, content []byte) {
	b.t.Helper()
	name := filepath.Join(b.dir, filepath.FromSlash(path(s, f)))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// victims returns a stream's files as retention takes them.
func (b *bench) victims(camera string) []index.Victim {
	b.t.Helper()
	s, _ := b.index.Find(camera, "main")
	files, err := b.index.Oldest(b.t.Context(), s.ID, 0, index.Here, 1000)
	if err != nil {
		b.t.Fatal(err)
	}
	all := make([]index.Victim, len(files))
	for i := range files {
		all[i] = index.Victim{File: files[i], Path: path(s, &files[i])}
	}
	return all
}

// letGo takes files from the disk as retention does.
func (b *bench) letGo(victims ...index.Victim) {
	b.t.Helper()
	if err := b.index.Doom(b.t.Context(), index.CauseDeleted, victims...); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range victims {
		if err := os.Remove(filepath.Join(b.dir, filepath.FromSlash(v.Path))); err != nil {
			b.t.Fatal(err)
		}
	}
}

// stored returns the names in the bucket and their sizes.
func (b *bench) stored() map[string]int64 {
	b.t.Helper()
	answer, err := b.ask(b.t.Context(), http.MethodGet, "?list-type=2")
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	var page struct {
		Contents []struct {
			Key  string
			Size int64
		}
	}
	if err := xml.NewDecoder(answer.Body).Decode(&page); err != nil {
		b.t.Fatal(err)
	}
	all := make(map[string]int64)
	for _, o := range page.Contents {
		all[o.Key] = o.Size
	}
	return all
}

// proves reads every file back and holds it against what was recorded, and the bucket
// against the index: nothing is lost and nothing is double.
func (b *bench) proves(h *home.Home, recorded ...map[index.Key][]byte) {
	b.t.Helper()
	for _, files := range recorded {
		for key, want := range files {
			body, err := h.Open(b.t.Context(), key, 0, int64(len(want)))
			if err != nil {
				b.t.Fatalf("file %v: %v", key, err)
			}
			got, err := io.ReadAll(body)
			body.Close()
			if err != nil || !bytes.Equal(got, want) {
				b.t.Fatalf("file %v: %d bytes, %v, want %d others", key, len(got), err, len(want))
			}
		}
	}
	found, err := h.Verify(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	if found.Known != found.Objects || found.Missing != 0 || found.Objects == 0 {
		b.t.Errorf("the bucket and the index differ: %+v", found)
	}
}

// silent holds everything that was told against the secrets.
func (b *bench) silent(h *home.Home) {
	b.t.Helper()
	var all strings.Builder
	all.WriteString(b.log.String())
	s := b.status(h)
	all.WriteString(s.Detail)
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		all.WriteString(e.Reason)
	}
	for _, word := range []string{secretKey, accessKey, "Signature=", "Credential=", "hostile"} {
		if strings.Contains(all.String(), word) {
			b.t.Errorf("%q was told: %s", word, all.String())
		}
	}
}
