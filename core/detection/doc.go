// Package detection holds the words for what AI workers see: a Report of one
// frame with its Detections, the Rules that make something of them, and the
// Events that come of it. All of it comes from outside, and is checked here.
package detection

import (
	"fmt"
	"time"
)

// Bounds of what a worker may say of one frame.
const (
	MaxDetections     = 256
	MaxLabelBytes     = 64
	MaxWorkerBytes    = 32
	MaxAttributes     = 16
	MaxAttributeBytes = 256
	MaxJSONBytes      = 4 << 10
	MaxReportBytes    = 64 << 10 // all texts of a report together

	// MaxAhead is how far from the future a frame may seem to be: clocks differ.
	MaxAhead = 5 * time.Second
	// MaxAge is how old a frame may be.
	MaxAge = 2 * time.Minute
)

// A Reason is why a report was refused, as metrics name it.
type Reason string

// The reasons.
const (
	ReasonCamera  Reason = "no_camera"
	ReasonFrame   Reason = "unknown_frame"
	ReasonFuture  Reason = "future"
	ReasonOld     Reason = "too_old"
	ReasonNumber  Reason = "bad_number"
	ReasonBox     Reason = "bad_box"
	ReasonText    Reason = "bad_text"
	ReasonJSON    Reason = "bad_json"
	ReasonMany    Reason = "too_many"
	ReasonBytes   Reason = "too_large"
	ReasonRate    Reason = "rate"
	ReasonStorage Reason = "storage"
)

// Reasons returns all of them: a counter that is not there is not zero.
func Reasons() []Reason {
	return []Reason{ReasonCamera, ReasonFrame, ReasonFuture, ReasonOld, ReasonNumber, ReasonBox, ReasonText,
		ReasonJSON, ReasonMany, ReasonBytes, ReasonRate, ReasonStorage}
}

// An Error says why a report, a rule or a question was refused. Its text never
// holds what came from outside, but for numbers.
type Error struct {
	Reason Reason
	Field  string        // as in the API: "detections[0].box.x"; "" for the whole
	Text   string        // for people: what to do
	Retry  time.Duration // of ReasonRate and ReasonStorage: when it may go well
}

// Error implements error.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Text
	}
	return e.Field + ": " + e.Text
}

func refuse(reason Reason, field, format string, args ...any) *Error {
	return &Error{Reason: reason, Field: field, Text: fmt.Sprintf(format, args...)}
}
