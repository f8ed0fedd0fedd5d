package detection

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// Bounds of rules.
const (
	MaxRules       = 32 // of one camera
	MaxRuleLabels  = 32
	MaxZonePoints  = 64
	MaxNameBytes   = 200
	MaxMinDuration = time.Hour
	MaxQuiet       = time.Hour
	MaxGap         = time.Minute

	// What a rule has that says nothing of it.
	DefaultQuiet = 10 * time.Second
	DefaultGap   = 2 * time.Second
)

// A Rule makes events of a camera's detections. A detection matches if label, score,
// zone and schedule suit. What matches, with no pause longer than Gap, for MinDuration
// is an event, which lasts until nothing has matched for Quiet.
type Rule struct {
	ID     string // given by the user or made of the name; unique to the camera
	Camera string
	Name   string // for people; "": the ID

	Labels   []string // any of them; none: every label
	MinScore float64
	Zone     []Point // a polygon; none: the whole picture
	Anchor   Anchor  // which point of a box is in the zone or not

	MinDuration time.Duration // 0: one detection is enough
	Gap         time.Duration // longer than it takes the worker from frame to frame
	Quiet       time.Duration
	Schedule    camera.Schedule // without spans: always

	Record  bool // what is recorded of the event is kept; in mode event it is recorded because of it
	Created time.Time

	hours *camera.Hours // of Schedule
}

// A Point is a place in the picture, in fractions of its width and height.
type Point struct{ X, Y float64 }

// An Anchor is the point of a box that counts.
type Anchor string

// The anchors. Where people and cars stand is the middle of the lower edge.
const (
	AnchorFoot   Anchor = "foot"
	AnchorCenter Anchor = "center"
)

// Normalize fills in defaults and checks everything. The error is an *Error.
func (r *Rule) Normalize() error {
	if !validRuleID(r.ID) {
		return refuse(ReasonText, "id", "must match [a-z0-9][a-z0-9_-]{0,62}, for example person-at-door")
	}
	if !validText(r.Name, MaxNameBytes) {
		return refuse(ReasonText, "name", "has at most %d bytes, without control characters", MaxNameBytes)
	}
	if r.Name == "" {
		r.Name = r.ID
	}
	if err := r.normalizeMatch(); err != nil {
		return err
	}
	if r.MinDuration < 0 || r.MinDuration > MaxMinDuration {
		return refuse(ReasonNumber, "min_duration", "must be from 0s to %s", MaxMinDuration)
	}
	if r.Gap < 100*time.Millisecond || r.Gap > MaxGap {
		return refuse(ReasonNumber, "gap", "must be from 100ms to %s", MaxGap)
	}
	if r.Quiet < time.Second || r.Quiet > MaxQuiet {
		return refuse(ReasonNumber, "quiet", "must be from 1s to %s", MaxQuiet)
	}
	return r.normalizeSchedule()
}

func (r *Rule) normalizeSchedule() error {
	if r.hours = nil; len(r.Schedule.Spans) == 0 && r.Schedule.Zone == "" {
		return nil
	}
	if len(r.Schedule.Spans) == 0 {
		return refuse(ReasonText, "schedule.spans", "must be days and hours, for example mon-fri 08:00-18:00")
	}
	hours, err := r.Schedule.Hours()
	var field *camera.FieldError
	if errors.As(err, &field) {
		return refuse(ReasonText, strings.TrimPrefix(field.Field, "record."), "%s", field.Reason)
	}
	r.hours = hours
	return err
}

func (r *Rule) normalizeMatch() error {
	if len(r.Labels) > MaxRuleLabels {
		return refuse(ReasonMany, "labels", "there are at most %d", MaxRuleLabels)
	}
	for i, label := range r.Labels {
		if label == "" || !validText(label, MaxLabelBytes) {
			return refuse(ReasonText, fmt.Sprintf("labels[%d]", i), "must be a text of 1 to %d bytes, without control characters", MaxLabelBytes)
		}
	}
	if math.IsNaN(r.MinScore) || r.MinScore < 0 || r.MinScore > 1 {
		return refuse(ReasonNumber, "min_score", "must be a number from 0 to 1")
	}
	if n := len(r.Zone); n != 0 && (n < 3 || n > MaxZonePoints) {
		return refuse(ReasonMany, "zone", "a polygon has 3 to %d points", MaxZonePoints)
	}
	for i, p := range r.Zone {
		if !(p.X >= 0 && p.X <= 1 && p.Y >= 0 && p.Y <= 1) { // NaN is not either
			return refuse(ReasonBox, fmt.Sprintf("zone[%d]", i), "is outside the picture: x and y are fractions of it, from 0 to 1")
		}
	}
	switch r.Anchor {
	case "":
		r.Anchor = AnchorFoot
	case AnchorFoot, AnchorCenter:
	default:
		return refuse(ReasonText, "anchor", "must be foot or center")
	}
	return nil
}

// Matches reports whether a detection of a time suits the rule.
func (r *Rule) Matches(at time.Time, d *Detection) bool {
	if d.Score < r.MinScore || len(r.Labels) > 0 && !slices.Contains(r.Labels, d.Label) {
		return false
	}
	if len(r.Zone) > 0 && !inside(r.Zone, r.Anchor.of(d.Box)) {
		return false
	}
	return r.hours == nil || r.hours.Contains(at)
}

func (a Anchor) of(b *Box) Point {
	if b == nil {
		return Point{0.5, 0.5}
	}
	p := Point{b.X + b.Width/2, b.Y + b.Height/2}
	if a == AnchorFoot {
		p.Y = b.Y + b.Height
	}
	return p
}

// inside counts how often a ray from p to the right crosses the polygon.
func inside(polygon []Point, p Point) bool {
	in := false
	before := polygon[len(polygon)-1]
	for _, here := range polygon {
		if (here.Y > p.Y) != (before.Y > p.Y) && p.X < (before.X-here.X)*(p.Y-here.Y)/(before.Y-here.Y)+here.X {
			in = !in
		}
		before = here
	}
	return in || onEdge(polygon, p)
}

// onEdge: what stands on the line stands in the zone. The picture's own lower edge
// is where all those stand who are cut off by it.
func onEdge(polygon []Point, p Point) bool {
	const near = 1e-9
	before := polygon[len(polygon)-1]
	for _, here := range polygon {
		dx, dy := here.X-before.X, here.Y-before.Y
		length := dx*dx + dy*dy
		along := 0.0
		if length > 0 {
			along = max(0, min(1, ((p.X-before.X)*dx+(p.Y-before.Y)*dy)/length))
		}
		ex, ey := p.X-before.X-along*dx, p.Y-before.Y-along*dy
		if ex*ex+ey*ey < near*near {
			return true
		}
		before = here
	}
	return false
}

func validRuleID(id string) bool {
	return id != "" && len(id) <= 63 && !strings.ContainsAny(id[:1], "_-") &&
		strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
