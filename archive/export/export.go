package export

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// MaxDuration is the longest time that one clip may span: its table of samples is in
// memory while it is sent.
const MaxDuration = 24 * time.Hour

// What a clip cannot be made for.
var (
	ErrNothing = errors.New("nothing was recorded in that time")
	ErrTooLong = fmt.Errorf("a clip spans at most %d hours: ask for several", int(MaxDuration/time.Hour))
	ErrBusy    = errors.New("as many clips as may be made at once are being made: try again in a moment")
	ErrRange   = errors.New("the end of a clip lies behind its beginning")
)

// Gaps says what becomes of times without footage.
type Gaps uint8

// What can become of gaps.
const (
	CloseGaps Gaps = iota // what was recorded follows side by side
	KeepGaps              // the picture before stands still for as long
)

// Request says what a clip is made of.
type Request struct {
	Camera   string
	Source   string // "": the one that was recorded first
	From, To time.Time
	Gaps     Gaps
}

// Exporter makes clips. Its methods may be called by all.
type Exporter struct {
	index  *index.Index
	places places
	slots  chan struct{}
}

// New returns an exporter of the archive in a directory, and of what left it for a
// second home, unless away is nil. It makes so many clips at once at most. It must be
// closed.
func New(x *index.Index, dir string, atOnce int, away SecondHome) (*Exporter, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	return &Exporter{index: x, places: places{root, away}, slots: make(chan struct{}, max(1, atOnce))}, nil
}

// Close lets go of the directory. Clips that are being sent go on until they need a
// file.
func (e *Exporter) Close() error { return e.places.root.Close() }

// Clip plans a clip: it reads the headers of what was recorded, and not the media.
// The clip must be closed; until then what it is made of is not deleted, and it
// counts as one of those made at once. The error is one of this package's, or one of
// reading.
func (e *Exporter) Clip(ctx context.Context, r Request) (*Clip, error) {
	switch {
	case !r.To.After(r.From):
		return nil, ErrRange
	case r.To.Sub(r.From) > MaxDuration:
		return nil, ErrTooLong
	}
	stream, ok := e.stream(r.Camera, r.Source)
	if !ok {
		return nil, ErrNothing
	}
	select {
	case e.slots <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	release := e.index.Hold(r.Camera, r.From.Add(-index.MaxFileSpan), r.To)
	done := func() { release(); <-e.slots }
	clip, err := e.plan(ctx, stream, r)
	if err != nil {
		done()
		return nil, err
	}
	clip.done = done
	return clip, nil
}

func (e *Exporter) stream(camera, source string) (index.Stream, bool) {
	if source != "" {
		return e.index.Find(camera, source)
	}
	streams := e.index.StreamsOf(camera)
	if len(streams) == 0 {
		return index.Stream{}, false
	}
	return streams[0], true
}
