package rtsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig pulls cameras as the server does, through a registry, and keeps a tape of
// the frames of each. It implements camera.Output.
type rig struct {
	registry *camera.Registry
	pool     *media.Pool
	log      *logBook
	stop     func() // ends the pulling, and returns when it has ended; may be called twice
	attached chan string

	mu     sync.Mutex
	tapes  map[string]*tape
	states map[string][]camera.State // that each camera went through
}

// pull pulls cameras until the test ends. Failures are tried again at once;
// change sets what else is to be as the test wants it.
func pull(t testing.TB, change func(*camera.Options), specs ...camera.Spec) *rig {
	t.Helper()
	r := &rig{pool: media.NewPool(), log: &logBook{}, tapes: map[string]*tape{}, states: map[string][]camera.State{}, attached: make(chan string, len(specs))}
	options := camera.Options{
		Open: Open(Options{}), Store: noStore{}, Pool: r.pool, Outputs: []camera.Output{r},
		Logger:     slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		BackoffMin: 20 * time.Millisecond, BackoffMax: 100 * time.Millisecond,
		StateChanged: func(change camera.Change) {
			id, state := change.Camera, change.State
			r.mu.Lock()
			defer r.mu.Unlock()
			r.states[id] = append(r.states[id], state)
		},
	}
	if change != nil {
		change(&options)
	}
	registry, err := camera.NewRegistry(t.Context(), options, specs)
	if err != nil {
		t.Fatal(err)
	}
	r.registry = registry
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		r.stop()
		r.checkEnd(t)
	})
	for range specs {
		<-r.attached
	}
	for _, spec := range specs {
		r.until(t, spec.ID, "being pulled", func() bool {
			view, _ := registry.Get(spec.ID)
			return len(view.Status.Sources) == 1
		})
	}
	return r
}

// checkEnd looks at what must be true of every rig that was stopped.
func (r *rig) checkEnd(t testing.TB) {
	if stats := r.pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, tape := range r.tapes {
		for _, problem := range tape.problems {
			t.Errorf("%s: %s", id, problem)
		}
	}
}

// Attach implements camera.Output.
func (r *rig) Attach(id, _ string, frames *ring.Ring) error {
	sub, err := frames.Subscribe(ring.Options{Name: "tape", Buffer: 4096})
	if err != nil {
		return err
	}
	t := &tape{sub: sub, done: make(chan struct{})}
	r.mu.Lock()
	r.tapes[id] = t
	r.mu.Unlock()
	go t.run()
	r.attached <- id
	return nil
}

// Detach implements camera.Output.
func (r *rig) Detach(id, _ string) {
	t := r.tape(id)
	t.sub.Close()
	<-t.done
}

func (r *rig) tape(id string) *tape {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tapes[id]
}

// stateHistory returns the states that a camera went through.
func (r *rig) stateHistory(id string) []camera.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.states[id])
}

// status returns how a camera's only source is doing.
func (r *rig) status(t testing.TB, id string) camera.SourceStatus {
	t.Helper()
	view, ok := r.registry.Get(id)
	if !ok || len(view.Status.Sources) != 1 {
		t.Fatalf("camera %s has no single source: %+v", id, view)
	}
	return view.Status.Sources[0]
}

// waitLimit ends tests that wait for what does not come.
const waitLimit = time.Minute

// until waits for something to become true.
func (r *rig) until(t testing.TB, id, what string, done func() bool) {
	t.Helper()
	deadline := time.NewTimer(waitLimit)
	defer deadline.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-deadline.C:
			view, _ := r.registry.Get(id)
			t.Fatalf("camera %s: waited in vain for: %s\nstatus %+v\nlog:\n%s", id, what, view.Status, r.log.of(id))
		}
	}
}

// untilStatus waits for a status and returns it.
func (r *rig) untilStatus(t testing.TB, id, what string, done func(s camera.SourceStatus) bool) camera.SourceStatus {
	t.Helper()
	var s camera.SourceStatus
	r.until(t, id, what, func() bool {
		s = r.status(t, id)
		return done(s)
	})
	return s
}

