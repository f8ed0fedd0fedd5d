package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

func migrate(ctx context.Context, db *sql.DB, o Options) error {
	steps := o.Migrations
	version, err := check(ctx, db, o)
	if err != nil {
		return err
	}
	for ; version < len(steps); version++ {
		if err := step(ctx, db, o.ApplicationID, steps[version], version+1); err != nil {
			return fmt.Errorf("bring the schema to version %d: %w", version+1, err)
		}
	}
	return nil
}

// check reports the version of a database that is sound and Drover's own.
func check(ctx context.Context, db *sql.DB, o Options) (version int, err error) {
	var application int32
	var tables int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&application); err != nil {
		return 0, err
	}
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, err
	}
	empty := tables == 0 && version == 0
	if application != o.ApplicationID && !empty {
		return 0, ErrForeign
	}
	newest := len(o.Migrations)
	if version > newest {
		return 0, fmt.Errorf("%w (its schema has version %d, this one knows %d)", ErrNewer, version, newest)
	}
	if !o.Check {
		return version, nil
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&verdict); err != nil {
		return 0, err
	}
	if verdict != "ok" {
		return 0, fmt.Errorf("%w (%s)", ErrDamaged, verdict)
	}
	return version, nil
}

func step(ctx context.Context, db *sql.DB, application int32, statements string, version int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // After a commit it does nothing.
	if _, err := tx.ExecContext(ctx, statements); err != nil {
		return err
	}
	// Pragmas take no parameters.
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", application)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
		return err
	}
	return tx.Commit()
}
