package index_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, dir string) *index.Index {
	t.Helper()
	x, err := index.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func stream(t testing.TB, x *index.Index, camera string) index.Stream {
	t.Helper()
	s, err := x.Stream(t.Context(), camera, "main")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fragment is a GOP of two seconds.
var fragment = layout.Fragment{Bytes: 1000, Head: 300, Duration: 180_000, Keyframe: true}

// begin begins a file at noon and so much.
func begin(t testing.TB, x *index.Index, streamID int64, after time.Duration) *index.File {
	t.Helper()
	f := &index.File{Stream: streamID, Run: 1, Start: noon.Add(after), Init: 800, Header: 900, Bytes: 900,
		Format: index.Format{Codecs: "avc1.640028", Width: 1920, Height: 1080, FPS: 25}}
	if err := x.Begin(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// add appends n fragments to a file.
func add(t testing.TB, x *index.Index, f *index.File, n int) {
	t.Helper()
	for i := range n {
		piece := fragment
		piece.Offset = 900 + int64(i)*1000
		if err := x.Append(f.Key(), piece, [2]int64{50, 94}); err != nil {
			t.Fatal(err)
		}
	}
}

// record keeps a finished file of n fragments.
func record(t testing.TB, x *index.Index, streamID int64, after time.Duration, n int) *index.File {
	t.Helper()
	f := begin(t, x, streamID, after)
	add(t, x, f, n)
	if err := x.Finish(t.Context(), f.Key()); err != nil {
		t.Fatal(err)
	}
	return f
}

func files(t testing.TB, x *index.Index, streamID int64, from, to time.Duration) []index.File {
	t.Helper()
	all, err := x.Files(t.Context(), streamID, noon.Add(from), noon.Add(to))
	if err != nil {
		t.Fatal(err)
	}
	return all
}
