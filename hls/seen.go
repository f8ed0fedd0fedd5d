package hls

import (
	"hash/crc32"
	"strconv"
	"sync"
	"time"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/m3u8"
	"github.com/drover-video/drover/core/timed"
)

// Sightings is what AI workers see of cameras, and what rules find in it. Its methods
// are called from many goroutines and must not wait.
type Sightings interface {
	// Happened returns the events of a camera that touch a time, in their order.
	Happened(camera string, from, to time.Time) []detection.Event
	// Recent returns the reports of frames of a time, by time.
	Recent(camera string, from, to time.Time) []detection.Report
	// SeesSince reports whether something was seen since then.
	SeesSince(camera string, since time.Time) bool
}

const (
	// seenLately is how long a camera whose worker sees nothing more has a playlist of
	// boxes still.
	seenLately = 10 * time.Minute

	// seenSettle is how long after its end what is seen of a segment may still come.
	// Then it stands: a name never has two contents.
	seenSettle = 2 * time.Second
)

// boxesCache is short: in a browser's cache text is of no use later.
const boxesCache = "public, max-age=600, immutable"

// appendHappened appends what rules found since a time. It returns what to tell apart
// versions of a playlist by that have it, "" for none.
func (w *window) appendHappened(dst []byte, since time.Time) ([]byte, string) {
	if w.config.Seen == nil {
		return dst, ""
	}
	before := len(dst)
	dst = timed.AppendRanges(dst, w.config.Seen.Happened(w.periods.camera, since, w.config.Now().Add(time.Hour)))
	if len(dst) == before {
		return dst, ""
	}
	return dst, "." + strconv.FormatUint(uint64(crc32.ChecksumIEEE(dst[before:])), 36)
}

// A boxesView is the playlist of boxes beside one of whole segments. It is made when it
// is first asked for: few ask.
type boxesView struct {
	source   string
	epoch    int64
	target   int
	segments []*segment // listed
	deflate  *deflater

	once     sync.Once
	document *document // nil: no segment has settled
}

// boxes returns the view of the segments listed now.
func (w *window) boxes() *boxesView {
	if w.config.Seen == nil {
		return nil
	}
	return &boxesView{source: w.source, epoch: w.epoch, target: w.target, segments: append([]*segment(nil), w.listed...), deflate: w.config.deflate}
}

// playlist returns the playlist. It lists what has settled when it was first asked for;
// the rest comes with the next one.
func (v *boxesView) playlist(now time.Time) *document {
	v.once.Do(func() {
		n := len(v.segments)
		for n > 0 && !v.segments[n-1].settled(now) {
			n--
		}
		if n == 0 {
			return
		}
		segments := v.segments[:n]
		dst := m3u8.AppendHead(nil, &m3u8.Head{Version: 3, TargetDuration: v.target, MediaSequence: segments[0].sequence, DiscontinuitySequence: segments[0].discontinuity()})
		for _, s := range segments {
			dst = m3u8.AppendDiscontinuities(dst, s.tags)
			dst = m3u8.AppendSegment(dst, &m3u8.Segment{
				URI: string(appendSegmentName(nil, v.source, v.epoch, s.sequence, ".vtt")), Duration: s.duration, ProgramDateTime: s.pdt,
			})
		}
		tag := v.source + ".boxes." + strconv.FormatInt(v.epoch, 10) + "." + strconv.FormatUint(segments[0].sequence, 10) + "." + strconv.FormatUint(segments[n-1].sequence, 10)
		v.document = newDocument(dst, tag, []string{mediaCacheControl(v.target)}, v.deflate)
	})
	return v.document
}

// settled reports whether all that is seen of a segment is there.
func (s *segment) settled(now time.Time) bool { return now.Sub(s.pdt.Add(s.duration)) >= seenSettle }

// renderBoxes returns what is seen of a segment of a camera, as it was when somebody
// first asked. The caller holds a reference to the segment.
func (s *segment) renderBoxes(camera, name string, seen Sightings) *object {
	s.seen.once.Do(func() {
		first := s.video
		if len(first) == 0 {
			first = s.audio
		}
		at := first[0].Track.Duration(first[0].PTS) + s.shift
		// By the pictures' own time, which PROGRAM-DATE-TIME only follows.
		reports := seen.Recent(camera, s.wall.Add(-timed.Hold), s.wall.Add(s.duration))
		var b body
		b.append(timed.AppendBoxes(nil, s.wall, at, s.duration, reports))
		s.seen.object = newObject(b, name)
	})
	return &s.seen.object
}

// boxesPlaylist answers with the playlist of boxes, unless there is none yet.
func (p *reply) boxesPlaylist(published *snapshot) (answered bool) {
	if p.camera.config.Seen == nil {
		p.problem(p.problems.unknown)
		return true
	}
	if published.boxes == nil {
		return false
	}
	d := published.boxes.playlist(p.now())
	if d == nil {
		return false
	}
	p.document(d, d.cacheControl)
	return true
}

// boxes answers with what is seen of a segment.
func (p *reply) boxes(published *snapshot, n *name) {
	seen := p.camera.config.Seen
	s := published.segment(n.epoch, n.sequence)
	if s == nil || seen == nil {
		p.problem(p.problems.gone)
		return
	}
	defer s.release()
	if !s.settled(p.now()) {
		p.problem(p.problems.gone)
		return
	}
	name := string(appendSegmentName(nil, n.source, n.epoch, n.sequence, ".vtt"))
	p.object(s.renderBoxes(n.camera, name, seen), p.headers.text, p.headers.boxesCache)
}

// sees reports whether the camera has a playlist of boxes.
func (c *Camera) sees() bool {
	seen := c.config.Seen
	return seen != nil && seen.SeesSince(c.id, c.config.Now().Add(-seenLately))
}

// seeing reports whether that has become another since multivariant playlists were
// rendered.
func (c *Camera) seeing() bool { return c.config.Seen != nil && c.sees() != c.seen.Load() }

// see gives a multivariant playlist the boxes of its first source.
func (v *variants) see(m *Muxer) {
	if v.boxes == "" {
		v.boxes = m.source + ".boxes.m3u8"
	}
}
