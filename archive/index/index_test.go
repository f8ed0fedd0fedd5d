package index_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/sqlite"
)

func TestAFileIsSeenWhileItIsWrittenAndTheSameAfterwards(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	f := begin(t, x, s.ID, 0)
	if got := files(t, x, s.ID, 0, time.Hour); len(got) != 0 {
		t.Fatalf("a file without fragments is seen: %+v", got)
	}
	add(t, x, f, 3)
	before := files(t, x, s.ID, 0, time.Hour)
	if len(before) != 1 || !before[0].Open || len(before[0].Fragments) != 3 || before[0].Span != 6*time.Second || before[0].Bytes != 3900 {
		t.Fatalf("while written: %+v", before)
	}
	if err := x.Finish(t.Context(), f.Key()); err != nil {
		t.Fatal(err)
	}
	after := files(t, x, s.ID, 0, time.Hour)
	before[0].Open = false
	if !reflect.DeepEqual(after, before) {
		t.Errorf("finished:\n%+v\nwant\n%+v", after, before)
	}
	one, found, err := x.FileByNumber(t.Context(), f.Key())
	if err != nil || !found || !reflect.DeepEqual(one, after[0]) {
		t.Errorf("by number: %+v, %v, %v", one, found, err)
	}
	if err := x.Append(f.Key(), fragment, [2]int64{}); !errors.Is(err, index.ErrUnknownFile) {
		t.Errorf("appending to a finished file: %v, want ErrUnknownFile", err)
	}
}

func TestAFileThatIsFinishedAlreadyKeepsNoOtherFromBeingFinished(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	before := record(t, x, s.ID, 0, 3)
	f := begin(t, x, s.ID, time.Minute)
	add(t, x, f, 3)
	if err := x.Finish(t.Context(), before.Key(), f.Key(), index.Key{Stream: 99, Number: 1}); err != nil {
		t.Fatal(err)
	}
	usage, err := x.Usage(t.Context())
	if err != nil || len(usage) != 1 || usage[0].Bytes != 7800 {
		t.Errorf("got %+v, %v, want each counted once", usage, err)
	}
	if got := files(t, x, s.ID, 0, time.Hour); len(got) != 2 || got[1].Open {
		t.Errorf("got %+v", got)
	}
}

func TestFilesBehindABrokenOneAreNumberedOn(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	s := stream(t, x, "door")
	broken := begin(t, x, s.ID, 0)
	add(t, x, broken, 3)
	x.GiveUp(broken.Key())
	x.GiveUp(index.Key{Stream: 99, Number: 1})
	for i := range 3 {
		if f := record(t, x, s.ID, time.Duration(i+1)*time.Minute, 2); f.Sequence != uint64(3+2*i) {
			t.Errorf("file %d begins with segment %d", f.Number, f.Sequence)
		}
	}
	if got := files(t, x, s.ID, 0, time.Hour); len(got) != 4 || !got[0].Open || got[0].Growing() || got[0].Playable() != got[0].End() {
		t.Errorf("got %+v", got)
	}
	x.Close()
	left, err := open(t, dir).Unfinished(t.Context())
	if err != nil || len(left) != 1 || left[0].Number != broken.Number {
		t.Errorf("the next start looks at %+v, %v", left, err)
	}
}

func TestARangeHoldsTheFilesThatTouchIt(t *testing.T) {
	x := open(t, t.TempDir())
	s, other := stream(t, x, "door"), stream(t, x, "yard")
	for i := range 5 {
		record(t, x, s.ID, time.Duration(i)*time.Minute, 30)
		record(t, x, other.ID, time.Duration(i)*time.Minute, 30)
	}
	for name, c := range map[string]struct {
		from, to time.Duration
		want     []int64
	}{
		"all":                      {-time.Hour, time.Hour, []int64{1, 2, 3, 4, 5}},
		"within one":               {70 * time.Second, 80 * time.Second, []int64{2}},
		"over a seam":              {110 * time.Second, 130 * time.Second, []int64{2, 3}},
		"up to where one begins":   {90 * time.Second, 120 * time.Second, []int64{2}},
		"from where one has ended": {120 * time.Second, 121 * time.Second, []int64{3}},
		"before":                   {-time.Hour, 0, nil},
		"behind":                   {5 * time.Minute, time.Hour, nil},
		"reversed":                 {time.Hour, -time.Hour, nil},
		"a century":                {-876_000 * time.Hour, 876_000 * time.Hour, []int64{1, 2, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []int64
			for _, f := range files(t, x, s.ID, c.from, c.to) {
				got = append(got, f.Number)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("files %v, want %v", got, c.want)
			}
		})
	}
	if all, err := x.Files(t.Context(), s.ID, noon.Add(200*time.Second), time.Time{}); err != nil || len(all) != 2 {
		t.Errorf("open-ended: %d files, %v, want 2", len(all), err)
	}
}

