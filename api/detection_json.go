package api

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/detection"
)

// NewReport is what a worker saw in one frame. Its bounds are checked where it is taken,
// for what comes by gRPC too.
type NewReport struct {
	Source     string          `json:"source,omitempty" doc:"Of the camera; left out for its first"`
	Epoch      *uint64         `json:"epoch,omitempty" doc:"Of the frame, as the tap says it"`
	Sequence   *uint64         `json:"sequence,omitempty" doc:"Of the frame, as the tap says it"`
	Time       *time.Time      `json:"time,omitempty" doc:"When the frame was taken. Give it beside epoch and sequence, too: of a frame that the server no longer knows it counts."`
	Worker     string          `json:"worker,omitempty" doc:"What the worker is called: a-z, 0-9, _ and -" default:"worker"`
	Detections []Detection     `json:"detections" nullable:"false" doc:"At most 256; none says that nothing is there any more"`
	JSON       json.RawMessage `json:"json,omitempty" doc:"An object about the frame as a whole, of at most 4096 bytes"`
}

// Detection is one thing that was seen.
type Detection struct {
	Label      string            `json:"label" example:"person"`
	Score      float64           `json:"score" doc:"From 0 to 1" example:"0.87"`
	Box        *Box              `json:"box,omitempty" doc:"Left out: the whole picture"`
	TrackID    uint64            `json:"track_id,omitempty" doc:"Of the same thing in other frames; left out if it is not tracked"`
	Attributes map[string]string `json:"attributes,omitempty" doc:"At most 16"`
	JSON       json.RawMessage   `json:"json,omitempty" doc:"An object of at most 4096 bytes"`
}

