package hls

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// Hub owns the muxers of all cameras.
//
// All methods may be called from any goroutine.
type Hub struct {
	config Config
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.RWMutex
	closed  bool
	cameras map[string]*Camera
	runs    map[muxerKey]*muxerRun
	floors  map[muxerKey]uint64 // of sources whose numbers are ahead of the clock
	lobby   lobby
	runners sync.WaitGroup
	pool    *media.Pool // of the sound that variants share
}

type muxerKey struct{ camera, source string }

type muxerRun struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// New returns a hub without cameras. It must be closed.
func New(config Config) (*Hub, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	if config.Epochs == nil {
		config.Epochs = &clockEpochs{now: config.Now}
	}
	h := &Hub{config: config, cameras: map[string]*Camera{}, runs: map[muxerKey]*muxerRun{}, floors: map[muxerKey]uint64{}, pool: media.NewPool()}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h, nil
}

// Attach starts to make HLS of a camera's source from its ring, until Detach,
// Close, or the ring is closed. A camera's sources are its variants, the first
// attached being the first listed.
func (h *Hub) Attach(camera, source string, r *ring.Ring) error {
	if !validID(camera) || !validID(source) {
		return fmt.Errorf("hls of %q, %q: not a camera's or source's name", camera, source)
	}
	key := muxerKey{camera, source}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errors.New("hls is closed")
	}
	if h.runs[key] != nil {
		return fmt.Errorf("hls of camera %s, source %s: attached already", camera, source)
	}
	c := h.cameras[camera]
	if c == nil {
		c = newCamera(camera, &h.config, func() { h.lobby.notify(camera) })
		h.cameras[camera] = c
	}
	h.begin(c, newMuxer(source, r, &h.config, c))
	if c.sources() == 2 {
		mixer := newMixer(h.pool, &h.config, c.periods)
		m := newMuxer(soundSource, mixer.ring, &h.config, c)
		m.drops = &mixer.drops
		c.mixer.Store(mixer)
		h.begin(c, m)
	}
	h.lobby.notify(camera)
	return nil
}

// begin runs a muxer. The caller holds mu.
func (h *Hub) begin(c *Camera, m *Muxer) {
	key := muxerKey{c.id, m.source}
	muxers := append(append([]*Muxer(nil), *c.muxers.Load()...), m)
	c.muxers.Store(&muxers)
	ctx, cancel := context.WithCancel(h.ctx)
	run := &muxerRun{cancel: cancel, done: make(chan struct{})}
	h.runs[key] = run
	floor := h.floors[key]
	delete(h.floors, key)
	h.runners.Go(func() {
		defer close(run.done)
		run := m.run
		if h.config.OnDemand {
			run = m.runOnDemand
		}
		next, err := run(ctx, floor)
		if err != nil && ctx.Err() == nil {
			m.log.Error("no more hls", "err", err)
		}
		h.noteFloor(key, next)
	})
}

// noteFloor remembers where a source's numbers ended, if the next run would not
// begin above them by the clock.
func (h *Hub) noteFloor(key muxerKey, next uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	clock := sequenceOf(h.config.Now().UnixMilli())
	for other, floor := range h.floors {
		if floor < clock {
			delete(h.floors, other)
		}
	}
	if next >= clock {
		h.floors[key] = next
	}
}

// Detach ends the HLS of a source and returns when nothing of it runs any more.
// A camera without sources is unknown afterwards.
func (h *Hub) Detach(camera, source string) {
	key := muxerKey{camera, source}
	h.mu.Lock()
	run := h.runs[key]
	h.mu.Unlock()
	if run == nil {
		return
	}
	run.cancel()
	<-run.done
	h.mu.Lock()
	if h.runs[key] != run {
		h.mu.Unlock()
		return // another Detach has been here
	}
	c := h.cameras[camera]
	h.forget(c, source)
	var sound *muxerRun
	var mix *mixer
	if c.sources() < 2 {
		// What is left has its sound in its segments again.
		sound, mix = h.runs[muxerKey{camera, soundSource}], c.mixer.Swap(nil)
		h.forget(c, soundSource)
	}
	c.render()
	if c.sources() == 0 {
		delete(h.cameras, camera)
	}
	h.mu.Unlock()
	if sound != nil {
		sound.cancel()
		<-sound.done
		mix.close()
	}
}

// forget takes a muxer out of its camera. The caller holds mu.
func (h *Hub) forget(c *Camera, source string) {
	delete(h.runs, muxerKey{c.id, source})
	var left []*Muxer
	for _, m := range *c.muxers.Load() {
		if m.source != source {
			left = append(left, m)
		}
	}
	c.muxers.Store(&left)
}

// Close ends all muxers and returns when none runs any more.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.lobby.close()
	h.runners.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.cameras {
		if mixer := c.mixer.Load(); mixer != nil {
			mixer.close()
		}
	}
}

// Lookup implements Cameras: it knows the cameras that are attached.
func (h *Hub) Lookup(camera string) (c *Camera, known bool) {
	c, known = h.find(camera)
	if known && h.config.OnDemand {
		c.startMuxers(h.config.Now())
	}
	return c, known
}

// find is Lookup for those who only look.
func (h *Hub) find(camera string) (c *Camera, known bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	c, known = h.cameras[camera]
	return c, known
}

// Await implements Cameras.
func (h *Hub) Await(camera string) (*Place, bool) {
	if h.config.FirstWait < 0 {
		return nil, false
	}
	return h.lobby.enter(camera, h.config.FirstWait)
}

// Away tells that a camera's source has gone away: who waits for its next part is
// not left to wait.
func (h *Hub) Away(camera, source string) {
	c, ok := h.find(camera)
	if !ok {
		return
	}
	if mix := c.mixer.Load(); mix != nil {
		mix.lose(source)
	}
	if m := c.muxer(source); m != nil {
		select {
		case m.away <- struct{}{}:
		default:
		}
	}
}

// Bytes returns how much media all windows keep from being freed. Frames that a
// ring holds too are counted here as well.
func (h *Hub) Bytes() int64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n := int64(0)
	for _, c := range h.cameras {
		for _, m := range *c.muxers.Load() {
			n += m.held.Load()
		}
	}
	return n
}

// Viewers returns about how many viewers a camera has.
func (h *Hub) Viewers(camera string) int {
	c, ok := h.find(camera)
	if !ok {
		return 0
	}
	return c.viewers.count(h.config.Now())
}

// Stats returns how a camera's HLS is doing; false where it is not attached.
func (h *Hub) Stats(camera string) (CameraStats, bool) {
	c, ok := h.find(camera)
	if !ok {
		return CameraStats{}, false
	}
	stats := CameraStats{Camera: c.id, Viewers: c.viewers.count(h.config.Now()), Requests: c.requests.Load(), SentBytes: c.sent.Load()}
	for _, m := range *c.muxers.Load() {
		stats.Sources = append(stats.Sources, m.Stats())
	}
	return stats, true
}
