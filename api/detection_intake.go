package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"

	"github.com/drover-video/drover/core/detection"
)

const (
	// maxReportBytes bounds a report's body: its texts have 64 KiB at most, and its
	// numbers much less.
	maxReportBytes = 256 << 10

	// maxReading is how many reports are read at once. Each may take some megabytes
	// until it is known to be none.
	maxReading = 4
)

// limitReports comes before the body of a report is read as JSON, which takes two hundred
// times its size for a list of nothings: how many detections there are is counted first,
// and few reports are read at once. Whose body comes slowly holds up nobody.
func (rs *routes) limitReports(ctx huma.Context, next func(huma.Context)) {
	data, err := io.ReadAll(io.LimitReader(ctx.BodyReader(), maxReportBytes+1))
	r, w := humachi.Unwrap(ctx)
	switch {
	case len(data) > maxReportBytes:
		swallow(r)
		w.Header().Set("Connection", "close") // Rather than read on to the next request.
		writeProblem(w, problem(problemTooLarge, fmt.Sprintf("a report has at most %d bytes", maxReportBytes)))
		return
	case err == nil && elements(data, detection.MaxDetections) > detection.MaxDetections:
		writeProblem(w, rs.tooMany(ctx.Param("id")))
		return
	}
	select {
	case rs.reading <- struct{}{}:
	case <-ctx.Context().Done():
		return
	}
	defer func() { <-rs.reading }()
	next(readContext{ctx, io.MultiReader(bytes.NewReader(data), failing{err})})
}

// tooMany has a report of too many detections refused, and counted, by whom the others are.
func (rs *routes) tooMany(camera string) *huma.ErrorModel {
	err := noDetections()
	if rs.options.Detections != nil {
		err = rs.detectionProblem(rs.options.Detections.Report(detection.Report{
			Camera: camera, Detections: make([]detection.Detection, detection.MaxDetections+1),
		}), camera)
	}
	var refused *huma.ErrorModel
	if errors.As(err, &refused) {
		return refused
	}
	return invalid("detections", "there are at most %d of one frame", detection.MaxDetections)
}

// A humaContext is one that can be embedded: its own name is that of a method.
type humaContext huma.Context

// A readContext has a body that was read.
type readContext struct {
	humaContext
	body io.Reader
}

// BodyReader implements huma.Context.
func (c readContext) BodyReader() io.Reader { return c.body }

// Unwrap is for humachi.Unwrap.
func (c readContext) Unwrap() huma.Context { return c.humaContext }

// failing ends a body as it ended when it was read.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// elements counts the elements of the lists in JSON that are within nothing, or within one
// object or list, all together. It stops when there are more than most. An empty list
// counts as one.
func elements(data []byte, most int) int {
	n, depth := 0, 0
	var lists [3]bool // whether what is open at a depth is one
	for i := 0; i < len(data) && n <= most; i++ {
		switch c := data[i]; c {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			if depth++; depth < len(lists) {
				lists[depth] = c == '['
				if lists[depth] {
					n++
				}
			}
		case ']', '}':
			depth = max(0, depth-1)
		case ',':
			if depth < len(lists) && lists[depth] {
				n++
			}
		}
	}
	return n
}
