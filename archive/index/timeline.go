package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Span is a time with footage.
type Span struct {
	From, To time.Time
	Bytes    int64
	Covered  time.Duration // of it; less than To-From where small gaps are within
}

// fineSpans is up to which range a timeline is made of files; beyond, of hours.
const fineSpans = 49 * time.Hour

// seam is what may lie between two files of one span.
const seam = 1500 * time.Millisecond

// Spans returns where there is footage of a stream from (including) to (excluding),
// oldest first, as far as it can be played. Spans that lie closer together than the
// resolution are one. Of a long range the answer is exact to an hour.
func (x *Index) Spans(ctx context.Context, streamID int64, from, to time.Time, resolution time.Duration) ([]Span, error) {
	open := x.openFiles(streamID, from, to)
	var spans []Span
	var err error
	if to.Sub(from) <= fineSpans {
		spans, err = x.fileSpans(ctx, streamID, from, to)
	} else {
		spans, err = x.hourSpans(ctx, streamID, from, to)
	}
	if err != nil {
		return nil, err
	}
	for i := range open {
		f := &open[i]
		if end := f.Playable(); end.After(f.Start) {
			spans = append(spans, Span{From: f.Start, To: end, Bytes: f.Bytes, Covered: end.Sub(f.Start)})
		}
	}
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Compare(a.From.UnixMicro(), b.From.UnixMicro()) })
	return clip(join(spans, max(seam, resolution)), from, to), nil
}

func (x *Index) fileSpans(ctx context.Context, streamID int64, from, to time.Time) ([]Span, error) {
	rows, err := x.db.Reader().QueryContext(ctx, `
		SELECT start, span, bytes FROM files INDEXED BY files_by_time
		WHERE stream = ?1 AND start >= ?2 - ?4 AND start < ?3 AND start + span > ?2 AND state = 1 ORDER BY start`,
		streamID, from.UnixMicro(), to.UnixMicro(), MaxFileSpan.Microseconds())
	if err != nil {
		return nil, fmt.Errorf("read a timeline: %w", sqlite.Explain(err))
	}
	return scanSpans(rows, func(start, span, bytes int64) Span {
		begin := fromMicros(start)
		covered := time.Duration(span) * time.Microsecond
		return Span{From: begin, To: begin.Add(covered), Bytes: bytes, Covered: covered}
	})
}

func (x *Index) hourSpans(ctx context.Context, streamID int64, from, to time.Time) ([]Span, error) {
	rows, err := x.db.Reader().QueryContext(ctx, `
		SELECT hour, covered, bytes FROM hours WHERE stream = ? AND hour >= ? AND hour < ? AND covered > 0 ORDER BY hour`,
		streamID, floorDiv(from.UnixMicro(), hourMicros), floorDiv(to.UnixMicro()+hourMicros-1, hourMicros))
	if err != nil {
		return nil, fmt.Errorf("read a timeline: %w", sqlite.Explain(err))
	}
	return scanSpans(rows, func(hour, covered, bytes int64) Span {
		begin := fromMicros(hour * hourMicros)
		return Span{From: begin, To: begin.Add(time.Hour), Bytes: bytes, Covered: min(time.Hour, time.Duration(covered)*time.Microsecond)}
	})
}

func scanSpans(rows *sql.Rows, span func(a, b, c int64) Span) ([]Span, error) {
	defer rows.Close()
	var spans []Span
	for rows.Next() {
		var a, b, c int64
		if err := rows.Scan(&a, &b, &c); err != nil {
			return nil, fmt.Errorf("read a timeline: %w", sqlite.Explain(err))
		}
		spans = append(spans, span(a, b, c))
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read a timeline: %w", sqlite.Explain(err))
	}
	return spans, nil
}

// join makes one span of those that lie closer together than distance.
func join(spans []Span, distance time.Duration) []Span {
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.From.Sub(joined[n-1].To) <= distance {
			last := &joined[n-1]
			if s.To.After(last.To) {
				last.To = s.To
			}
			last.Bytes += s.Bytes
			last.Covered = min(last.Covered+s.Covered, last.To.Sub(last.From))
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// clip leaves what lies within a time. Bytes stay those of the whole span.
func clip(spans []Span, from, to time.Time) []Span {
	for i := range spans {
		s := &spans[i]
		if s.From.Before(from) {
			s.From = from.UTC()
		}
		if s.To.After(to) {
			s.To = to.UTC()
		}
		s.Covered = max(0, min(s.Covered, s.To.Sub(s.From)))
	}
	return slices.DeleteFunc(spans, func(s Span) bool { return !s.To.After(s.From) })
}

// Day is how much there is of a day.
type Day struct {
	Date    string // YYYY-MM-DD
	Bytes   int64
	Covered time.Duration
}

// Days returns the days of a time zone that have footage, oldest first. An hour that
// two days share, where a zone is off by half an hour, is that of its beginning.
func (x *Index) Days(ctx context.Context, streamID int64, from, to time.Time, zone *time.Location) ([]Day, error) {
	rows, err := x.db.Reader().QueryContext(ctx, `
		SELECT hour, covered, bytes FROM hours WHERE stream = ? AND hour >= ? AND hour < ? AND covered > 0 ORDER BY hour`,
		streamID, floorDiv(from.UnixMicro(), hourMicros), floorDiv(to.UnixMicro()+hourMicros-1, hourMicros))
	if err != nil {
		return nil, fmt.Errorf("read days: %w", sqlite.Explain(err))
	}
	hours, err := scanSpans(rows, func(hour, covered, bytes int64) Span {
		return Span{From: fromMicros(hour * hourMicros), Bytes: bytes, Covered: time.Duration(covered) * time.Microsecond}
	})
	if err != nil {
		return nil, err
	}
	for _, f := range x.openFiles(streamID, from, to) {
		hours = append(hours, Span{From: f.Start, Bytes: f.Bytes, Covered: f.Span})
	}
	var days []Day
	var midnight time.Time // that ends the newest of days
	for _, h := range hours {
		if at := h.From.In(zone); len(days) == 0 || !at.Before(midnight) {
			y, m, day := at.Date()
			midnight = time.Date(y, m, day+1, 0, 0, 0, 0, zone)
			if date := at.Format(time.DateOnly); len(days) == 0 || days[len(days)-1].Date != date {
				days = append(days, Day{Date: date})
			}
		}
		d := &days[len(days)-1]
		d.Bytes += h.Bytes
		d.Covered += h.Covered
	}
	return days, nil
}
