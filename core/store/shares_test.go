package store

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/share"
)

func shares(t *testing.T, s *Store) []share.Share {
	t.Helper()
	all, err := s.Shares(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b share.Share) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return all
}

func addShare(t *testing.T, s *Store, id share.ID, camera string, expires int64) share.Share {
	t.Helper()
	each := share.Share{Name: "für \x00 '; --", Created: time.UnixMilli(1234),
		Claims: share.Claims{ID: id, Camera: camera, Action: share.Watch, Expires: time.Unix(expires, 0), MaxViewers: 7}}
	if err := s.AddShare(t.Context(), each); err != nil {
		t.Fatal(err)
	}
	return each
}

func TestSharesAndTheirKeyComeBackAfterReopening(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(t.Context(), dir, clock(1))
	if err != nil {
		t.Fatal(err)
	}
	key, err := first.ShareKey(t.Context())
	if err != nil || key == (share.Key{}) {
		t.Fatalf("key: %v", err)
	}
	want := []share.Share{addShare(t, first, "a", "door", 100), addShare(t, first, "b", "door", 200), addShare(t, first, "c", "yard", 300)}
	if err := first.RevokeShare(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	want[1].Revoked = true
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, dir)
	if got := shares(t, again); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if same, err := again.ShareKey(t.Context()); err != nil || same != key {
		t.Errorf("another key, or %v", err)
	}
	if other, err := open(t, t.TempDir()).ShareKey(t.Context()); err != nil || other == key {
		t.Errorf("the same key in another store, or %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, fileName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with the key has mode %v, %v", info.Mode(), err)
	}
}

func TestExpiredSharesAreForgotten(t *testing.T) {
	s := open(t, t.TempDir())
	addShare(t, s, "a", "door", 100)
	addShare(t, s, "b", "door", 101)
	if err := s.ForgetShares(t.Context(), time.Unix(100, 0)); err != nil {
		t.Fatal(err)
	}
	if got := shares(t, s); len(got) != 1 || got[0].ID != "b" {
		t.Errorf("left: %+v", got)
	}
}

func TestARemovedCameraTakesItsSharesWithIt(t *testing.T) {
	s := open(t, t.TempDir())
	for _, id := range []string{"door", "yard"} {
		if err := s.AddCamera(t.Context(), spec(t, id, nil)); err != nil {
			t.Fatal(err)
		}
	}
	addShare(t, s, "a", "door", 100)
	addShare(t, s, "b", "yard", 100)
	addShare(t, s, "c", "of-the-file", 100)
	if err := s.RemoveCamera(t.Context(), "door"); err != nil {
		t.Fatal(err)
	}
	if err := s.RevokeSharesOf(t.Context(), "of-the-file"); err != nil {
		t.Fatal(err)
	}
	for i, revoked := range []bool{true, false, true} {
		if got := shares(t, s)[i]; got.Revoked != revoked {
			t.Errorf("share %s of %s: revoked %v", got.ID, got.Camera, got.Revoked)
		}
	}
}

func TestAKeyOfTheWrongLengthIsNotUsed(t *testing.T) {
	s := open(t, t.TempDir())
	if _, err := s.db.Reader().Exec("INSERT INTO keys VALUES ('shares', x'00')"); err != nil {
		t.Fatal(err)
	}
	if key, err := s.ShareKey(t.Context()); err == nil || key != (share.Key{}) {
		t.Errorf("got %v", err)
	}
}
