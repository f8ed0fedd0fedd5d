// Package serve hands the tap to workers on this machine in shared memory. All workers
// that ask for the same frames in the same way read one memory, into which each frame is
// written once.
package serve

import (
	"errors"
	"log/slog"
	"time"

	"github.com/drover-video/drover/ai/feed"
)

// ErrUnsupported is that there is no such memory on this system.
var ErrUnsupported = errors.New("shared memory for workers: not on this system")

// Bounds of what workers may have the server hold.
const (
	maxTracks      = 2048
	slots          = 16384
	requestTimeout = 10 * time.Second
	answerTimeout  = 5 * time.Second
)

// Options of a server. Hub, Log and Path are needed.
type Options struct {
	Hub        *feed.Hub
	Log        *slog.Logger
	Path       string // of the socket
	MaxWorkers int    // default feed.DefaultMaxWorkers
	MaxSets    int    // memories at once; default 8
	DataBytes  int    // of frames in each; default 64 MB
}

func (o *Options) fill() error {
	if o.Hub == nil || o.Log == nil || o.Path == "" {
		return errors.New("shared memory: Hub, Log and Path are needed")
	}
	if o.MaxWorkers <= 0 {
		o.MaxWorkers = feed.DefaultMaxWorkers
	}
	if o.MaxSets <= 0 {
		o.MaxSets = 8
	}
	if o.DataBytes <= 0 {
		o.DataBytes = 64 << 20
	}
	return nil
}
