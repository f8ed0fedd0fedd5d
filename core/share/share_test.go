package share

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var errDisk = errors.New("the disk is full")

// A memory is a store without a disk.
type memory struct {
	mu     sync.Mutex
	key    Key
	shares map[ID]Share
	fail   error
}

func newMemory() *memory { return &memory{key: NewKey(), shares: map[ID]Share{}} }

func (m *memory) ShareKey(context.Context) (Key, error) { return m.key, m.fail }

func (m *memory) Shares(context.Context) ([]Share, error) {
	var all []Share
	for _, s := range m.shares {
		all = append(all, s)
	}
	return all, nil
}

func (m *memory) change(do func(ID, *Share) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	for id, s := range m.shares {
		if do(id, &s) {
			m.shares[id] = s
		} else {
			delete(m.shares, id)
		}
	}
	return nil
}

func (m *memory) AddShare(_ context.Context, s Share) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail == nil {
		m.shares[s.ID] = s
	}
	return m.fail
}

func (m *memory) RevokeShare(_ context.Context, id ID) error {
	return m.change(func(each ID, s *Share) bool { s.Revoked = s.Revoked || each == id; return true })
}

func (m *memory) RevokeSharesOf(_ context.Context, camera string) error {
	return m.change(func(_ ID, s *Share) bool { s.Revoked = s.Revoked || s.Camera == camera; return true })
}

func (m *memory) ForgetShares(_ context.Context, before time.Time) error {
	return m.change(func(_ ID, s *Share) bool { return s.Expires.After(before) })
}

// A desk is a book and its clock.
type desk struct {
	*Book
	t     *testing.T
	store *memory
	clock time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{t: t, store: newMemory(), clock: time.Unix(1_700_000_000, 0)}
	d.reopen()
	return d
}

func (d *desk) reopen() {
	d.t.Helper()
	book, err := Open(d.t.Context(), d.store, func() time.Time { return d.clock })
	if err != nil {
		d.t.Fatal(err)
	}
	d.Book = book
}

func (d *desk) create(camera string, lifetime time.Duration, viewers int) (Share, string) {
	d.t.Helper()
	s, token, err := d.Create(d.t.Context(), Share{Name: "for " + camera,
		Claims: Claims{Camera: camera, Action: Watch, Expires: d.clock.Add(lifetime), MaxViewers: viewers}})
	if err != nil {
		d.t.Fatal(err)
	}
	return s, token
}

func (d *desk) refused(token string, want error) {
	d.t.Helper()
	if got, err := d.Check(token); !errors.Is(err, want) || got != (Claims{}) {
		d.t.Errorf("got %+v, %v; want %v", got, err, want)
	}
}

func TestATokenSaysWhatItsShareSays(t *testing.T) {
	d := newDesk(t)
	for _, camera := range []string{"a", "front-door", strings.Repeat("x", maxCameraBytes)} {
		for _, viewers := range []int{0, 1, 127, 128, maxViewers} {
			s, token := d.create(camera, time.Hour+time.Millisecond, viewers)
			got, err := d.Check(token)
			if err != nil || got != s.Claims || got.Camera != camera || got.MaxViewers != viewers {
				t.Errorf("%s, %d: got %+v, %v; want %+v", camera, viewers, got, err, s.Claims)
			}
			if len(token) > MaxTokenBytes || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
				t.Errorf("token %s", token)
			}
		}
	}
	if _, token := d.create("door", time.Hour, 10); len(token) > 50 {
		t.Errorf("a token of %d characters is not compact: %s", len(token), token)
	}
}

func TestATokenThatWasChangedAnywhereIsForged(t *testing.T) {
	d := newDesk(t)
	_, token := d.create("door", time.Hour, 3)
	for i := range len(token) {
		for _, c := range "ABab01-_=\n%" {
			changed := token[:i] + string(c) + token[i+1:]
			if changed != token {
				d.refused(changed, ErrForged)
			}
		}
		d.refused(token[:i], ErrForged)
		d.refused(token[:i]+"\n"+token[i:], ErrForged)
	}
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	for bit := range 8 * len(raw) {
		changed := slices.Clone(raw)
		changed[bit/8] ^= 1 << (bit % 8)
		d.refused(base64.RawURLEncoding.EncodeToString(changed), ErrForged)
	}
	for _, text := range []string{token + "A", token + "=", strings.Repeat("A", MaxTokenBytes), strings.Repeat("A", 1<<20), "A", "é"} {
		d.refused(text, ErrForged)
	}
	other := newDesk(t)
	_, foreign := other.create("door", time.Hour, 3)
	d.refused(foreign, ErrForged)
}

func TestATokenEndsWithItsTime(t *testing.T) {
	d := newDesk(t)
	_, token := d.create("door", time.Minute, 0)
	d.clock = d.clock.Add(time.Minute - 1)
	if _, err := d.Check(token); err != nil {
		t.Error(err)
	}
	d.clock = d.clock.Add(1)
	d.refused(token, ErrExpired)
	if len(d.List()) != 0 {
		t.Error("it is listed")
	}
	d.create("yard", time.Minute, 0)
	if len(d.store.shares) != 1 || len(d.shares) != 1 {
		t.Error("it is remembered")
	}
	d.reopen()
	d.refused(token, ErrExpired)
}

func TestARevokedShareIsOverAtOnceAndForGood(t *testing.T) {
	d := newDesk(t)
	s, token := d.create("door", time.Hour, 0)
	_, other := d.create("door", time.Hour, 0)
	if err := d.Revoke(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d.refused(token, ErrRevoked)
		if _, err := d.Check(other); err != nil {
			t.Error(err)
		}
		if list := d.List(); len(list) != 1 || list[0].ID == s.ID {
			t.Errorf("listed: %+v", list)
		}
		if err := d.Revoke(t.Context(), s.ID); !errors.Is(err, ErrNotFound) {
			t.Errorf("revoked twice: %v", err)
		}
		d.reopen()
	}
	if err := d.Revoke(t.Context(), "0000000000000000"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a share that never was: %v", err)
	}
}

