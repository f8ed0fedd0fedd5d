package m3u8

import (
	"strconv"
	"time"
)

// LowLatency is what the head of a playlist with parts says of it.
type LowLatency struct {
	PartTarget   time.Duration // RFC 8216bis 4.4.3.7: the same for the playlist's life
	PartHoldBack time.Duration
	HoldBack     time.Duration
	CanSkipUntil time.Duration // 0: there are no delta updates
}

func appendLowLatency(dst []byte, l *LowLatency) []byte {
	dst = append(dst, "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK="...)
	dst = AppendShortSeconds(dst, l.PartHoldBack)
	dst = append(dst, ",HOLD-BACK="...)
	dst = AppendShortSeconds(dst, l.HoldBack)
	if l.CanSkipUntil > 0 {
		dst = append(dst, ",CAN-SKIP-UNTIL="...)
		dst = AppendShortSeconds(dst, l.CanSkipUntil)
	}
	dst = append(dst, "\n#EXT-X-PART-INF:PART-TARGET="...)
	return AppendShortSeconds(dst, l.PartTarget)
}

// Part is one partial segment of a media playlist.
type Part struct {
	URI         []byte
	Duration    time.Duration
	Independent bool // it begins with a picture that needs no other
}

// AppendPart appends a part.
func AppendPart(dst []byte, p *Part) []byte {
	dst = append(dst, "#EXT-X-PART:DURATION="...)
	dst = AppendShortSeconds(dst, p.Duration)
	if p.Independent {
		dst = append(dst, ",INDEPENDENT=YES"...)
	}
	dst = append(dst, ",URI="...)
	dst = AppendQuoted(dst, p.URI)
	return append(dst, '\n')
}

// AppendPreloadHint appends the name of the part that comes next.
func AppendPreloadHint(dst, uri []byte) []byte {
	dst = append(dst, "#EXT-X-PRELOAD-HINT:TYPE=PART,URI="...)
	dst = AppendQuoted(dst, uri)
	return append(dst, '\n')
}

// AppendSkip appends what stands in the place of the oldest segments in a delta
// update.
func AppendSkip(dst []byte, segments int) []byte {
	dst = append(dst, "#EXT-X-SKIP:SKIPPED-SEGMENTS="...)
	dst = strconv.AppendInt(dst, int64(segments), 10)
	return append(dst, '\n')
}

// RenditionReport says where another playlist of the same camera is.
type RenditionReport struct {
	URI      string
	LastMSN  uint64
	LastPart int // -1: it has none
}

// AppendRenditionReport appends a report.
func AppendRenditionReport(dst []byte, r *RenditionReport) []byte {
	dst = append(dst, "#EXT-X-RENDITION-REPORT:URI="...)
	dst = AppendQuoted(dst, r.URI)
	dst = append(dst, ",LAST-MSN="...)
	dst = strconv.AppendUint(dst, r.LastMSN, 10)
	if r.LastPart >= 0 {
		dst = append(dst, ",LAST-PART="...)
		dst = strconv.AppendInt(dst, int64(r.LastPart), 10)
	}
	return append(dst, '\n')
}

// AppendShortSeconds appends a duration as seconds with five digits at most, and
// none that say nothing: some players read long ones badly.
func AppendShortSeconds(dst []byte, d time.Duration) []byte {
	units := max(0, (d+5*time.Microsecond)/(10*time.Microsecond))
	dst = strconv.AppendInt(dst, int64(units/1e5), 10)
	rest := units % 1e5
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := time.Duration(1e4); rest > 0; unit /= 10 {
		dst = append(dst, '0'+byte(rest/unit))
		rest %= unit
	}
	return dst
}
