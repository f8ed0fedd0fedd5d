package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/cmcd"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/metrics"
	"github.com/drover-video/drover/core/share"
	"github.com/drover-video/drover/core/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A registry keeps cameras in a real store and pulls none.
type registry struct {
	store  *store.Store
	events *event.Log
	fail   error // what changes answer

	mu        sync.Mutex
	views     []camera.View
	restarted []string
}

func (r *registry) List() []camera.View {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.views)
}

func (r *registry) index(id string) int {
	return slices.IndexFunc(r.views, func(v camera.View) bool { return v.Spec.ID == id })
}

func (r *registry) Get(id string) (camera.View, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := r.index(id); i >= 0 {
		return r.views[i], true
	}
	return camera.View{}, false
}

func (r *registry) Add(ctx context.Context, spec camera.Spec) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	if r.index(spec.ID) >= 0 {
		return camera.ErrExists
	}
	if err := r.store.AddCamera(ctx, spec); err != nil {
		return err
	}
	r.views = append(r.views, camera.View{Spec: spec, Status: status(spec)})
	return nil
}

func status(spec camera.Spec) camera.Status {
	return camera.Status{State: camera.StateLive, Since: time.UnixMilli(1_700_000_000_001), Sources: []camera.SourceStatus{{
		Name: spec.Sources[0].Name, State: camera.StateLive, GOP: 2 * time.Second, LastFrameAt: time.UnixMilli(1_700_000_000_120),
		Transport: camera.TransportTCP, TransportReason: "tried first", Reconnects: 3, LostPackets: 4,
		ReorderedPackets: 5, KernelDroppedPackets: 6,
		Tracks: []camera.TrackStatus{{Codec: "H264", Width: 1920, Height: 1080, FPS: 29.97002997, BitrateBPS: 4e6, Playable: true, MPEGTS: true}},
	}}}
}

func (r *registry) Update(ctx context.Context, id string, change func(*camera.Spec) error) (camera.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return camera.View{}, r.fail
	}
	i := r.index(id)
	if i < 0 {
		return camera.View{}, camera.ErrNotFound
	}
	spec := r.views[i].Spec
	if spec.Origin == camera.OriginFile {
		return camera.View{}, camera.ErrReadOnly
	}
	if err := change(&spec); err != nil {
		return camera.View{}, fmt.Errorf("change camera: %w", err)
	}
	if err := r.store.UpdateCamera(ctx, spec); err != nil {
		return camera.View{}, err
	}
	r.views[i].Spec = spec
	return r.views[i], nil
}

func (r *registry) Remove(ctx context.Context, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fail != nil {
		return r.fail
	}
	i := r.index(id)
	if i < 0 {
		return camera.ErrNotFound
	}
	if r.views[i].Spec.Origin == camera.OriginFile {
		return camera.ErrReadOnly
	}
	if err := r.store.RemoveCamera(ctx, id); err != nil {
		return err
	}
	r.views = slices.Delete(slices.Clone(r.views), i, i+1)
	return nil
}

func (r *registry) Restart(_ context.Context, id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.index(id) < 0 {
		return camera.ErrNotFound
	}
	r.restarted = append(r.restarted, id)
	return nil
}

type prober func(context.Context, camera.SourceSpec) (camera.ProbeResult, error)

func (p prober) Probe(ctx context.Context, source camera.SourceSpec) (camera.ProbeResult, error) {
	return p(ctx, source)
}

// A bench is the API with everything around it.
type bench struct {
	t        testing.TB
	handler  http.Handler
	registry *registry
	shares   *share.Book
	clock    *atomic.Int64 // nanoseconds by which the shares' clock is ahead
	dir      string        // of the store
	log      strings.Builder
	answers  strings.Builder // all that came out: headers and bodies
}

func newBench(t testing.TB, change func(*Options)) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), clock: &atomic.Int64{}}
	s, err := store.Open(context.Background(), b.dir, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b.registry = &registry{store: s, events: event.New(100, func() time.Time { return time.UnixMilli(5000) })}
	clock := b.clock
	b.shares, err = share.Open(context.Background(), s, func() time.Time { return time.Now().Add(time.Duration(clock.Load())) })
	if err != nil {
		t.Fatal(err)
	}
	options := Options{
		Cameras: b.registry,
		Prober: prober(func(context.Context, camera.SourceSpec) (camera.ProbeResult, error) {
			return camera.ProbeResult{}, errors.New("no prober in this test")
		}),
		Events:  b.registry.events,
		Shares:  b.shares,
		Players: cmcd.NewLedger(func() time.Time { return time.UnixMilli(5000) }),
		Viewers: func(string) int { return 7 },
		Pictures: pictures(func(string) (camera.Picture, error) {
			return camera.Picture{}, camera.ErrNoJPEG
		}),
		Checks: []Check{{Name: "store", Run: s.Ready}},
		Media:  http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "media ", r.URL.Path) }),
		Web:    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "web ", r.URL.Path) }),
		Metrics: metrics.Handler("test", func() metrics.Snapshot {
			return metrics.Snapshot{Cameras: []metrics.Camera{{ID: "door"}}}
		}),
		Version:      "test",
		Log:          slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		WriteTimeout: time.Minute,
	}
	if change != nil {
		change(&options)
	}
	if b.handler, err = New(options); err != nil {
		t.Fatal(err)
	}
	return b
}

// do sends a request; headers come in pairs of name and value.
func (b *bench) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	fmt.Fprintln(&b.answers, w.Header(), w.Body)
	return w
}

// must sends a request that has to be answered with the status.
func (b *bench) must(status int, method, path, body string) *httptest.ResponseRecorder {
	b.t.Helper()
	w := b.do(method, path, body)
	if w.Code != status {
		b.t.Fatalf("%s %s: status %d, want %d: %s", method, path, w.Code, status, w.Body)
	}
	return w
}

func (b *bench) camera(w *httptest.ResponseRecorder) Camera {
	b.t.Helper()
	var c struct {
		Camera
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &c); err != nil {
		b.t.Fatalf("%v: %s", err, w.Body)
	}
	return c.Camera
}

type problemBody struct {
	Type, Title, Detail string
	Status              int
	Errors              []struct{ Message, Location string }
}

// refused checks that the answer is a problem of the kind, and returns it.
func (b *bench) refused(w *httptest.ResponseRecorder, want kind) problemBody {
	b.t.Helper()
	var p problemBody
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		b.t.Errorf("no problem: status %d: %v: %.200s", w.Code, err, w.Body)
		return p
	}
	if got := w.Header().Get("Content-Type"); got != "application/problem+json" {
		b.t.Errorf("Content-Type %s", got)
	}
	if w.Code != want.status || p.Status != want.status || p.Type != want.path || p.Title != want.title || p.Detail == "" {
		b.t.Errorf("status %d, want %d %s: %s", w.Code, want.status, want.path, w.Body)
	}
	return p
}

// stored returns what is on disk.
func (b *bench) stored(id string) camera.Spec {
	b.t.Helper()
	specs, err := b.registry.store.Cameras(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range specs {
		if s.ID == id {
			return s
		}
	}
	b.t.Fatalf("camera %s is not stored", id)
	return camera.Spec{}
}

func (b *bench) addFileCamera(id string) {
	b.t.Helper()
	spec := camera.Spec{ID: id, Enabled: true, Origin: camera.OriginFile, Sources: []camera.SourceSpec{{URL: "rtsp://h/x"}}}
	if err := spec.Normalize(); err != nil {
		b.t.Fatal(err)
	}
	b.registry.views = append(b.registry.views, camera.View{Spec: spec, Status: status(spec)})
}
