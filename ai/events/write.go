package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/drover-video/drover/core/detection"
)

// A Batch is what is written at once.
type Batch struct {
	Reports []detection.Report // normalized, with the time of their frames
	Events  []detection.Event  // as they are now, each once
	Gone    []int64            // events that there are no more
}

// Empty reports whether there is nothing to write.
func (b *Batch) Empty() bool { return len(b.Reports)+len(b.Events)+len(b.Gone) == 0 }

// Write keeps a batch, or nothing of it. Frames in which nothing was seen are not
// kept, whatever is said of them: no question asks for them, and no limit counts them.
func (s *Store) Write(ctx context.Context, b *Batch) error {
	detections, events := int64(0), int64(0)
	err := s.db.Write(ctx, "keep detections", func(ctx context.Context, tx *sql.Tx) error {
		var err error
		if detections, err = writeReports(ctx, tx, b.Reports); err != nil {
			return err
		}
		events, err = writeEvents(ctx, tx, b)
		return err
	})
	if err == nil {
		s.detections.Add(detections)
		s.events.Add(events)
	}
	return err
}

func writeReports(ctx context.Context, tx *sql.Tx, reports []detection.Report) (rows int64, err error) {
	if len(reports) == 0 {
		return 0, nil
	}
	frame, err := tx.PrepareContext(ctx, `
		INSERT INTO frames (camera, source, time, epoch, sequence, worker, json) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`)
	if err != nil {
		return 0, err
	}
	defer frame.Close()
	one, err := tx.PrepareContext(ctx, `
		INSERT INTO detections (frame, camera, time, label, score, x, y, width, height, track, attributes, json)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return 0, err
	}
	defer one.Close()
	for i := range reports {
		r := &reports[i]
		if len(r.Detections) == 0 {
			continue
		}
		var epoch, sequence any
		if r.HasFrame {
			epoch, sequence = int64(r.Epoch), int64(r.Sequence) // all 64 bits are kept
		}
		var id int64
		micros := r.Time.UnixMicro()
		if err := frame.QueryRowContext(ctx, r.Camera, r.Source, micros, epoch, sequence, r.Worker, text(r.JSON)).Scan(&id); err != nil {
			return 0, fmt.Errorf("keep a frame: %w", err)
		}
		for j := range r.Detections {
			d := &r.Detections[j]
			attributes, err := attributesText(d.Attributes)
			if err != nil {
				return 0, err
			}
			x, y, w, h := columns(d.Box)
			if _, err := one.ExecContext(ctx, id, r.Camera, micros, d.Label, d.Score, x, y, w, h, int64(d.Track), attributes, text(d.JSON)); err != nil {
				return 0, fmt.Errorf("keep a detection: %w", err)
			}
			rows++
		}
	}
	return rows, nil
}

func writeEvents(ctx context.Context, tx *sql.Tx, b *Batch) (rows int64, err error) {
	for i := range b.Events {
		e := &b.Events[i]
		var before int64
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM events WHERE id = ?", e.ID).Scan(&before); err != nil {
			return 0, err
		}
		rows += 1 - before
		x, y, w, h := columns(e.Box)
		_, err := tx.ExecContext(ctx, `
			INSERT OR REPLACE INTO events (id, camera, source, rule, name, label, start, end, open, score, x, y, width, height, track, best, record)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			e.ID, e.Camera, e.Source, e.Rule, e.Name, e.Label, e.Start.UnixMicro(), e.End.UnixMicro(), e.Open, e.Score,
			x, y, w, h, int64(e.Track), e.Best.UnixMicro(), e.Record)
		if err != nil {
			return 0, fmt.Errorf("keep an event: %w", err)
		}
	}
	for _, id := range b.Gone {
		result, err := tx.ExecContext(ctx, "DELETE FROM events WHERE id = ?", id)
		if err != nil {
			return 0, fmt.Errorf("forget an event: %w", err)
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, err
		}
		rows -= n
	}
	return rows, nil
}

func columns(b *detection.Box) (x, y, w, h any) {
	if b == nil {
		return nil, nil, nil, nil
	}
	return b.X, b.Y, b.Width, b.Height
}

func text(j json.RawMessage) any {
	if j == nil {
		return nil
	}
	return string(j)
}

func attributesText(attributes map[string]string) (any, error) {
	if len(attributes) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(attributes)
	return string(data), err
}
