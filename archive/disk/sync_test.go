package disk

import (
	"context"
	"testing"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// countingIndex counts how often files are finished.
type countingIndex map[index.Key]int

func (x countingIndex) Stream(context.Context, string, string) (index.Stream, error) {
	return index.Stream{}, nil
}
func (x countingIndex) Begin(context.Context, ...*index.File) error       { return nil }
func (x countingIndex) Append(index.Key, layout.Fragment, [2]int64) error { return nil }
func (x countingIndex) GiveUp(index.Key)                                  {}
func (x countingIndex) Finish(_ context.Context, keys ...index.Key) error {
	for _, key := range keys {
		x[key]++
	}
	return nil
}

func TestAFinishedFileThatIsListedAgainIsLeftAlone(t *testing.T) {
	x := countingIndex{}
	w, err := New(Options{FS: NewDir(t.TempDir()), Index: x})
	if err != nil {
		t.Fatal(err)
	}
	s := &syncState{row: index.Key{Stream: 1, Number: 1}}
	for range 3 {
		w.syncs.complete(s)
		w.syncs.pass(t.Context())
	}
	if n := x[s.row]; n != 1 {
		t.Errorf("it was finished %d times", n)
	}
}
