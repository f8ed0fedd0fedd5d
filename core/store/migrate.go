package store

// applicationID marks the file as Drover's: "Drvr".
const applicationID = 0x44727672

// migrations are those of sqlite.Options.
func migrations() []string {
	return []string{`
		CREATE TABLE cameras (
			id               TEXT PRIMARY KEY,
			position         INTEGER NOT NULL UNIQUE, -- order of making
			name             TEXT NOT NULL,
			enabled          INTEGER NOT NULL,
			on_demand        INTEGER NOT NULL,
			record_mode      TEXT NOT NULL,
			record_max_age   INTEGER NOT NULL, -- nanoseconds
			record_max_bytes INTEGER NOT NULL
		) STRICT;
		CREATE TABLE sources (
			camera    TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE,
			position  INTEGER NOT NULL,
			name      TEXT NOT NULL,
			url       TEXT NOT NULL,
			username  TEXT NOT NULL,
			password  TEXT NOT NULL,
			transport TEXT NOT NULL,
			PRIMARY KEY (camera, position)
		) STRICT, WITHOUT ROWID;
		CREATE TABLE labels (
			camera TEXT NOT NULL REFERENCES cameras (id) ON DELETE CASCADE,
			name   TEXT NOT NULL,
			value  TEXT NOT NULL,
			PRIMARY KEY (camera, name)
		) STRICT, WITHOUT ROWID;
		-- Of cameras of the file too, and kept when a camera is removed: if one of
		-- that id is made again, its segments must not have the names of the old.
		CREATE TABLE epochs (
			camera TEXT PRIMARY KEY,
			epoch  INTEGER NOT NULL
		) STRICT, WITHOUT ROWID;`, `
		ALTER TABLE sources ADD COLUMN fallback_url TEXT NOT NULL DEFAULT '';`, `
		-- The first discontinuity sequence that no playlist of the camera has had.
		ALTER TABLE epochs ADD COLUMN discontinuity INTEGER NOT NULL DEFAULT 0;`, `
		ALTER TABLE sources ADD COLUMN tls_verify TEXT NOT NULL DEFAULT 'system';
		ALTER TABLE sources ADD COLUMN tls_fingerprint TEXT NOT NULL DEFAULT '';`, `
		CREATE TABLE keys (
			name  TEXT PRIMARY KEY,
			value BLOB NOT NULL
		) STRICT, WITHOUT ROWID;
		-- Until they expire, the revoked ones too.
		CREATE TABLE shares (
			id          TEXT PRIMARY KEY,
			camera      TEXT NOT NULL, -- of the file too
			action      TEXT NOT NULL,
			name        TEXT NOT NULL,
			created     INTEGER NOT NULL, -- Unix milliseconds
			expires     INTEGER NOT NULL, -- Unix seconds
			max_viewers INTEGER NOT NULL, -- 0: no limit
			revoked     INTEGER NOT NULL
		) STRICT, WITHOUT ROWID;
		-- A camera that gets the id of a removed one is another camera.
		CREATE TRIGGER shares_of_removed_camera AFTER DELETE ON cameras BEGIN
			UPDATE shares SET revoked = 1 WHERE camera = OLD.id;
		END;`, `
		-- What else is said of recordings, as JSON.
		ALTER TABLE cameras ADD COLUMN record_more TEXT NOT NULL DEFAULT '{}';`,
	}
}
