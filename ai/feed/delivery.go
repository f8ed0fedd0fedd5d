package feed

import (
	"time"

	"github.com/drover-video/drover/core/media"
)

// State is whether frames of a camera can be expected.
type State uint8

// The states of a camera to a worker.
const (
	StateWaiting  State = iota + 1 // known, but not pulled
	StateWatching                  // frames come as the camera sends them
	StateRemoved                   // nothing comes any more
)

// Status is a state of a camera, and why.
type Status struct {
	Camera, Source string
	State          State
	Reason         string
}

// Config is the parameters that frames of a track have. It is immutable.
type Config struct {
	Camera, Source string
	Track          *media.Track
	Params         *media.Params
	Number         uint32 // no other of the subscription has it
	AnnexB         bool
}

// Frame is a frame for one worker.
type Frame struct {
	*media.Frame // its owner has one reference

	Camera, Source string
	Config         *Config // in force for this frame
	Missed         uint64
	Arrival        time.Time // when the server had it
	AnnexB         bool
}

// Delivery is one thing for a worker: one of the three is there. A Config comes before
// the first frame that needs it.
type Delivery struct {
	Status Status // if its State is not 0
	Config *Config
	Frame  Frame // if its media.Frame is not nil; the taker releases it
}
