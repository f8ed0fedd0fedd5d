package detection

import "time"

// An Event is something that a rule found in a camera's detections.
type Event struct {
	ID     int64 // grows, over restarts too
	Camera string
	Source string // whose frames it was seen in first
	Rule   string // ID of the rule
	Name   string // of the rule, as it was
	Label  string

	Start, End time.Time // of the first and the last detection of it
	Open       bool      // it may go on

	// Of the detection with the highest score.
	Score float64
	Box   *Box
	Track uint64
	Best  time.Time // its frame's

	Record bool // as the rule says
}
