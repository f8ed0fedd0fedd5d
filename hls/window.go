package hls

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/drover-video/drover/core/m3u8"
	"github.com/drover-video/drover/core/mpegts"
)

// A window is the newest segments of a source, their numbers, and the playlists
// of them. It belongs to its muxer's goroutine and owns a reference to each
// segment in it.
type window struct {
	source string
	config *Config
	epoch  int64

	periods *periods

	next      uint64 // media sequence of the next segment
	target    int    // seconds; 0 before the first segment
	need      need
	listed    []*segment
	lingering []*segment // had once been listed, oldest first
	counters  mpegts.Counters
	live      liveWindow

	lastEnd time.Time // PROGRAM-DATE-TIME at the end of the newest segment
	rate    bitRate
	tsRate  bitRate
	fps     float64
	buf     []byte
	name    []byte
}

func newWindow(source string, config *Config, periods *periods, first numbers) *window {
	return &window{source: source, config: config, periods: periods, epoch: first.epoch, next: first.sequence}
}

// longest is the longest segment that does not end the playlist's life.
func (w *window) longest() time.Duration {
	if w.target == 0 {
		return max(w.config.SegmentDuration*3/2, time.Second)
	}
	return time.Duration(w.target)*time.Second + 499*time.Millisecond
}

// targetFor returns a target duration in whole seconds for segments as long as
// the longest seen. A little of jitter is within what rounding allows.
func targetFor(config *Config, longest time.Duration) int {
	seconds := max(config.SegmentDuration, longest-250*time.Millisecond).Seconds()
	return int(math.Ceil(seconds))
}

// add takes over segments and returns those that left the window, whose
// references are the caller's once the new snapshot is out. open is how long the
// segment being made is already.
func (w *window) add(segments []*segment, open time.Duration) (gone []*segment) {
	now := w.config.Now()
	if w.target == 0 {
		longest := open
		for _, s := range segments {
			longest = max(longest, s.duration)
		}
		w.target = w.periods.cover(w.source, w.need.note(targetFor(w.config, longest), now))
	} else {
		w.fit(w.periods.cover(w.source, w.need.note(targetFor(w.config, 0), now)))
	}
	for _, s := range segments {
		needed := min(targetFor(w.config, s.duration), w.target)
		if s.duration > w.longest() {
			needed = max(targetFor(w.config, s.duration+s.duration/4), w.target+1)
		}
		w.fit(w.periods.cover(w.source, w.need.note(needed, now)))
		w.number(s)
		w.listed = append(w.listed, s)
	}
	w.slide()
	w.slideLive(segments)
	return w.expire()
}

// fit begins a new life of the playlist where the target is another. For a longer one
// that is with the segment that is to be listed; for a shorter one with all that are
// listed, once they fit: viewers who are far behind find out as they do when the
// playlist slides.
func (w *window) fit(target int) {
	switch {
	case target > w.target:
		w.target = target
		w.restart()
	case target < w.target && !slices.ContainsFunc(w.listed, func(s *segment) bool { return math.Round(s.duration.Seconds()) > float64(target) }):
		w.target = target
	}
}

// restart ends the playlist's life: the next one begins with the segment that is
// to be listed.
func (w *window) restart() {
	for len(w.listed) > 0 {
		w.unlist()
	}
}

// announce gives a segment its number, which is the next. It may be far from its
// end: viewers of parts hear of it with the first of them.
func (w *window) announce(s *segment) {
	if s.numbered {
		return
	}
	s.numbered = true
	s.sequence = w.next
	s.newMap = len(w.listed) == 0 || w.listed[len(w.listed)-1].layout.init.hash != s.layout.init.hash
	s.pdt = w.programTime(s)
}

func (w *window) number(s *segment) {
	w.announce(s)
	w.next++
	s.object = newObject(s.object.body, string(appendSegmentName(nil, w.source, w.epoch, s.sequence, ".m4s")))
	s.object.promotion = newPromotion(s.files, s.held, s.object.size)
	w.lastEnd = s.pdt.Add(s.duration)
	s.counters = w.counters
	if s.layout.ts {
		w.tsRate.add(s.skipTS(&w.counters), s.duration)
	}
	w.rate.add(s.object.size, s.duration)
	if fps := pictureRate(s); fps > w.fps*1.1 || s.newMap && fps != 0 {
		w.fps = fps
	}
}

// Bounds of how PROGRAM-DATE-TIME follows the clock.
const (
	maxSlew  = 40 * time.Millisecond // at a segment
	maxDrift = 5 * time.Second       // beyond that at once
)

// programTime is the wall-clock time of a segment. Inside a run it is the end of
// the segment before, so that it agrees with the sum of EXTINF, moved a little
// towards what the frames' wall clock says.
func (w *window) programTime(s *segment) time.Time {
	drift := s.wall.Sub(w.lastEnd)
	if s.tags > 0 || w.lastEnd.IsZero() || drift.Abs() > maxDrift {
		return s.wall
	}
	return w.lastEnd.Add(max(-maxSlew, min(maxSlew, drift)))
}

