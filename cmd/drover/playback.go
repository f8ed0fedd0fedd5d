package main

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/drover-video/drover/api"
	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/config"
)

// exportsAtOnce is how many clips are made at once.
const exportsAtOnce = 4

// A playback is what is asked of recordings. Without an archive it is empty.
type playback struct {
	catalog api.Archive
	handler http.Handler
	viewers func(camera string) int
	close   func()
}

func openPlayback(recorder *archive.Recorder, copies *secondHome, registry *camera.Registry, seen *detections, c *config.Config, logger *slog.Logger) (playback, error) {
	if recorder == nil {
		return playback{viewers: func(string) int { return 0 }, close: func() {}}, nil
	}
	dir := archiveDir(c)
	// A nil *home.Home would be no nil interface.
	var away play.SecondHome
	if copies != nil {
		away = copies.home
	}
	clips, err := export.New(recorder.Index(), dir, exportsAtOnce, away)
	if err != nil {
		return playback{}, fmt.Errorf("cannot read the archive in %s (archive.dir): %w", dir, err)
	}
	handler, err := play.New(play.Options{
		Index: recorder.Index(), Dir: dir, Known: registry.Known, TimeShift: c.Archive.TimeShift, Clips: clips, Away: away, Seen: seen.kept(), Log: logger,
	})
	if err != nil {
		_ = clips.Close() // The first error says what is wrong.
		return playback{}, fmt.Errorf("cannot read the archive in %s (archive.dir): %w", dir, err)
	}
	return playback{
		catalog: play.NewCatalog(recorder.Index(), recorder, nil), handler: handler, viewers: handler.Viewers,
		close: func() {
			_ = handler.Close() // Nothing was written.
			_ = clips.Close()
		},
	}, nil
}
