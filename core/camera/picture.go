package camera

import (
	"bytes"
	"errors"
	"time"

	"github.com/drover-video/drover/core/media"
)

// Why there is no picture of a camera.
var (
	ErrNoPicture = errors.New("the camera is not live, or has sent no picture yet")
	ErrNoJPEG    = errors.New("the camera sends no JPEG pictures")
)

// codecMJPEG is how a track of JPEG pictures is named in its status.
const codecMJPEG = "MJPEG"

// Picture is one picture of a camera, as the camera sent it.
type Picture struct {
	JPEG []byte
	At   time.Time
}

// Picture returns the newest picture of a live camera that sends JPEG by itself,
// from the first of its sources that does. The error is ErrNotFound, ErrNoJPEG or
// ErrNoPicture; a camera that is pulled on demand is told that somebody asks.
func (r *Registry) Picture(id string) (Picture, error) {
	r.Want(id)
	r.mu.RLock()
	e, ok := r.cameras[id]
	var pullers []*running
	if ok {
		pullers = e.pullers
	}
	r.mu.RUnlock()
	if !ok {
		return Picture{}, ErrNotFound
	}
	err := ErrNoJPEG
	if len(pullers) == 0 {
		err = ErrNoPicture // switched off
	}
	for _, p := range pullers {
		status := p.status()
		if status.State == StateLive {
			if f := p.ring.Newest(media.CodecJPEG); f != nil {
				defer f.Release()
				return Picture{JPEG: bytes.Clone(f.Payload()), At: f.Wall}, nil
			}
		}
		if mayBringJPEG(status.Tracks) {
			err = ErrNoPicture
		}
	}
	return Picture{}, err
}

// mayBringJPEG reports whether a source's tracks hold JPEG, or are not known.
func mayBringJPEG(tracks []TrackStatus) bool {
	for _, t := range tracks {
		if t.Codec == codecMJPEG {
			return true
		}
	}
	return len(tracks) == 0
}
