package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/viewer"
)

// Share is a link that was given away.
type Share struct {
	Claims
	Name    string // for people
	Created time.Time
	Revoked bool
}

// Store keeps what must survive a restart. What has returned is on disk.
type Store interface {
	// ShareKey returns the key, and makes one where there is none.
	ShareKey(ctx context.Context) (Key, error)
	// Shares returns all shares, the revoked ones too.
	Shares(ctx context.Context) ([]Share, error)
	AddShare(ctx context.Context, s Share) error
	// RevokeShare is no error where it is revoked or forgotten already.
	RevokeShare(ctx context.Context, id ID) error
	// RevokeSharesOf revokes those of a camera.
	RevokeSharesOf(ctx context.Context, camera string) error
	// ForgetShares forgets those that have expired: they need not be remembered
	// to be refused.
	ForgetShares(ctx context.Context, expiredBefore time.Time) error
}

// Limits of shares.
const (
	MaxShares   = 10000 // in force or revoked, and not expired
	MaxLifetime = 10 * 365 * 24 * time.Hour
	MaxName     = 200

	// patience is how long a viewer of a share counts after its last request. It
	// is longer than a cache may keep the answer that a token is good.
	patience = 30 * time.Second
)

// What Create and Revoke answer.
var (
	ErrTooMany  = errors.New("there are too many shares")
	ErrNotFound = errors.New("there is no such share")
)

// ErrFull is the answer to a viewer more than a share allows.
var ErrFull = errors.New("as many watch by this link as may")

// Book is all shares that have not expired.
type Book struct {
	store  Store
	now    func() time.Time
	signer *signer

	// Only what was taken back is looked up for a request.
	revoked atomic.Pointer[map[ID]struct{}] // replaced, never changed

	writing sync.Mutex // held over a change, disk and all
	mu      sync.Mutex // of the maps, which are written only while writing is held too
	shares  map[ID]Share
	viewers map[ID]*viewer.Set // of shares with a limit that somebody watches by; made under mu alone
}

// Open reads the book.
func Open(ctx context.Context, store Store, now func() time.Time) (*Book, error) {
	key, err := store.ShareKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the key of shares: %w", err)
	}
	if err := store.ForgetShares(ctx, now()); err != nil {
		return nil, fmt.Errorf("forget expired shares: %w", err)
	}
	all, err := store.Shares(ctx)
	if err != nil {
		return nil, fmt.Errorf("read shares: %w", err)
	}
	b := &Book{store: store, now: now, signer: newSigner(key), shares: map[ID]Share{}, viewers: map[ID]*viewer.Set{}}
	b.put(all...)
	return b, nil
}

// put changes shares in memory, and publishes what is revoked. The caller holds
// writing, or is alone.
func (b *Book) put(changed ...Share) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for _, s := range changed {
		b.shares[s.ID] = s
		if s.Revoked || !s.Expires.After(now) {
			delete(b.viewers, s.ID)
		}
		if !s.Expires.After(now) {
			delete(b.shares, s.ID) // It need not be remembered to be refused.
		}
	}
	revoked := map[ID]struct{}{}
	for id, s := range b.shares {
		if s.Revoked {
			revoked[id] = struct{}{}
		}
	}
	b.revoked.Store(&revoked)
}

// Create makes a share and its token. The ID and the time are filled in here.
func (b *Book) Create(ctx context.Context, s Share) (Share, string, error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	now := b.now()
	if err := b.forgetExpired(ctx, now); err != nil {
		return Share{}, "", err
	}
	if len(b.shares) >= MaxShares {
		return Share{}, "", ErrTooMany
	}
	s.ID, s.Created, s.Revoked = newID(), now, false
	s.Expires = s.Expires.Truncate(time.Second)
	token, err := b.signer.sign(s.Claims)
	if err != nil {
		return Share{}, "", err
	}
	if err := b.store.AddShare(ctx, s); err != nil {
		return Share{}, "", fmt.Errorf("store a share: %w", err)
	}
	b.put(s)
	return s, token, nil
}

func (b *Book) forgetExpired(ctx context.Context, now time.Time) error {
	expired := b.find(func(s Share) bool { return !s.Expires.After(now) })
	if len(expired) == 0 {
		return nil
	}
	if err := b.store.ForgetShares(ctx, now); err != nil {
		return fmt.Errorf("forget expired shares: %w", err)
	}
	b.put(expired...)
	return nil
}

func (b *Book) find(wanted func(Share) bool) []Share {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := []Share{}
	for _, s := range b.shares {
		if wanted(s) {
			found = append(found, s)
		}
	}
	return found
}

// List returns the shares in force, the oldest first.
func (b *Book) List() []Share {
	now := b.now()
	list := b.find(func(s Share) bool { return !s.Revoked && s.Expires.After(now) })
	slices.SortFunc(list, func(x, y Share) int {
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.ID, y.ID))
	})
	return list
}

// Viewers returns how many watch by a share with a limit.
func (b *Book) Viewers(id ID) int {
	b.mu.Lock()
	set := b.viewers[id]
	b.mu.Unlock()
	if set == nil {
		return 0
	}
	return set.Count(b.now())
}

// Revoke takes a share back.
func (b *Book) Revoke(ctx context.Context, id ID) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	found := b.find(func(s Share) bool { return s.ID == id && !s.Revoked })
	if len(found) == 0 {
		return ErrNotFound
	}
	if err := b.store.RevokeShare(ctx, id); err != nil {
		return fmt.Errorf("revoke a share: %w", err)
	}
	b.markRevoked(found)
	return nil
}

// RevokeOf takes back all shares of a camera, which is gone: one that gets its
// id later is another.
func (b *Book) RevokeOf(ctx context.Context, camera string) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	found := b.find(func(s Share) bool { return s.Camera == camera && !s.Revoked })
	if len(found) == 0 {
		return nil
	}
	b.markRevoked(found) // First: whatever becomes of the disk, they are over.
	if err := b.store.RevokeSharesOf(ctx, camera); err != nil {
		return fmt.Errorf("revoke the shares of camera %s: %w", camera, err)
	}
	return nil
}

func (b *Book) markRevoked(shares []Share) {
	for i := range shares {
		shares[i].Revoked = true
	}
	b.put(shares...)
}

// Check returns what a token allows, or ErrForged, ErrRevoked or ErrExpired.
func (b *Book) Check(token string) (Claims, error) {
	claims, err := b.signer.read(token)
	if err != nil {
		return Claims{}, err
	}
	if _, revoked := (*b.revoked.Load())[claims.ID]; revoked {
		return Claims{}, ErrRevoked
	}
	if !claims.Expires.After(b.now()) {
		return Claims{}, ErrExpired
	}
	return claims, nil
}

// Enter counts a viewer of a share, or returns ErrFull. One that is in stays in
// for as long as it goes on asking.
func (b *Book) Enter(c Claims, address, agent string) error {
	if c.MaxViewers == 0 {
		return nil
	}
	b.mu.Lock()
	set := b.viewers[c.ID]
	if set == nil {
		set = &viewer.Set{}
		// A share that the book does not know is of a database that was put back
		// to an older one. Its viewers are counted all the same, in bounds.
		if len(b.viewers) < MaxShares {
			b.viewers[c.ID] = set
		}
	}
	b.mu.Unlock()
	now := b.now()
	if !set.Note(address, agent, now, now.Add(patience), c.MaxViewers).In() {
		return ErrFull
	}
	return nil
}
