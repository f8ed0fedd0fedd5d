package index

import (
	"context"
	"database/sql"
	"time"
)

// DoubtClock keeps that the clock is not believed since it was at a time: over
// restarts, too, which come with a clock that is as wrong.
func (x *Index) DoubtClock(ctx context.Context, sane time.Time) error {
	return x.setFact(ctx, "clock_doubt", sane.UnixMicro())
}

// ClockDoubt returns the time told to DoubtClock; false where the clock is believed.
func (x *Index) ClockDoubt(ctx context.Context) (time.Time, bool, error) {
	n, ok, err := x.fact(ctx, "clock_doubt")
	if err != nil || !ok {
		return time.Time{}, false, err
	}
	return fromMicros(n), true, nil
}

// BelieveClock takes DoubtClock back.
func (x *Index) BelieveClock(ctx context.Context) error {
	return x.db.Write(ctx, "believe the clock", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM facts WHERE name = 'clock_doubt'")
		return err
	})
}
