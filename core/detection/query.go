package detection

import (
	"strconv"
	"strings"
	"time"
)

// Seen is a detection that is kept, with the frame that it was seen in.
type Seen struct {
	Detection
	Camera   string
	Source   string
	Time     time.Time
	Epoch    uint64
	Sequence uint64
	HasFrame bool
	Worker   string
}

// A Query asks for detections that are kept.
type Query struct {
	Camera   string    // "": of all
	From, To time.Time // from (including) to (excluding); zero: no limit
	Label    string    // "": all
	MinScore float64
	Newest   bool   // newest first; else oldest first
	After    Cursor // where the answer before ended; zero: at the beginning
	Limit    int
}

// An EventQuery asks for events that are kept, newest first.
type EventQuery struct {
	Camera   string
	From, To time.Time // that touch this time; zero: no limit
	Rule     string
	Label    string
	After    Cursor
	Limit    int
}

// A Cursor is a place in an answer that is not whole.
type Cursor struct {
	Micros int64 // Unix time
	ID     int64 // 0: there is no cursor
}

// String returns what ParseCursor reads; "" for none.
func (c Cursor) String() string {
	if c.ID == 0 {
		return ""
	}
	return strconv.FormatInt(c.Micros, 10) + "." + strconv.FormatInt(c.ID, 10)
}

// ParseCursor reads a cursor that was in an answer.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{}, nil
	}
	micros, id, _ := strings.Cut(s, ".")
	c := Cursor{}
	var err1, err2 error
	c.Micros, err1 = strconv.ParseInt(micros, 10, 64)
	c.ID, err2 = strconv.ParseInt(id, 10, 64)
	if err1 != nil || err2 != nil || c.ID <= 0 || c.String() != s {
		return Cursor{}, refuse(ReasonText, "cursor", "must be one that an answer before had")
	}
	return c, nil
}

// A Numbered is a report with the place that it has among its camera's.
type Numbered struct {
	Report
	Number uint64 // grows by one per report; over restarts it grows, too
}

// A Batch is some of a camera's reports, as they came.
type Batch struct {
	Reports []Numbered
	Last    uint64          // to go on after
	Missed  uint64          // that are no longer remembered
	Changed <-chan struct{} // closed when there is more
}
