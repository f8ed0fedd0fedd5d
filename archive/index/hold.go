package index

import "time"

// A hold keeps what somebody is reading, as a bookmark does, for as long as that is.
type hold struct {
	camera   string
	from, to time.Time
}

// Hold keeps a camera's time from being deleted until release is called, once.
func (x *Index) Hold(camera string, from, to time.Time) (release func()) {
	h := &hold{camera, from, to}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.holds[h] = struct{}{}
	return func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		delete(x.holds, h)
	}
}

func (x *Index) held(camera string, from, to time.Time) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for h := range x.holds {
		if h.camera == camera && h.from.Before(to) && h.to.After(from) {
			return true
		}
	}
	return false
}
