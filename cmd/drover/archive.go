package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/drover-video/drover/api"
	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/metrics"
	"github.com/drover-video/drover/core/sqlite"
)

// archiveDir is where recordings lie.
func archiveDir(c *config.Config) string {
	if c.Archive.Dir != "" {
		return c.Archive.Dir
	}
	return filepath.Join(c.Data.Dir, "archive")
}

// openArchive opens the archive. A disk that is broken, or an index, does not cost the
// live picture: there is none then, which is said loudly. What was set wrongly is an
// error.
func openArchive(ctx context.Context, c *config.Config, events *event.Log, want func(string), logger *slog.Logger) (*archive.Recorder, error) {
	dir := archiveDir(c)
	var floor archive.Floor
	var err error
	if floor.Bytes, floor.Percent, err = config.ParseShare(c.Archive.MinFree); err != nil {
		return nil, fmt.Errorf("archive.min_free: %w", err)
	}
	recorder, err := archive.Open(ctx, archive.Options{
		Dir: dir, WriteBuffer: c.Archive.WriteBuffer, SyncInterval: c.Archive.SyncInterval, RingSpan: c.Ring.MaxDuration,
		MinFree: floor, KeepUntilCopied: c.Archive.SecondHome.Bucket != "" && c.Archive.SecondHome.KeepUntilCopied,
		Log: logger, Now: time.Now, Event: events.Publish, Want: want,
	})
	switch {
	case err == nil:
		return recorder, nil
	case errors.Is(err, sqlite.ErrInUse), errors.Is(err, sqlite.ErrForeign), errors.Is(err, sqlite.ErrNewer), ctx.Err() != nil:
		return nil, fmt.Errorf("cannot open the archive in %s (archive.dir): %w", dir, err)
	}
	logger.Error("nothing is recorded: the archive cannot be opened", "dir", dir, "err", err,
		"hint", "see to the disk; where the index is damaged, stop Drover and run drover archive repair")
	events.Publish(event.Event{Kind: event.KindArchiveDisk, Reason: "nothing is recorded, for the archive cannot be opened: " + err.Error()})
	return nil, nil
}

// archiveMetrics is how recording is doing, as it is shown.
func archiveMetrics(recorder *archive.Recorder) *metrics.Archive {
	if recorder == nil {
		return nil
	}
	stats := recorder.Stats()
	written, space := stats.Disk, stats.Space
	a := &metrics.Archive{
		WrittenBytes: written.Bytes, Fragments: written.Fragments, Dropped: map[string]uint64{}, QueuedBytes: written.Queued, OpenFiles: written.OpenFiles,
		Writes: metrics.Latency(written.Writes), Syncs: metrics.Latency(written.Syncs),
		TotalBytes: space.Total, FreeBytes: space.Free, FloorBytes: space.Floor, HoursLeft: space.HoursLeft,
		InTrouble: written.Health.Cause != "", ClockDoubted: space.DoubtsClock,
	}
	for cause, n := range written.Drops {
		a.Dropped[string(cause)] = n
	}
	for _, s := range stats.Sources {
		a.Sources = append(a.Sources, metrics.RecordedSource(s))
	}
	return a
}

// apiRecorder is the recorder as the API sees it: nothing, where there is none.
func apiRecorder(recorder *archive.Recorder) api.Recorder {
	if recorder == nil {
		return nil
	}
	return recorder
}
