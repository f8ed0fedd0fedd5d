package camera

import (
	"fmt"
	"strings"
	"time"
)

// Schedule is hours of the week in a time zone.
type Schedule struct {
	Zone  string   // as in the IANA database, "Europe/Berlin"; "": UTC
	Spans []string // "mon-fri 08:00-18:00", "sat,sun 22:00-06:00", "daily 00:00-24:00"
}

// Hours is a schedule that was read. It is immutable.
type Hours struct {
	zone  *time.Location
	spans []hours
}

// hours are a span of some days of the week.
type hours struct {
	days     [7]bool // by time.Weekday: on which it begins
	from, to int     // minutes of the day; to is the next day's where it is not after from
}

const maxSpans = 50

// Contains reports whether a time is within the schedule, by the clock on the wall of
// its zone: an hour that daylight saving leaves out is not there, one that comes twice
// is there twice.
func (s *Hours) Contains(t time.Time) bool {
	local := t.In(s.zone)
	minute, day := local.Hour()*60+local.Minute(), int(local.Weekday())
	for _, h := range s.spans {
		switch {
		case h.from < h.to:
			if h.days[day] && minute >= h.from && minute < h.to {
				return true
			}
		case h.days[day] && minute >= h.from, h.days[(day+6)%7] && minute < h.to:
			return true
		}
	}
	return false
}

// Hours reads the schedule. The error is a *FieldError.
func (s *Schedule) Hours() (*Hours, error) {
	if len(s.Spans) > maxSpans {
		return nil, fieldError("record.schedule.spans", "has more than %d spans", maxSpans)
	}
	zone := time.UTC
	if s.Zone != "" {
		var err error
		// "Local" would be another zone on another machine.
		if zone, err = time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" || len(s.Zone) > 64 {
			return nil, fieldError("record.schedule.zone", "is no time zone: write it as Europe/Berlin or America/New_York, or leave it out for UTC")
		}
	}
	all := make([]hours, 0, len(s.Spans))
	for i, text := range s.Spans {
		h, ok := parseHours(text)
		if !ok {
			return nil, fieldError(fmt.Sprintf("record.schedule.spans[%d]", i), "must be days and hours, for example mon-fri 08:00-18:00, sat,sun 22:00-06:00 or daily 00:00-24:00")
		}
		all = append(all, h)
	}
	return &Hours{zone: zone, spans: all}, nil
}

// weekday returns the day of a name, as time.Weekday counts them, or -1.
func weekday(name string) int {
	const names = "sun mon tue wed thu fri sat"
	if i := strings.Index(names, name); len(name) == 3 && i >= 0 && i%4 == 0 {
		return i / 4
	}
	return -1
}

func parseHours(text string) (h hours, ok bool) {
	fields := strings.Fields(strings.ToLower(text))
	if len(fields) != 2 || len(text) > 100 {
		return h, false
	}
	if fields[0] == "daily" {
		fields[0] = "sun-sat"
	}
	for part := range strings.SplitSeq(fields[0], ",") {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, to := weekday(first), weekday(last)
		if from < 0 || to < 0 {
			return h, false
		}
		for day := from; ; day = (day + 1) % 7 {
			h.days[day] = true
			if day == to {
				break
			}
		}
	}
	from, to, isRange := strings.Cut(fields[1], "-")
	h.from, ok = minuteOf(from)
	if !ok || !isRange || h.from == 24*60 {
		return h, false
	}
	h.to, ok = minuteOf(to)
	return h, ok
}

// minuteOf reads a time of day, of which 24:00 is one.
func minuteOf(text string) (int, bool) {
	if len(text) != 5 || text[2] != ':' {
		return 0, false
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	hour, minute := int(text[0]-'0')*10+int(text[1]-'0'), int(text[3]-'0')*10+int(text[4]-'0')
	if minute > 59 || hour > 24 || hour == 24 && minute > 0 {
		return 0, false
	}
	return hour*60 + minute, true
}
