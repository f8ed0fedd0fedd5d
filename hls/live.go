package hls

import (
	"math"
	"strconv"
	"time"

	"github.com/drover-video/drover/core/m3u8"
)

// A liveView is a source as low-latency HLS has it at one moment: a part of its
// snapshot, and immutable like it.
type liveView struct {
	target time.Duration
	full   *document
	delta  *document // nil: there is nothing to skip
	recent []string  // Cache-Control of an answer to a request for just this

	msn    uint64   // of the segment being made: the first that is not complete
	open   *segment // being made; nil: it has no part yet
	parts  []*part  // of it
	final  int      // parts of the segment before it
	layout *layout  // of the newest part

	variant variant // until there is a whole segment
}

// has reports whether the playlist lists what a directive asks for, or later.
func (v *liveView) has(d directives) bool {
	switch {
	case d.msn < v.msn && (!d.hasPart || d.msn+1 < v.msn || d.part < uint64(v.final)):
		return true
	case d.msn > v.msn || !d.hasPart:
		return false
	case d.msn < v.msn: // RFC 8216bis 6.2.5.2: the first part of the next segment
		return len(v.parts) > 0
	default:
		return d.part < uint64(len(v.parts))
	}
}

// tooFar reports whether a directive asks for what is more than two segments
// ahead of the last whole one (RFC 8216bis 6.2.5.2).
func (v *liveView) tooFar(d directives) bool { return d.hasMSN && d.msn > v.msn+1 }

// last returns where the source is, for other sources' playlists.
func (v *liveView) last() (msn uint64, part int) {
	if len(v.parts) > 0 {
		return v.msn, len(v.parts) - 1
	}
	return v.msn - 1, v.final - 1
}

// A liveWindow is which of a window's segments a playlist with parts lists. Its
// target duration is its own, for a segment can be too long in it before it is
// complete.
type liveWindow struct {
	on         bool
	target     int // seconds
	base       int // that it grows from, by doubling
	need       need
	first      uint64 // media sequence of the first segment listed
	told       int    // target in the newest playlist; 0: there is none yet
	partTarget time.Duration
	seam       uint64 // from here on segments list their parts, though their target be another
	skips      bool   // there are delta updates
	version    uint64
}

// liveTargetUnknown is the target duration where no GOP has been seen to its end,
// in times of the segment duration that is configured.
const liveTargetUnknown = 2

// startLive begins a life of the playlist with parts.
func (w *window) startLive(open time.Duration) {
	l := &w.live
	l.on = true
	l.base, l.need = w.target, need{}
	if l.base == 0 {
		l.base = targetFor(w.config, liveTargetUnknown*w.config.SegmentDuration)
	}
	l.base = max(l.base, targetFor(w.config, open))
	l.target = w.periods.coverLive(w.source, l.need.note(l.base, w.config.Now()))
	l.first = w.next - uint64(len(w.listed))
	l.told, l.partTarget, l.seam = 0, 0, math.MaxUint64
	l.skips = w.listedTime(l.target) >= time.Duration(skipTargets+1)*time.Duration(l.target)*time.Second
}

// growLive makes room for a segment that lasts so long, or as long as that of another
// source of the camera, and takes less where that has been enough for long.
func (w *window) growLive(longest time.Duration) {
	l := &w.live
	if w.target != 0 {
		l.base = min(l.base, w.target)
	}
	needed, lasts := l.base, int(math.Round(longest.Seconds()))
	for lasts > needed {
		needed *= 2
	}
	if lasts <= l.target {
		needed = min(needed, l.target)
	}
	if target := w.periods.coverLive(w.source, l.need.note(needed, w.config.Now())); lasts <= target {
		l.target = target
	}
}

func (l *liveWindow) lists(s *segment) bool { return l.on && s.sequence >= l.first }

// unlist takes the oldest segment off the playlist, if it is there.
func (l *liveWindow) unlist(s *segment) {
	if l.lists(s) {
		l.first = s.sequence + 1
	}
}

