package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/footage"
)

// Archive knows what was recorded of cameras. Errors are those of package footage, or
// a failure of the server.
type Archive interface {
	Recorded(camera string) bool // whether anything ever was
	Timeline(ctx context.Context, q footage.Query, resolution time.Duration) (footage.Timeline, error)
	Days(ctx context.Context, q footage.Query, zone *time.Location) ([]footage.Day, error)
	Delete(ctx context.Context, q footage.Query) (footage.Deleted, error)
	Bookmarks(ctx context.Context, camera string, from, to time.Time, limit int) ([]footage.Bookmark, error)
	AddBookmark(ctx context.Context, camera string, b footage.Bookmark) (int64, error)
	RemoveBookmark(ctx context.Context, camera string, id int64) error
}

// Recordings is what there is of a time of a camera.
type Recordings struct {
	From       microstamp     `json:"from"`
	To         microstamp     `json:"to"`
	Resolution float64        `json:"resolution_seconds" doc:"Spans closer together are one, and shorter gaps are left out"`
	Source     string         `json:"source" doc:"Empty where nothing was ever recorded"`
	Zone       string         `json:"zone" doc:"Of all times: UTC"`
	Bytes      int64          `json:"bytes" doc:"Of all files that begin in the time"`
	Coverage   float64        `json:"coverage_ratio" doc:"How much of the time, up to now, there is footage of"`
	Spans      []RecordedSpan `json:"spans" nullable:"false" doc:"Oldest first, as far as it can be played: what is being written comes when its segment ends. Of more than two days, exact to an hour"`
	Gaps       []RecordedGap  `json:"gaps" nullable:"false" doc:"By their end"`
	MoreGaps   bool           `json:"more_gaps" doc:"There are more gaps than those: ask for less, or for a coarser resolution"`
	Bookmarks  []Bookmark     `json:"bookmarks" nullable:"false"`
}

// RecordedSpan is a time with footage.
type RecordedSpan struct {
	From     microstamp `json:"from"`
	To       microstamp `json:"to"`
	Bytes    int64      `json:"bytes"`
	Coverage float64    `json:"coverage_ratio"`
}

// RecordedGap is a time without footage.
type RecordedGap struct {
	From   microstamp  `json:"from"`
	To     *microstamp `json:"to,omitempty" doc:"Left out while it goes on"`
	Cause  string      `json:"cause" enum:"camera_off,network,login_refused,loss,disk_slow,disk_full,disk_error,process_down,deleted,by_request,unknown"`
	Detail string      `json:"detail" doc:"For people; may be empty"`
}

// RecordedDay is how much there is of a day.
type RecordedDay struct {
	Date    string  `json:"date" example:"2026-12-01"`
	Bytes   int64   `json:"bytes"`
	Covered float64 `json:"covered_seconds"`
}

// microstamp is a time of the archive: RFC 3339, UTC, microseconds.
type microstamp time.Time

// MarshalText implements encoding.TextMarshaler.
func (t microstamp) MarshalText() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(nil, "2006-01-02T15:04:05.000000Z"), nil
}

// Schema implements huma.SchemaProvider.
func (microstamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Examples: []any{"2026-01-02T15:04:05.678901Z"}}
}

type recordingsRequest struct {
	RecordedRange
	Resolution float64 `query:"resolution" minimum:"0.001" maximum:"31536000" doc:"Seconds; without it, a thousandth of the range"`
}

// RecordedRange is what many requests for recordings have in common.
type RecordedRange struct {
	ID     string `path:"id" doc:"The camera's id"`
	From   string `query:"from" maxLength:"40" doc:"RFC 3339, Unix seconds, or Unix milliseconds" example:"2026-12-01T00:00:00Z"`
	To     string `query:"to" maxLength:"40" doc:"As from; without it, now"`
	Source string `query:"source" maxLength:"63" doc:"Without it, the source that was recorded first"`
}

type daysRequest struct {
	RecordedRange
	Zone string `query:"zone" maxLength:"64" doc:"Time zone whose days are meant, by its name in the IANA database; without it, UTC" example:"Europe/Berlin"`
}

const (
	defaultRecordings = 24 * time.Hour
	defaultDays       = 31 * 24 * time.Hour

	// noTime is for what cannot be read as one, wherever the API takes a time.
	noTime = "this is no time: give RFC 3339 (2026-12-01T10:00:00Z), Unix seconds or Unix milliseconds"

	// resolutionSteps is how many spans a timeline has at most, where nothing is said.
	resolutionSteps = 1000
)

func (rs *routes) registerRecordings(api huma.API) {
	const path = "/api/v1/cameras/{id}/recordings"
	recordings := func(op huma.Operation) huma.Operation {
		op.Tags = []string{"recordings"}
		return op
	}
	errs := []int{http.StatusNotFound, http.StatusUnprocessableEntity}
	huma.Register(api, recordings(operation("get-recordings", http.MethodGet, path,
		"What there is of a camera's recordings, and what there is not and why; without a range, the last 24 hours", errs...)), rs.recordings)
	huma.Register(api, recordings(operation("get-recorded-days", http.MethodGet, path+"/days", "Which days have footage; without a range, the last 31", errs...)), rs.days)
	huma.Register(api, recordings(operation("delete-recordings", http.MethodDelete, path,
		"Delete what was recorded in a time: whole files within it, of all sources unless one is named, but for what a bookmark keeps", errs...)), rs.deleteRecordings)
}

