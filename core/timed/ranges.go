package timed

import (
	"strconv"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/m3u8"
)

// Class is that of events' date ranges.
const Class = "drover.event"

// MaxRanges is how many events one playlist tells of.
const MaxRanges = 100

// AppendRanges appends a date range for each event, the newest where they are many. An
// event that may go on has no end yet, and no score: what was said of an ID stays as it
// was said (RFC 8216bis 4.4.5.1).
func AppendRanges(dst []byte, events []detection.Event) []byte {
	events = events[max(0, len(events)-MaxRanges):]
	for i := range events {
		e := &events[i]
		r := m3u8.DateRange{ID: "drover-event-" + strconv.FormatInt(e.ID, 10), Class: Class, Start: e.Start,
			Attributes: []m3u8.Attribute{{Name: "X-RULE", Value: e.Rule}, {Name: "X-NAME", Value: e.Name}, {Name: "X-LABEL", Value: e.Label}}}
		if !e.Open {
			r.End = e.End
			r.Attributes = append(r.Attributes, m3u8.Attribute{Name: "X-SCORE", Value: strconv.FormatFloat(e.Score, 'f', 3, 64)})
		}
		dst = m3u8.AppendDateRange(dst, &r)
	}
	return dst
}
