package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/drover-video/drover/ai/events"
	"github.com/drover-video/drover/ai/intake"
	"github.com/drover-video/drover/ai/rpc"
	"github.com/drover-video/drover/api"
	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/footage"
	"github.com/drover-video/drover/core/metrics"
	"github.com/drover-video/drover/core/sqlite"
)

// detections is what workers see, and its store. Without a store it is empty.
type detections struct {
	desk  *intake.Desk
	store *events.Store
}

// open opens what workers report to. A store that is damaged does not cost
// the live picture: there is none then, which is said. The registry need not be there
// yet.
func (d *detections) open(ctx context.Context, c *config.Config, bus *event.Log, registry func() *camera.Registry, recorder *archive.Recorder, logger *slog.Logger) error {
	limits := events.DefaultLimits()
	limits.DetectionAge, limits.DetectionRows = c.AI.DetectionsMaxAge, int64(c.AI.DetectionsMaxRows)
	limits.EventAge = c.AI.EventsMaxAge
	store, err := events.Open(ctx, c.Data.Dir, limits)
	switch {
	case err == nil:
	case errors.Is(err, sqlite.ErrInUse), errors.Is(err, sqlite.ErrForeign), errors.Is(err, sqlite.ErrNewer), ctx.Err() != nil:
		return fmt.Errorf("cannot open the detections in %s (data.dir): %w", c.Data.Dir, err)
	default:
		logger.Error("nothing that AI workers see is kept: its store cannot be opened", "err", err,
			"hint", "see to the disk; where events.db is damaged, put a backup in its place or move it away")
		return nil
	}
	options := intake.Options{
		Store: store, Publish: bus.Publish, Now: time.Now, Log: logger,
		Sources: func(id string) ([]string, bool) {
			names := tapCameras{registry}.Sources(id)
			return names, names != nil
		},
	}
	if recorder != nil {
		options.Archive = eventArchive{recorder}
	}
	desk, err := intake.New(ctx, options)
	if err != nil {
		_ = store.Close() // The first error says what is wrong.
		return fmt.Errorf("cannot read the detections in %s (data.dir): %w", c.Data.Dir, err)
	}
	d.desk, d.store = desk, store
	return nil
}

// close is called when nothing runs any more.
func (d *detections) close(logger *slog.Logger) {
	if d.store == nil {
		return
	}
	if err := d.store.Close(); err != nil {
		logger.Error("closing the detections", "err", err)
	}
}

// api is what the API asks; nil where there is nothing.
func (d *detections) api() api.Detections {
	if d.desk == nil {
		return nil
	}
	return d.desk
}

// kept is what players of recordings are told; nil: nothing.
func (d *detections) kept() play.Sightings {
	if d.store == nil {
		return nil
	}
	return d.store
}

// reports is who takes what workers of the tap report; nil: nobody.
func (d *detections) reports() rpc.Reports {
	if d.desk == nil {
		return nil
	}
	return intake.Reports{Desk: d.desk}
}

func (d *detections) removed(id string) {
	if d.desk != nil {
		d.desk.Removed(id)
	}
}

func (d *detections) run(ctx context.Context) error {
	if d.desk == nil {
		return nil
	}
	return d.desk.Run(ctx)
}

// metrics is what was reported, as it is shown.
func (d *detections) metrics() metrics.Detections {
	if d.desk == nil {
		return metrics.Detections{}
	}
	s := d.desk.Stats()
	m := metrics.Detections{Reports: s.Reports, Detections: s.Detections, Refused: map[string]uint64{}, Unfollowed: s.Dropped,
		Pending: s.Pending, OpenEvents: s.Open, Kept: s.Kept, KeptEvents: s.KeptEvents}
	for reason, n := range s.Refused {
		m.Refused[string(reason)] = n
	}
	return m
}

// eventArchive is the archive as events see it.
type eventArchive struct{ recorder *archive.Recorder }

// Record implements intake.Archive. A camera that is not recorded has events all the
// same.
func (a eventArchive) Record(e detection.Event, until time.Time) error {
	err := a.recorder.GoesOn(e.Camera, e.Start, until, e.Name+": "+e.Label)
	if errors.Is(err, footage.ErrNotRecorded) {
		return nil
	}
	return err
}

// Happened implements hls.Sightings.
func (d *detections) Happened(id string, from, to time.Time) []detection.Event {
	if d.desk == nil {
		return nil
	}
	return d.desk.Happened(id, from, to)
}

// Recent implements hls.Sightings.
func (d *detections) Recent(id string, from, to time.Time) []detection.Report {
	if d.desk == nil {
		return nil
	}
	return d.desk.Recent(id, from, to)
}

// SeesSince implements hls.Sightings.
func (d *detections) SeesSince(id string, since time.Time) bool {
	return d.desk != nil && d.desk.SeesSince(id, since)
}
