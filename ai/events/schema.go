package events

// applicationID marks the file as the store of events: "DrvE".
const applicationID = 0x44727645

func migrations() []string {
	return []string{`
		-- Frames in which something was seen.
		CREATE TABLE frames (
			id       INTEGER PRIMARY KEY,
			camera   TEXT NOT NULL,
			source   TEXT NOT NULL,
			time     INTEGER NOT NULL, -- Unix microseconds
			epoch    INTEGER,          -- NULL: only its time is known
			sequence INTEGER,
			worker   TEXT NOT NULL,
			json     TEXT
		) STRICT;
		CREATE INDEX frames_by_time ON frames (time);
		CREATE TABLE detections (
			id         INTEGER PRIMARY KEY AUTOINCREMENT,
			frame      INTEGER NOT NULL,
			camera     TEXT NOT NULL,
			time       INTEGER NOT NULL,
			label      TEXT NOT NULL,
			score      REAL NOT NULL,
			x          REAL,            -- NULL: the whole picture
			y          REAL,
			width      REAL,
			height     REAL,
			track      INTEGER NOT NULL,
			attributes TEXT,            -- JSON
			json       TEXT
		) STRICT;
		-- All that a question asks for, so that only rows of its answer are read.
		CREATE INDEX detections_by_camera ON detections (camera, time, id, label, score);
		CREATE INDEX detections_by_time ON detections (time, id, label, score);
		CREATE TABLE events (
			id       INTEGER PRIMARY KEY AUTOINCREMENT,
			camera   TEXT NOT NULL,
			source   TEXT NOT NULL,
			rule     TEXT NOT NULL,
			name     TEXT NOT NULL,
			label    TEXT NOT NULL,
			start    INTEGER NOT NULL, -- Unix microseconds
			end      INTEGER NOT NULL,
			open     INTEGER NOT NULL,
			score    REAL NOT NULL,
			x        REAL,
			y        REAL,
			width    REAL,
			height   REAL,
			track    INTEGER NOT NULL,
			best     INTEGER NOT NULL, -- when the best detection was, Unix microseconds
			record   INTEGER NOT NULL  -- 1: what is recorded of it is kept
		) STRICT;
		CREATE INDEX events_by_camera ON events (camera, start, id);
		CREATE INDEX events_by_start ON events (start, id);
		CREATE INDEX events_open ON events (open) WHERE open = 1;
		CREATE TABLE rules (
			camera  TEXT NOT NULL,
			id      TEXT NOT NULL,
			created INTEGER NOT NULL, -- Unix microseconds
			rule    TEXT NOT NULL,    -- JSON
			PRIMARY KEY (camera, id)
		) STRICT, WITHOUT ROWID;`,
	}
}
