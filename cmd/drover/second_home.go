package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/config"
	"github.com/drover-video/drover/core/event"
	"github.com/drover-video/drover/core/metrics"
)

// A secondHome copies recordings elsewhere. It is nil where there is none.
type secondHome struct {
	home   *home.Home
	logger *slog.Logger

	mu      sync.Mutex
	figures *metrics.SecondHome
	asked   time.Time
}

func openSecondHome(ctx context.Context, c *config.Config, recorder *archive.Recorder, events *event.Log, logger *slog.Logger) (*secondHome, error) {
	if recorder == nil {
		return nil, nil
	}
	if c.Archive.SecondHome.Bucket == "" {
		// Nothing is queued for whom nobody copies.
		if err := recorder.Index().Copying(ctx, false); err != nil {
			logger.Error("the archive's index cannot be changed", "err", err)
		}
		return nil, nil
	}
	o := homeOptions(c, archiveDir(c), recorder.Index())
	o.Log, o.Event = logger, events.Publish
	h, err := home.New(o)
	if err != nil {
		return nil, fmt.Errorf("cannot use archive.second_home: %w", err)
	}
	return &secondHome{home: h, logger: logger}, nil
}

// homeOptions are what a second home needs of the configuration.
func homeOptions(c *config.Config, dir string, x *index.Index) home.Options {
	s := &c.Archive.SecondHome
	return home.Options{
		Dir: dir, Index: x, Now: time.Now,
		Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Bucket, Prefix: s.Prefix, AccessKey: s.AccessKey, SecretKey: s.SecretKey,
		VirtualHost: !s.PathStyle, StorageClass: s.StorageClass,
		ObjectTime: time.Duration(s.ObjectMinutes) * time.Minute, ObjectBytes: s.ObjectBytes, Verify: home.Verify(s.Verify),
		Bandwidth: s.Bandwidth / 8, Uploads: s.Uploads, Reads: s.Reads, Redirect: s.Redirect,
		MaxAge: s.MaxAge, MaxBytes: s.MaxBytes,
	}
}

func (s *secondHome) run(ctx context.Context) error {
	if s == nil {
		return nil
	}
	return s.home.Run(ctx)
}

func (s *secondHome) close() {
	if s != nil {
		_ = s.home.Close() // Nothing is under way.
	}
}

// figuresAge is how old metrics may be that are counted over all that is stored.
const figuresAge = 30 * time.Second

// metrics is what became of copies, as it is shown; nil where there are none.
func (s *secondHome) metrics() *metrics.SecondHome {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.figures != nil && now.Sub(s.asked) < figuresAge {
		return s.figures
	}
	ctx, cancel := context.WithTimeout(context.Background(), figuresAge)
	defer cancel()
	status, err := s.home.Status(ctx)
	if err != nil {
		s.logger.Error("the archive's index cannot be read", "err", err)
		return s.figures
	}
	m := &metrics.SecondHome{
		Well: status.State != home.StateAway, Objects: status.Objects, Files: status.Files, Bytes: status.Bytes, SentBytes: status.SentBytes,
		Failures: make(map[string]uint64, len(status.Failures)), Missing: status.Missing, Deleted: status.Deleted,
		Reads: status.Reads, ReadBytes: status.ReadBytes, QueuedFiles: status.Backlog.Files, QueuedBytes: status.Backlog.Bytes,
		StoredObjects: status.Stored.Objects, StoredSize: status.Stored.Bytes,
	}
	for reason, n := range status.Failures {
		m.Failures[string(reason)] = n
	}
	if !status.Backlog.Oldest.IsZero() {
		m.OldestQueuedSeconds = max(0, now.Sub(status.Backlog.Oldest).Seconds())
	}
	s.figures, s.asked = m, now
	return m
}
