package camera

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/secret"
)

// rig is a registry at work whose sources stream for ever.
type rig struct {
	*Registry
	store  *memoryStore
	output *recordingOutput
	slow   atomic.Bool // cameras take a second to say goodbye
	mu     sync.Mutex
	opened []SourceSpec
}

func newRig(t *testing.T, stored, file []Spec) *rig {
	t.Helper()
	r := &rig{store: &memoryStore{specs: map[string]Spec{}}, output: &recordingOutput{}}
	for _, spec := range stored {
		r.store.specs[spec.ID] = spec
	}
	registry, err := NewRegistry(context.Background(), Options{
		Open: func(spec SourceSpec) Source {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.opened = append(r.opened, spec)
			slow := r.slow.Load()
			return &fakeSource{pulls: []func(context.Context, *Feed) error{func(ctx context.Context, feed *Feed) error {
				err := stream(time.Hour, 0)(ctx, feed)
				if slow {
					time.Sleep(time.Second)
				}
				return err
			}}}
		},
		Store: r.store, Pool: media.NewPool(), Outputs: []Output{r.output},
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	r.Registry = registry
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if left := r.output.list(); len(left) != 0 {
			t.Errorf("still attached: %v", left)
		}
		if stats := registry.options.Pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("left in the pool: %+v", stats)
		}
	})
	synctest.Wait()
	return r
}

func simple(id string, sources ...string) Spec {
	spec := Spec{ID: id, Enabled: true}
	for _, name := range sources {
		spec.Sources = append(spec.Sources, SourceSpec{Name: name, URL: "rtsp://camera/" + name})
	}
	if err := spec.Normalize(); err != nil {
		panic(err)
	}
	return spec
}

func (r *rig) openedCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.opened)
}

func TestCamerasOfFileAndStoreArePulled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		off := simple("off", "main")
		off.Enabled = false
		r := newRig(t, []Spec{simple("a", "main", "sub"), off, simple("both", "main")}, []Spec{simple("both", "file"), simple("f", "main")})
		time.Sleep(time.Second)
		var got []string
		for _, v := range r.List() {
			got = append(got, fmt.Sprintf("%s %s %s %d", v.Spec.ID, v.Spec.Origin, v.Status.State, len(v.Status.Sources)))
		}
		want := []string{"a api live 2", "both file live 1", "f file live 1", "off api disabled 0"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if got, want := r.output.list(), []string{"a/main", "a/sub", "both/file", "f/main"}; !slices.Equal(got, want) {
			t.Errorf("attached %v, want %v", got, want)
		}
	})
}

func TestChangesOfTheSetOfCameras(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, nil, []Spec{simple("f", "main")})
		if err := r.Add(ctx, simple("a", "main")); err != nil {
			t.Fatal(err)
		}
		if err := r.Add(ctx, simple("a", "main")); !errors.Is(err, ErrExists) {
			t.Errorf("adding twice: %v", err)
		}
		if field := (*FieldError)(nil); !errors.As(r.Add(ctx, Spec{ID: "A"}), &field) || field.Field != "id" {
			t.Errorf("a bad id: %v", field)
		}
		nothing := func(*Spec) error { return nil }
		if _, err := r.Update(ctx, "none", nothing); !errors.Is(err, ErrNotFound) {
			t.Errorf("updating none: %v", err)
		}
		if _, err := r.Update(ctx, "f", nothing); !errors.Is(err, ErrReadOnly) {
			t.Errorf("updating the file's: %v", err)
		}
		if err := r.Remove(ctx, "f"); !errors.Is(err, ErrReadOnly) {
			t.Errorf("removing the file's: %v", err)
		}
		if err := r.Remove(ctx, "a"); err != nil {
			t.Fatal(err)
		}
		if err := r.Remove(ctx, "a"); !errors.Is(err, ErrNotFound) {
			t.Errorf("removing twice: %v", err)
		}
		if got := r.output.list(); !slices.Equal(got, []string{"f/main"}) {
			t.Errorf("attached after all: %v", got)
		}
	})
}

