package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/footage"
)

// Recorder is what records. Its methods do not wait for the disk, but for
// ConfirmClock.
type Recorder interface {
	// Recording tells how the recording of a camera is doing.
	Recording(camera string) footage.Recording
	// Trigger tells that something happens at a camera. The error is
	// footage.ErrNotRecorded or footage.ErrBadEvent.
	Trigger(camera string, at, until time.Time, reason string) error
	// Health is how the archive's disk is doing.
	Health() footage.Health
	// ConfirmClock says that a clock that jumped is right.
	ConfirmClock(ctx context.Context)
}

// ArchiveHealth is how the archive's disk is doing.
type ArchiveHealth struct {
	TotalBytes     int64      `json:"total_bytes" doc:"Of the disk"`
	FreeBytes      int64      `json:"free_bytes"`
	MinFreeBytes   int64      `json:"min_free_bytes" doc:"Kept free: before that, the oldest recordings are deleted"`
	BytesPerSecond float64    `json:"bytes_per_second" doc:"Written of late"`
	HoursLeft      *float64   `json:"hours_left,omitempty" doc:"Until the oldest recordings have to go, at this rate; missing while nothing is written"`
	QueuedBytes    int64      `json:"queued_bytes" doc:"Wait to be written"`
	Trouble        string     `json:"trouble" doc:"Why the disk does not take recordings: disk_slow, disk_full, disk_error; empty while it does"`
	Detail         string     `json:"detail" doc:"For people"`
	Since          *timestamp `json:"since,omitempty" doc:"When it came to be so"`
	ClockDoubted   bool       `json:"clock_doubted" doc:"The clock jumped ahead: nothing is deleted by age until somebody confirms it"`
}

// NewTrigger is the body of a POST.
type NewTrigger struct {
	At     string `json:"at,omitempty" maxLength:"40" doc:"RFC 3339, Unix seconds, or Unix milliseconds; now, where it is missing"`
	Until  string `json:"until,omitempty" maxLength:"40" doc:"As at; the same time, where it is missing. It may be told again while the event goes on"`
	Reason string `json:"reason" maxLength:"200" doc:"For people" example:"doorbell"`
}

func (rs *routes) registerRecorder(api huma.API) {
	recordings := func(op huma.Operation) huma.Operation {
		op.Tags = []string{"recordings"}
		return op
	}
	huma.Register(api, recordings(operation("get-archive", http.MethodGet, "/api/v1/archive", "How the archive's disk is doing", http.StatusNotFound)), rs.archiveHealth)
	huma.Register(api, recordings(operation("confirm-clock", http.MethodPost, "/api/v1/archive/confirm-clock",
		"Say that the clock is right after it jumped, so that recordings are deleted by age again", http.StatusNotFound)), rs.confirmClock)
	huma.Register(api, recordings(operation("trigger-camera", http.MethodPost, "/api/v1/cameras/{id}/triggers",
		"Say that something happens: in mode event it is recorded, and what is recorded of it is kept", http.StatusNotFound, http.StatusConflict)), rs.trigger)
}

func (rs *routes) recorder() (Recorder, error) {
	if rs.options.Recorder == nil {
		return nil, problem(problemNoArchive, "nothing is recorded: the server's log says why")
	}
	return rs.options.Recorder, nil
}

func (rs *routes) archiveHealth(context.Context, *struct{}) (*struct{ Body ArchiveHealth }, error) {
	recorder, err := rs.recorder()
	if err != nil {
		return nil, err
	}
	h := recorder.Health()
	body := ArchiveHealth{
		TotalBytes: h.Total, FreeBytes: h.Free, MinFreeBytes: h.Floor, BytesPerSecond: h.Rate, QueuedBytes: h.Queued,
		Trouble: h.Trouble, Detail: h.Detail, Since: stamp(h.Since), ClockDoubted: h.ClockDoubted,
	}
	if h.HoursLeft >= 0 {
		body.HoursLeft = &h.HoursLeft
	}
	return &struct{ Body ArchiveHealth }{body}, nil
}

func (rs *routes) confirmClock(ctx context.Context, _ *struct{}) (*struct{}, error) {
	recorder, err := rs.recorder()
	if err != nil {
		return nil, err
	}
	recorder.ConfirmClock(ctx)
	return nil, nil
}

func (rs *routes) trigger(_ context.Context, in *struct {
	ID   string `path:"id" doc:"The camera's id"`
	Body NewTrigger
}) (*struct{}, error) {
	recorder, err := rs.recorder()
	if err != nil {
		return nil, err
	}
	if _, known := rs.options.Cameras.Get(in.ID); !known {
		return nil, noCamera(in.ID)
	}
	at := time.Now()
	if err := readMoment("at", in.Body.At, &at); err != nil {
		return nil, err
	}
	until := at
	if err := readMoment("until", in.Body.Until, &until); err != nil {
		return nil, err
	}
	switch err := recorder.Trigger(in.ID, at, until, in.Body.Reason); {
	case errors.Is(err, footage.ErrNotRecorded):
		return nil, problem(problemNotRecorded, err.Error())
	case err != nil:
		return nil, problem(problemInvalid, err.Error())
	}
	return nil, nil
}

// readMoment reads a time of a body, where it is there.
func readMoment(name, text string, into *time.Time) error {
	if text == "" {
		return nil
	}
	at, ok := footage.ParseTime(text)
	if !ok {
		return problem(problemInvalid, name+": "+noTime, &huma.ErrorDetail{Location: "body." + name, Message: noTime})
	}
	*into = at
	return nil
}
