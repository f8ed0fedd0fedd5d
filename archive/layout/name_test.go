package layout_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/layout"
)

func TestAPathIsReadBackAsItWasWritten(t *testing.T) {
	want := layout.Name{Camera: "front-door", Source: "main", Number: 1234567, Start: time.Date(2026, 3, 29, 1, 59, 59, 7e6, time.UTC)}
	path := string(layout.AppendPath([]byte("before/"), want))
	if path != "before/front-door/main/2026-03-29/20260329T015959.007Z-1234567.mp4" {
		t.Fatalf("got %s", path)
	}
	if got, err := layout.ParsePath(path[len("before/"):]); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAPathIsOfUTCWhereverItIsMade(t *testing.T) {
	zone := time.FixedZone("somewhere", 3*3600)
	path := string(layout.AppendPath(nil, layout.Name{Camera: "a", Source: "b", Start: time.Date(2026, 1, 1, 2, 0, 0, 0, zone)}))
	if want := "a/b/2025-12-31/20251231T230000.000Z-0.mp4"; path != want {
		t.Errorf("got %s, want %s", path, want)
	}
}

func TestAThinnedFileHasANameOfItsOwn(t *testing.T) {
	want := layout.Name{Camera: "a", Source: "b", Number: 7, Start: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Thinned: true}
	path := string(layout.AppendPath(nil, want))
	if got, err := layout.ParsePath(path); err != nil || got != want || path != "a/b/2026-01-01/20260101T000000.000Z-7k.mp4" {
		t.Errorf("%s is %+v, %v", path, got, err)
	}
}

func badPaths() []string {
	return []string{
		"a/b/2026-01-01/20260101T000000.000Z-k.mp4", "a/b/2026-01-01/20260101T000000.000Z-1kk.mp4",
		"", "/", "a/b/2026-01-01", "../b/2026-01-01/20260101T000000.000Z-1.mp4", "a/../2026-01-01/20260101T000000.000Z-1.mp4",
		"a/b/../20260101T000000.000Z-1.mp4", "a/b/2026-01-02/20260101T000000.000Z-1.mp4", "a/b/2026-01-01/../../x.mp4",
		"a/b/2026-01-01/20260101T000000.000Z--1.mp4", "a/b/2026-01-01/20260101T000000.000Z-01.mp4", "a/b/2026-01-01/20260101T000000.000Z-+1.mp4",
		"a/b/2026-01-01/20260101T000000.000Z-1.mp4/", "/a/b/2026-01-01/20260101T000000.000Z-1.mp4", "A/b/2026-01-01/20260101T000000.000Z-1.mp4",
		"a/b/2026-01-01/20260101T000000,000Z-1.mp4", "a/b/2026-01-01/20260101T000000.000Z-1.MP4", "a/b/2026-01-01/20260101T000000.000Z-99999999999999999999.mp4",
		"a/b/2026-13-01/20261301T000000.000Z-1.mp4", "a//2026-01-01/20260101T000000.000Z-1.mp4", "a\x00/b/2026-01-01/20260101T000000.000Z-1.mp4",
	}
}

func TestPathsThatLeadElsewhereAreRefused(t *testing.T) {
	for _, path := range badPaths() {
		if got, err := layout.ParsePath(path); !errors.Is(err, layout.ErrName) {
			t.Errorf("%q: got %+v, %v", path, got, err)
		}
	}
}

func FuzzParsePath(f *testing.F) {
	f.Add("front-door/main/2026-03-29/20260329T015959.007Z-1234567.mp4")
	f.Add("front-door/main/2026-03-29/20260329T015959.007Z-1234567k.mp4")
	for _, path := range badPaths() {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if n, err := layout.ParsePath(path); err == nil && string(layout.AppendPath(nil, n)) != path {
			t.Errorf("%q is a second way to write %+v", path, n)
		}
	})
}
