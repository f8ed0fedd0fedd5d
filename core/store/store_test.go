package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/core/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clock(ms int64) func() time.Time { return func() time.Time { return time.UnixMilli(ms) } }

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, clock(1000))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func spec(t *testing.T, id string, change func(*camera.Spec)) camera.Spec {
	t.Helper()
	s := camera.Spec{ID: id, Enabled: true, Origin: camera.OriginAPI,
		Sources: []camera.SourceSpec{{URL: "rtsp://192.168.1.20/" + id}}}
	if change != nil {
		change(&s)
	}
	if err := s.Normalize(); err != nil {
		t.Fatal(err)
	}
	return s
}

func cameras(t *testing.T, s *Store) []camera.Spec {
	t.Helper()
	specs, err := s.Cameras(t.Context())
	if err != nil {
		t.Fatalf("Cameras: %v", err)
	}
	return specs
}

func TestCamerasComeBackAfterReopeningExactlyAsTheyWere(t *testing.T) {
	dir := t.TempDir()
	full := spec(t, "yard", func(s *camera.Spec) {
		s.Name = "Yard \x00 \"; DROP TABLE cameras; -- é\n"
		s.Enabled, s.OnDemand = false, true
		s.Record = camera.RecordSpec{
			Mode: camera.RecordContinuous, MaxAge: 1<<63 - 1, MaxBytes: 1<<63 - 1, Sources: []string{"sub", "main"}, PreRoll: 3, PostRoll: 4,
			Schedule: camera.Schedule{Zone: "UTC", Spans: []string{"mon 08:00-18:00"}}, Thin: camera.ThinSpec{After: 1<<63 - 1, Keep: camera.ThinSub},
		}
		s.Labels = map[string]string{"site": "home", "a b": ""}
		s.Sources = []camera.SourceSpec{
			{Name: "main", URL: "rtsp://h/1?a=b", Username: "u", Password: secret.New(`p@s#/:?%^!"'`), Transport: camera.TransportTCP},
			{Name: "sub", URL: "rtsps://h/2", TLS: camera.TLSSpec{Fingerprint: strings.Repeat("ab", 32)}},
		}
	})
	want := []camera.Spec{full, spec(t, "door", nil), spec(t, "attic", nil)}
	first, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range want {
		if err := first.AddCamera(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if got := cameras(t, open(t, dir)); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAWriteThatReturnedSurvivesAKill(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	if err := s.AddCamera(t.Context(), spec(t, "door", nil)); err != nil {
		t.Fatal(err)
	}
	// What a killed process leaves behind is what is in the files now.
	left := t.TempDir()
	for _, name := range []string{fileName, fileName + "-wal"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(left, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := cameras(t, open(t, left)); len(got) != 1 || got[0].ID != "door" {
		t.Errorf("got %+v", got)
	}
}

func TestAnIDIsThereOnce(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.AddCamera(t.Context(), spec(t, "door", nil)); err != nil {
		t.Fatal(err)
	}
	other := spec(t, "door", func(s *camera.Spec) { s.Sources[0].URL = "rtsp://other/x" })
	if err := s.AddCamera(t.Context(), other); !errors.Is(err, camera.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	if got := cameras(t, s); len(got) != 1 || got[0].Sources[0].URL != "rtsp://192.168.1.20/door" {
		t.Errorf("the first was changed: %+v", got)
	}
}

func TestAnUpdateReplacesEverything(t *testing.T) {
	s := open(t, t.TempDir())
	for _, id := range []string{"a", "b"} {
		if err := s.AddCamera(t.Context(), spec(t, id, func(s *camera.Spec) {
			s.Labels = map[string]string{"old": "1"}
			s.Sources = append(s.Sources, camera.SourceSpec{URL: "rtsp://h/sub"})
		})); err != nil {
			t.Fatal(err)
		}
	}
	changed := spec(t, "a", func(s *camera.Spec) { s.Name = "new"; s.Labels = map[string]string{"new": "2"} })
	if err := s.UpdateCamera(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	got := cameras(t, s)
	if !reflect.DeepEqual(got[0], changed) {
		t.Errorf("got  %+v\nwant %+v", got[0], changed)
	}
	if len(got[1].Sources) != 2 || got[1].Labels["old"] != "1" {
		t.Errorf("another camera was changed: %+v", got[1])
	}
}

func TestARemovedCameraIsGoneAndCanBeMadeAgain(t *testing.T) {
	s := open(t, t.TempDir())
	door := spec(t, "door", func(s *camera.Spec) { s.Labels = map[string]string{"a": "b"} })
	for range 2 {
		if err := s.AddCamera(t.Context(), door); err != nil {
			t.Fatal(err)
		}
		if err := s.RemoveCamera(t.Context(), "door"); err != nil {
			t.Fatal(err)
		}
		if got := cameras(t, s); len(got) != 0 {
			t.Fatalf("got %+v", got)
		}
	}
	if err := s.RemoveCamera(t.Context(), "door"); !errors.Is(err, camera.ErrNotFound) {
		t.Errorf("RemoveCamera: got %v, want ErrNotFound", err)
	}
	if err := s.UpdateCamera(t.Context(), door); !errors.Is(err, camera.ErrNotFound) {
		t.Errorf("UpdateCamera: got %v, want ErrNotFound", err)
	}
}

func TestAnEpochOnlyGrows(t *testing.T) {
	dir := t.TempDir()
	now := int64(5000)
	next := func(s *Store, id string) int64 {
		epoch, err := s.NextEpoch(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		return epoch
	}
	var got []int64
	for i := range 2 {
		s, err := Open(t.Context(), dir, func() time.Time { return time.UnixMilli(now) })
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			now = 10 // The clock went back while the server was down.
		}
		got = append(got, next(s, "door"), next(s, "door"))
		now += 7000
		got = append(got, next(s, "door"))
		if i == 0 {
			if other := next(s, "yard"); other != now {
				t.Errorf("another camera's epoch is %d, want %d", other, now)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int64{5000, 5001, 12000, 12001, 12002, 12003}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNoDiscontinuityIsReservedTwice(t *testing.T) {
	dir := t.TempDir()
	var got []int64
	for range 2 {
		s := open(t, dir)
		for _, reserve := range []struct {
			camera string
			count  int64
		}{{"door", 32}, {"yard", 5}, {"door", 1}} {
			first, err := s.ReserveDiscontinuities(t.Context(), reserve.camera, reserve.count)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, first)
		}
		if _, err := s.NextEpoch(t.Context(), "door"); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []int64{0, 0, 32, 33, 5, 65}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAnEpochOutlivesItsCamera(t *testing.T) {
	s := open(t, t.TempDir())
	if err := s.AddCamera(t.Context(), spec(t, "door", nil)); err != nil {
		t.Fatal(err)
	}
	before, _ := s.NextEpoch(t.Context(), "door")
	if err := s.RemoveCamera(t.Context(), "door"); err != nil {
		t.Fatal(err)
	}
	if after, err := s.NextEpoch(t.Context(), "door"); err != nil || after <= before {
		t.Errorf("got %d after %d, %v", after, before, err)
	}
}

func TestManyWritersAtOnceAllSucceed(t *testing.T) {
	s := open(t, t.TempDir())
	var group sync.WaitGroup
	epochs := make([]int64, 20)
	for i := range epochs {
		group.Go(func() {
			if err := s.AddCamera(t.Context(), spec(t, fmt.Sprintf("c%d", i), nil)); err != nil {
				t.Error(err)
			}
			var err error
			if epochs[i], err = s.NextEpoch(t.Context(), "door"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := cameras(t, s); len(got) != len(epochs) {
		t.Errorf("%d cameras, want %d", len(got), len(epochs))
	}
	slices.Sort(epochs)
	if len(slices.Compact(epochs)) != len(epochs) {
		t.Errorf("an epoch came twice: %v", epochs)
	}
}

func TestAWriteIsNotBegunForSomebodyWhoIsGone(t *testing.T) {
	s := open(t, t.TempDir())
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := s.AddCamera(gone, spec(t, "door", nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := cameras(t, s); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestOnlyTheOwnerCanReadTheFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data # ?a=b%41")
	s := open(t, dir)
	if err := s.AddCamera(t.Context(), spec(t, "door", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file in the directory: %v", err)
	}
	for _, file := range files {
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file.Name(), info.Mode(), err)
		}
	}
}

func TestAFileThatAllCanReadIsClosedToThem(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

// made returns the file of a database with 60 cameras.
func made(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if err := s.AddCamera(t.Context(), spec(t, fmt.Sprintf("c%d", i), func(s *camera.Spec) { s.Name = strings.Repeat("x", 200) })); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func openBytes(t *testing.T, content []byte) error {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, fileName), content, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, clock(1))
	if err == nil {
		_ = s.Close()
	}
	return err
}

func TestADamagedFileIsAClearError(t *testing.T) {
	good := made(t)
	if err := openBytes(t, good); err != nil {
		t.Fatalf("the sound one: %v", err)
	}
	scribbled := bytes.Clone(good)
	for i := 4096; i < len(scribbled); i++ {
		scribbled[i] = byte(i)
	}
	for name, content := range map[string][]byte{
		"text":      []byte(strings.Repeat("this is no database\n", 1000)),
		"cut short": good[:len(good)/2],
		"scribbled": scribbled,
	} {
		err := openBytes(t, content)
		if !errors.Is(err, sqlite.ErrDamaged) || !strings.Contains(err.Error(), fileName) {
			t.Errorf("%s: got %v, want sqlite.ErrDamaged with the file's name", name, err)
		}
	}
}

func TestANewerSchemaIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Reader().Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir, clock(1)); !errors.Is(err, sqlite.ErrNewer) {
		t.Errorf("got %v, want sqlite.ErrNewer", err)
	}
}

func TestOneServerAtATimeIsAtWorkOnADirectory(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir, clock(1)); !errors.Is(err, sqlite.ErrInUse) {
		t.Errorf("a second one: %v, want sqlite.ErrInUse", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE recipes (name TEXT)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir, clock(1)); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("got %v, want sqlite.ErrForeign", err)
	}
}

func TestADirectoryInTheFilesPlaceIsAnError(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, fileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), dir, clock(1)); err == nil {
		_ = s.Close()
		t.Error("Open succeeded")
	}
}

func TestWritesAreSyncedToTheLog(t *testing.T) {
	s := open(t, t.TempDir())
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000"} {
		var got string
		if err := s.db.Reader().QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, want %s (%v)", pragma, got, want, err)
		}
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
}
