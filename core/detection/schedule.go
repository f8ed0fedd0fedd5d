package detection

import (
	"fmt"
	"time"
)

// A Schedule is when in the week a rule is in force.
type Schedule struct {
	Zone  string // IANA name of a time zone: "Europe/Berlin"
	Spans []Span // any of them

	location *time.Location
}

// A Span is a time of some days. One that ends before it begins, or as it begins,
// goes on to the next day.
type Span struct {
	Days     []time.Weekday // on which it begins; none: every day
	From, To Clock
}

// A Clock is a time of day in minutes after midnight; as To, 24:00 is one too.
type Clock int

// Clocks.
const (
	dayEnd Clock = 24 * 60
)

// ParseClock reads 07:30.
func ParseClock(s string) (Clock, error) {
	if len(s) == 5 && s[2] == ':' && digits(s[:2]) && digits(s[3:]) {
		c := Clock(int(s[0]-'0')*600 + int(s[1]-'0')*60 + int(s[3]-'0')*10 + int(s[4]-'0'))
		if s[3] < '6' && c <= dayEnd {
			return c, nil
		}
	}
	return 0, refuse(ReasonText, "", "must be a time of day from 00:00 to 24:00")
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// String returns 07:30.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

func (s *Schedule) normalize() error {
	if s.Zone == "" {
		s.Zone = "UTC"
	}
	var err error
	// LoadLocation takes a name of the server's own clock: which week that is nobody
	// who reads the rule can tell.
	if s.location, err = time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" || len(s.Zone) > 64 {
		return refuse(ReasonText, "schedule.zone", "must be the name of a time zone, for example Europe/Berlin")
	}
	if len(s.Spans) == 0 || len(s.Spans) > MaxSpans {
		return refuse(ReasonMany, "schedule.spans", "there are 1 to %d", MaxSpans)
	}
	for i, span := range s.Spans {
		field := fmt.Sprintf("schedule.spans[%d]", i)
		if len(span.Days) > 7 {
			return refuse(ReasonMany, field+".days", "a week has 7")
		}
		for _, day := range span.Days {
			if day < time.Sunday || day > time.Saturday {
				return refuse(ReasonText, field+".days", "must be of mon, tue, wed, thu, fri, sat and sun")
			}
		}
		if span.From < 0 || span.From >= dayEnd || span.To < 0 || span.To > dayEnd {
			return refuse(ReasonText, field, "must be from 00:00 to 24:00")
		}
	}
	return nil
}

func (s *Schedule) covers(at time.Time) bool {
	local := at.In(s.location)
	clock := Clock(local.Hour()*60 + local.Minute())
	day := local.Weekday()
	before := (day + 6) % 7
	for _, span := range s.Spans {
		switch {
		case span.From < span.To:
			if span.begins(day) && clock >= span.From && clock < span.To {
				return true
			}
		case span.begins(day) && clock >= span.From, span.begins(before) && clock < span.To:
			return true
		}
	}
	return false
}

func (s Span) begins(day time.Weekday) bool {
	if len(s.Days) == 0 {
		return true
	}
	for _, d := range s.Days {
		if d == day {
			return true
		}
	}
	return false
}