func TestSequencesGoOnFromFileToFile(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	s := stream(t, x, "door")
	record(t, x, s.ID, 0, 30)
	// The next file begins before this one is finished.
	second := begin(t, x, s.ID, time.Minute)
	add(t, x, second, 4)
	third := &index.File{Stream: s.ID, Start: noon.Add(time.Hour), Header: 900, Bytes: 900, Discontinuous: true}
	if err := x.Begin(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if second.Sequence != 30 || second.Discontinuity != 0 || third.Sequence != 34 || third.Discontinuity != 1 {
		t.Errorf("sequences %d/%d and %d/%d, want 30/0 and 34/1", second.Sequence, second.Discontinuity, third.Sequence, third.Discontinuity)
	}
	add(t, x, third, 2)
	if err := x.Finish(t.Context(), second.Key(), third.Key()); err != nil {
		t.Fatal(err)
	}
	x.Close()
	again := open(t, dir)
	fourth := begin(t, again, s.ID, 2*time.Hour)
	if fourth.Number != 4 || fourth.Sequence != 36 || fourth.Discontinuity != 1 {
		t.Errorf("after a restart: number %d, %d/%d, want 4, 36/1", fourth.Number, fourth.Sequence, fourth.Discontinuity)
	}
}

func TestWhatWasBeingWrittenIsToldAtTheNextStart(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	s := stream(t, x, "door")
	record(t, x, s.ID, 0, 30)
	torn, empty := begin(t, x, s.ID, time.Minute), begin(t, x, s.ID, 2*time.Minute)
	add(t, x, torn, 5)
	if left, err := x.Unfinished(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("of this process: %+v, %v, want none", left, err)
	}
	x.Close()
	x = open(t, dir)
	left, err := x.Unfinished(t.Context())
	if err != nil || len(left) != 2 || left[0].Number != torn.Number || left[1].Number != empty.Number {
		t.Fatalf("unfinished: %+v, %v", left, err)
	}
	if got := files(t, x, s.ID, 0, time.Hour); len(got) != 1 {
		t.Errorf("%d files are seen before that is looked after, want 1", len(got))
	}
	left[0].Fragments = []layout.Fragment{fragment, fragment}
	left[0].Fragments[0].Offset, left[0].Fragments[1].Offset = 900, 1900
	left[0].Frames = [2]int64{100, 180}
	for _, f := range left {
		if err := x.Recover(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	got := files(t, x, s.ID, 0, time.Hour)
	if len(got) != 2 || got[1].Bytes != 2900 || got[1].Span != 4*time.Second || got[1].Frames != [2]int64{100, 180} {
		t.Errorf("recovered: %+v", got)
	}
	if left, err := x.Unfinished(t.Context()); err != nil || len(left) != 0 {
		t.Errorf("left: %+v, %v, want none", left, err)
	}
	if next := begin(t, x, s.ID, time.Hour); next.Sequence != 32 || next.Number != 4 {
		t.Errorf("the next file is %d with sequence %d, want 4 and 32", next.Number, next.Sequence)
	}
}

func TestAReaderNeitherMissesNorDoublesAFileThatIsBeingFinished(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	const count = 200
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range count {
			record(t, x, s.ID, time.Duration(i)*time.Minute, 2)
		}
	})
	seen := 0
	for seen < count {
		all := files(t, x, s.ID, 0, 1000*time.Hour)
		for i, f := range all {
			if f.Number != int64(i+1) {
				t.Fatalf("file %d stands at place %d", f.Number, i)
			}
		}
		if len(all) < seen {
			t.Fatalf("%d files after %d", len(all), seen)
		}
		seen = len(all)
	}
	writer.Wait()
}

func TestOneProcessAtATimeHasTheIndex(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	if _, err := index.Open(t.Context(), dir); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("a second one: %v, want ErrInUse", err)
	}
}

func TestADamagedIndexIsAClearError(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir)
	record(t, x, stream(t, x, "door").ID, 0, 3)
	x.Close()
	spoil(t, dir)
	if _, err := index.Open(t.Context(), dir); !errors.Is(err, sqlite.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
}
