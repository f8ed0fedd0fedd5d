package hls

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/m3u8"
	"github.com/drover-video/drover/core/timed"
)

// Camera is the HLS of one camera: a muxer for each of its sources, and what
// viewers have asked for.
type Camera struct {
	id      string
	config  *Config
	notify  func() // tells those who wait that something of the camera is another
	periods *periods

	// Written under Hub.mu, read by anyone.
	muxers atomic.Pointer[[]*Muxer]
	mixer  atomic.Pointer[mixer] // nil: there is one source, which has its sound in its segments

	mu      sync.Mutex // held while multivariant playlists are rendered
	version uint64
	seen    atomic.Bool // multivariant playlists have boxes
	held    atomic.Bool // a multivariant playlist is held back for the sound

	multivariant   atomic.Pointer[document]
	multivariantTS atomic.Pointer[document] // nil: no source is published that can be MPEG-TS
	liveList       atomic.Pointer[document] // multivariant, of low latency

	viewers  viewerSet
	requests atomic.Uint64
	sent     atomic.Uint64
}

func newCamera(id string, config *Config, notify func()) *Camera {
	c := &Camera{id: id, config: config, notify: notify, periods: newPeriods(id, config)}
	c.muxers.Store(new([]*Muxer))
	return c
}

// sources returns how many sources there are.
func (c *Camera) sources() (n int) {
	for _, m := range *c.muxers.Load() {
		if !m.derived {
			n++
		}
	}
	return n
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
	sources := 0
	for _, m := range *c.muxers.Load() {
		if m.derived {
			continue
		}
		if !m.unplayable.Load() {
			return false // or is not known yet
		}
		sources++
	}
	return sources > 0
}

const multivariantCacheControl = "public, max-age=5, stale-if-error=60"

// soundGroup is the group of the sound that variants share, and its name.
const soundGroup = "sound"

// render makes the multivariant playlists of the sources that are published, in
// the order in which they were attached.
func (c *Camera) render() {
	c.mu.Lock()
	c.version++
	var all, live, ts variants
	epoch := int64(0)
	c.held.Store(c.awaitsSound())
	c.seen.Store(c.sees())
	for _, m := range *c.muxers.Load() {
		n := m.published.Load()
		epoch = max(epoch, n.epoch)
		v, there := n.inLive()
		switch {
		case c.held.Load() || !there:
		case m.derived:
			live.share(m, &v)
			if n.media != nil {
				all.share(m, &v)
			}
		default:
			live.add(m, ".live.m3u8", v)
			if n.media == nil {
				break
			}
			all.add(m, ".index.m3u8", v)
			if c.seen.Load() {
				all.see(m)
			}
			if v.ts {
				v.codecs, v.bandwidth, v.average = v.tsCodecs, v.tsBandwidth, v.tsAverage
				ts.add(m, ".index.m3u8", v)
			}
		}
	}
	tag := c.id + "." + strconv.FormatInt(epoch, 10) + "." + strconv.FormatUint(c.version, 10)
	c.multivariant.Store(all.document(6, tag, ".index.m3u8", c.config.deflate))
	c.multivariantTS.Store(ts.document(3, tag+".ts", "", c.config.deflate))
	c.liveList.Store(live.document(6, tag+".live", ".live.m3u8", c.config.deflate))
	c.mu.Unlock()
	c.notify()
}

// awaitsSound reports whether there is sound, and its playlist is only to come: a
// player that has begun without would never hear it.
func (c *Camera) awaitsSound() bool {
	mixer := c.mixer.Load()
	if mixer == nil || !mixer.heard() {
		return false
	}
	for _, m := range *c.muxers.Load() {
		n := m.published.Load()
		switch _, there := n.inLive(); {
		case m.derived && there:
			return false
		case !m.derived && n.media != nil && len(n.segments) > mostWithoutSound:
			return false // it does not come
		}
	}
	return true
}

// mostWithoutSound is how many segments of pictures wait for sound.
const mostWithoutSound = 2

// want tells all sources that somebody asks for low latency: players change from
// one to another by the reports of the others in each one's playlist.
func (c *Camera) want(now time.Time) {
	for _, m := range *c.muxers.Load() {
		m.want(now)
	}
}

// variants are the entries of a multivariant playlist being made.
type variants struct {
	pictures, others []entry
	sound            *variant // that all share; nil: each has its own, or none
	source           string   // of the sound
	boxes            string   // URI of what is seen; "": nothing is
}

type entry struct {
	uri string
	variant
}

func (v *variants) add(m *Muxer, suffix string, of variant) {
	e := entry{m.source + suffix, of}
	if of.height > 0 {
		v.pictures = append(v.pictures, e)
	} else {
		v.others = append(v.others, e)
	}
}

func (v *variants) share(m *Muxer, of *variant) { v.sound, v.source = of, m.source }

// document returns the playlist, nil if it has no entries.
func (v *variants) document(version int, tag, suffix string, deflate *deflater) *document {
	entries := v.pictures
	if len(entries) == 0 {
		entries, v.sound = v.others, nil // a source of sound alone is one to listen to
	}
	if len(entries) == 0 {
		return nil
	}
	data := m3u8.AppendMultivariantHead(nil, version, true)
	group := ""
	if v.sound != nil {
		group = soundGroup
		data = m3u8.AppendAudio(data, &m3u8.Audio{Group: group, Name: "Sound", Channels: v.sound.channels, URI: v.source + suffix})
	}
	seen := ""
	if v.boxes != "" {
		seen = timed.Group
		data = m3u8.AppendSubtitles(data, &m3u8.Subtitles{Group: seen, Name: timed.Name, URI: v.boxes})
	}
	for _, e := range entries {
		if v.sound != nil {
			// RFC 8216 4.3.4.2: of all that is played together.
			e.codecs = joinCodecs(e.codecs, v.sound.codecs)
			e.bandwidth += v.sound.bandwidth
			e.average += v.sound.average
		}
		data = m3u8.AppendVariant(data, &m3u8.Variant{
			URI: e.uri, Bandwidth: e.bandwidth, AverageBandwidth: e.average,
			Codecs: e.codecs, Width: e.width, Height: e.height, FrameRate: e.fps, Audio: group, Subtitles: seen,
		})
	}
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
