package play

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/timed"
)

// Sightings is what AI workers saw of cameras, and what rules found in it. Both are
// kept for a time of their own, which may be shorter than that of recordings.
type Sightings interface {
	// EventsOf returns the events of a camera that touch a time, oldest first: the
	// newest, where they are more than limit.
	EventsOf(ctx context.Context, camera string, from, to time.Time, limit int) ([]detection.Event, error)
	// ReportsOf returns the reports of frames of a time, by time, at most about limit
	// detections.
	ReportsOf(ctx context.Context, camera string, from, to time.Time, limit int) ([]detection.Report, error)
	// SawIn reports whether something was seen in a time.
	SawIn(ctx context.Context, camera string, from, to time.Time) (bool, error)
}

// maxSegmentReports is how many detections the text of one segment has.
const maxSegmentReports = 5000

// happened returns date ranges of what was found in a time. What cannot be read costs a
// playlist nothing but these.
func (h *Handler) happened(ctx context.Context, camera string, from, to time.Time) []byte {
	if h.options.Seen == nil {
		return nil
	}
	found, err := h.options.Seen.EventsOf(ctx, camera, from, to, timed.MaxRanges)
	if err != nil {
		h.options.Log.Warn("events cannot be read for a playlist", "camera", camera, "err", err)
	}
	return timed.AppendRanges(nil, found)
}

// saw reports whether a closed range has a playlist of boxes.
func (h *Handler) saw(ctx context.Context, camera string, q *query) bool {
	if h.options.Seen == nil || q.to.IsZero() {
		return false
	}
	found, err := h.options.Seen.SawIn(ctx, camera, q.from, q.to)
	if err != nil {
		h.options.Log.Warn("detections cannot be read for a playlist", "camera", camera, "err", err)
	}
	return found
}

// appendBoxesURI appends the name of the text of a segment: some fragments of a file.
func appendBoxesURI(dst []byte, stream index.Stream, f *index.File, s *layout.Segment) []byte {
	return fmt.Appendf(dst, "boxes.vtt?source=%s&file=%d&first=%d&count=%d", stream.Source, f.Number, s.First, s.Count)
}

// boxesPlaylist answers with the segments of a closed range as text.
func (p *reply) boxesPlaylist(stream index.Stream, q *query) *problem {
	if p.options.Seen == nil {
		return unknown()
	}
	if q.to.IsZero() {
		return badRange(errors.New("say from when to when, by from and to"))
	}
	d, problem := p.at(slotKey{stream.ID, nameBoxes, micros(q.from), micros(q.to)}, func(s *slot) (*document, *problem) {
		return p.closed(s, &closed{
			style: style{stream: stream, boxes: true, from: q.from, to: q.to, oneMap: true}, now: p.options.Now(),
		}, (*closed).document)
	})
	if problem != nil {
		return problem
	}
	p.document(d)
	return nil
}

// boxes answers with what was seen of a segment.
func (p *reply) boxes(stream index.Stream) *problem {
	if p.options.Seen == nil {
		return unknown()
	}
	values, err := url.ParseQuery(p.r.URL.RawQuery)
	if err != nil {
		return badRange(errQuery)
	}
	var asked [3]int64
	for i, name := range [...]string{"file", "first", "count"} {
		if asked[i], err = strconv.ParseInt(values.Get(name), 10, 62); err != nil || asked[i] < 0 || asked[i] > layout.MaxFragments && name != "file" {
			return badRange(errors.New("text of segments is asked for as playlists name it"))
		}
	}
	f, found, err := p.options.Index.FileByNumber(p.ctx(), index.Key{Stream: stream.ID, Number: asked[0]})
	switch first, count := asked[1], asked[2]; {
	case err != nil:
		return p.failed(p.r.Context(), stream.Camera, err)
	case !found || !p.played(&f) || count == 0 || first+count > int64(len(f.Fragments)):
		return gone()
	default:
		return p.segmentBoxes(stream, &f, int(first), int(count))
	}
}

func (p *reply) segmentBoxes(stream index.Stream, f *index.File, first, count int) *problem {
	clock := layout.NewClock(f.Start)
	var at time.Time
	lasts := int64(0)
	for i := range f.Fragments[:first+count] {
		starts := clock.Next(&f.Fragments[i])
		if i == first {
			at = starts
		}
		if i >= first {
			lasts += f.Fragments[i].Duration
		}
	}
	media, err := p.mediaTime(stream, f, &f.Fragments[first])
	switch {
	case errors.Is(err, os.ErrNotExist):
		return gone()
	case err != nil && f.Places&index.Here == 0:
		return p.notReached(stream.Camera, err)
	case err != nil:
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	end := at.Add(layout.Time(lasts))
	reports, err := p.options.Seen.ReportsOf(p.ctx(), stream.Camera, at.Add(-timed.Hold), end, maxSegmentReports)
	if err != nil {
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	text := timed.AppendBoxes(nil, at, media, layout.Time(lasts), reports)
	p.header["Content-Type"] = p.headers.vtt
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	p.header["Cache-Control"] = []string{movingCache}
	if p.options.Now().Sub(end) > detection.MaxAge {
		p.header["Cache-Control"] = []string{settledCache}
	}
	p.bytes(text, `"boxes-`+strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 36)+`"`)
	return nil
}

// maxHead is how much is read of a fragment to find its time.
const maxHead = 256 << 10

// mediaTime reads when a fragment begins in the time of the media.
func (p *reply) mediaTime(stream index.Stream, f *index.File, fragment *layout.Fragment) (time.Duration, error) {
	path := string(layout.AppendPath(nil, nameOf(stream, f)))
	file, err := p.openSource(path, f)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if f.Init < 0 || f.Init > maxInit {
		return 0, fmt.Errorf("read %s: %w", path, fmp4.ErrDamaged)
	}
	init, head := make([]byte, f.Init), make([]byte, min(fragment.Bytes, maxHead))
	if _, err := file.ReadAt(init, 0); err != nil {
		return 0, fmt.Errorf("read the header of %s: %w", path, whole(err))
	}
	if _, err := file.ReadAt(head, fragment.Offset); err != nil {
		return 0, fmt.Errorf("read %s at %d: %w", path, fragment.Offset, whole(err))
	}
	media, err := beginOf(init, head[min(int64(len(head)), layout.MarkBytes):])
	if err != nil {
		return 0, fmt.Errorf("read %s at %d: %w", path, fragment.Offset, err)
	}
	return media, nil
}

// beginOf returns when the first sample of a fragment is shown.
func beginOf(init, fragment []byte) (time.Duration, error) {
	size, err := fmp4.MoofBytes(fragment)
	if err != nil {
		return 0, err
	}
	if size > int64(len(fragment)) {
		return 0, fmp4.ErrDamaged
	}
	runs, _, err := fmp4.ReadMoof(fragment[:size], nil)
	if err != nil {
		return 0, err
	}
	tracks, err := fmp4.ReadInit(init)
	if err != nil {
		return 0, err
	}
	if len(runs) == 0 || len(runs[0].Samples) == 0 {
		return 0, fmp4.ErrDamaged
	}
	for _, t := range tracks {
		if t.ID == runs[0].TrackID && t.Timescale > 0 {
			ticks, scale := int64(runs[0].BaseTime)+int64(runs[0].Samples[0].CTS), int64(t.Timescale)
			return time.Duration(ticks/scale)*time.Second + time.Duration(ticks%scale)*time.Second/time.Duration(scale), nil
		}
	}
	return 0, fmp4.ErrDamaged
}