// listedTime is how much media a playlist with that target lists.
func (w *window) listedTime(target int) time.Duration {
	return max(3*time.Duration(target)*time.Second, time.Duration(w.config.Window)*w.config.SegmentDuration)
}

// slideLive takes the oldest segments off the playlist with parts, whose target
// the new ones may outgrow.
func (w *window) slideLive(added []*segment) {
	if !w.live.on {
		return
	}
	for _, s := range added {
		w.growLive(s.duration)
	}
	total := time.Duration(0)
	for _, list := range [...][]*segment{w.lingering, w.listed} {
		for _, s := range list {
			if w.live.lists(s) {
				total += s.duration
			}
		}
	}
	for _, list := range [...][]*segment{w.lingering, w.listed} {
		for _, s := range list {
			if !w.live.lists(s) {
				continue
			}
			if total -= s.duration; total < w.listedTime(w.live.target) {
				return
			}
			w.live.unlist(s)
		}
	}
}

// skipTargets is the skip boundary (RFC 8216bis 4.4.3.8), in target durations.
const skipTargets = 6

// renderLive makes the view of a snapshot whose segments are rendered already.
// open is the segment being made, nil if it has no part; others are the camera's
// other sources. It reports whether the playlist's life had to end.
func (w *window) renderLive(n *snapshot, open *segment, partTarget time.Duration, others []*Muxer) (restarted bool) {
	l := &w.live
	v := &liveView{msn: w.next}
	longest := time.Duration(0)
	if open != nil {
		w.announce(open)
		v.open, v.parts, v.layout = open, open.parts, open.layout
		longest = partsTime(open.parts)
	}
	for _, s := range n.segments {
		if l.lists(s) {
			longest = max(longest, s.duration)
			v.final = len(s.parts)
			if open == nil {
				v.layout = s.layout
			}
		}
	}
	// EXT-X-TARGETDURATION and PART-TARGET hold for a life of the playlist. What
	// outgrows them begins another, in mid-segment.
	w.growLive(longest)
	restarted = l.told != 0 && l.told != l.target
	if l.partTarget != 0 && l.partTarget != partTarget {
		restarted = true
		// A player may be one playlist behind, and wait for the last parts of the
		// segment that was being made in it. They are too long where the target is less.
		l.seam = n.live.msn - 1
		if partTarget < l.partTarget {
			l.seam = v.msn
		}
	}
	l.told, l.partTarget = l.target, partTarget
	l.version++
	v.target = time.Duration(l.target) * time.Second
	v.full, v.delta = w.livePlaylist(n, v, others)
	v.recent = []string{"public, max-age=" + strconv.Itoa(6*l.target)}
	if n.media == nil && v.layout != nil {
		v.variant = w.liveVariant(n, open)
	}
	n.live = v
	return restarted
}

func partsTime(parts []*part) time.Duration {
	total := time.Duration(0)
	for _, p := range parts {
		total += p.duration
	}
	return total
}

// liveVariant is what can be said of a source before its first segment is whole.
// It is not corrected as parts come: each change is a new multivariant playlist
// in every cache.
func (w *window) liveVariant(n *snapshot, open *segment) variant {
	v := open.layout.variant()
	if n.live != nil && n.live.variant.codecs == v.codecs {
		return n.live.variant
	}
	seconds := partsTime(open.parts).Seconds()
	v.bandwidth = roundRate(float64(open.object.size) * 8 / seconds)
	if v.fps = open.layout.pic.FPS; v.fps == 0 && open.layout.video.present() {
		v.fps = math.Round(float64(len(open.video))/seconds*10) / 10
	}
	return v
}

