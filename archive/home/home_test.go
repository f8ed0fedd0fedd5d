package home_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/secret"
)

func TestFilesOfMinutesBecomeOneObjectAndAreReadBackFromIt(t *testing.T) {
	b := newBench(t)
	door, yard := b.record("door", 25), b.record("yard", 25)
	h := b.home(nil)
	b.copyAll(h)
	b.proves(h, door, yard)
	s := b.status(h)
	// 25 minutes are parts of three or four windows of ten.
	if s.Files != 50 || s.Objects < 6 || s.Objects > 8 || b.requests(http.MethodPut) != int(s.Objects) {
		t.Errorf("%d files, %d objects, %d requests to put them", s.Files, s.Objects, b.requests(http.MethodPut))
	}
	if s.State != home.StateWell || len(s.Failures) != 0 || s.Stored.Objects != int64(s.Objects) {
		t.Errorf("status %+v", s)
	}
	for name := range b.stored() {
		if !strings.HasPrefix(name, "site/a/door/main/2026-03-01/20260301T1") && !strings.HasPrefix(name, "site/a/yard/main/2026-03-01/20260301T1") {
			t.Errorf("an object is named %s", name)
		}
	}
}

func TestAnyRangeOfAFileIsReadAndNoOther(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 3)
	h := b.home(nil)
	b.copyAll(h)
	for key, content := range files {
		for _, c := range []struct {
			offset, n int64
			err       error
		}{
			{0, 1, nil},
			{900, fragmentBytes, nil},
			{int64(len(content)) - 1, 1, nil},
			{0, int64(len(content)), nil},
			{0, int64(len(content)) + 1, home.ErrRange}, // the file behind it in the object
			{-1, 5, home.ErrRange},
			{int64(len(content)), 1, home.ErrRange},
			{5, 0, home.ErrRange},
			{1 << 62, 1 << 62, home.ErrRange},
		} {
			body, err := h.Open(t.Context(), key, c.offset, c.n)
			if err != c.err {
				t.Fatalf("%d bytes at %d: %v, want %v", c.n, c.offset, err, c.err)
			}
			if err != nil {
				continue
			}
			got, err := io.ReadAll(body)
			body.Close()
			if err != nil || string(got) != string(content[c.offset:c.offset+c.n]) {
				t.Errorf("%d bytes at %d: other ones, %v", c.n, c.offset, err)
			}
		}
	}
	if _, err := h.Open(t.Context(), index.Key{Stream: 1, Number: 99}, 0, 1); err != home.ErrNoCopy {
		t.Errorf("a file that is not there: %v, want ErrNoCopy", err)
	}
}

func TestWhatLeftTheDiskIsReadFromTheSecondHome(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 12)
	h := b.home(func(o *home.Options) { o.Verify = home.VerifyRead })
	b.copyAll(h)
	b.letGo(b.victims("door")...)
	b.proves(h, files)
	s, _ := b.index.Find("door", "main")
	gaps, err := b.index.Gaps(t.Context(), s.ID, longAgo, time.Time{}, 0, 10)
	if err != nil || len(gaps) != 0 {
		t.Errorf("gaps %+v, %v", gaps, err)
	}
}

func TestAFileThatIsNotOnTheDiskHoldsUpNoOther(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 12)
	lost := b.victims("door")[3]
	if err := os.Remove(filepath.Join(b.dir, filepath.FromSlash(lost.Path))); err != nil {
		t.Fatal(err)
	}
	delete(files, lost.File.Key())
	h := b.home(nil)
	b.copyAll(h)
	b.proves(h, files)
	if s := b.status(h); s.Missing != 1 || s.Files != 11 {
		t.Errorf("%d missing, %d files copied, want 1 and 11", s.Missing, s.Files)
	}
}

func TestRetentionByAgeLetsGoOfWholeObjectsAndKeepsBookmarks(t *testing.T) {
	b := newBench(t)
	now := time.Now()
	old, kept, fresh := b.recordFrom("door", now.Add(-50*time.Hour), 20), b.recordFrom("yard", now.Add(-50*time.Hour), 20), b.recordFrom("gate", now.Add(-10*time.Hour), 20)
	for camera, kind := range map[string]string{"yard": "user", "door": "event"} { // of which only the first keeps for good
		if _, err := b.index.AddBookmark(t.Context(), index.Bookmark{Camera: camera, From: now.Add(-51 * time.Hour), To: now.Add(-49 * time.Hour), Kind: kind, Keep: true, Created: now}); err != nil {
			t.Fatal(err)
		}
	}
	h := b.home(nil)
	b.copyAll(h)
	b.letGo(b.victims("door")[:10]...)
	h = b.home(func(o *home.Options) { o.MaxAge = 24 * time.Hour })
	stop := b.run(h)
	b.until("the old ones are deleted", func() bool { s := b.status(h); return s.Deleted > 0 && s.Stored.Doomed == 0 })
	stop()
	b.proves(h, kept, fresh)
	for key := range old {
		if _, err := h.Open(t.Context(), key, 0, 1); err != home.ErrNoCopy {
			t.Errorf("file %v is read still: %v", key, err)
		}
	}
	for name := range b.stored() {
		if strings.Contains(name, "/door/") {
			t.Errorf("%s is in the bucket still", name)
		}
	}
	s, _ := b.index.Find("door", "main")
	gaps, err := b.index.Gaps(t.Context(), s.ID, longAgo, time.Time{}, 0, 10)
	if err != nil || len(gaps) != 1 || gaps[0].Cause != index.CauseDeleted || gaps[0].To.Sub(gaps[0].From) != 10*time.Minute {
		t.Errorf("gaps %+v, %v, want one of what lay nowhere else", gaps, err)
	}
	if left := len(b.victims("door")); left != 10 {
		t.Errorf("%d files are left on the disk, want the ten that were there", left)
	}
	if s := b.status(h); s.Backlog.Files != 0 {
		t.Errorf("what was let go of is to be copied again: %+v", s.Backlog)
	}
}

