package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/core/sqlite"
)

// Cameras returns all cameras in the order in which they were made, with Origin
// camera.OriginAPI.
func (s *Store) Cameras(ctx context.Context) ([]camera.Spec, error) {
	tx, err := s.db.Reader().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read cameras: %w", sqlite.Explain(err))
	}
	defer tx.Rollback() //nolint:errcheck // Nothing was written.
	specs, err := readCameras(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("read cameras: %w", sqlite.Explain(err))
	}
	byID := make(map[string]*camera.Spec, len(specs))
	for i := range specs {
		byID[specs[i].ID] = &specs[i]
	}
	if err := readSources(ctx, tx, byID); err != nil {
		return nil, fmt.Errorf("read sources: %w", sqlite.Explain(err))
	}
	if err := readLabels(ctx, tx, byID); err != nil {
		return nil, fmt.Errorf("read labels: %w", sqlite.Explain(err))
	}
	return specs, nil
}

// AddCamera stores a new camera, or returns camera.ErrExists.
func (s *Store) AddCamera(ctx context.Context, spec camera.Spec) error {
	more, err := recordText(&spec.Record)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "store camera "+spec.ID, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `
			INSERT INTO cameras (id, position, name, enabled, on_demand, record_mode, record_max_age, record_max_bytes, record_more)
			VALUES (?, (SELECT coalesce(max(position), 0) + 1 FROM cameras), ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`,
			spec.ID, spec.Name, spec.Enabled, spec.OnDemand, string(spec.Record.Mode), int64(spec.Record.MaxAge), spec.Record.MaxBytes, more)
		if err != nil {
			return err
		}
		if none(result) {
			return camera.ErrExists
		}
		return writeParts(ctx, tx, spec)
	})
}

// UpdateCamera stores a camera in place of the one of its id, or returns
// camera.ErrNotFound.
func (s *Store) UpdateCamera(ctx context.Context, spec camera.Spec) error {
	more, err := recordText(&spec.Record)
	if err != nil {
		return err
	}
	return s.db.Write(ctx, "store camera "+spec.ID, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `
			UPDATE cameras SET name = ?, enabled = ?, on_demand = ?, record_mode = ?, record_max_age = ?, record_max_bytes = ?, record_more = ?
			WHERE id = ?`,
			spec.Name, spec.Enabled, spec.OnDemand, string(spec.Record.Mode), int64(spec.Record.MaxAge), spec.Record.MaxBytes, more, spec.ID)
		if err != nil {
			return err
		}
		if none(result) {
			return camera.ErrNotFound
		}
		for _, statement := range []string{"DELETE FROM sources WHERE camera = ?", "DELETE FROM labels WHERE camera = ?"} {
			if _, err := tx.ExecContext(ctx, statement, spec.ID); err != nil {
				return err
			}
		}
		return writeParts(ctx, tx, spec)
	})
}

// RemoveCamera forgets a camera, or returns camera.ErrNotFound.
func (s *Store) RemoveCamera(ctx context.Context, id string) error {
	return s.db.Write(ctx, "remove camera "+id, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM cameras WHERE id = ?", id)
		if err != nil {
			return err
		}
		if none(result) {
			return camera.ErrNotFound
		}
		return nil
	})
}

// none reports whether a statement changed nothing. SQLite always knows.
func none(result sql.Result) bool {
	n, err := result.RowsAffected()
	return err == nil && n == 0
}

func writeParts(ctx context.Context, tx *sql.Tx, spec camera.Spec) error {
	for i, source := range spec.Sources {
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO sources (camera, position, name, url, fallback_url, username, password, transport, tls_verify, tls_fingerprint)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			spec.ID, i, source.Name, source.URL, source.FallbackURL, source.Username, source.Password.Reveal(), string(source.Transport),
			string(source.TLS.Verify), source.TLS.Fingerprint); err != nil {
			return err
		}
	}
	for name, value := range spec.Labels {
		if _, err := tx.ExecContext(ctx, "INSERT INTO labels (camera, name, value) VALUES (?, ?, ?)", spec.ID, name, value); err != nil {
			return err
		}
	}
	return nil
}

func readCameras(ctx context.Context, tx *sql.Tx) ([]camera.Spec, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, name, enabled, on_demand, record_mode, record_max_age, record_max_bytes, record_more FROM cameras ORDER BY position`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var specs []camera.Spec
	for rows.Next() {
		spec := camera.Spec{Origin: camera.OriginAPI}
		var maxAge int64
		var more string
		if err := rows.Scan(&spec.ID, &spec.Name, &spec.Enabled, &spec.OnDemand, &spec.Record.Mode, &maxAge, &spec.Record.MaxBytes, &more); err != nil {
			return nil, err
		}
		spec.Record.MaxAge = time.Duration(maxAge)
		if err := readRecord(&spec.Record, more); err != nil {
			return nil, fmt.Errorf("recordings of camera %s: %w", spec.ID, err)
		}
		specs = append(specs, spec)
	}
	return specs, rows.Err()
}

func readSources(ctx context.Context, tx *sql.Tx, cameras map[string]*camera.Spec) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT camera, name, url, fallback_url, username, password, transport, tls_verify, tls_fingerprint
		FROM sources ORDER BY camera, position`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, password string
		var source camera.SourceSpec
		if err := rows.Scan(&id, &source.Name, &source.URL, &source.FallbackURL, &source.Username, &password, &source.Transport,
			&source.TLS.Verify, &source.TLS.Fingerprint); err != nil {
			return err
		}
		source.Password = secret.New(password)
		// Foreign keys hold, so that the camera is there.
		if spec := cameras[id]; spec != nil {
			spec.Sources = append(spec.Sources, source)
		}
	}
	return rows.Err()
}

func readLabels(ctx context.Context, tx *sql.Tx, cameras map[string]*camera.Spec) error {
	rows, err := tx.QueryContext(ctx, "SELECT camera, name, value FROM labels")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, name, value string
		if err := rows.Scan(&id, &name, &value); err != nil {
			return err
		}
		if spec := cameras[id]; spec != nil {
			if spec.Labels == nil {
				spec.Labels = map[string]string{}
			}
			spec.Labels[name] = value
		}
	}
	return rows.Err()
}
