package detection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Report is what a worker saw in one frame.
type Report struct {
	Camera string
	Source string // "": the camera's first

	// The frame: by its place in the source, or by its time. Of a frame that is no
	// longer known, the time counts.
	Epoch    uint64
	Sequence uint64
	HasFrame bool      // Epoch and Sequence are said
	Time     time.Time // wall-clock time of the frame; zero: not said

	Worker     string
	Detections []Detection
	JSON       json.RawMessage // an object about the frame as a whole; nil for none
}

// A Detection is one thing that was seen.
type Detection struct {
	ID         int64 // of the store; 0: it is not kept yet
	Label      string
	Score      float64 // 0 to 1
	Box        *Box    // nil: the whole picture
	Track      uint64  // of the same thing in other frames; 0: it is not tracked
	Attributes map[string]string
	JSON       json.RawMessage // an object; nil for none
}

// A Box is a part of the picture, in fractions of its width and height.
type Box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// slack is how far over the edge a box may go by rounding.
const slack = 1e-3

// Normalize checks a report and brings it into the one form that is kept: boxes are
// cut at the picture's edge where rounding led them over it, an empty worker is
// called "worker", and JSON has no spaces. Whether camera and frame are known is for
// others to say. The error is an *Error.
func (r *Report) Normalize() error {
	if r.Worker == "" {
		r.Worker = "worker"
	}
	if !validWorker(r.Worker) {
		return refuse(ReasonText, "worker", "a worker's name has at most %d of the letters a-z, 0-9, _ and -", MaxWorkerBytes)
	}
	if len(r.Source) > 63 {
		return refuse(ReasonText, "source", "a source's name has at most 63 bytes")
	}
	if len(r.Detections) > MaxDetections {
		return refuse(ReasonMany, "detections", "there are at most %d of one frame", MaxDetections)
	}
	size := 0
	for i := range r.Detections {
		n, err := r.Detections[i].normalize(fmt.Sprintf("detections[%d].", i))
		if err != nil {
			return err
		}
		size += n
	}
	var err error
	if r.JSON, err = object(r.JSON, "json"); err != nil {
		return err
	}
	if size += len(r.JSON); size > MaxReportBytes {
		return refuse(ReasonBytes, "", "labels, attributes and JSON of a frame have at most %d bytes together", MaxReportBytes)
	}
	return nil
}

// normalize returns how many bytes of text there are.
func (d *Detection) normalize(path string) (int, error) {
	if d.Label == "" || !validText(d.Label, MaxLabelBytes) {
		return 0, refuse(ReasonText, path+"label", "must be a text of 1 to %d bytes, without control characters", MaxLabelBytes)
	}
	if math.IsNaN(d.Score) || d.Score < 0 || d.Score > 1 {
		return 0, refuse(ReasonNumber, path+"score", "must be a number from 0 to 1")
	}
	if d.Box != nil {
		box := *d.Box // the caller's stays as it is
		if err := box.normalize(path + "box"); err != nil {
			return 0, err
		}
		d.Box = &box
	}
	size := len(d.Label)
	if len(d.Attributes) > MaxAttributes {
		return 0, refuse(ReasonMany, path+"attributes", "there are at most %d", MaxAttributes)
	}
	for name, value := range d.Attributes {
		if name == "" || !validText(name, MaxLabelBytes) || !validText(value, MaxAttributeBytes) {
			return 0, refuse(ReasonText, path+"attributes", "names have 1 to %d bytes and values at most %d, without control characters", MaxLabelBytes, MaxAttributeBytes)
		}
		size += len(name) + len(value)
	}
	var err error
	d.JSON, err = object(d.JSON, path+"json")
	return size + len(d.JSON), err
}

func (b *Box) normalize(field string) error {
	for _, v := range []float64{b.X, b.Y, b.Width, b.Height} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return refuse(ReasonNumber, field, "must be of finite numbers")
		}
	}
	if b.X < -slack || b.Y < -slack || b.X+b.Width > 1+slack || b.Y+b.Height > 1+slack {
		return refuse(ReasonBox, field, "leaves the picture: x, y, width and height are fractions of the picture, from 0 to 1")
	}
	b.X, b.Width = cut(b.X, b.Width)
	b.Y, b.Height = cut(b.Y, b.Height)
	if b.Width <= 0 || b.Height <= 0 {
		return refuse(ReasonBox, field, "is empty: width and height are larger than 0")
	}
	return nil
}

// cut leaves out what is over the picture's edge. What is not stays as it was said, to
// the last digit.
func cut(from, length float64) (float64, float64) {
	if from < 0 {
		from, length = 0, length+from
	}
	if from+length > 1 {
		length = 1 - from
	}
	return from, length
}

// object checks JSON that is kept as it is.
func object(text json.RawMessage, field string) (json.RawMessage, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, nil
	}
	if len(text) > MaxJSONBytes {
		return nil, refuse(ReasonBytes, field, "has at most %d bytes", MaxJSONBytes)
	}
	if text[0] != '{' || !json.Valid(text) || !utf8.Valid(text) {
		return nil, refuse(ReasonJSON, field, "must be a JSON object")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return nil, refuse(ReasonJSON, field, "must be a JSON object")
	}
	return compact.Bytes(), nil
}

func validText(s string, most int) bool {
	return len(s) <= most && utf8.ValidString(s) && strings.IndexFunc(s, unicode.IsControl) < 0
}

func validWorker(s string) bool {
	return len(s) <= MaxWorkerBytes && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}
