package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// Errors of Open, and of what ends a subscription.
var (
	ErrUnknownCamera = errors.New("there is no such camera")
	ErrTooMany       = errors.New("there are as many workers as this server takes (ai.max_workers)")
	ErrRemoved       = errors.New("the cameras that were asked for have been removed")
	ErrClosed        = errors.New("the server stops")
)

// DefaultMaxWorkers is how many subscriptions there may be at once.
const DefaultMaxWorkers = 256

// maxStreams is how many sources may be taken by all subscriptions together, each of
// which is a goroutine.
const maxStreams = 16384

// lookInterval is how often what no one tells of is looked at.
const lookInterval = time.Second

// Cameras is what the hub asks the registry of cameras.
type Cameras interface {
	// Sources are the names of a camera's streams, the main one first. None: there is
	// no such camera.
	Sources(camera string) []string
	// Want tells that somebody wants the pictures of a camera that is pulled on demand.
	Want(camera string)
}

// Options of a hub. Cameras is needed.
type Options struct {
	Cameras    Cameras
	MaxWorkers int              // default DefaultMaxWorkers
	Now        func() time.Time // default time.Now
}

// Hub knows the sources that are pulled, and brings them to workers. It is a
// camera.Output.
type Hub struct {
	cameras    Cameras
	maxWorkers int
	now        func() time.Time

	mu            sync.Mutex
	sources       map[sourceKey]*ring.Ring // pulled now
	subscriptions map[*Subscription]struct{}
	streams       int // of all subscriptions
	refused       uint64
	past          map[string]counts // of workers that have gone, by name
	closed        bool
}

type sourceKey struct{ camera, source string }

var _ camera.Output = (*Hub)(nil)

// New returns a hub without sources.
func New(options Options) (*Hub, error) {
	if options.Cameras == nil {
		return nil, errors.New("feed: Cameras is needed")
	}
	if options.MaxWorkers <= 0 {
		options.MaxWorkers = DefaultMaxWorkers
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	return &Hub{
		cameras: options.Cameras, maxWorkers: options.MaxWorkers, now: options.Now,
		sources: map[sourceKey]*ring.Ring{}, subscriptions: map[*Subscription]struct{}{}, past: map[string]counts{},
	}, nil
}

// Run looks after what no one tells of until ctx ends: cameras on demand are asked for,
// and those that were removed while they were switched off are missed. Then it ends all
// subscriptions with ErrClosed.
func (h *Hub) Run(ctx context.Context) error {
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			h.look()
		case <-ctx.Done():
			h.close()
			return nil
		}
	}
}

// look does what is due.
func (h *Hub) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := map[string][]string{}
	for s := range h.subscriptions {
		for _, id := range s.request.Cameras {
			if _, asked := known[id]; !asked {
				h.cameras.Want(id)
				known[id] = h.cameras.Sources(id)
			}
		}
		for id := range s.states {
			if _, asked := known[id]; !asked {
				known[id] = h.cameras.Sources(id)
			}
			s.settle(id, known[id])
		}
		s.endIfAllRemoved()
	}
}

func (h *Hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subscriptions {
		s.finish(ErrClosed)
	}
}

// Attach implements camera.Output.
func (h *Hub) Attach(camera, source string, frames *ring.Ring) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sources[sourceKey{camera, source}] = frames
	names := h.cameras.Sources(camera)
	for s := range h.subscriptions {
		if s.wants(camera) {
			s.settle(camera, names)
		}
	}
	return nil
}

// Detach implements camera.Output.
func (h *Hub) Detach(camera, source string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sources, sourceKey{camera, source})
	names := h.cameras.Sources(camera)
	for s := range h.subscriptions {
		if s.wants(camera) {
			s.settle(camera, names)
			s.endIfAllRemoved()
		}
	}
}

// Open begins a subscription, whose frames go to the sink from now on. The caller
// closes it. The error is ErrUnknownCamera, which says which, ErrTooMany or ErrClosed.
func (h *Hub) Open(request Request, sink Sink) (*Subscription, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if len(h.subscriptions) >= h.maxWorkers || h.streams+len(request.Cameras) > maxStreams {
		h.refused++
		return nil, ErrTooMany
	}
	s := &Subscription{hub: h, request: request, sink: sink, streams: map[string]*Stream{}, states: map[string]State{}}
	known := map[string][]string{}
	for _, id := range request.Cameras {
		if known[id] = h.cameras.Sources(id); len(known[id]) == 0 {
			return nil, fmt.Errorf("%w: %s", ErrUnknownCamera, id)
		}
	}
	h.subscriptions[s] = struct{}{}
	for id, names := range known {
		h.cameras.Want(id)
		s.settle(id, names)
	}
	if request.all() {
		for key := range h.sources {
			s.settle(key.camera, h.cameras.Sources(key.camera))
		}
	}
	return s, nil
}

// Newest returns the newest frame of video that can be decoded by itself of a camera's
// source, with a reference for the caller. "" is the first source. The error is
// camera.ErrNotFound or camera.ErrNoPicture; a camera that is pulled on demand is told
// that somebody asks.
func (h *Hub) Newest(id, source string) (*media.Frame, error) {
	names := h.cameras.Sources(id)
	if len(names) == 0 || source != "" && !slices.Contains(names, source) {
		return nil, camera.ErrNotFound
	}
	h.cameras.Want(id)
	h.mu.Lock()
	frames := h.sources[sourceKey{id, choose(names, source)}]
	h.mu.Unlock()
	if frames == nil {
		return nil, camera.ErrNoPicture
	}
	reader, err := frames.Subscribe(ring.Options{Name: "still", Buffer: 1, Start: ring.StartLatest})
	if err != nil {
		return nil, camera.ErrNoPicture
	}
	defer reader.Close()
	select {
	case item, ok := <-reader.C:
		if ok && item.Frame.Keyframe && item.Frame.Track.Kind == media.KindVideo {
			return item.Frame, nil
		}
		if ok {
			item.Frame.Release()
		}
	default:
	}
	return nil, camera.ErrNoPicture
}

// Source returns which of a camera's sources stands for one that is asked for; "" if
// there is no such camera.
func (h *Hub) Source(id, asked string) string {
	names := h.cameras.Sources(id)
	if len(names) == 0 {
		return ""
	}
	return choose(names, asked)
}

// choose returns which of a camera's sources stands for the one that was asked for.
func choose(names []string, asked string) string {
	if slices.Contains(names, asked) {
		return asked
	}
	return names[0]
}
