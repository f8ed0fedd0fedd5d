package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// What each camera sends: 2 Mbit/s, as a camera of a quiet street does.
const (
	fps           = 25
	gop           = 50
	keyframeBytes = 90_000
	frameBytes    = 8_370 // so that a GOP of both is 500,000 bytes
)

// cameras writes what real ones would, each frame at its time, spread over the time of a
// frame as cameras are that know nothing of each other.
type cameras struct {
	pool *media.Pool
	list []*source
	hub  *feed.Hub
}

type source struct {
	id     string
	ring   *ring.Ring
	arena  *media.Arena
	track  *media.Track
	params *media.Params
	n      int
}

// Sources implements feed.Cameras.
func (c *cameras) Sources(id string) []string {
	for _, s := range c.list {
		if s.id == id {
			return []string{"main"}
		}
	}
	return nil
}

// Want implements feed.Cameras.
func (c *cameras) Want(string) {}

func newCameras(n int) (*cameras, error) {
	c := &cameras{pool: media.NewPool()}
	for i := range n {
		c.list = append(c.list, &source{
			id: fmt.Sprintf("camera-%d", i), ring: ring.New(ring.Limits{}), arena: media.NewArena(c.pool, 256<<10),
			track: &media.Track{Kind: media.KindVideo, Codec: media.CodecH264, ClockRate: 90000},
			params: &media.Params{Codec: media.CodecH264, SPS: []byte{0x67, 0x64, 0, 0x1f, 0xac, 0xd9, 0x40, 0x50, 5, 0xbb}, PPS: []byte{0x68, 0xeb, 0xe3, 0xcb},
				Width: 1280, Height: 720, FPS: fps},
			n: i, // keyframes do not come all at once
		})
	}
	hub, err := feed.New(feed.Options{Cameras: c})
	if err != nil {
		return nil, err
	}
	c.hub = hub
	for _, s := range c.list {
		if err := hub.Attach(s.id, "main", s.ring); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// run writes until ctx ends. As in a server, each camera has a goroutine of its own.
func (c *cameras) run(ctx context.Context) error {
	noise := make([]byte, keyframeBytes)
	if _, err := rand.Read(noise); err != nil {
		return err
	}
	var work sync.WaitGroup
	begin := time.Now()
	for i, s := range c.list {
		work.Go(func() { s.run(ctx, begin.Add(time.Duration(i)*time.Second/fps/time.Duration(len(c.list))), noise) })
	}
	work.Wait()
	return nil
}

func (s *source) run(ctx context.Context, at time.Time, noise []byte) {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		s.write(noise)
		at = at.Add(time.Second / fps)
		timer.Reset(time.Until(at))
	}
}

// write writes the next frame. Its wall-clock time is that of the write: what a worker
// takes it from there is the time from ring to worker.
func (s *source) write(noise []byte) {
	key := s.n%gop == 0
	size, slice := frameBytes, byte(0x41)
	if key {
		size, slice = keyframeBytes, 0x65
	}
	s.arena.Begin()
	offset, err := s.arena.AppendLength()
	if err != nil {
		panic(err)
	}
	if err := s.arena.Append([]byte{slice}); err != nil {
		panic(err)
	}
	if err := s.arena.Append(noise[:size-5]); err != nil {
		panic(err)
	}
	s.arena.SetLength(offset)
	f, err := s.arena.Finish()
	if err != nil {
		panic(err)
	}
	f.Track, f.Params, f.Seq, f.Epoch, f.Keyframe, f.Entry = s.track, s.params, uint64(s.n), 1, key, key
	f.DTS = int64(s.n) * 90000 / fps
	f.PTS, f.Wall = f.DTS, time.Now()
	s.n++
	s.ring.Write(f)
}