func TestTheSharesOfARemovedCameraAreOver(t *testing.T) {
	d := newDesk(t)
	_, first := d.create("door", time.Hour, 0)
	_, second := d.create("door", time.Hour, 0)
	_, yard := d.create("yard", time.Hour, 0)
	d.store.fail = errDisk
	if err := d.RevokeOf(t.Context(), "door"); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	d.refused(first, ErrRevoked) // Though the disk does not know.
	d.refused(second, ErrRevoked)
	if _, err := d.Check(yard); err != nil {
		t.Error(err)
	}
	if err := d.RevokeOf(t.Context(), "attic"); err != nil {
		t.Error(err)
	}
}

func TestNothingIsGivenAwayThatIsNotStored(t *testing.T) {
	d := newDesk(t)
	s, token := d.create("door", time.Hour, 0)
	d.store.fail = errDisk
	_, _, err := d.Create(t.Context(), Share{Claims: Claims{Camera: "door", Action: Watch, Expires: d.clock.Add(time.Hour)}})
	if !errors.Is(err, errDisk) || len(d.List()) != 1 {
		t.Errorf("got %v, listed %d", err, len(d.List()))
	}
	if err := d.Revoke(t.Context(), s.ID); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if _, err := d.Check(token); err != nil {
		t.Errorf("not revoked, and yet %v", err)
	}
}

func TestWhatATokenCannotSayIsNotSigned(t *testing.T) {
	d := newDesk(t)
	good := Claims{Camera: "door", Action: Watch, Expires: d.clock.Add(time.Hour)}
	for name, change := range map[string]func(*Claims){
		"no camera":         func(c *Claims) { c.Camera = "" },
		"a long camera":     func(c *Claims) { c.Camera = strings.Repeat("x", maxCameraBytes+1) },
		"an unknown action": func(c *Claims) { c.Action = "steer" },
		"no time":           func(c *Claims) { c.Expires = time.Time{} },
		"a time too far":    func(c *Claims) { c.Expires = time.Unix(1<<40, 0) },
		"fewer than none":   func(c *Claims) { c.MaxViewers = -1 },
		"too many viewers":  func(c *Claims) { c.MaxViewers = maxViewers + 1 },
	} {
		claims := good
		change(&claims)
		if _, _, err := d.Create(t.Context(), Share{Claims: claims}); err == nil {
			t.Errorf("%s: signed", name)
		}
	}
}

func TestAShareLetsInAsManyViewersAsItSays(t *testing.T) {
	d := newDesk(t)
	s, token := d.create("door", time.Hour, 2)
	free, _ := d.create("door", time.Hour, 0)
	claims, _ := d.Check(token)
	enter := func(address string, want error) {
		t.Helper()
		if err := d.Enter(claims, address, "browser"); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
		if err := d.Enter(free.Claims, address, "browser"); err != nil {
			t.Errorf("a share without a limit: %v", err)
		}
	}
	enter("1", nil)
	enter("2", nil)
	enter("3", ErrFull)
	enter("1", nil)
	if got := d.Viewers(s.ID); got != 2 {
		t.Errorf("%d viewers", got)
	}
	d.clock = d.clock.Add(patience - time.Second)
	enter("1", nil)
	enter("3", ErrFull)
	d.clock = d.clock.Add(2 * time.Second)
	enter("3", nil)
	enter("2", ErrFull)
	if d.Viewers(free.ID) != 0 || d.Viewers("unknown") != 0 {
		t.Error("viewers of what has no limit")
	}
}

func TestThereAreOnlySoManyShares(t *testing.T) {
	d := newDesk(t)
	for i := range MaxShares {
		id := ID(fmt.Sprintf("%016x", i))
		d.store.shares[id] = Share{Claims: Claims{ID: id, Camera: "door", Action: Watch, Expires: d.clock.Add(time.Minute)}}
	}
	d.reopen()
	good := Share{Claims: Claims{Camera: "door", Action: Watch, Expires: d.clock.Add(time.Hour)}}
	if _, _, err := d.Create(t.Context(), good); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v", err)
	}
	d.clock = d.clock.Add(time.Minute)
	if _, _, err := d.Create(t.Context(), good); err != nil || len(d.store.shares) != 1 {
		t.Errorf("got %v with %d stored", err, len(d.store.shares))
	}
}

func TestTheKeyIsNotPrinted(t *testing.T) {
	key := NewKey()
	if text := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); strings.TrimSpace(strings.ReplaceAll(text, "[redacted]", "")) != "" {
		t.Error(text)
	}
}

func FuzzCheck(f *testing.F) {
	s := newSigner(Key{1})
	for _, c := range []Claims{{"0123456789abcdef", "door", Watch, time.Unix(5, 0), 1}, {"0000000000000000", "y", Watch, time.Unix(1<<39, 0), 0}} {
		token, err := s.sign(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(token)
		f.Add(token[1:])
	}
	f.Fuzz(func(t *testing.T, token string) {
		c, err := s.read(token)
		if err != nil {
			return
		}
		if again, err := s.sign(c); err != nil || again != token {
			t.Errorf("%q is read as %+v, which is written %q, %v", token, c, again, err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	book, err := Open(b.Context(), newMemory(), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	_, token, err := book.Create(b.Context(), Share{Claims: Claims{Camera: "door", Action: Watch, Expires: time.Now().Add(time.Hour)}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := book.Check(token); err != nil {
			b.Fatal(err)
		}
	}
}
