package camera

import (
	"errors"
	"time"
)

// What a registry answers to a change it does not make.
var (
	ErrExists   = errors.New("a camera of this id exists already")
	ErrNotFound = errors.New("no camera of this id")
	ErrReadOnly = errors.New("the camera comes from the configuration file and is changed there")
)

// View is a camera as it is now: what the user said, and how it is doing.
type View struct {
	Spec   Spec
	Status Status
}

// ProbeResult is what a camera offers, or where asking it failed.
type ProbeResult struct {
	Transport Transport
	// TransportReason is as in SourceStatus.
	TransportReason string
	Tracks          []TrackStatus
	GOP             time.Duration // 0 if no two keyframes came while probing
	Elapsed         time.Duration
	Step            string // at which it failed: "connect", "describe", …; "" on success
	Error           string // why, and what to do; "" on success; never holds a secret
}
