package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/drover-video/drover/core/detection"
	"github.com/drover-video/drover/core/sqlite"
)

// A where gathers conditions with their values.
type where struct {
	conditions []string
	values     []any
}

func (w *where) add(condition string, values ...any) {
	w.conditions = append(w.conditions, condition)
	w.values = append(w.values, values...)
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}

// Detections answers a query, and says where the next answer goes on; a zero cursor
// where there is no more.
func (s *Store) Detections(ctx context.Context, q detection.Query) ([]detection.Seen, detection.Cursor, error) {
	var w where
	index := "detections_by_time"
	if q.Camera != "" {
		index = "detections_by_camera"
		w.add("d.camera = ?", q.Camera)
	}
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if !q.From.IsZero() {
		from = q.From.UnixMicro()
	}
	if !q.To.IsZero() {
		to = q.To.UnixMicro()
	}
	w.add("d.time >= ? AND d.time < ?", from, to)
	order, beyond := "ASC", ">"
	if q.Newest {
		order, beyond = "DESC", "<"
	}
	if q.After.ID != 0 {
		w.add("(d.time, d.id) "+beyond+" (?, ?)", q.After.Micros, q.After.ID)
	}
	if q.Label != "" {
		w.add("d.label = ?", q.Label)
	}
	if q.MinScore > 0 {
		w.add("d.score >= ?", q.MinScore)
	}
	rows, err := s.db.Reader().QueryContext(ctx, `
		SELECT d.id, d.camera, d.time, d.label, d.score, d.x, d.y, d.width, d.height, d.track, d.attributes, d.json,
			f.source, f.epoch, f.sequence, f.worker
		FROM detections d INDEXED BY `+index+` JOIN frames f ON f.id = d.frame`+w.String()+
		" ORDER BY d.time "+order+", d.id "+order+" LIMIT ?", append(w.values, q.Limit+1)...)
	if err != nil {
		return nil, detection.Cursor{}, fmt.Errorf("read detections: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	all := make([]detection.Seen, 0, min(q.Limit, 256))
	for rows.Next() {
		one, err := scanSeen(rows)
		if err != nil {
			return nil, detection.Cursor{}, fmt.Errorf("read detections: %w", sqlite.Explain(err))
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		return nil, detection.Cursor{}, fmt.Errorf("read detections: %w", sqlite.Explain(err))
	}
	if len(all) <= q.Limit {
		return all, detection.Cursor{}, nil
	}
	all = all[:q.Limit]
	last := &all[q.Limit-1]
	return all, detection.Cursor{Micros: last.Time.UnixMicro(), ID: last.ID}, nil
}

func scanSeen(rows *sql.Rows) (detection.Seen, error) {
	var one detection.Seen
	var at, track int64
	var box boxColumns
	var attributes, text sql.NullString
	var epoch, sequence sql.NullInt64
	err := rows.Scan(&one.ID, &one.Camera, &at, &one.Label, &one.Score, &box[0], &box[1], &box[2], &box[3], &track, &attributes, &text,
		&one.Source, &epoch, &sequence, &one.Worker)
	if err != nil {
		return one, err
	}
	one.Time, one.Track, one.Box = fromMicros(at), uint64(track), box.box()
	one.HasFrame, one.Epoch, one.Sequence = epoch.Valid, uint64(epoch.Int64), uint64(sequence.Int64)
	if text.Valid {
		one.JSON = json.RawMessage(text.String)
	}
	if attributes.Valid {
		err = json.Unmarshal([]byte(attributes.String), &one.Attributes)
	}
	return one, err
}

type boxColumns [4]sql.NullFloat64

func (c *boxColumns) box() *detection.Box {
	if !c[0].Valid {
		return nil
	}
	return &detection.Box{X: c[0].Float64, Y: c[1].Float64, Width: c[2].Float64, Height: c[3].Float64}
}

const selectEvents = `SELECT id, camera, source, rule, name, label, start, end, open, score, x, y, width, height, track, best, record FROM events`

// Events answers a query, newest first, and says where the next answer goes on; a zero
// cursor where there is no more.
func (s *Store) Events(ctx context.Context, q detection.EventQuery) ([]detection.Event, detection.Cursor, error) {
	var w where
	if q.Camera != "" {
		w.add("camera = ?", q.Camera)
	}
	if !q.From.IsZero() {
		w.add("end >= ?", q.From.UnixMicro())
	}
	if !q.To.IsZero() {
		w.add("start < ?", q.To.UnixMicro())
	}
	if q.Rule != "" {
		w.add("rule = ?", q.Rule)
	}
	if q.Label != "" {
		w.add("label = ?", q.Label)
	}
	if q.After.ID != 0 {
		w.add("(start, id) < (?, ?)", q.After.Micros, q.After.ID)
	}
	all, err := s.readEvents(ctx, selectEvents+w.String()+" ORDER BY start DESC, id DESC LIMIT ?", append(w.values, q.Limit+1)...)
	if err != nil || len(all) <= q.Limit {
		return all, detection.Cursor{}, err
	}
	all = all[:q.Limit]
	last := &all[q.Limit-1]
	return all, detection.Cursor{Micros: last.Start.UnixMicro(), ID: last.ID}, nil
}

// Unfinished returns the events that were open when Drover ended without a word.
func (s *Store) Unfinished(ctx context.Context) ([]detection.Event, error) {
	return s.readEvents(ctx, selectEvents+" WHERE open = 1 ORDER BY id")
}

// LastEvent returns the highest ID that an event ever had.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var id int64
	err := s.db.Reader().QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("read events: %w", sqlite.Explain(err))
	}
	return id, nil
}

func (s *Store) readEvents(ctx context.Context, statement string, values ...any) ([]detection.Event, error) {
	rows, err := s.db.Reader().QueryContext(ctx, statement, values...)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	all := []detection.Event{}
	for rows.Next() {
		var e detection.Event
		var start, end, best, track int64
		var box boxColumns
		if err := rows.Scan(&e.ID, &e.Camera, &e.Source, &e.Rule, &e.Name, &e.Label, &start, &end, &e.Open, &e.Score,
			&box[0], &box[1], &box[2], &box[3], &track, &best, &e.Record); err != nil {
			return nil, fmt.Errorf("read events: %w", sqlite.Explain(err))
		}
		e.Start, e.End, e.Best, e.Track, e.Box = fromMicros(start), fromMicros(end), fromMicros(best), uint64(track), box.box()
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", sqlite.Explain(err))
	}
	return all, nil
}

// LastSeen returns when something was last seen by a camera in a time, and false where
// nothing was.
func (s *Store) LastSeen(ctx context.Context, camera string, from, to time.Time) (time.Time, bool, error) {
	var at sql.NullInt64
	err := s.db.Reader().QueryRowContext(ctx, "SELECT max(time) FROM detections WHERE camera = ? AND time >= ? AND time < ?",
		camera, from.UnixMicro(), to.UnixMicro()).Scan(&at)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read detections: %w", sqlite.Explain(err))
	}
	return fromMicros(at.Int64), at.Valid, nil
}
