package play

import (
	"strings"
	"sync"
	"time"

	"github.com/drover-video/drover/core/viewer"
)

// viewerPatience is how long one who watches a recording counts after the last thing
// asked for. Players fetch up to half a minute ahead.
const viewerPatience = 45 * time.Second

// An audience counts who watches recordings, by camera. The zero value is ready; all
// may call it.
type audience struct {
	mu    sync.Mutex
	rooms map[string]*viewer.Set // of cameras that somebody has watched
}

func (a *audience) room(camera string) *viewer.Set {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.rooms == nil {
		a.rooms = map[string]*viewer.Set{}
	}
	if a.rooms[camera] == nil {
		a.rooms[camera] = &viewer.Set{}
	}
	return a.rooms[camera]
}

// note counts one who has asked for media or a playlist of a camera that there is.
func (a *audience) note(camera, address, agent string, now time.Time) {
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		address = address[:i]
	}
	a.room(camera).Note(address, agent, now, now.Add(viewerPatience), 0)
}

func (a *audience) count(camera string, now time.Time) int {
	a.mu.Lock()
	room := a.rooms[camera]
	a.mu.Unlock()
	if room == nil {
		return 0
	}
	return room.Count(now)
}

// Viewers returns how many watch recordings of a camera now: an estimate, as that of
// the live picture is.
func (h *Handler) Viewers(camera string) int { return h.audience.count(camera, h.options.Now()) }
