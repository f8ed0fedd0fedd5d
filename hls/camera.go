package hls

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/m3u8"
)

// Camera is the HLS of one camera: a muxer for each of its sources, and what
// viewers have asked for.
type Camera struct {
	id      string
	deflate *deflater
	notify  func() // tells those who wait that something of the camera is another

	// Written under Hub.mu, read by anyone.
	muxers atomic.Pointer[[]*Muxer]

	mu      sync.Mutex // held while multivariant playlists are rendered
	version uint64

	multivariant   atomic.Pointer[document]
	multivariantTS atomic.Pointer[document] // nil: no source is published that can be MPEG-TS
	liveList       atomic.Pointer[document] // multivariant, of low latency

	viewers  viewerSet
	requests atomic.Uint64
	sent     atomic.Uint64
}

func newCamera(id string, deflate *deflater, notify func()) *Camera {
	c := &Camera{id: id, deflate: deflate, notify: notify}
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
	c.version++
	var all, ts, live variants
	epoch := int64(0)
	for _, m := range *c.muxers.Load() {
		n := m.published.Load()
		v, there := n.inLive()
		if !there {
			continue
		}
		epoch = max(epoch, n.epoch)
		live.add(m.source+".live.m3u8", &v)
		if n.media == nil {
			continue
		}
		all.add(m.source+".index.m3u8", &v)
		if v.ts {
			v.codecs = v.tsCodecs
			ts.add(m.source+".index.m3u8", &v)
		}
	}
	tag := c.id + "." + strconv.FormatInt(epoch, 10) + "." + strconv.FormatUint(c.version, 10)
	c.multivariant.Store(all.document(6, tag, c.deflate))
	c.multivariantTS.Store(ts.document(3, tag+".ts", c.deflate))
	c.liveList.Store(live.document(6, tag+".live", c.deflate))
	c.mu.Unlock()
	c.notify()
}

// want tells all sources that somebody asks for low latency: players change from
// one to another by the reports of the others in each one's playlist.
func (c *Camera) want(now time.Time) {
	for _, m := range *c.muxers.Load() {
		m.want(now)
	}
}

// variants are the entries of a multivariant playlist being made.
type variants []byte

func (v *variants) add(uri string, of *variant) {
	*v = m3u8.AppendVariant(*v, &m3u8.Variant{
		URI: uri, Bandwidth: of.bandwidth, AverageBandwidth: of.average,
		Codecs: of.codecs, Width: of.width, Height: of.height, FrameRate: of.fps,
	})
}

// document returns the playlist, nil if it has no entries.
func (v variants) document(version int, tag string, deflate *deflater) *document {
	if len(v) == 0 {
		return nil
	}
	data := append(m3u8.AppendMultivariantHead(nil, version, true), v...)
	return newDocument(data, tag, []string{multivariantCacheControl}, deflate)
}

// CameraStats is what a camera's viewers have had, and how its muxers are doing.
type CameraStats struct {
	Camera    string
	Viewers   int
	Requests  uint64
	SentBytes uint64
	Sources   []MuxerStats
}
