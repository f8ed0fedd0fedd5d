package rtsptest

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Camera is a camera of a running Server. Its methods may be called by any
// goroutine.
type Camera struct {
	server *Server
	path   string
	url    string

	groupPorts []int // even, of each media that can be; nil without a group at the start

	mu       sync.Mutex // guards all below, players included
	config   CameraConfig
	reel     *reel
	next     *reel // to change to at the next keyframe
	delay    int64 // of the first clip; kept, so that timestamps go on over a change
	first    int64 // position of the reel's first picture
	position int64
	players  []*player
	firstHas bool // the first client has come, so faults with Once are over
	statuses int  // answers made because of config.Status
	sessions int
	held     []time.Time // when slots of lost sessions are free again
	seen     Seen
	changed  chan struct{} // closed at the next change of seen; nil if nobody waits
}

func newCamera(s *Server, index int, config CameraConfig, r *reel) *Camera {
	return &Camera{
		server: s,
		path:   config.Path,
		url:    fmt.Sprintf("%s://%s/%s", s.scheme(), s.Addr(), config.Path),
		config: config,
		reel:   r,
		delay:  r.clip.reorderTicks,
		// Keyframes of cameras that are started together are spread over a GOP.
		position: int64(ClipPictures + index*17%GOPPictures),
	}
}

// URL is what to pull, without credentials.
func (c *Camera) URL() string { return c.url }

// Set changes the configuration of a running camera. Path is fixed; what
// concerns packets takes effect at the next keyframe, what concerns sessions for
// the next client.
func (c *Camera) Set(change func(config *CameraConfig)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	config := c.config
	change(&config)
	config.Path = c.path
	if err := config.setDefaults(); err != nil {
		return err
	}
	if config.Group != "" && c.groupPorts == nil {
		return fmt.Errorf("camera %s: a group must be given at the start", c.path)
	}
	r, err := c.server.reels.get(config.Clip, config.packing())
	if err != nil {
		return err
	}
	if err := c.server.reels.load(config.Faults); err != nil {
		return err
	}
	c.config = config
	c.statuses = 0
	if r != c.reel {
		c.next = r
	}
	return nil
}

// Do makes something go wrong for all that watch the camera now.
func (c *Camera) Do(action Action) error {
	if err := c.server.reels.load([]Fault{{Do: action}}); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if action.clip != "" {
		c.changeTo(action.clip) // also if nobody watches
	}
	for _, p := range slices.Clone(c.players) {
		c.applyTo(p, action)
	}
	return nil
}

// applyTo is called with the lock held.
func (c *Camera) applyTo(p *player, action Action) {
	c.event("fault", p.conn, action.String())
	action.apply(p)
}

// changeTo is called with the lock held, and with a clip that is at hand.
func (c *Camera) changeTo(clip string) {
	r, err := c.server.reels.get(clip, c.config.packing())
	if err != nil {
		c.event("error", nil, err.Error())
		return
	}
	c.config.Clip = clip
	c.next = r
}

// join adds a player. reply is called before anything is sent to it.
func (c *Camera) join(p *player, reply func(m *moment)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	start := c.config.Start
	if start == StartKeyframe && len(c.players) == 0 {
		// The next tick advances by one and is then at a keyframe.
		intoGOP := (c.position - c.first + 1) % GOPPictures
		c.position += (GOPPictures - intoGOP) % GOPPictures
	}
	p.waitKey = start != StartAny
	for _, fault := range c.config.Faults {
		if !fault.Once || !c.firstHas {
			p.faults = append(p.faults, fault)
		}
	}
	c.firstHas = true
	at := c.moment(c.position + 1)
	for _, s := range p.streams() {
		if c.config.FirstTimestamp != 0 {
			s.base = c.config.FirstTimestamp - uint32(at.clipTicks(s.clockHz))
		}
		if c.config.FirstSequence != 0 {
			s.seq = c.config.FirstSequence
		}
	}
	reply(at)
	c.players = append(c.players, p)
	c.seen.Plays++
	c.event("play", p.conn, "")
	c.note()
}

// leave removes a player, if it is there.
func (c *Camera) leave(p *player, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.players, p); i >= 0 {
		c.players = slices.Delete(c.players, i, i+1)
		c.event(why, p.conn, "")
	}
	c.note()
}

// moment is called with the lock held.
func (c *Camera) moment(position int64) *moment {
	return &moment{
		reel:     c.reel,
		picture:  int((position - c.first) % ClipPictures),
		position: position,
		delay:    c.delay,
	}
}

// tick sends one picture, and what sound belongs to it, to all clients. It was
// due at the time given: a camera's clock runs evenly, however late we are.
func (c *Camera) tick(due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.position++
	m := c.moment(c.position)
	if c.next != nil && m.picture%GOPPictures == 0 {
		c.reel, c.first, c.next = c.next, c.position, nil
		m = c.moment(c.position)
	}
	m.wall = c.config.WallClock().Add(-time.Since(due))
	for _, p := range slices.Clone(c.players) {
		p.dueFaults()
		buf := c.server.buffers.Get().(*[]byte)
		*buf = p.appendTick((*buf)[:0], m)
		p.pictures++
		switch {
		case len(*buf) == 0 || p.udpLost:
			c.server.buffers.Put(buf)
		case p.conn.push(item{buffer: buf, media: true, remote: p.remote}):
			c.seen.Sent++
		default:
			c.server.buffers.Put(buf)
			c.seen.Dropped++
		}
	}
	if len(c.players) > 0 {
		c.note()
	}
}

// takeSlot answers whether another session may begin.
func (c *Camera) takeSlot() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.held = slices.DeleteFunc(c.held, func(free time.Time) bool { return free.Before(now) })
	if c.config.Slots > 0 && c.sessions+len(c.held) >= c.config.Slots {
		return false
	}
	c.sessions++
	return true
}

// freeSlot ends a session; one that was not torn down keeps its slot for a while.
func (c *Camera) freeSlot(tornDown bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions--
	if !tornDown && c.config.SlotHold > 0 {
		c.held = append(c.held, time.Now().Add(c.config.SlotHold))
	}
}

// snapshot returns the configuration as it is now.
func (c *Camera) snapshot() CameraConfig {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.config
}

// clip is the one that plays now.
func (c *Camera) clip() *Clip {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reel.clip
}

// forcedStatus is the status that the configuration wants for a method, 0 for none.
func (c *Camera) forcedStatus(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := c.config.Status[method]
	if status == 0 || c.config.StatusTimes > 0 && c.statuses >= c.config.StatusTimes {
		return 0
	}
	c.statuses++
	return status
}

func (c *Camera) event(kind string, from *conn, detail string) {
	event := Event{Camera: c.path, Kind: kind, Detail: detail}
	if from != nil {
		event.Client = from.net.RemoteAddr().String()
	}
	c.server.event(event)
}