// footageOf reads a range, and finds out whether there is such a camera.
func (rs *routes) footageOf(r *RecordedRange, standard time.Duration) (footage.Query, error) {
	q := footage.Query{Camera: r.ID, Source: r.Source}
	if err := rs.knownInArchive(r.ID); err != nil {
		return q, err
	}
	now := time.Now()
	q.To = now.UTC().Truncate(time.Microsecond)
	for _, p := range []struct {
		name, text string
		into       *time.Time
	}{{"to", r.To, &q.To}, {"from", r.From, &q.From}} {
		if p.text == "" {
			continue
		}
		at, ok := footage.ParseTime(p.text)
		if !ok {
			return q, invalidQuery(p.name, noTime)
		}
		*p.into = at
	}
	if r.From == "" {
		q.From = q.To.Add(-standard)
	}
	if !q.To.After(q.From) {
		return q, invalidQuery("to", "it has to be later than from")
	}
	return q, nil
}

// knownInArchive returns a problem where there neither is nor was such a camera.
func (rs *routes) knownInArchive(id string) error {
	if rs.options.Archive == nil {
		return problem(problemNoArchive, "nothing is recorded here: the archive could not be opened, and the log of the server says why")
	}
	if _, known := rs.options.Cameras.Get(id); !known && !rs.options.Archive.Recorded(id) {
		return noCamera(id)
	}
	return nil
}

func invalidQuery(name, message string) error {
	return problem(problemInvalid, name+": "+message, &huma.ErrorDetail{Location: "query." + name, Message: message})
}

// archiveFailed tells of a failure in general terms, and the log more.
func (rs *routes) archiveFailed(ctx context.Context, camera string, err error) error {
	if ctx.Err() == nil {
		rs.options.Log.Error("the archive failed", "camera", camera, "err", err)
	}
	return problem(problemInternal, "the archive failed: the server's log says why")
}

func (rs *routes) recordings(ctx context.Context, in *recordingsRequest) (*struct{ Body Recordings }, error) {
	q, err := rs.footageOf(&in.RecordedRange, defaultRecordings)
	if err != nil {
		return nil, err
	}
	resolution := q.To.Sub(q.From) / resolutionSteps
	if in.Resolution > 0 { // NaN is not
		resolution = time.Duration(in.Resolution * float64(time.Second))
	}
	t, err := rs.options.Archive.Timeline(ctx, q, resolution)
	if err != nil {
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	past := q.To
	if now := time.Now(); past.After(now) {
		past = now
	}
	out := Recordings{
		From: microstamp(q.From), To: microstamp(q.To), Resolution: thousandths(resolution.Seconds()), Source: t.Source, Zone: "UTC",
		Bytes: t.Bytes, Coverage: ratio(t.Covered, past.Sub(q.From)),
		Spans: make([]RecordedSpan, len(t.Spans)), Gaps: make([]RecordedGap, len(t.Gaps)), MoreGaps: t.MoreGaps, Bookmarks: bookmarksOf(t.Bookmarks),
	}
	for i, s := range t.Spans {
		out.Spans[i] = RecordedSpan{From: microstamp(s.From), To: microstamp(s.To), Bytes: s.Bytes, Coverage: ratio(s.Covered, s.To.Sub(s.From))}
	}
	for i, g := range t.Gaps {
		out.Gaps[i] = RecordedGap{From: microstamp(g.From), Cause: g.Cause, Detail: g.Detail}
		if !g.To.IsZero() {
			to := microstamp(g.To)
			out.Gaps[i].To = &to
		}
	}
	return &struct{ Body Recordings }{out}, nil
}

// ratio returns which part of a whole there is, from 0 to 1, to the millionth.
func ratio(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(int64(min(1, part.Seconds()/whole.Seconds())*1e6)) / 1e6
}

type daysAnswer struct {
	Body struct {
		Days []RecordedDay `json:"days" nullable:"false" doc:"Oldest first"`
	}
}

func (rs *routes) days(ctx context.Context, in *daysRequest) (*daysAnswer, error) {
	q, err := rs.footageOf(&in.RecordedRange, defaultDays)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(in.Zone)
	if err != nil || in.Zone == "Local" {
		return nil, invalidQuery("zone", "there is no such time zone: give a name like Europe/Berlin")
	}
	days, err := rs.options.Archive.Days(ctx, q, zone)
	if err != nil {
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	answer := &daysAnswer{}
	answer.Body.Days = make([]RecordedDay, len(days))
	for i, d := range days {
		answer.Body.Days[i] = RecordedDay{Date: d.Date, Bytes: d.Bytes, Covered: thousandths(d.Covered.Seconds())}
	}
	return answer, nil
}

// DeletedRecordings is what a deletion took.
type DeletedRecordings struct {
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
}

func (rs *routes) deleteRecordings(ctx context.Context, in *RecordedRange) (*struct{ Body DeletedRecordings }, error) {
	if in.From == "" || in.To == "" {
		return nil, invalidQuery("from", "say from when to when to delete, by from and to")
	}
	q, err := rs.footageOf(in, 0)
	if err != nil {
		return nil, err
	}
	deleted, err := rs.options.Archive.Delete(ctx, q)
	if err != nil {
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	return &struct{ Body DeletedRecordings }{DeletedRecordings(deleted)}, nil
}
