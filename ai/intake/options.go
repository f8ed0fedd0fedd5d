package intake

import (
	"errors"
	"log/slog"
	"time"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"

	"github.com/drover-video/drover/ai/events"
)

// An Archive has recorded what happens. It is called from Run alone, and must not wait.
type Archive interface {
	// Record tells of an event that lasts until a time, as far as is known. It is told
	// again while the event goes on.
	Record(e detection.Event, until time.Time) error
}

// Limits of what workers may report.
type Limits struct {
	WorkerReports float64 // per second, of one worker on one camera
	WorkerBytes   float64 // of text, per second
	AllReports    float64 // per second, of all
}

// DefaultLimits are for a worker that reports each frame of the fastest cameras, and
// for a hundred of usual ones at once.
func DefaultLimits() Limits {
	return Limits{WorkerReports: 100, WorkerBytes: 512 << 10, AllReports: 5000}
}

// Options of a desk. Store and Sources are needed.
type Options struct {
	Store *events.Store

	// Sources returns the names of a camera's sources, and false where there is no
	// such camera.
	Sources func(camera string) ([]string, bool)

	Archive Archive           // nil: there is none
	Publish func(event.Event) // told of events that begin and end; must not wait
	Limits  Limits            // zero: DefaultLimits
	Now     func() time.Time
	Log     *slog.Logger
}

func (o *Options) fill() error {
	if o.Store == nil || o.Sources == nil {
		return errors.New("intake: Store and Sources are needed")
	}
	if o.Publish == nil {
		o.Publish = func(event.Event) {}
	}
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
