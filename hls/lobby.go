package hls

import (
	"sync"
	"time"
)

// maxPlaces is how many requests may wait for one camera's first playlist. More
// are sent away at once.
const maxPlaces = 16384

// A lobby is where requests wait for cameras that have no playlist yet: those
// that are connecting, or are pulled only when somebody asks. A request that
// waits costs its connection and a place.
type lobby struct {
	mu     sync.Mutex
	closed bool
	rooms  map[string]*room // of cameras that somebody waits for
}

type room struct {
	places  int
	changed chan struct{} // closed, and replaced, when something of the camera is another
}

// A Place is that of one request among those that wait for a camera. It must be
// left.
type Place struct {
	lobby    *lobby
	camera   string
	patience time.Duration
}

// enter takes a place; false where there is none left.
func (l *lobby) enter(camera string, patience time.Duration) (*Place, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, false
	}
	r := l.rooms[camera]
	if r == nil {
		if l.rooms == nil {
			l.rooms = map[string]*room{}
		}
		r = &room{changed: make(chan struct{})}
		l.rooms[camera] = r
	}
	if r.places >= maxPlaces {
		return nil, false
	}
	r.places++
	return &Place{lobby: l, camera: camera, patience: patience}, true
}

// changed returns a channel that is closed at the next change of the camera; false
// where there is nothing to wait for any more.
func (p *Place) changed() (changed <-chan struct{}, ok bool) {
	p.lobby.mu.Lock()
	defer p.lobby.mu.Unlock()
	return p.lobby.rooms[p.camera].changed, !p.lobby.closed
}

func (p *Place) leave() {
	p.lobby.mu.Lock()
	defer p.lobby.mu.Unlock()
	r := p.lobby.rooms[p.camera]
	if r.places--; r.places == 0 {
		delete(p.lobby.rooms, p.camera)
	}
}

// notify wakes all who wait for a camera.
func (l *lobby) notify(camera string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.rooms[camera]; r != nil {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}

// close sends all away who wait.
func (l *lobby) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, r := range l.rooms {
		close(r.changed)
		r.changed = make(chan struct{})
	}
}