// livePlaylist renders the playlist with parts, whole and as a delta update.
func (w *window) livePlaylist(n *snapshot, v *liveView, others []*Muxer) (full, delta *document) {
	l := &w.live
	segments := n.segments
	for len(segments) > 0 && segments[0].sequence < l.first {
		segments = segments[1:]
	}
	rest := partsTime(v.parts) // from the end of a segment to that of the playlist
	for _, s := range segments {
		rest += s.duration
	}
	head := m3u8.Head{
		Version: 9, TargetDuration: l.target, MediaSequence: l.first, IndependentSegments: true,
		LowLatency: &m3u8.LowLatency{
			PartTarget: l.partTarget, PartHoldBack: 3 * l.partTarget, HoldBack: 3 * v.target,
		},
	}
	if len(segments) > 0 {
		head.DiscontinuitySequence = segments[0].discontinuity()
	} else if v.open != nil {
		head.DiscontinuitySequence = v.open.discontinuity()
	}
	if l.skips {
		head.LowLatency.CanSkipUntil = skipTargets * v.target
	}
	dst := m3u8.AppendHead(w.buf[:0], &head)
	switch {
	case len(segments) > 0:
		dst, _ = w.appendHappened(dst, segments[0].pdt)
	case v.open != nil:
		dst, _ = w.appendHappened(dst, v.open.pdt)
	}
	// RFC 8216bis 4.4.5.2: date ranges are in a delta update, too.
	headEnd, skipEnd, skipped := len(dst), len(dst), 0
	for i, s := range segments {
		rest -= s.duration
		dst = w.appendLiveStart(dst, s, i == 0)
		if rest <= 3*v.target && (s.partTarget == l.partTarget || s.sequence >= l.seam) {
			dst = w.appendParts(dst, s.sequence, s.parts)
		}
		entry := m3u8.Segment{URI: string(appendSegmentName(w.name[:0], w.source, w.epoch, s.sequence, ".m4s")), Duration: s.duration}
		dst = m3u8.AppendSegmentEnd(dst, &entry)
		if l.skips && rest >= skipTargets*v.target {
			skipEnd, skipped = len(dst), i+1
		}
	}
	if v.open != nil {
		dst = w.appendLiveStart(dst, v.open, len(segments) == 0)
		dst = w.appendParts(dst, v.msn, v.parts)
	}
	w.name = appendPartName(w.name[:0], w.source, w.epoch, v.msn, len(v.parts))
	dst = m3u8.AppendPreloadHint(dst, w.name)
	for _, m := range others {
		if other := m.published.Load().live; other != nil && m.source != w.source {
			msn, part := other.last()
			dst = m3u8.AppendRenditionReport(dst, &m3u8.RenditionReport{URI: m.source + ".live.m3u8", LastMSN: msn, LastPart: part})
		}
	}
	w.buf = dst
	tag := w.source + ".live." + strconv.FormatInt(w.epoch, 10) + "." + strconv.FormatUint(l.version, 10)
	polled := []string{mediaCacheControl(l.target)}
	full = newDocument(append([]byte(nil), dst...), tag, polled, w.config.deflate)
	if skipped > 0 {
		short := append(make([]byte, 0, len(dst)), dst[:headEnd]...)
		short = m3u8.AppendSkip(short, skipped)
		delta = newDocument(append(short, dst[skipEnd:]...), tag+".delta", polled, w.config.deflate)
	}
	return full, delta
}

// appendLiveStart appends what stands before a segment's first part.
func (w *window) appendLiveStart(dst []byte, s *segment, first bool) []byte {
	entry := m3u8.Segment{ProgramDateTime: s.pdt}
	dst = m3u8.AppendDiscontinuities(dst, s.tags)
	if first || s.newMap {
		entry.MapURI = w.source + ".init-" + s.layout.init.hash + ".mp4"
	}
	return m3u8.AppendSegmentStart(dst, &entry)
}

func (w *window) appendParts(dst []byte, sequence uint64, parts []*part) []byte {
	for i, p := range parts {
		w.name = appendPartName(w.name[:0], w.source, w.epoch, sequence, i)
		dst = m3u8.AppendPart(dst, &m3u8.Part{URI: w.name, Duration: p.duration, Independent: p.independent})
	}
	return dst
}
