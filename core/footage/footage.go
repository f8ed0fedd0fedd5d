// Package footage says what there is of a camera's recordings, for those who show it
// and those who know it: the API and the archive.
package footage

import (
	"errors"
	"time"
)

// A Query asks for a time of a camera.
type Query struct {
	Camera   string
	Source   string // "": the one that was recorded first
	From, To time.Time
}

// Timeline is what there is of a time, and what there is not and why.
type Timeline struct {
	Source    string // "": nothing was ever recorded
	Bytes     int64
	Covered   time.Duration
	Spans     []Span
	Gaps      []Gap
	MoreGaps  bool // there are more than those
	Bookmarks []Bookmark
}

// Span is a time with footage. Small gaps may be within.
type Span struct {
	From, To time.Time
	Bytes    int64
	Covered  time.Duration
}

// Gap is a time without footage.
type Gap struct {
	From, To time.Time // To zero: it goes on
	Cause    string
	Detail   string
}

// Day is how much there is of a day.
type Day struct {
	Date    string // YYYY-MM-DD
	Bytes   int64
	Covered time.Duration
}

// Bookmark is a time that somebody wants to find again.
type Bookmark struct {
	ID       int64
	From, To time.Time
	Kind     string // who made it: "user" or "event"
	Name     string
	Keep     bool // what it spans is not deleted
}

// Deleted is what a deletion took.
type Deleted struct {
	Files int
	Bytes int64
}

// Errors of who knows.
var (
	ErrNotFound = errors.New("there is no such thing")
	ErrTooMany  = errors.New("there are too many")

	ErrNotRecorded = errors.New("nothing of this camera is recorded: set its record.mode")
	ErrBadEvent    = errors.New("an event lasts at most a day, ends after it began, and began at most an hour ago")
)

// Health is how the archive's disk is doing.
type Health struct {
	Total, Free  int64   // bytes
	Floor        int64   // bytes that are kept free
	Rate         float64 // bytes written per second of late
	HoursLeft    float64 // until the oldest has to go, at that rate; -1 while nothing is written
	Queued       int64   // bytes that wait to be written
	Trouble      string  // the cause of the gaps that the disk leaves; "" while it leaves none
	Detail       string  // for people
	Since        time.Time
	ClockDoubted bool // nothing is deleted by age: the clock jumped
}

// RecordingState is what the recording of a camera comes to.
type RecordingState string

// The states of recording.
const (
	RecordingOff     RecordingState = "off"       // nothing is meant to be recorded
	RecordingOn      RecordingState = "recording" // footage is being written
	RecordingWaiting RecordingState = "waiting"   // for an event, its hours, or the camera
	RecordingFailed  RecordingState = "failed"    // the disk does not take it
)

// Recording is how the recording of a camera is doing.
type Recording struct {
	State  RecordingState
	Reason string // for people: why nothing is written, or what is wrong though it is; else ""
}
