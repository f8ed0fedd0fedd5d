package m3u8

import "time"

// A DateRange is a time with something to say of it (RFC 8216bis 4.4.5.1).
type DateRange struct {
	ID, Class  string
	Start      time.Time
	End        time.Time // zero: it is not known yet
	Attributes []Attribute
}

// An Attribute is one of a client's own, a quoted string. Its name begins with X-.
type Attribute struct{ Name, Value string }

// AppendDateRange appends a date range, which may stand anywhere in a media playlist.
func AppendDateRange(dst []byte, r *DateRange) []byte {
	dst = append(dst, "#EXT-X-DATERANGE:ID="...)
	dst = AppendQuoted(dst, r.ID)
	if r.Class != "" {
		dst = append(dst, ",CLASS="...)
		dst = AppendQuoted(dst, r.Class)
	}
	dst = append(dst, ",START-DATE=\""...)
	dst = r.Start.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
	dst = append(dst, '"')
	if !r.End.IsZero() {
		dst = append(dst, ",END-DATE=\""...)
		dst = r.End.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
		dst = append(dst, '"')
	}
	for _, a := range r.Attributes {
		dst = append(dst, ',')
		dst = append(dst, a.Name...)
		dst = append(dst, '=')
		dst = AppendQuoted(dst, a.Value)
	}
	return append(dst, '\n')
}

// Subtitles is a rendition of text, which is shown where somebody chooses it.
type Subtitles struct {
	Group string
	Name  string // for people
	URI   string
}

// AppendSubtitles appends a rendition of text.
func AppendSubtitles(dst []byte, s *Subtitles) []byte {
	dst = append(dst, "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="...)
	dst = AppendQuoted(dst, s.Group)
	dst = append(dst, ",NAME="...)
	dst = AppendQuoted(dst, s.Name)
	dst = append(dst, ",DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="...)
	dst = AppendQuoted(dst, s.URI)
	return append(dst, '\n')
}