func TestRetentionByBytesKeepsTheNewest(t *testing.T) {
	b := newBench(t)
	b.record("door", 40)
	h := b.home(nil)
	b.copyAll(h)
	before := b.status(h).Stored
	most := before.Bytes / 2
	h = b.home(func(o *home.Options) { o.MaxBytes = most })
	stop := b.run(h)
	b.until("enough is deleted", func() bool { s := b.status(h); return s.Stored.Bytes <= most && s.Stored.Doomed == 0 })
	stop()
	after := b.status(h).Stored
	if !after.From.After(before.From) || after.Objects == 0 {
		t.Errorf("before %+v, after %+v", before, after)
	}
	total := int64(0)
	for _, bytes := range b.stored() {
		total += bytes
	}
	if total != after.Bytes {
		t.Errorf("the bucket has %d bytes, the index says %d", total, after.Bytes)
	}
}

func TestAClockThatJumpedDeletesNothing(t *testing.T) {
	b := newBench(t)
	files := b.recordFrom("door", time.Now().Add(-2*time.Hour), 20)
	h := b.home(nil)
	b.copyAll(h)
	b.setNow(time.Now().Add(365 * 24 * time.Hour))
	h = b.home(func(o *home.Options) { o.MaxAge = 24 * time.Hour })
	stop := b.run(h)
	b.until("it was refused", func() bool { return strings.Contains(b.log.String(), "deleted by its age") })
	stop()
	b.proves(h, files)
	if s := b.status(h); s.Deleted != 0 || s.Stored.Doomed != 0 {
		t.Errorf("deleted: %+v", s)
	}
}

func TestAnIndexThatWasLostIsMadeOfWhatLiesInTheBucket(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 25)
	h := b.home(nil)
	b.copyAll(h)
	b.letGo(b.victims("door")...)
	old := b.index
	s, _ := old.Find("door", "main")
	want, err := old.Files(t.Context(), s.ID, longAgo, time.Time{})
	if err != nil {
		t.Fatal(err)
	}

	b.dir = t.TempDir()
	b.index = b.openIndex(b.dir)
	h = b.home(nil)
	for i, adopted := range []int{len(files), 0} { // again changes nothing
		found, err := h.Restore(t.Context())
		if err != nil || found.Files != adopted || found.Foreign != 0 {
			t.Fatalf("restore %d: %+v, %v, want %d files", i, found, err, adopted)
		}
	}
	b.proves(h, files)
	s, _ = b.index.Find("door", "main")
	got, err := b.index.Files(t.Context(), s.ID, longAgo, time.Time{})
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d files, %v, want %d", len(got), err, len(want))
	}
	for i := range got {
		if !got[i].Start.Equal(want[i].Start) || got[i].Span != want[i].Span || got[i].Sequence != want[i].Sequence || len(got[i].Fragments) != len(want[i].Fragments) {
			t.Errorf("file %d: %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestAURLIsGivenOnlyForTheFirstFileOfAnObject(t *testing.T) {
	b := newBench(t)
	files := b.record("door", 3)
	h := b.home(func(o *home.Options) { o.ObjectTime, o.Redirect = time.Hour, true })
	b.copyAll(h)
	given := 0
	for key, content := range files {
		url, ok, err := h.URL(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		given++
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Range", "bytes=900-4899")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		if err != nil || string(got) != string(content[900:4900]) {
			t.Errorf("status %d, %d bytes, %v", answer.StatusCode, len(got), err)
		}
		if strings.Contains(url, secretKey) {
			t.Error("the URL shows the secret key")
		}
	}
	if given < 1 || given > 2 {
		t.Errorf("%d URLs for three files in an object or two", given)
	}
}

func TestAWrongKeyIsToldWithoutAKey(t *testing.T) {
	for name, wrong := range map[string]func(*home.Options){
		"access key": func(o *home.Options) { o.AccessKey = "hostileKey" },
		"secret key": func(o *home.Options) { o.SecretKey = secret.New("hostile" + secretKey) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			files := b.record("door", 3)
			h := b.home(wrong)
			stop := b.run(h)
			b.until("it is refused", func() bool { return b.status(h).State == home.StateAway })
			stop()
			s := b.status(h)
			if s.Reason != home.ReasonRefused || s.Failures[home.ReasonRefused] == 0 || !strings.Contains(s.Detail, "archive.second_home.access_key") {
				t.Errorf("status %+v", s)
			}
			b.silent(h)
			if b.events[0].Kind != event.KindArchiveHome {
				t.Errorf("events %+v", b.events)
			}
			h = b.home(nil)
			b.copyAll(h)
			b.proves(h, files)
		})
	}
}
