package m3u8

import (
	"bytes"
	"strconv"
	"time"
)

// Head is what stands at the top of a media playlist.
type Head struct {
	Version               int
	TargetDuration        int // seconds; RFC 8216 4.3.3.1: the same for the playlist's life
	MediaSequence         uint64
	DiscontinuitySequence uint64
	IndependentSegments   bool

	// Type says what may change: VOD nothing, EVENT that segments are added. "":
	// those in front may go, too.
	Type string

	// IFramesOnly: each entry is one picture, and lasts until the next.
	IFramesOnly bool

	// CanSkipUntil is how far from its end a playlist without parts is told anew in
	// a delta update; 0: there are none.
	CanSkipUntil time.Duration

	// LowLatency is what a playlist with parts says besides; nil: it has none.
	LowLatency *LowLatency
}

// Types of playlists.
const (
	TypeVOD   = "VOD"
	TypeEvent = "EVENT"
)

// Segment is one entry of a media playlist.
type Segment struct {
	URI             string
	Duration        time.Duration
	ProgramDateTime time.Time // zero: none
	Discontinuity   bool      // between the entry before and this one
	Gap             bool      // RFC 8216bis 4.4.4.7: not to be loaded

	// MapURI is written where the entry is the first, or its map is another
	// than the one before: the caller says so by setting it.
	MapURI   string
	MapBytes int64 // from the first byte on; 0: all

	RangeOffset, RangeBytes int64 // what of URI it is; 0 bytes: all

	// Short leaves out digits that say nothing: it counts where there are tens of
	// thousands of entries.
	Short bool
}

// AppendHead appends the head of a media playlist.
func AppendHead(dst []byte, h *Head) []byte {
	dst = append(dst, "#EXTM3U\n#EXT-X-VERSION:"...)
	dst = strconv.AppendInt(dst, int64(h.Version), 10)
	dst = append(dst, "\n#EXT-X-TARGETDURATION:"...)
	dst = strconv.AppendInt(dst, int64(h.TargetDuration), 10)
	switch {
	case h.LowLatency != nil:
		dst = appendLowLatency(append(dst, '\n'), h.LowLatency)
	case h.CanSkipUntil > 0:
		dst = append(dst, "\n#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL="...)
		dst = AppendShortSeconds(dst, h.CanSkipUntil)
	}
	if h.Type != "" {
		dst = append(dst, "\n#EXT-X-PLAYLIST-TYPE:"...)
		dst = append(dst, h.Type...)
	}
	dst = append(dst, "\n#EXT-X-MEDIA-SEQUENCE:"...)
	dst = strconv.AppendUint(dst, h.MediaSequence, 10)
	if h.DiscontinuitySequence > 0 {
		dst = append(dst, "\n#EXT-X-DISCONTINUITY-SEQUENCE:"...)
		dst = strconv.AppendUint(dst, h.DiscontinuitySequence, 10)
	}
	if h.IndependentSegments {
		dst = append(dst, "\n#EXT-X-INDEPENDENT-SEGMENTS"...)
	}
	if h.IFramesOnly {
		dst = append(dst, "\n#EXT-X-I-FRAMES-ONLY"...)
	}
	return append(dst, '\n')
}

// AppendSegment appends an entry of a media playlist.
func AppendSegment(dst []byte, s *Segment) []byte {
	return AppendSegmentEnd(AppendSegmentStart(dst, s), s)
}

// AppendDiscontinuities appends n discontinuities: each counts for the number of
// what follows (RFC 8216 4.3.3.3).
func AppendDiscontinuities(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, "#EXT-X-DISCONTINUITY\n"...)
	}
	return dst
}

// AppendSegmentStart appends those tags of an entry that apply to its first part
// as well, and stand before it (RFC 8216bis 4.4.4.9).
func AppendSegmentStart(dst []byte, s *Segment) []byte {
	if s.Discontinuity {
		dst = AppendDiscontinuity(dst)
	}
	if s.MapURI != "" {
		dst = append(dst, "#EXT-X-MAP:URI="...)
		dst = AppendQuoted(dst, s.MapURI)
		if s.MapBytes > 0 {
			dst = append(dst, ",BYTERANGE=\""...)
			dst = appendRange(dst, s.MapBytes, 0)
			dst = append(dst, '"')
		}
		dst = append(dst, '\n')
	}
	if !s.ProgramDateTime.IsZero() {
		dst = append(dst, "#EXT-X-PROGRAM-DATE-TIME:"...)
		dst = s.ProgramDateTime.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
		dst = append(dst, '\n')
	}
	return dst
}

// AppendSegmentEnd appends the rest of an entry, which stands behind its parts.
func AppendSegmentEnd(dst []byte, s *Segment) []byte {
	if s.Gap {
		dst = append(dst, "#EXT-X-GAP\n"...)
	}
	dst = append(dst, "#EXTINF:"...)
	if dst = AppendSeconds(dst, s.Duration); s.Short {
		dst = bytes.TrimSuffix(bytes.TrimRight(dst, "0"), []byte("."))
	}
	dst = append(dst, ",\n"...)
	if s.RangeBytes > 0 {
		dst = append(dst, "#EXT-X-BYTERANGE:"...)
		dst = appendRange(dst, s.RangeBytes, s.RangeOffset)
		dst = append(dst, '\n')
	}
	dst = append(dst, s.URI...)
	return append(dst, '\n')
}

// appendRange appends a byte range as all tags have it. The offset is always said:
// not every player knows where the one before ended.
func appendRange(dst []byte, n, offset int64) []byte {
	dst = strconv.AppendInt(dst, n, 10)
	dst = append(dst, '@')
	return strconv.AppendInt(dst, offset, 10)
}

// AppendDiscontinuity appends that what follows does not go on from what is before.
func AppendDiscontinuity(dst []byte) []byte { return append(dst, "#EXT-X-DISCONTINUITY\n"...) }

// AppendEnd appends that nothing follows, ever.
func AppendEnd(dst []byte) []byte { return append(dst, "#EXT-X-ENDLIST\n"...) }

// AppendSeconds appends a duration as seconds with six digits, rounded, so that
// the sum of many entries stays within a tick of the media's own clock.
func AppendSeconds(dst []byte, d time.Duration) []byte {
	micros := max(0, (d + 500).Microseconds())
	dst = strconv.AppendInt(dst, micros/1e6, 10)
	dst = append(dst, '.')
	for unit := int64(1e5); unit > 0; unit /= 10 {
		dst = append(dst, '0'+byte(micros/unit%10))
	}
	return dst
}

// AppendQuoted appends a quoted string. The grammar knows no escape: what may
// not stand inside one (RFC 8216 4.2) is left out.
func AppendQuoted[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch s[i] {
		case '"', '\r', '\n':
		default:
			dst = append(dst, s[i])
		}
	}
	return append(dst, '"')
}
