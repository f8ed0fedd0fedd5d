package play

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/index"
)

// DefaultTimeShift is how far the playlist without a range reaches back.
const DefaultTimeShift = 24 * time.Hour

// Options is what a Handler needs.
type Options struct {
	Index *index.Index
	Dir   string                   // the archive's directory, which is there
	Known func(camera string) bool // whether there is such a camera, recorded or not

	TimeShift time.Duration    // 0: DefaultTimeShift
	Clips     *export.Exporter // of clip.mp4 and its checksum; nil: there are none
	Seen      Sightings        // what AI workers saw; nil: nothing
	Away      SecondHome       // of what does not lie in Dir any more; nil: there is none
	Now       func() time.Time // nil: time.Now
	Log       *slog.Logger
}

// Handler serves everything below /archive/.
type Handler struct {
	options Options
	root    *os.Root // files are opened below it and nowhere else
	headers headers
	files   fileBook
	shelf   shelf
	flat    flattener

	audience audience
	renders  chan struct{} // of those who render now

	requests, sent, rendered atomic.Uint64
}

// New returns a handler, which is to be closed when nothing is asked of it any more.
func New(o Options) (*Handler, error) {
	if o.Index == nil || o.Known == nil || o.Log == nil {
		return nil, errors.New("play: Index, Known and Log are needed")
	}
	if o.TimeShift == 0 {
		o.TimeShift = DefaultTimeShift
	}
	if o.TimeShift < 0 {
		return nil, fmt.Errorf("play: a time shift of %v", o.TimeShift)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the archive's directory: %w", err)
	}
	return &Handler{options: o, root: root, headers: newHeaders(), renders: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}, nil
}

// Close gives the archive's directory up.
func (h *Handler) Close() error { return h.root.Close() }

// Stats is what was served so far.
type Stats struct {
	Requests, SentBytes uint64
	Rendered            uint64 // versions of playlists
}

// Stats returns what was served so far.
func (h *Handler) Stats() Stats {
	return Stats{Requests: h.requests.Load(), SentBytes: h.sent.Load(), Rendered: h.rendered.Load()}
}

// stream finds the stream of a camera that is asked for: the one that was recorded
// first, unless its source is named.
func (h *Handler) stream(camera, source string) (index.Stream, *problem) {
	streams := h.options.Index.StreamsOf(camera)
	if len(streams) == 0 {
		if h.options.Known(camera) {
			return index.Stream{}, noRecording("Nothing was ever recorded of this camera.")
		}
		return index.Stream{}, noCamera()
	}
	if source == "" {
		return streams[0], nil
	}
	for _, s := range streams {
		if s.Source == source {
			return s, nil
		}
	}
	return index.Stream{}, noRecording("Nothing was ever recorded of this source of the camera.")
}

// failed says what to answer when the archive could not be read. Who has gone is told
// nothing, and neither is the log.
func (h *Handler) failed(ctx context.Context, camera string, err error) *problem {
	if ctx.Err() == nil {
		h.options.Log.Error("the archive cannot be read", "camera", camera, "err", err)
	}
	return broken()
}