// untilLive waits for a camera's first frames.
func (r *rig) untilLive(t testing.TB, id string) camera.SourceStatus {
	t.Helper()
	return r.untilStatus(t, id, "being live", func(s camera.SourceStatus) bool { return s.State == camera.StateLive })
}

// untilError waits until a camera's error says something.
func (r *rig) untilError(t testing.TB, id, text string) camera.SourceStatus {
	t.Helper()
	return r.untilStatus(t, id, "the error to say "+text, func(s camera.SourceStatus) bool { return strings.Contains(s.Error, text) })
}

// untilShots waits for what is on a camera's tape, and returns all of it.
func (r *rig) untilShots(t testing.TB, id, what string, done func(shots []shot) bool) []shot {
	t.Helper()
	var shots []shot
	r.until(t, id, what, func() bool {
		shots = r.tape(id).shots()
		return done(shots)
	})
	return shots
}

// discarded returns how often a camera's input was not handed on for a reason.
func (r *rig) discarded(id, reason string) uint64 {
	var n uint64
	for _, c := range r.registry.Counters(id) {
		n += c.Discards[reason]
	}
	return n
}

// spec is a camera of one source.
func spec(t testing.TB, id, url string, change ...func(*camera.SourceSpec)) camera.Spec {
	t.Helper()
	s := camera.Spec{ID: id, Enabled: true, Sources: []camera.SourceSpec{{URL: url}}}
	for _, c := range change {
		c(&s.Sources[0])
	}
	if err := s.Normalize(); err != nil {
		t.Fatal(err)
	}
	return s
}

func over(transport camera.Transport) func(*camera.SourceSpec) {
	return func(s *camera.SourceSpec) { s.Transport = transport }
}

// specsOf are cameras of a server, by their paths.
func specsOf(t testing.TB, server *rtsptest.Server, change ...func(*camera.SourceSpec)) []camera.Spec {
	t.Helper()
	var specs []camera.Spec
	for _, c := range server.Cameras() {
		id := c.URL()[strings.LastIndexByte(c.URL(), '/')+1:]
		specs = append(specs, spec(t, id, c.URL(), change...))
	}
	return specs
}

// do makes something go wrong at a simulated camera.
func do(t testing.TB, c *rtsptest.Camera, action rtsptest.Action) {
	t.Helper()
	if err := c.Do(action); err != nil {
		t.Fatal(err)
	}
}

// set changes a simulated camera.
func set(t testing.TB, c *rtsptest.Camera, change func(*rtsptest.CameraConfig)) {
	t.Helper()
	if err := c.Set(change); err != nil {
		t.Fatal(err)
	}
}

// noStore is a store without cameras.
type noStore struct{}

var errNoStore = errors.New("there is no store")

func (noStore) Cameras(context.Context) ([]camera.Spec, error)  { return nil, nil }
func (noStore) AddCamera(context.Context, camera.Spec) error    { return errNoStore }
func (noStore) UpdateCamera(context.Context, camera.Spec) error { return errNoStore }
func (noStore) RemoveCamera(context.Context, string) error      { return errNoStore }

// logBook keeps what is logged.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// of returns the lines of a camera that hold all the words.
func (l *logBook) of(id string, words ...string) string {
	var b strings.Builder
	for line := range strings.Lines(l.String()) {
		ok := strings.Contains(line, " camera="+id+" ")
		for _, word := range words {
			ok = ok && strings.Contains(line, word)
		}
		if ok {
			b.WriteString(line)
		}
	}
	return b.String()
}

// count returns how many lines of a camera hold all the words.
func (l *logBook) count(id string, words ...string) int {
	return strings.Count(l.of(id, words...), "\n")
}

// everything is all that a user or an operator can see of the cameras.
func (r *rig) everything() string {
	var b strings.Builder
	b.WriteString(r.log.String())
	for _, view := range r.registry.List() {
		for i := range view.Spec.Sources {
			view.Spec.Sources[i].URL = secret.RedactURL(view.Spec.Sources[i].URL) // as it is shown
		}
		fmt.Fprintf(&b, "%v %+v %#v\n", view, view, view)
		fmt.Fprintf(&b, "%+v\n", r.registry.Counters(view.Spec.ID))
	}
	return b.String()
}
