package index

import (
	"context"
	"database/sql"
	"fmt"
)

const hourMicros = int64(3600) * 1_000_000

// addHours adds a file to what is kept of hours, or takes it away (sign -1).
func addHours(ctx context.Context, tx *sql.Tx, f *File, sign int64) error {
	err := eachHour(f, func(hour, bytes, covered int64) error {
		return addHour(ctx, tx, f.Stream, hour, sign*bytes, sign*covered)
	})
	if err != nil {
		return err
	}
	if sign > 0 {
		return nil
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM hours WHERE stream = ? AND bytes <= 0 AND covered <= 0", f.Stream)
	if err != nil {
		return fmt.Errorf("forget hours of stream %d: %w", f.Stream, err)
	}
	return nil
}

// addHourBytes changes how many bytes the hour in which a file begins has in the
// archive's directory.
func addHourBytes(ctx context.Context, tx *sql.Tx, f *File, bytes int64) error {
	_, err := tx.ExecContext(ctx, "UPDATE hours SET bytes = bytes + ? WHERE stream = ? AND hour = ?",
		bytes, f.Stream, floorDiv(f.Start.UnixMicro(), hourMicros))
	if err != nil {
		return fmt.Errorf("count the hour of file %d of stream %d: %w", f.Number, f.Stream, err)
	}
	return nil
}

// eachHour tells which hours a file touches, and how much of it is in each. Its bytes
// are all of the hour in which it begins.
func eachHour(f *File, tell func(hour, bytes, covered int64) error) error {
	start, end := f.Start.UnixMicro(), f.End().UnixMicro()
	bytes := f.Bytes
	for hour := floorDiv(start, hourMicros); ; hour++ {
		from, to := max(start, hour*hourMicros), min(end, (hour+1)*hourMicros)
		if err := tell(hour, bytes, max(0, to-from)); err != nil {
			return err
		}
		if bytes = 0; end <= (hour+1)*hourMicros {
			return nil
		}
	}
}

func addHour(ctx context.Context, tx *sql.Tx, stream, hour, bytes, covered int64) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO hours (stream, hour, bytes, covered) VALUES (?1, ?2, ?3, ?4)
		ON CONFLICT (stream, hour) DO UPDATE SET bytes = bytes + ?3, covered = covered + ?4`, stream, hour, bytes, covered)
	if err != nil {
		return fmt.Errorf("count hour %d of stream %d: %w", hour, stream, err)
	}
	return nil
}

// floorDiv divides such that times before 1970 belong to the hour before.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
