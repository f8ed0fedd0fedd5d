package archive

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/ring"
)

// Options of a recorder. Dir is needed.
type Options struct {
	Dir string // where the files are, and their index

	WriteBuffer  int64         // most bytes that wait to be written; default disk.DefaultBuffer
	SyncInterval time.Duration // default disk.DefaultSyncInterval
	StopTimeout  time.Duration // for a disk that hangs when Drover stops; default disk.DefaultStopTimeout

	// KeepUntilCopied has age and bytes delete only what has a copy in a second home.
	KeepUntilCopied bool

	MinFree  Floor         // what is kept free on the disk
	RingSpan time.Duration // how far back rings reach; default ring.DefaultMaxDuration

	Log   *slog.Logger
	Now   func() time.Time
	Event func(event.Event)   // told what an operator may act on; must not wait
	Want  func(camera string) // told of cameras that have to be pulled; must not wait

	// Passed says how much time has passed since the last look at the clock, where that
	// is not what Now says. For tests of clocks that are set.
	Passed func() time.Duration

	// FS stands in for the disk that Dir is on. For tests.
	FS disk.FS
}

func (o *Options) fill() error {
	if o.Dir == "" {
		return errors.New("archive: Dir is needed")
	}
	o.RingSpan = cmp.Or(o.RingSpan, ring.DefaultMaxDuration)
	o.SyncInterval = cmp.Or(o.SyncInterval, disk.DefaultSyncInterval)
	o.StopTimeout = cmp.Or(o.StopTimeout, disk.DefaultStopTimeout)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Event == nil {
		o.Event = func(event.Event) {}
	}
	if o.Want == nil {
		o.Want = func(string) {}
	}
	if o.FS == nil {
		o.FS = disk.NewDir(o.Dir)
	}
	return nil
}