// Box is a part of the picture.
type Box struct {
	X      float64 `json:"x" doc:"Of the left edge, as a fraction of the picture's width"`
	Y      float64 `json:"y" doc:"Of the upper edge, as a fraction of the picture's height"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// KeptDetection is a detection of the store, with its frame.
type KeptDetection struct {
	ID       int64       `json:"id"`
	Camera   string      `json:"camera"`
	Source   string      `json:"source"`
	Time     preciseTime `json:"time" doc:"Of the frame"`
	Epoch    *uint64     `json:"epoch,omitempty"`
	Sequence *uint64     `json:"sequence,omitempty"`
	Worker   string      `json:"worker"`
	Detection
}

// DetectionList is an answer that may be part of a longer one.
type DetectionList struct {
	Detections []KeptDetection `json:"detections" nullable:"false"`
	Cursor     string          `json:"cursor,omitempty" doc:"Ask again with it for those that follow; left out if there are none"`
}

// LiveReport is a report as listeners get it.
type LiveReport struct {
	Camera     string          `json:"camera"`
	Source     string          `json:"source"`
	Time       preciseTime     `json:"time" doc:"Of the frame"`
	Epoch      *uint64         `json:"epoch,omitempty"`
	Sequence   *uint64         `json:"sequence,omitempty"`
	Worker     string          `json:"worker"`
	Detections []Detection     `json:"detections" nullable:"false"`
	JSON       json.RawMessage `json:"json,omitempty"`
}

// DetectionEvent is something that a rule found.
type DetectionEvent struct {
	ID      int64       `json:"id"`
	Camera  string      `json:"camera"`
	Source  string      `json:"source"`
	Rule    string      `json:"rule"`
	Name    string      `json:"name" doc:"Of the rule, as it was"`
	Label   string      `json:"label"`
	Start   preciseTime `json:"start"`
	End     preciseTime `json:"end" doc:"Of the last detection so far"`
	Open    bool        `json:"open" doc:"It may go on"`
	Score   float64     `json:"score" doc:"The highest"`
	Box     *Box        `json:"box,omitempty" doc:"Of the detection with the highest score"`
	TrackID uint64      `json:"track_id,omitempty"`
	Best    preciseTime `json:"best" doc:"When that one was"`
}

// DetectionEventList is an answer that may be part of a longer one.
type DetectionEventList struct {
	Events []DetectionEvent `json:"events" nullable:"false" doc:"Newest first"`
	Cursor string           `json:"cursor,omitempty" doc:"Ask again with it for those that follow; left out if there are none"`
}

// NewRule is what makes events of detections.
type NewRule struct {
	ID          string      `json:"id,omitempty" doc:"One that the camera has already is replaced; left out, one is made of the name" example:"person-at-door"`
	Name        string      `json:"name,omitempty" doc:"For people"`
	Labels      []string    `json:"labels,omitempty" doc:"Any of them; left out for all"`
	MinScore    float64     `json:"min_score,omitempty" doc:"From 0 to 1"`
	Zone        []ZonePoint `json:"zone,omitempty" doc:"A polygon of 3 to 64 points; left out for the whole picture"`
	Anchor      string      `json:"anchor,omitempty" doc:"Which point of a box is in the zone or not: foot, the middle of its lower edge, or center" default:"foot"`
	MinDuration string      `json:"min_duration,omitempty" doc:"How long something must be seen; left out: once is enough" example:"3s"`
	Gap         string      `json:"gap,omitempty" doc:"Pauses up to this do not count: longer than the worker takes from frame to frame" default:"2s"`
	Quiet       string      `json:"quiet,omitempty" doc:"An event is over when nothing has matched for so long" default:"10s"`
	Schedule    *RuleHours  `json:"schedule,omitempty" doc:"Left out: always"`
	Record      *bool       `json:"record,omitempty" doc:"Whether what is recorded of its events is kept when other recordings are deleted. A camera of record mode event is recorded because of them." default:"true"`
}

// Rule is a rule as it is kept.
type Rule struct {
	NewRule
	Created timestamp `json:"created"`
}

// ZonePoint is a place in the picture.
type ZonePoint struct {
	X float64 `json:"x" doc:"A fraction of the picture's width"`
	Y float64 `json:"y" doc:"A fraction of the picture's height"`
}

// RuleHours is when in the week a rule is in force, as in the schedule of recordings.
type RuleHours struct {
	Zone  string   `json:"zone,omitempty" example:"Europe/Berlin" doc:"Left out: UTC"`
	Spans []string `json:"spans" nullable:"false" example:"[\"mon-fri 08:00-18:00\"]" doc:"Days and hours; those that end before they begin go on to the next day"`
}

// preciseTime is a time as the API writes it where pictures are told apart by it:
// RFC 3339, UTC, microseconds.
type preciseTime time.Time

// MarshalText implements encoding.TextMarshaler.
func (t preciseTime) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000Z07:00"), nil
}

// Schema implements huma.SchemaProvider.
func (preciseTime) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-02T15:04:05.678901Z"}}
}

func (in *NewReport) report(camera string) (detection.Report, error) {
	r := detection.Report{Camera: camera, Source: in.Source, Worker: in.Worker, JSON: in.JSON}
	if (in.Epoch == nil) != (in.Sequence == nil) {
		return r, &detection.Error{Reason: detection.ReasonFrame, Field: "sequence", Text: "a frame has both, an epoch and a sequence"}
	}
	if in.Epoch != nil {
		r.HasFrame, r.Epoch, r.Sequence = true, *in.Epoch, *in.Sequence
	}
	if in.Time != nil {
		r.Time = *in.Time
	}
	r.Detections = make([]detection.Detection, len(in.Detections))
	for i, d := range in.Detections {
		r.Detections[i] = detection.Detection{Label: d.Label, Score: d.Score, Track: d.TrackID, Attributes: d.Attributes, JSON: d.JSON}
		if d.Box != nil {
			r.Detections[i].Box = &detection.Box{X: d.Box.X, Y: d.Box.Y, Width: d.Box.Width, Height: d.Box.Height}
		}
	}
	return r, nil
}

func boxOf(b *detection.Box) *Box {
	if b == nil {
		return nil
	}
	return &Box{X: b.X, Y: b.Y, Width: b.Width, Height: b.Height}
}

func detectionOf(d *detection.Detection) Detection {
	return Detection{Label: d.Label, Score: d.Score, Box: boxOf(d.Box), TrackID: d.Track, Attributes: d.Attributes, JSON: d.JSON}
}

func keptOf(s *detection.Seen) KeptDetection {
	kept := KeptDetection{ID: s.ID, Camera: s.Camera, Source: s.Source, Time: preciseTime(s.Time), Worker: s.Worker, Detection: detectionOf(&s.Detection)}
	if s.HasFrame {
		kept.Epoch, kept.Sequence = &s.Epoch, &s.Sequence
	}
	return kept
}

func liveOf(r *detection.Report) LiveReport {
	live := LiveReport{Camera: r.Camera, Source: r.Source, Time: preciseTime(r.Time), Worker: r.Worker, JSON: r.JSON, Detections: make([]Detection, len(r.Detections))}
	if r.HasFrame {
		live.Epoch, live.Sequence = &r.Epoch, &r.Sequence
	}
	for i := range r.Detections {
		live.Detections[i] = detectionOf(&r.Detections[i])
	}
	return live
}

func detectionEventOf(e *detection.Event) DetectionEvent {
	return DetectionEvent{ID: e.ID, Camera: e.Camera, Source: e.Source, Rule: e.Rule, Name: e.Name, Label: e.Label,
		Start: preciseTime(e.Start), End: preciseTime(e.End), Open: e.Open, Score: e.Score, Box: boxOf(e.Box), TrackID: e.Track, Best: preciseTime(e.Best)}
}

func (in *NewRule) rule(id string) (detection.Rule, error) {
	r := detection.Rule{
		ID: in.ID, Camera: id, Name: in.Name, Labels: in.Labels, MinScore: in.MinScore, Anchor: detection.Anchor(in.Anchor),
		Gap: detection.DefaultGap, Quiet: detection.DefaultQuiet,
		Record: in.Record == nil || *in.Record,
	}
	for _, p := range in.Zone {
		r.Zone = append(r.Zone, detection.Point{X: p.X, Y: p.Y})
	}
	for _, d := range []struct {
		field, text string
		into        *time.Duration
	}{{"min_duration", in.MinDuration, &r.MinDuration}, {"gap", in.Gap, &r.Gap}, {"quiet", in.Quiet, &r.Quiet}} {
		if d.text == "" {
			continue
		}
		var err error
		if *d.into, err = config.ParseDuration(d.text); err != nil {
			return r, &detection.Error{Reason: detection.ReasonText, Field: d.field, Text: err.Error()}
		}
	}
	if in.Schedule != nil {
		r.Schedule = camera.Schedule{Zone: in.Schedule.Zone, Spans: in.Schedule.Spans}
		if r.Schedule.Zone == "" {
			r.Schedule.Zone = "UTC" // one that is said is not no schedule
		}
	}
	return r, nil
}

func ruleOf(r *detection.Rule) Rule {
	out := Rule{Created: timestamp(r.Created), NewRule: NewRule{
		ID: r.ID, Name: r.Name, Labels: r.Labels, MinScore: r.MinScore, Anchor: string(r.Anchor),
		MinDuration: config.FormatDuration(r.MinDuration), Gap: config.FormatDuration(r.Gap), Quiet: config.FormatDuration(r.Quiet),
		Record: &r.Record,
	}}
	for _, p := range r.Zone {
		out.Zone = append(out.Zone, ZonePoint{X: p.X, Y: p.Y})
	}
	if len(r.Schedule.Spans) > 0 {
		out.Schedule = &RuleHours{Zone: r.Schedule.Zone, Spans: r.Schedule.Spans}
	}
	return out
}

// ruleID makes an id of a name: what is no letter or digit becomes one hyphen.
func ruleID(name string) string {
	id := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }), "-")
	if len(id) > 63 {
		id = strings.TrimRight(id[:63], "-")
	}
	return id
}
