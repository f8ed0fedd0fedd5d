package play

import (
	"math"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/m3u8"
	"github.com/drover-video/drover/core/timed"
)

// lately is how far back it is looked for what to say of a playlist that grows.
const lately = 10 * time.Minute

// multivariant answers with the playlist of playlists, for players that scrub.
func (p *reply) multivariant(stream index.Stream, q *query) *problem {
	now := p.options.Now()
	c := &closed{style: style{stream: stream, from: q.from, to: q.to}, now: now}
	if q.to.IsZero() {
		if q.from.After(now) {
			return noRecording("The range begins in the future.")
		}
		newest, found, err := p.options.Index.FileAt(p.ctx(), stream.ID, now)
		if err != nil {
			return p.failed(p.r.Context(), stream.Camera, err)
		}
		if !found || !newest.End().After(q.from) {
			return noRecording("Nothing was recorded since then.")
		}
		c.from, c.to = newest.End().Add(-lately), now
		if c.from.Before(q.from) {
			c.from = q.from
		}
	}
	d, problem := p.at(slotKey{stream.ID, nameMultivariant, micros(q.from), micros(q.to)}, func(s *slot) (*document, *problem) {
		return p.closed(s, c, func(_ *closed, r *recorded) *document { return multivariant(q, r, p.saw(p.ctx(), stream.Camera, q)) })
	})
	if problem != nil {
		return problem
	}
	p.document(d)
	return nil
}

func multivariant(q *query, r *recorded, saw bool) *document {
	v := m3u8.Variant{URI: "index.m3u8" + q.again()}
	media, lasts, peak, peakPicture := int64(0), time.Duration(0), 0.0, 0.0
	var codecs []string
	for _, reel := range r.reels {
		media += reel.media
		lasts += reel.lasts
		peak, peakPicture = max(peak, reel.peak), max(peakPicture, reel.peakPicture)
		for codec := range strings.SplitSeq(reel.format.Codecs, ",") {
			if codec != "" && !slices.Contains(codecs, codec) {
				codecs = append(codecs, codec)
			}
		}
		v.Width, v.Height, v.FrameRate = max(v.Width, reel.format.Width), max(v.Height, reel.format.Height), max(v.FrameRate, reel.format.FPS)
	}
	v.Codecs = strings.Join(codecs, ",")
	v.Bandwidth = roundRate(peak)
	v.AverageBandwidth = min(v.Bandwidth, roundRate(float64(media)*8/max(lasts.Seconds(), 1e-3)))
	text := m3u8.AppendMultivariantHead(nil, 7, true)
	if saw {
		v.Subtitles = timed.Group
		text = m3u8.AppendSubtitles(text, &m3u8.Subtitles{Group: timed.Group, Name: timed.Name, URI: "boxes.m3u8" + q.again()})
	}
	text = m3u8.AppendVariant(text, &v)
	if v.Width > 0 {
		v.URI = "iframes.m3u8" + q.again()
		v.Bandwidth, v.AverageBandwidth = roundRate(peakPicture), 0
		v.Codecs = strings.Join(slices.DeleteFunc(codecs, isSound), ",")
		text = m3u8.AppendIFrameVariant(text, &v)
	}
	tag := newTag()
	for _, b := range text {
		tag.add(uint64(b))
	}
	cache := "public, max-age=5, stale-if-error=60"
	if r.settled && !q.to.IsZero() {
		cache = settledCache
	}
	return newDocument(text, tag.String(), cache)
}

func isSound(codec string) bool {
	return strings.HasPrefix(codec, "mp4a") || codec == "Opus" || codec == "fLaC"
}

// roundRate rounds up to two digits: RFC 8216 4.3.4.2 wants an upper bound.
func roundRate(bits float64) int64 {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(max(bits, 1)))-1))
	return int64(math.Ceil(bits/unit) * unit)
}

// again returns a query that asks for the same range.
func (q *query) again() string {
	values := url.Values{}
	for name, at := range map[string]time.Time{"from": q.from, "to": q.to} {
		if !at.IsZero() {
			values.Set(name, at.UTC().Format("2006-01-02T15:04:05.999999Z"))
		}
	}
	if q.source != "" {
		values.Set("source", q.source)
	}
	if len(values) == 0 {
		return ""
	}
	return "?" + values.Encode()
}
