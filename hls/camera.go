package hls

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/drover-video/drover/core/m3u8"
)

// Camera is the HLS of one camera: a muxer for each of its sources, and what
// viewers have asked for.
type Camera struct {
	id string

	// Written under Hub.mu, read by anyone.
	muxers atomic.Pointer[[]*Muxer]

	mu      sync.Mutex // held while multivariant playlists are rendered
	version uint64

	multivariant   atomic.Pointer[document]
	multivariantTS atomic.Pointer[document] // nil: no source is published that can be MPEG-TS

	viewers  viewerSet
	requests atomic.Uint64
	sent     atomic.Uint64
}

func newCamera(id string) *Camera {
	c := &Camera{id: id}
	c.muxers.Store(new([]*Muxer))
	return c
}

// muxer returns the muxer of a source, or nil.
func (c *Camera) muxer(source string) *Muxer {
	for _, m := range *c.muxers.Load() {
		if m.source == source {
			return m
		}
	}
	return nil
}

// unplayable reports whether none of the camera's sources has pictures that a
// player of HLS shows.
func (c *Camera) unplayable() bool {
	muxers := *c.muxers.Load()
	for _, m := range muxers {
		if !m.unplayable.Load() {
			return false // or is not known yet
		}
	}
	return len(muxers) > 0
}

const multivariantCacheControl = "public, max-age=5, stale-if-error=60"

// render makes the multivariant playlists of the sources that are published, in
// the order in which they were attached.
func (c *Camera) render() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.version++
	dst := m3u8.AppendMultivariantHead(nil, 6, true)
	ts := m3u8.AppendMultivariantHead(nil, 3, true)
	epoch, all, inTS := int64(0), 0, 0
	for _, m := range *c.muxers.Load() {
		n := m.published.Load()
		if n == nil {
			continue
		}
		epoch = max(epoch, n.epoch)
		v := m3u8.Variant{
			URI: m.source + ".index.m3u8", Bandwidth: n.variant.bandwidth, AverageBandwidth: n.variant.average,
			Codecs: n.variant.codecs, Width: n.variant.width, Height: n.variant.height, FrameRate: n.variant.fps,
		}
		dst = m3u8.AppendVariant(dst, &v)
		all++
		if n.variant.ts {
			v.Codecs = n.variant.tsCodecs
			ts = m3u8.AppendVariant(ts, &v)
			inTS++
		}
	}
	tag := c.id + "." + strconv.FormatInt(epoch, 10) + "." + strconv.FormatUint(c.version, 10)
	store := func(at *atomic.Pointer[document], data []byte, tag string, variants int) {
		if variants == 0 {
			at.Store(nil)
			return
		}
		at.Store(newDocument(data, tag, []string{multivariantCacheControl}))
	}
	store(&c.multivariant, dst, tag, all)
	store(&c.multivariantTS, ts, tag+".ts", inTS)
}

// CameraStats is what a camera's viewers have had, and how its muxers are doing.
type CameraStats struct {
	Camera    string
	Viewers   int
	Requests  uint64
	SentBytes uint64
	Sources   []MuxerStats
}