// slide takes the oldest segments off the playlist.
func (w *window) slide() {
	total := time.Duration(0)
	bytes := int64(0)
	for _, s := range w.listed {
		total += s.duration
		bytes += s.object.size
	}
	// RFC 8216 6.2.2: not below three target durations.
	least := 3 * time.Duration(w.target) * time.Second
	enough := max(least, time.Duration(w.config.Window)*w.config.SegmentDuration)
	for len(w.listed) > 1 {
		rest := total - w.listed[0].duration
		full := len(w.listed) > w.config.Window && rest >= least || rest >= enough
		if !full && bytes <= w.config.MaxWindowBytes {
			break
		}
		total = rest
		bytes -= w.listed[0].object.size
		w.unlist()
	}
}

// unlist takes the oldest segment off the playlist.
func (w *window) unlist() {
	w.lingering = append(w.lingering, w.listed[0])
	w.listed = w.listed[:copy(w.listed, w.listed[1:])]
}

// expire takes out of the window what has lingered long enough.
func (w *window) expire() (gone []*segment) {
	total, bytes := time.Duration(0), int64(0)
	for _, s := range w.listed {
		bytes += s.object.size
	}
	for _, s := range w.lingering {
		total += s.duration
		bytes += s.object.size
	}
	for len(w.lingering) > 0 {
		s := w.lingering[0]
		lingers := total-s.duration < w.config.Linger || w.live.lists(s)
		if lingers && bytes <= w.config.MaxWindowBytes {
			break
		}
		w.live.unlist(s)
		total -= s.duration
		bytes -= s.object.size
		gone = append(gone, s)
		w.lingering = w.lingering[:copy(w.lingering, w.lingering[1:])]
	}
	return gone
}

// clear gives up all segments.
func (w *window) clear() {
	for _, list := range [...][]*segment{w.lingering, w.listed} {
		for _, s := range list {
			s.release()
		}
	}
	w.lingering, w.listed = nil, nil
}

// playlist renders the media playlist of fragmented MP4, or of MPEG-TS.
func (w *window) playlist(ts bool) *document {
	version, suffix := 6, ".m4s" // RFC 8216 7: EXT-X-MAP of whole segments
	discontinuity, tags := (*segment).discontinuity, func(s *segment) int { return s.tags }
	if ts {
		version, suffix = 3, ".ts" // RFC 8216 7: fractions in EXTINF
		discontinuity, tags = (*segment).tsDiscontinuity, (*segment).tsTags
	}
	dst := m3u8.AppendHead(w.buf[:0], &m3u8.Head{
		Version: version, TargetDuration: w.target, MediaSequence: w.listed[0].sequence,
		DiscontinuitySequence: discontinuity(w.listed[0]), IndependentSegments: true,
	})
	dst, happened := w.appendHappened(dst, w.listed[0].pdt)
	for i, s := range w.listed {
		w.name = appendSegmentName(w.name[:0], w.source, w.epoch, s.sequence, suffix)
		entry := m3u8.Segment{URI: string(w.name), Duration: s.duration, ProgramDateTime: s.pdt}
		dst = m3u8.AppendDiscontinuities(dst, tags(s))
		if !ts && (i == 0 || s.newMap) {
			entry.MapURI = w.source + ".init-" + s.layout.init.hash + ".mp4"
		}
		dst = m3u8.AppendSegment(dst, &entry)
	}
	w.buf = dst
	last := w.listed[len(w.listed)-1].sequence
	tag := w.source + "." + strconv.FormatInt(w.epoch, 10) + "." + strconv.FormatUint(last, 10)
	return newDocument(append([]byte(nil), dst...), tag+happened+suffix, []string{mediaCacheControl(w.target)}, w.config.deflate)
}

func mediaCacheControl(target int) string {
	return "public, max-age=" + strconv.Itoa(max(1, target/2)) + ", stale-if-error=" + strconv.Itoa(target)
}

// render puts what is published of whole segments into a snapshot.
func (w *window) render(n *snapshot) {
	n.target = time.Duration(w.target) * time.Second
	n.segments = make([]*segment, 0, len(w.lingering)+len(w.listed))
	n.segments = append(append(n.segments, w.lingering...), w.listed...)
	n.media = w.playlist(false)
	ts := true
	for _, s := range w.listed {
		ts = ts && s.layout.ts
	}
	n.ts = nil
	if ts {
		n.ts = w.playlist(true)
	}
	n.boxes = w.boxes()
	newest := w.listed[len(w.listed)-1].layout
	n.variant = newest.variant()
	n.variant.bandwidth, n.variant.average, n.variant.fps, n.variant.ts = w.rate.peak, w.rate.average, w.fps, ts
	n.variant.tsBandwidth, n.variant.tsAverage = w.tsRate.peak, w.tsRate.average
}
