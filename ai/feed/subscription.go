package feed

import (
	"slices"
	"sync/atomic"

	"github.com/drover-video/drover/core/ring"
)

// A Subscription is what one worker takes, over all its cameras.
type Subscription struct {
	hub        *Hub
	request    Request
	sink       Sink
	nextConfig atomic.Uint32
	counts     tally

	// Owned by the holder of hub.mu.
	streams  map[string]*Stream // by camera
	states   map[string]State   // of each camera that the worker was told of
	finished bool
}

// Request returns what was asked for.
func (s *Subscription) Request() Request { return s.request }

// Close ends the subscription, and returns when the sink is called no more. Not from
// within the sink.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.finish(ErrClosed)
	if _, open := s.hub.subscriptions[s]; open {
		delete(s.hub.subscriptions, s)
		s.hub.remember(s)
	}
}

// What follows is called by the holder of hub.mu.

func (s *Subscription) wants(camera string) bool {
	return s.request.all() || slices.Contains(s.request.Cameras, camera)
}

// settle has the subscription take what it wants of a camera, of which these are the
// sources, and tells the worker what became of it.
func (s *Subscription) settle(camera string, names []string) {
	if s.finished {
		return
	}
	if len(names) == 0 {
		s.leave(camera)
		s.tell(Status{Camera: camera, State: StateRemoved, Reason: "the camera was removed"})
		return
	}
	source := choose(names, s.request.Source)
	frames := s.hub.sources[sourceKey{camera, source}]
	stream := s.streams[camera]
	if stream != nil && stream.Source == source && stream.ring == frames {
		return
	}
	s.leave(camera)
	if frames == nil {
		s.tell(Status{Camera: camera, State: StateWaiting, Reason: "the camera is not connected now: switched off, or waiting to be asked for"})
		return
	}
	if s.hub.streams >= maxStreams {
		s.tell(Status{Camera: camera, State: StateWaiting, Reason: "the server has as many streams for workers as it takes"})
		return
	}
	reader, err := frames.Subscribe(ring.Options{Name: "ai", Buffer: pumpFrames, Start: ring.StartLatest})
	if err != nil { // closed: Detach is about to say so
		return
	}
	s.states[camera] = StateWatching
	s.sink.Status(Status{Camera: camera, Source: source, State: StateWatching})
	stream = &Stream{Camera: camera, Source: source, subscription: s, ring: frames, reader: reader, done: make(chan struct{})}
	s.streams[camera] = stream
	s.hub.streams++
	go stream.pump()
}

// leave ends the stream of a camera, if there is one.
func (s *Subscription) leave(camera string) {
	if stream := s.streams[camera]; stream != nil {
		stream.end()
		delete(s.streams, camera)
		s.hub.streams--
		s.sink.Forget(stream)
	}
}

// tell tells the worker what it does not know yet. Of a camera that is gone, and was not
// named, nothing is kept.
func (s *Subscription) tell(status Status) {
	if s.states[status.Camera] != status.State {
		s.states[status.Camera] = status.State
		s.sink.Status(status)
	}
	if status.State == StateRemoved && s.request.all() {
		delete(s.states, status.Camera)
	}
}

// endIfAllRemoved ends a subscription whose cameras are all gone.
func (s *Subscription) endIfAllRemoved() {
	if s.request.all() || s.finished {
		return
	}
	for _, camera := range s.request.Cameras {
		if s.states[camera] != StateRemoved {
			return
		}
	}
	s.finish(ErrRemoved)
}

func (s *Subscription) finish(err error) {
	if s.finished {
		return
	}
	s.finished = true
	for camera := range s.streams {
		s.leave(camera)
	}
	s.sink.Finish(err)
}
