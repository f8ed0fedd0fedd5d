// Package aitest has cameras for tests of what serves frames to AI workers: rings that
// a test writes frames into, and a registry that knows them.
package aitest

import (
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// A Rig is a hub and the cameras that it serves.
type Rig struct {
	Hub  *feed.Hub
	Pool *media.Pool

	t       testing.TB
	mu      sync.Mutex
	sources map[string][]string
	wanted  map[string]int
}

// New returns a rig whose frames must all have been released when the test ends.
func New(t testing.TB, options feed.Options) *Rig {
	t.Helper()
	r := &Rig{t: t, Pool: media.NewPool(), sources: map[string][]string{}, wanted: map[string]int{}}
	options.Cameras = r
	hub, err := feed.New(options)
	if err != nil {
		t.Fatal(err)
	}
	r.Hub = hub
	t.Cleanup(func() {
		if n := r.Pool.Stats().Frames; n != 0 {
			t.Errorf("%d frames were never released", n)
		}
	})
	return r
}

// Sources implements feed.Cameras.
func (r *Rig) Sources(id string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sources[id]
}

// Want implements feed.Cameras.
func (r *Rig) Want(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted[id]++
}

// Wanted returns how often a camera was asked for.
func (r *Rig) Wanted(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wanted[id]
}

// Know makes a camera known, with these sources, none of which is pulled yet. Without
// sources it is forgotten.
func (r *Rig) Know(id string, sources ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(sources) == 0 {
		delete(r.sources, id)
	} else {
		r.sources[id] = sources
	}
}

// A Camera is a source that a test writes frames of.
type Camera struct {
	ID, Source string
	Ring       *ring.Ring
	Track      *media.Track
	Params     *media.Params
	GOP        int // frames from keyframe to keyframe
	FPS        int
	Bytes      int // of a frame; default 400

	rig   *Rig
	arena *media.Arena
	n     int
	data  []byte
}

// Attach has a camera's source pulled, until the test ends or Detach is called.
func (r *Rig) Attach(id, source string) *Camera {
	r.t.Helper()
	r.mu.Lock()
	if r.sources[id] == nil {
		r.sources[id] = []string{source}
	}
	r.mu.Unlock()
	c := &Camera{
		ID: id, Source: source, Ring: ring.New(ring.Limits{}), rig: r,
		Track:  &media.Track{Kind: media.KindVideo, Codec: media.CodecH264, ClockRate: 90000},
		Params: &media.Params{Codec: media.CodecH264, SPS: SPS(), PPS: []byte{0x68, 0xce, 0x38, 0x80}, Width: 640, Height: 360, FPS: 25},
		GOP:    25, FPS: 25, Bytes: 400, arena: media.NewArena(r.Pool, 64<<10),
	}
	if err := r.Hub.Attach(id, source, c.Ring); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { c.Detach() })
	return c
}

// SPS is a sequence parameter set of 640 by 360 pixels.
func SPS() []byte {
	return []byte{0x67, 0x42, 0xc0, 0x1e, 0xda, 0x02, 0x80, 0xbf, 0xe5, 0xc0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00, 0xca, 0x3c, 0x58, 0xba, 0x80}
}

// Detach ends the source, as the puller of one that is removed does.
func (c *Camera) Detach() {
	if c.arena == nil {
		return
	}
	c.rig.Hub.Detach(c.ID, c.Source)
	c.Ring.Close()
	c.arena.Close()
	c.arena = nil
}

// noStartCode keeps a number's zeros from looking like a start code.
const noStartCode = 0xa5a5a5a5a5a5a5a5

// Write writes the next frame: two NAL units, of which the second ends with the frame's
// number in 8 bytes. It returns the number, from 1.
func (c *Camera) Write() uint64 {
	c.rig.t.Helper()
	key := c.n%c.GOP == 0
	c.n++
	slice := byte(0x41)
	if key {
		slice = 0x65
	}
	size := max(c.Bytes, 32)
	if len(c.data) != size {
		c.data = make([]byte, size)
		for i := range c.data {
			c.data[i] = byte(i)%251 | 1 // no start code
		}
	}
	data := c.data
	binary.BigEndian.PutUint32(data, 4)
	copy(data[4:], []byte{0x06, 0x01, 0x80, 0x80})
	binary.BigEndian.PutUint32(data[8:], uint32(size-12))
	data[12] = slice
	binary.BigEndian.PutUint64(data[size-8:], uint64(c.n)^noStartCode)
	c.arena.Begin()
	if err := c.arena.Append(data); err != nil {
		c.rig.t.Fatal(err)
	}
	f, err := c.arena.Finish()
	if err != nil {
		c.rig.t.Fatal(err)
	}
	f.Track, f.Params, f.Seq, f.Epoch = c.Track, c.Params, uint64(c.n), 1
	f.Keyframe, f.Entry = key, key
	f.DTS = int64(c.n-1) * int64(c.Track.ClockRate) / int64(c.FPS)
	f.PTS = f.DTS
	f.Wall, f.WallSource = time.Now(), media.WallSender
	c.Ring.Write(f)
	return uint64(c.n)
}

// Number reads the number of a frame out of its bytes.
func Number(data []byte) uint64 {
	if len(data) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(data[len(data)-8:]) ^ noStartCode
}

// Written is how many frames have been written.
func (c *Camera) Written() int { return c.n }
