package events

import (
	"context"
	"slices"
	"time"

	"github.com/drover-video/drover/core/detection"
)

// EventsOf returns the events of a camera that touch a time, oldest first: the newest,
// where they are more than limit.
func (s *Store) EventsOf(ctx context.Context, camera string, from, to time.Time, limit int) ([]detection.Event, error) {
	all, _, err := s.Events(ctx, detection.EventQuery{Camera: camera, From: from, To: to, Limit: limit})
	slices.Reverse(all)
	return all, err
}

// ReportsOf returns the reports of frames of a time, by time, at most limit detections.
// Frames in which nothing was seen are not among them.
func (s *Store) ReportsOf(ctx context.Context, camera string, from, to time.Time, limit int) ([]detection.Report, error) {
	all, _, err := s.Detections(ctx, detection.Query{Camera: camera, From: from, To: to, Limit: limit})
	if err != nil {
		return nil, err
	}
	var reports []detection.Report
	for i := range all {
		one := &all[i]
		// Those of one time lie side by side.
		at := len(reports) - 1
		for at >= 0 && reports[at].Time.Equal(one.Time) && reports[at].Worker != one.Worker {
			at--
		}
		if at < 0 || !reports[at].Time.Equal(one.Time) {
			at = len(reports)
			reports = append(reports, detection.Report{Camera: one.Camera, Source: one.Source, Time: one.Time, Worker: one.Worker})
		}
		reports[at].Detections = append(reports[at].Detections, one.Detection)
	}
	return reports, nil
}

// SawIn reports whether something was seen by a camera in a time.
func (s *Store) SawIn(ctx context.Context, camera string, from, to time.Time) (bool, error) {
	_, found, err := s.LastSeen(ctx, camera, from, to)
	return found, err
}
