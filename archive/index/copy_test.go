package index_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// copying returns an index with a stream whose finished files are to be copied.
func copying(t testing.TB) (*index.Index, index.Stream) {
	t.Helper()
	x := open(t, t.TempDir())
	if err := x.Copying(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return x, stream(t, x, "door")
}

func uncopied(t testing.TB, x *index.Index, streamID int64) []int64 {
	t.Helper()
	all, err := x.Uncopied(t.Context(), streamID, 100)
	if err != nil {
		t.Fatal(err)
	}
	numbers := []int64{}
	for _, f := range all {
		if len(f.Fragments) == 0 {
			t.Errorf("file %d comes without its fragments", f.Number)
		}
		numbers = append(numbers, f.Number)
	}
	return numbers
}

func equal(t testing.TB, what string, got, want []int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// object intends an object of files.
func object(t testing.TB, x *index.Index, name string, files ...*index.File) *index.Object {
	t.Helper()
	o := &index.Object{Stream: files[0].Stream, Name: name, From: files[0].Start, To: files[len(files)-1].Start.Add(time.Minute)}
	for _, f := range files {
		row := victim(t, x, f.Key()).File
		o.Parts = append(o.Parts, index.PartOf(&row, o.Bytes))
		o.Bytes += row.Bytes
	}
	if _, err := x.Intend(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

// copied keeps a verified object of files.
func copied(t testing.TB, x *index.Index, name string, files ...*index.File) *index.Object {
	t.Helper()
	o := object(t, x, name, files...)
	o.Tag = `"tag"`
	if err := x.Copied(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return o
}

func victim(t testing.TB, x *index.Index, key index.Key) index.Victim {
	t.Helper()
	f, ok, err := x.FileByNumber(t.Context(), key)
	if err != nil || !ok {
		t.Fatalf("file %v: %v, %v", key, ok, err)
	}
	return index.Victim{File: f, Path: "door/main/" + string(rune('0'+f.Number))}
}

func doomedObjects(t testing.TB, x *index.Index) []int64 {
	t.Helper()
	all, err := x.DoomedObjects(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	ids := []int64{}
	for _, o := range all {
		ids = append(ids, o.ID)
	}
	return ids
}

func TestFilesAreQueuedOnlyWhileTheyAreCopied(t *testing.T) {
	x := open(t, t.TempDir())
	s := stream(t, x, "door")
	record(t, x, s.ID, 0, 30)
	equal(t, "without a second home", uncopied(t, x, s.ID), nil)
	if err := x.Copying(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	record(t, x, s.ID, time.Minute, 30)
	equal(t, "with one, what was recorded before too", uncopied(t, x, s.ID), []int64{1, 2})
	b, err := x.Backlog(t.Context())
	if err != nil || b.Files != 2 || b.Bytes != 2*30_900 || !b.Oldest.Equal(noon) {
		t.Errorf("backlog %+v, %v", b, err)
	}
	if err := x.Copying(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	equal(t, "without one again", uncopied(t, x, s.ID), nil)
}

func TestACopyCountsOnlyOnceItIsVerified(t *testing.T) {
	x, s := copying(t)
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	o := object(t, x, "a", first, second)
	if _, ok, err := x.Copy(t.Context(), first.Key()); err != nil || ok {
		t.Fatalf("an intended object is read: %v, %v", ok, err)
	}
	equal(t, "while it is sent", uncopied(t, x, s.ID), []int64{1, 2})
	o.Tag = "t"
	if err := x.Copied(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	equal(t, "once copied", uncopied(t, x, s.ID), nil)
	c, ok, err := x.Copy(t.Context(), second.Key())
	if want := (index.Copy{Name: "a", Tag: "t", Offset: 30_900, Bytes: 30_900, Object: 61_800}); err != nil || !ok || c != want {
		t.Errorf("copy %+v, %v, %v, want %+v", c, ok, err, want)
	}
	if f := victim(t, x, first.Key()).File; f.Places != index.Here|index.SecondHome {
		t.Errorf("places %b", f.Places)
	}
}

func TestWhatHasACopyLeavesWithoutAGap(t *testing.T) {
	x, s := copying(t)
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	copied(t, x, "a", first)
	if err := x.Doom(t.Context(), index.CauseDeleted, victim(t, x, first.Key()), victim(t, x, second.Key())); err != nil {
		t.Fatal(err)
	}
	left := files(t, x, s.ID, 0, time.Hour)
	if len(left) != 1 || left[0].Number != 1 || left[0].Places != index.SecondHome {
		t.Fatalf("files %+v, want the copied one, in the second home", left)
	}
	gaps, err := x.Gaps(t.Context(), s.ID, noon, time.Time{}, 0, 10)
	if err != nil || len(gaps) != 1 || !gaps[0].From.Equal(noon.Add(time.Minute)) {
		t.Errorf("gaps %+v, %v, want that of the other", gaps, err)
	}
	paths, err := x.Doomed(t.Context(), "", 10)
	if err != nil || len(paths) != 2 {
		t.Errorf("doomed paths %v, %v, want both", paths, err)
	}
	usage, err := x.Usage(t.Context())
	if err != nil || len(usage) != 1 || usage[0].Bytes != 0 {
		t.Errorf("usage %+v, %v: the archive's directory has nothing left", usage, err)
	}
	equal(t, "queue", uncopied(t, x, s.ID), nil)
}

func TestWhatIsDeletedByRequestGoesFromBothHomes(t *testing.T) {
	x, s := copying(t)
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	o := copied(t, x, "a", first, second)
	if err := x.Doom(t.Context(), index.CauseRequest, victim(t, x, first.Key())); err != nil {
		t.Fatal(err)
	}
	equal(t, "while the other needs the object", doomedObjects(t, x), nil)
	if err := x.Doom(t.Context(), index.CauseRequest, victim(t, x, second.Key())); err != nil {
		t.Fatal(err)
	}
	equal(t, "once nobody does", doomedObjects(t, x), []int64{o.ID})
	if got := files(t, x, s.ID, 0, time.Hour); len(got) != 0 {
		t.Errorf("files %+v", got)
	}
}

func TestAFileDeletedWhileItIsSentLeavesNoCopyBehind(t *testing.T) {
	x, s := copying(t)
	f := record(t, x, s.ID, 0, 30)
	o := object(t, x, "a", f)
	if err := x.Doom(t.Context(), index.CauseDeleted, victim(t, x, f.Key())); err != nil {
		t.Fatal(err)
	}
	equal(t, "while it is sent", doomedObjects(t, x), nil)
	if err := x.Copied(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	equal(t, "sent", doomedObjects(t, x), []int64{o.ID})
}

func TestAnObjectIsNotMadeOfWhatHasChangedSinceItWasRead(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*testing.T, *index.Index, index.Victim)
		queue  []int64
	}{
		"thinned": {func(t *testing.T, x *index.Index, v index.Victim) { thin(t, x, v) }, []int64{1, 2}},
		"deleted": {func(t *testing.T, x *index.Index, v index.Victim) {
			if err := x.Doom(t.Context(), index.CauseRequest, v); err != nil {
				t.Fatal(err)
			}
		}, []int64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			x, s := copying(t)
			first, second := victim(t, x, record(t, x, s.ID, 0, 30).Key()), victim(t, x, record(t, x, s.ID, time.Minute, 30).Key())
			o := &index.Object{Stream: s.ID, Name: "a", From: first.File.Start, To: second.File.End(), Bytes: 2 * first.File.Bytes,
				Parts: []index.Part{index.PartOf(&first.File, 0), index.PartOf(&second.File, first.File.Bytes)}}
			c.change(t, x, first)
			if _, err := x.Intend(t.Context(), o); !errors.Is(err, index.ErrOtherFile) {
				t.Errorf("got %v, want ErrOtherFile", err)
			}
			// Nor is it said of what has its place that it is not on the disk.
			if was, err := x.Unqueue(t.Context(), &first.File); err != nil || was {
				t.Errorf("unqueued: %t, %v", was, err)
			}
			equal(t, "queue", uncopied(t, x, s.ID), c.queue)
			if stored, err := x.Stored(t.Context()); err != nil || stored.Objects+stored.Doomed > 0 {
				t.Errorf("stored %+v, %v", stored, err)
			}
		})
	}
}

// thin replaces a file by one of its first keyframe.
func thin(t testing.TB, x *index.Index, old index.Victim) {
	t.Helper()
	by := old.File
	by.Thinned, by.Fragments, by.Bytes = true, old.File.Fragments[:1], 1900
	if err := x.Replace(t.Context(), old, index.Victim{File: by, Path: "thinned"}); err != nil {
		t.Fatal(err)
	}
}

func TestAThinnedFileIsCopiedAnew(t *testing.T) {
	x, s := copying(t)
	f := record(t, x, s.ID, 0, 30)
	o := copied(t, x, "a", f)
	thin(t, x, victim(t, x, f.Key()))
	equal(t, "its old copy", doomedObjects(t, x), []int64{o.ID})
	equal(t, "queue", uncopied(t, x, s.ID), []int64{1})
	if got := victim(t, x, f.Key()).File; got.Places != index.Here {
		t.Errorf("places %b, want here alone", got.Places)
	}
}

func TestWhatWasLetGoOfInTheSecondHomeIsNotCopiedAgainOnceItIsThinned(t *testing.T) {
	x, s := copying(t)
	f := record(t, x, s.ID, 0, 30)
	if err := x.Evict(t.Context(), copied(t, x, "a", f), index.CauseDeleted); err != nil {
		t.Fatal(err)
	}
	thin(t, x, victim(t, x, f.Key()))
	equal(t, "queue", uncopied(t, x, s.ID), nil)
	if got := victim(t, x, f.Key()).File; got.Places != index.Here|index.Evicted || !got.Thinned {
		t.Errorf("places %b, thinned %t", got.Places, got.Thinned)
	}
	// Nor when copying is switched on anew.
	for _, on := range []bool{false, true} {
		if err := x.Copying(t.Context(), on); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, "queue, anew", uncopied(t, x, s.ID), nil)
}

func TestAnObjectIsIntendedAnewAndAnotherOneOfTheStreamAbandoned(t *testing.T) {
	x, s := copying(t)
	f := record(t, x, s.ID, 0, 30)
	o := object(t, x, "a", f)
	same := *o
	if again, err := x.Intend(t.Context(), &same); err != nil || !again || same.ID != o.ID {
		t.Errorf("intended anew: %v, %v, as %d, want %d", again, err, same.ID, o.ID)
	}
	other := *o
	other.Name = "b"
	if again, err := x.Intend(t.Context(), &other); err != nil || again {
		t.Errorf("another object: again %v, %v", again, err)
	}
	equal(t, "to be deleted", doomedObjects(t, x), []int64{o.ID})
	equal(t, "queue", uncopied(t, x, s.ID), []int64{1})
	if _, err := x.Intend(t.Context(), &same); !errors.Is(err, index.ErrNameTaken) {
		t.Errorf("a name that is to be deleted: %v, want ErrNameTaken", err)
	}
	if err := x.ForgetObject(t.Context(), o.ID); err != nil {
		t.Fatal(err)
	}
	object(t, x, "a", f)
}

func TestAnIntendedObjectThatNobodyWantsIsAbandoned(t *testing.T) {
	x, s := copying(t)
	f := record(t, x, s.ID, 0, 30)
	o := object(t, x, "a", f)
	if err := x.Abandon(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "while its file is to be copied", doomedObjects(t, x), nil)
	if err := x.Doom(t.Context(), index.CauseDeleted, victim(t, x, f.Key())); err != nil {
		t.Fatal(err)
	}
	if err := x.Abandon(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "once it is gone", doomedObjects(t, x), []int64{o.ID})
}

func TestEvictionTakesOutWhatLiesNowhereElse(t *testing.T) {
	x, s := copying(t)
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	o := copied(t, x, "a", first, second)
	if err := x.Doom(t.Context(), index.CauseDeleted, victim(t, x, first.Key())); err != nil {
		t.Fatal(err)
	}
	oldest, err := x.OldestObjects(t.Context(), noon, 10)
	if err != nil || len(oldest) != 1 {
		t.Fatalf("oldest %+v, %v", oldest, err)
	}
	if err := x.Evict(t.Context(), &oldest[0], index.CauseDeleted); err != nil {
		t.Fatal(err)
	}
	equal(t, "to be deleted", doomedObjects(t, x), []int64{o.ID})
	equal(t, "queue: what was evicted does not come again", uncopied(t, x, s.ID), nil)
	left := files(t, x, s.ID, 0, time.Hour)
	if len(left) != 1 || left[0].Number != 2 || left[0].Places&index.Here == 0 || left[0].Places&index.SecondHome != 0 {
		t.Errorf("files %+v, want the second, here", left)
	}
	hours, err := x.Stored(t.Context())
	if err != nil || hours.Objects != 0 || hours.Doomed != 1 {
		t.Errorf("stored %+v, %v", hours, err)
	}
	gaps, err := x.Gaps(t.Context(), s.ID, noon, time.Time{}, 0, 10)
	if err != nil || len(gaps) != 1 || !gaps[0].From.Equal(noon) || !gaps[0].To.Equal(noon.Add(time.Minute)) {
		t.Errorf("gaps %+v, %v, want that of the first", gaps, err)
	}
}

func TestAnObjectIsAdoptedByAnIndexThatLostIt(t *testing.T) {
	x, s := copying(t)
	first := record(t, x, s.ID, 0, 30)
	o := copied(t, x, "a", first)
	lost := victim(t, x, first.Key()).File

	y, s2 := copying(t)
	o.Stream, lost.Stream = s2.ID, s2.ID
	for range 2 {
		if _, _, err := y.Adopt(t.Context(), o, []index.File{lost}); err != nil {
			t.Fatal(err)
		}
	}
	got := victim(t, y, lost.Key()).File
	if got.Places != index.SecondHome || len(got.Fragments) != 30 || got.Bytes != 30_900 || got.Span != time.Minute {
		t.Errorf("adopted %+v", got)
	}
	if c, ok, err := y.Copy(t.Context(), lost.Key()); err != nil || !ok || c.Name != "a" {
		t.Errorf("copy %+v, %v, %v", c, ok, err)
	}
	equal(t, "queue", uncopied(t, y, s2.ID), nil)
	here := record(t, y, s2.ID, time.Minute, 30)
	again, same := *o, victim(t, y, here.Key()).File
	again.Name, again.Parts = "b", []index.Part{index.PartOf(&same, 0)}
	if n, taken, err := y.Adopt(t.Context(), &again, []index.File{same}); err != nil || n != 1 || taken != 0 {
		t.Errorf("adopted %d, %v, want the copy of a file that is here", n, err)
	}
	if got := victim(t, y, here.Key()).File; got.Places != index.Here|index.SecondHome {
		t.Errorf("places %b, want both", got.Places)
	}
	equal(t, "queue", uncopied(t, y, s2.ID), nil)
	if next := record(t, y, s2.ID, time.Hour, 1); next.Number != 3 {
		t.Errorf("the next file is %d, want 3", next.Number)
	}
}

func TestWhatHasTheNumberOfAnotherRecordingIsNotAdoptedButCounted(t *testing.T) {
	x, s := copying(t)
	first, second := record(t, x, s.ID, 0, 30), record(t, x, s.ID, time.Minute, 30)
	o := copied(t, x, "a", first, second)
	lost := []index.File{victim(t, x, first.Key()).File, victim(t, x, second.Key()).File}

	y, s2 := copying(t)
	other := record(t, y, s2.ID, time.Hour, 10) // the new machine did not wait
	o.Stream, lost[0].Stream, lost[1].Stream = s2.ID, s2.ID, s2.ID
	if adopted, taken, err := y.Adopt(t.Context(), o, lost); err != nil || adopted != 1 || taken != 1 {
		t.Errorf("%d adopted, %d taken, %v", adopted, taken, err)
	}
	if got := victim(t, y, other.Key()).File; got.Places != index.Here || got.Bytes != 10_900 {
		t.Errorf("what was recorded here is %+v", got)
	}
	if c, ok, err := y.Copy(t.Context(), lost[1].Key()); err != nil || !ok || c.Name != "a" || c.Offset != 30_900 {
		t.Errorf("copy %+v, %t, %v", c, ok, err)
	}
}
