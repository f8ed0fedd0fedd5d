package index

// applicationID marks the file as Drover's index: "DrvA".
const applicationID = 0x44727641

func migrations() []string {
	return []string{`
		CREATE TABLE streams (
			id                 INTEGER PRIMARY KEY,
			camera             TEXT NOT NULL,
			source             TEXT NOT NULL,
			next_number        INTEGER NOT NULL DEFAULT 1,
			next_sequence      INTEGER NOT NULL DEFAULT 0,
			next_discontinuity INTEGER NOT NULL DEFAULT 0,
			UNIQUE (camera, source)
		) STRICT;
		-- What playlists say of a file: few for millions of files.
		CREATE TABLE formats (
			id     INTEGER PRIMARY KEY,
			codecs TEXT NOT NULL,
			width  INTEGER NOT NULL,
			height INTEGER NOT NULL,
			fps    REAL NOT NULL,
			UNIQUE (codecs, width, height, fps)
		) STRICT;
		CREATE TABLE files (
			stream        INTEGER NOT NULL REFERENCES streams (id),
			number        INTEGER NOT NULL,
			state         INTEGER NOT NULL, -- 0: being written; 1: finished
			places        INTEGER NOT NULL, -- 1: here; 2: in the second home; 4: no more in the second home
			thinned       INTEGER NOT NULL, -- 1: of keyframes alone
			start         INTEGER NOT NULL, -- Unix microseconds
			span          INTEGER NOT NULL, -- microseconds from start to the last picture's end
			duration      INTEGER NOT NULL, -- 1/90000 s of media
			init          INTEGER NOT NULL, -- bytes of ftyp and moov
			header        INTEGER NOT NULL, -- bytes before the first fragment
			bytes         INTEGER NOT NULL,
			run           INTEGER NOT NULL,
			epoch         INTEGER NOT NULL,
			sequence      INTEGER NOT NULL,
			discontinuity INTEGER NOT NULL,
			format        INTEGER NOT NULL REFERENCES formats (id),
			frames        INTEGER NOT NULL, -- of the leading track
			other_frames  INTEGER NOT NULL,
			fragments     BLOB NOT NULL,
			PRIMARY KEY (stream, number)
		) STRICT, WITHOUT ROWID;
		-- All that a timeline and retention ask for.
		CREATE INDEX files_by_time ON files (stream, start, span, bytes, state, places, thinned);
		CREATE INDEX files_open ON files (state) WHERE state = 0;
		CREATE TABLE hours (
			stream  INTEGER NOT NULL REFERENCES streams (id),
			hour    INTEGER NOT NULL, -- Unix seconds / 3600
			bytes   INTEGER NOT NULL, -- of files that begin in it
			covered INTEGER NOT NULL, -- microseconds of it
			PRIMARY KEY (stream, hour)
		) STRICT, WITHOUT ROWID;
		CREATE TABLE gaps (
			id     INTEGER PRIMARY KEY,
			stream INTEGER NOT NULL REFERENCES streams (id),
			start  INTEGER NOT NULL, -- Unix microseconds
			end    INTEGER NOT NULL, -- 2^62: not yet
			cause  TEXT NOT NULL,
			detail TEXT NOT NULL     -- for people; never holds a secret
		) STRICT;
		CREATE INDEX gaps_by_end ON gaps (stream, end, start);
		CREATE TABLE bookmarks (
			id      INTEGER PRIMARY KEY,
			camera  TEXT NOT NULL,
			start   INTEGER NOT NULL, -- Unix microseconds
			end     INTEGER NOT NULL,
			kind    TEXT NOT NULL,    -- who made it: user, event
			name    TEXT NOT NULL,
			keep    INTEGER NOT NULL, -- 1: what it spans is not deleted
			created INTEGER NOT NULL
		) STRICT;
		CREATE INDEX bookmarks_by_end ON bookmarks (camera, end, start);
		CREATE TABLE doomed (
			path TEXT PRIMARY KEY
		) STRICT, WITHOUT ROWID;
		CREATE TABLE facts (
			name  TEXT PRIMARY KEY,
			value INTEGER NOT NULL
		) STRICT, WITHOUT ROWID;`,
		`
		-- Finished files that are to be copied to the second home.
		CREATE TABLE uncopied (
			stream INTEGER NOT NULL REFERENCES streams (id),
			number INTEGER NOT NULL,
			start  INTEGER NOT NULL, -- as in files
			bytes  INTEGER NOT NULL,
			PRIMARY KEY (stream, number)
		) STRICT, WITHOUT ROWID;
		-- What there is in the second home, or may be.
		CREATE TABLE objects (
			id     INTEGER PRIMARY KEY,
			stream INTEGER NOT NULL REFERENCES streams (id),
			state  INTEGER NOT NULL, -- 0: being sent; 1: verified; 2: to be deleted
			name   TEXT NOT NULL UNIQUE,
			start  INTEGER NOT NULL, -- Unix microseconds
			end    INTEGER NOT NULL,
			bytes  INTEGER NOT NULL,
			tag    TEXT NOT NULL     -- what the store calls this content
		) STRICT;
		CREATE INDEX objects_by_age ON objects (state, start);
		-- Files in objects, one behind another.
		CREATE TABLE copies (
			stream INTEGER NOT NULL,
			number INTEGER NOT NULL,
			object INTEGER NOT NULL REFERENCES objects (id),
			offset INTEGER NOT NULL,
			PRIMARY KEY (stream, number)
		) STRICT, WITHOUT ROWID;
		CREATE INDEX copies_by_object ON copies (object);`,
		`
		-- What can be deleted here, among all that lies in the second home alone.
		CREATE INDEX files_here ON files (stream, number) WHERE places & 1 <> 0;`,
		`
		-- It is asked for by time: numbers and times differ where a clock went back.
		DROP INDEX files_here;
		CREATE INDEX files_here ON files (stream, start, number) WHERE places & 1 <> 0;`,
	}
}
