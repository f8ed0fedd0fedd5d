// Package admission keeps what is served within budgets: a viewer too many is
// told at once to come back later, so that those who watch go on.
package admission

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/drover-video/drover/core/viewer"
)

// Limits are the budgets; 0: no limit.
type Limits struct {
	Viewers       int
	CameraViewers int
	Bitrate       int64 // bits per second
	CameraBitrate int64
}

// Demand is what viewers of a camera ask of the server.
type Demand struct {
	SentBytes uint64        // so far
	Bitrate   int64         // of one viewer, in bits per second; 0 while unknown
	Target    time.Duration // the longest time between two requests for a playlist
}

// Meter tells the demand of cameras.
type Meter interface {
	// Demand is false for a camera of which nothing is served.
	Demand(camera string) (Demand, bool)
	// SentBytes is of all cameras, so far.
	SentBytes() uint64
}

// Reason is which budget is used up; "" for none.
type Reason string

// The reasons.
const (
	Viewers       Reason = "viewers"
	CameraViewers Reason = "camera_viewers"
	Bitrate       Reason = "bitrate"
	CameraBitrate Reason = "camera_bitrate"
)

const (
	// refreshEvery is how old what a verdict rests on may be.
	refreshEvery = 250 * time.Millisecond

	// leastPatience and patienceTargets are how long a viewer counts after its
	// last playlist.
	leastPatience   = 10 * time.Second
	patienceTargets = 3

	// overrun is by how much the bits sent may be above a budget that the viewers
	// let in keep, before media is refused too: players fetch in bursts.
	overrun = 1.25

	// retryLeast and retrySpread are when one who was refused may come back, in
	// seconds. Not all at once: that is how they were too many.
	retryLeast  = 5
	retrySpread = 10
)

// A Gate decides who may come in. All may call it.
type Gate struct {
	limits Limits
	meter  Meter
	now    func() time.Time

	mu        sync.Mutex
	refreshed time.Time
	rooms     map[string]*room // of cameras that somebody watches
	viewers   int              // in all rooms
	bitrate   int64            // that they are expected to take
	sent      rate
	refused   map[Reason]uint64
}

// A room is the viewers of one camera. Its numbers are those of the last refresh
// and of who came in since.
type room struct {
	set      viewer.Set
	viewers  int
	each     int64 // bits per second
	sent     rate
	patience time.Duration
}

func (r *room) bitrate() int64 { return int64(r.viewers) * r.each }

// New returns a gate, or nil where there is no limit to keep: a nil gate lets
// everybody in.
func New(limits Limits, meter Meter, now func() time.Time) *Gate {
	if limits == (Limits{}) {
		return nil
	}
	return &Gate{limits: limits, meter: meter, now: now, rooms: map[string]*room{}, refused: map[Reason]uint64{}}
}

// Playlist says why a viewer may not have a camera's playlist; "" if it may. One
// who has had it lately always may.
func (g *Gate) Playlist(camera, address, agent string) Reason {
	if g == nil {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.refresh(now)
	r := g.room(camera, now)
	if r == nil {
		return "" // Nothing is served: whoever asks is told so.
	}
	until := now.Add(r.patience)
	if r.set.Renew(address, agent, now, until) {
		return ""
	}
	if reason := g.full(r); reason != "" {
		g.refused[reason]++
		return reason
	}
	r.set.Note(address, agent, now, until, 0)
	r.viewers++
	g.viewers++
	g.bitrate += r.each
	return ""
}

// Media says why a segment may not be had now; "" if it may. It is refused only
// where those who were let in take more than was to be expected of them.
func (g *Gate) Media(camera string) Reason {
	if g == nil || g.limits.Bitrate == 0 && g.limits.CameraBitrate == 0 {
		return ""
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	g.refresh(now)
	r := g.room(camera, now)
	if r == nil {
		return ""
	}
	reason := Reason("")
	switch {
	case g.limits.CameraBitrate > 0 && r.sent.bits > int64(overrun*float64(g.limits.CameraBitrate)):
		reason = CameraBitrate
	case g.limits.Bitrate > 0 && g.sent.bits > int64(overrun*float64(g.limits.Bitrate)):
		reason = Bitrate
	default:
		return ""
	}
	g.refused[reason]++
	return reason
}

// full says which budget has no room for one more.
func (g *Gate) full(r *room) Reason {
	switch l := &g.limits; {
	case l.CameraViewers > 0 && r.viewers >= l.CameraViewers:
		return CameraViewers
	case l.Viewers > 0 && g.viewers >= l.Viewers:
		return Viewers
	case l.CameraBitrate > 0 && max(r.bitrate(), r.sent.bits)+r.each > l.CameraBitrate:
		return CameraBitrate
	case l.Bitrate > 0 && max(g.bitrate, g.sent.bits)+r.each > l.Bitrate:
		return Bitrate
	default:
		return ""
	}
}

// room returns a camera's room, nil where nothing of it is served.
func (g *Gate) room(camera string, now time.Time) *room {
	if r := g.rooms[camera]; r != nil {
		return r
	}
	demand, served := g.meter.Demand(camera)
	if !served {
		return nil
	}
	r := &room{}
	r.update(demand, now)
	g.rooms[camera] = r
	return r
}

func (r *room) update(demand Demand, now time.Time) {
	r.each = demand.Bitrate
	r.patience = max(leastPatience, patienceTargets*demand.Target)
	r.sent.add(demand.SentBytes, now)
}

// refresh brings all numbers up to date, if they are old. Rooms that are empty
// and quiet go.
func (g *Gate) refresh(now time.Time) {
	if now.Sub(g.refreshed) < refreshEvery {
		return
	}
	g.refreshed = now
	g.viewers, g.bitrate = 0, 0
	for camera, r := range g.rooms {
		r.viewers = r.set.Count(now)
		demand, served := g.meter.Demand(camera)
		if served {
			r.update(demand, now)
		}
		if !served || r.viewers == 0 && r.sent.bits == 0 {
			delete(g.rooms, camera)
			continue
		}
		g.viewers += r.viewers
		g.bitrate += r.bitrate()
	}
	g.sent.add(g.meter.SentBytes(), now)
}

// Refused returns how many requests were refused, by reason.
func (g *Gate) Refused() map[Reason]uint64 {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	refused := map[Reason]uint64{Viewers: 0, CameraViewers: 0, Bitrate: 0, CameraBitrate: 0}
	for reason, n := range g.refused {
		refused[reason] = n
	}
	return refused
}

// RetryAfter returns when one who was refused may come back, in seconds.
func RetryAfter() int { return retryLeast + rand.IntN(retrySpread) }
