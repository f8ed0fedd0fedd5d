package index

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// Cause says why there is no footage.
type Cause string

// The causes of gaps.
const (
	CauseCameraOff    Cause = "camera_off"    // it was switched off in Drover
	CauseNetwork      Cause = "network"       // it could not be reached, or went silent
	CauseLoginRefused Cause = "login_refused" // it did not let Drover in
	CauseLoss         Cause = "loss"          // packets were lost on the way
	CauseDiskSlow     Cause = "disk_slow"
	CauseDiskFull     Cause = "disk_full"
	CauseDiskError    Cause = "disk_error"
	CauseProcessDown  Cause = "process_down" // Drover did not run
	CauseDeleted      Cause = "deleted"      // by retention
	CauseRequest      Cause = "by_request"   // recording was off, or somebody deleted it
	CauseUnknown      Cause = "unknown"      // the index was lost, and with it the cause
)

// Gap is a time without footage.
type Gap struct {
	Stream   int64
	From, To time.Time // To zero: it goes on
	Cause    Cause
	Detail   string // for people; it never holds a secret
}

// AddGaps keeps gaps that have ended.
func (x *Index) AddGaps(ctx context.Context, gaps ...Gap) error {
	err := x.db.Write(ctx, "keep gaps", func(ctx context.Context, tx *sql.Tx) error {
		for i := range gaps {
			if err := insertGap(ctx, tx, &gaps[i]); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range gaps {
		x.changed(gaps[i].Stream)
	}
	return err
}

func insertGap(ctx context.Context, tx *sql.Tx, g *Gap) error {
	if !g.To.IsZero() && !g.To.After(g.From) {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO gaps (stream, start, end, cause, detail) VALUES (?, ?, ?, ?, ?)",
		g.Stream, g.From.UnixMicro(), micros(g.To), g.Cause, g.Detail)
	if err != nil {
		return fmt.Errorf("keep a gap of stream %d: %w", g.Stream, err)
	}
	return nil
}

// OpenGap keeps a gap that goes on, from now on or since a while ago. A gap that went
// on before ends where this one begins; one of the same cause goes on instead.
func (x *Index) OpenGap(ctx context.Context, g Gap) error {
	g.To = time.Time{}
	return x.write(ctx, "keep a gap", g.Stream, func(ctx context.Context, tx *sql.Tx) error { return openGap(ctx, tx, &g) })
}

func openGap(ctx context.Context, tx *sql.Tx, g *Gap) error {
	var same int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM gaps WHERE stream = ? AND end = ? AND cause = ?", g.Stream, far, g.Cause).Scan(&same)
	if err != nil || same > 0 {
		return err
	}
	if err := endGap(ctx, tx, g.Stream, g.From); err != nil {
		return err
	}
	return insertGap(ctx, tx, g)
}

// A GapChange is what AddGaps, OpenGap (of a gap without To) and CloseGap do: with End,
// the gap of Gap.Stream that goes on ends there. With Back, the clock was set back to
// there, and footage follows in what was told to be gaps: they end there.
type GapChange struct {
	Gap       Gap
	End, Back time.Time
}

// ChangeGaps makes changes in their order, in one transaction: many cameras come and
// go at once.
func (x *Index) ChangeGaps(ctx context.Context, changes ...GapChange) error {
	err := x.db.Write(ctx, "keep gaps", func(ctx context.Context, tx *sql.Tx) error {
		for i := range changes {
			c := &changes[i]
			change := openGap
			switch {
			case !c.Back.IsZero():
				change = func(ctx context.Context, tx *sql.Tx, g *Gap) error { return cutGaps(ctx, tx, g.Stream, c.Back) }
			case !c.End.IsZero():
				change = func(ctx context.Context, tx *sql.Tx, g *Gap) error { return endGap(ctx, tx, g.Stream, c.End) }
			case !c.Gap.To.IsZero():
				change = insertGap
			}
			if err := change(ctx, tx, &c.Gap); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range changes {
		x.changed(changes[i].Gap.Stream)
	}
	return err
}

// CloseGap ends the gap that goes on, if there is one.
func (x *Index) CloseGap(ctx context.Context, streamID int64, to time.Time) error {
	return x.write(ctx, "end a gap", streamID, func(ctx context.Context, tx *sql.Tx) error { return endGap(ctx, tx, streamID, to) })
}

func endGap(ctx context.Context, tx *sql.Tx, streamID int64, to time.Time) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM gaps WHERE stream = ?1 AND end = ?2 AND start >= ?3", streamID, far, to.UnixMicro()); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE gaps SET end = ?3 WHERE stream = ?1 AND end = ?2", streamID, far, to.UnixMicro())
	return err
}

// cutGaps ends gaps that have ended later.
func cutGaps(ctx context.Context, tx *sql.Tx, streamID int64, at time.Time) error {
	_, err := tx.ExecContext(ctx, "UPDATE gaps SET end = ?2 WHERE stream = ?1 AND end > ?2 AND end < ?3 AND start < ?2", streamID, at.UnixMicro(), far)
	return err
}

// OpenGaps returns the gaps that go on, of all streams.
func (x *Index) OpenGaps(ctx context.Context) ([]Gap, error) {
	return x.gaps(ctx, "WHERE end = ? ORDER BY stream", far)
}

// Gaps returns the gaps of a stream that touch the time from (including) to
// (excluding) and last atLeast so long, oldest first, at most limit. A zero to is for
// ever.
func (x *Index) Gaps(ctx context.Context, streamID int64, from, to time.Time, atLeast time.Duration, limit int) ([]Gap, error) {
	return x.gaps(ctx, "WHERE stream = ? AND end > ? AND start < ? AND end - start >= ? ORDER BY end, start LIMIT ?",
		streamID, from.UnixMicro(), micros(to), atLeast.Microseconds(), limit)
}

func (x *Index) gaps(ctx context.Context, where string, arguments ...any) ([]Gap, error) {
	rows, err := x.db.Reader().QueryContext(ctx, "SELECT stream, start, end, cause, detail FROM gaps "+where, arguments...)
	if err != nil {
		return nil, fmt.Errorf("read gaps: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var gaps []Gap
	for rows.Next() {
		var g Gap
		var start, end int64
		if err := rows.Scan(&g.Stream, &start, &end, &g.Cause, &g.Detail); err != nil {
			return nil, fmt.Errorf("read gaps: %w", sqlite.Explain(err))
		}
		g.From, g.To = fromMicros(start), fromMicros(end)
		gaps = append(gaps, g)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read gaps: %w", sqlite.Explain(err))
	}
	return gaps, nil
}

// Alive keeps that the recorder was at work at a time, for the next start to know
// since when it was not.
func (x *Index) Alive(ctx context.Context, at time.Time) error {
	return x.setFact(ctx, "alive", at.UnixMicro())
}

// LastAlive returns the last time told to Alive; zero where there was none.
func (x *Index) LastAlive(ctx context.Context) (time.Time, error) {
	n, ok, err := x.fact(ctx, "alive")
	if err != nil || !ok {
		return time.Time{}, err
	}
	return fromMicros(n), nil
}

func (x *Index) setFact(ctx context.Context, name string, value int64) error {
	return x.db.Write(ctx, "keep a fact", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO facts VALUES (?1, ?2) ON CONFLICT DO UPDATE SET value = ?2", name, value)
		return err
	})
}

func (x *Index) fact(ctx context.Context, name string) (value int64, ok bool, err error) {
	switch err := x.db.Reader().QueryRowContext(ctx, "SELECT value FROM facts WHERE name = ?", name).Scan(&value); err {
	case nil:
		return value, true, nil
	case sql.ErrNoRows:
		return 0, false, nil
	default:
		return 0, false, fmt.Errorf("read a fact: %w", sqlite.Explain(err))
	}
}