func TestAnUpdateDisturbsOnlyTheSourcesItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, []Spec{simple("a", "main", "sub")}, nil)
		time.Sleep(time.Second)
		update := func(change func(*Spec)) View {
			t.Helper()
			v, err := r.Update(ctx, "a", func(s *Spec) error { change(s); return nil })
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			return v
		}
		update(func(s *Spec) { s.Name = "Door" })
		if n := r.openedCount(); n != 2 {
			t.Errorf("%d sources opened after a new name, want 2", n)
		}
		update(func(s *Spec) { s.Sources[1].Password = secret.New("x") })
		if n := r.openedCount(); n != 3 {
			t.Errorf("%d sources opened after one new password, want 3", n)
		}
		if v := update(func(s *Spec) { s.Enabled = false }); v.Status.State != StateDisabled || len(r.output.list()) != 0 {
			t.Errorf("switched off: %s, attached %v", v.Status.State, r.output.list())
		}
		update(func(s *Spec) { s.Enabled = true })
		if v, _ := r.Get("a"); v.Status.State != StateLive || v.Spec.Name != "Door" {
			t.Errorf("switched on: %+v", v)
		}
	})
}

func TestACameraOnDemandIsPulledWhileSomebodyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := simple("a", "main")
		spec.OnDemand = true
		r := newRig(t, []Spec{spec}, nil)
		expect := func(when string, state State, attached int) {
			t.Helper()
			synctest.Wait()
			if v, _ := r.Get("a"); v.Status.State != state || len(r.output.list()) != attached {
				t.Errorf("%s: %s with %d outputs, want %s with %d", when, v.Status.State, len(r.output.list()), state, attached)
			}
		}
		time.Sleep(time.Minute)
		expect("nobody asks", StateIdle, 0)
		for range 10 {
			r.Want("a")
			time.Sleep(10 * time.Second)
			expect("somebody asks", StateLive, 1)
		}
		time.Sleep(time.Minute)
		expect("quiet again", StateIdle, 0)
		if stats := r.Counters("a")[0].Ring; stats.Frames != 0 {
			t.Errorf("an idle camera holds %d frames", stats.Frames)
		}
		r.Want("a")
		expect("asked again", StateLive, 1)
		if _, err := r.Update(context.Background(), "a", func(s *Spec) error { s.OnDemand = false; return nil }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		expect("no longer on demand", StateLive, 1)
		r.Want("none")
	})
}

func TestASickCameraThatLeavesHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, nil, nil)
		r.slow.Store(true)
		for i := range 20 {
			if err := r.Add(ctx, simple(fmt.Sprintf("sick-%d", i), "main")); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		begun := time.Now()
		var removals sync.WaitGroup
		for i := range 20 {
			removals.Go(func() {
				if err := r.Remove(ctx, fmt.Sprintf("sick-%d", i)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		r.slow.Store(false)
		if err := r.Add(ctx, simple("well", "main")); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("adding one took %v while others said goodbye", took)
		}
		if err := r.Add(ctx, simple("sick-3", "main")); err != nil {
			t.Fatal(err)
		}
		if got, want := r.output.list(), []string{"sick-3/main", "well/main"}; !slices.Equal(got, want) {
			synctest.Wait()
			if got = r.output.list(); !slices.Equal(got, want) {
				t.Errorf("attached %v, want %v", got, want)
			}
		}
		removals.Wait()
		if took := time.Since(begun); took != time.Second {
			t.Errorf("all goodbyes took %v, want the second of one", took)
		}
	})
}

func TestNothingChangesThatTheStoreDidNotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, []Spec{simple("a", "main")}, nil)
		full := errors.New("disk full")
		r.store.mu.Lock()
		r.store.fail = full
		r.store.mu.Unlock()
		if err := r.Add(ctx, simple("b", "main")); !errors.Is(err, full) {
			t.Errorf("add: %v", err)
		}
		if _, err := r.Update(ctx, "a", func(s *Spec) error { s.Name = "x"; return nil }); !errors.Is(err, full) {
			t.Errorf("update: %v", err)
		}
		if err := r.Remove(ctx, "a"); !errors.Is(err, full) {
			t.Errorf("remove: %v", err)
		}
		views := r.List()
		if len(views) != 1 || views[0].Spec.Name != "" {
			t.Errorf("cameras %+v", views)
		}
	})
}

func TestChangesFromManySidesDoNotRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		r := newRig(t, nil, nil)
		var sides sync.WaitGroup
		for i := range 8 {
			sides.Go(func() {
				id := fmt.Sprintf("c%d", i%3)
				for range 20 {
					// Which of them wins is open; that none of them breaks is not.
					_ = r.Add(ctx, simple(id, "main"))
					_, _ = r.Update(ctx, id, func(s *Spec) error { s.Enabled = !s.Enabled; return nil })
					r.List()
					r.Counters(id)
					_ = r.Restart(ctx, id)
					_ = r.Remove(ctx, id)
				}
			})
		}
		sides.Wait()
	})
}
