package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/drover-video/drover/core/sqlite"
)

// ErrNameTaken is returned for an object whose name another one still has, which is
// to be deleted first.
var ErrNameTaken = errors.New("an object of that name is still to be deleted")

// ErrOtherFile is returned for an object of which a file was deleted, or became
// another, since it was read.
var ErrOtherFile = errors.New("a file of the object is not what it was")

// An objectState says what is known of an object in the second home.
type objectState int

const (
	objectSent     objectState = iota // it may be there, whole or not
	objectVerified                    // it is there
	objectDoomed                      // it may be there and is to be deleted
)

// Part is a file within an object, and what tells it from another that has taken its
// place since.
type Part struct {
	Number  int64 // of the file
	Offset  int64 // of its first byte
	Bytes   int64
	Start   time.Time
	Thinned bool
}

// PartOf returns what a file is within an object, at an offset.
func PartOf(f *File, offset int64) Part {
	return Part{Number: f.Number, Offset: offset, Bytes: f.Bytes, Start: f.Start, Thinned: f.Thinned}
}

// still reports whether a part's file is what it was.
func (p *Part) still(ctx context.Context, tx *sql.Tx, streamID int64) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, `
		SELECT count(*) FROM files WHERE stream = ? AND number = ? AND bytes = ? AND start = ? AND thinned = ? AND state = ?`,
		streamID, p.Number, p.Bytes, p.Start.UnixMicro(), p.Thinned, stateFinished).Scan(&n)
	return n > 0, err
}

// Object is what lies in the second home under one name: files of a stream.
type Object struct {
	ID       int64 // Intend sets it
	Stream   int64
	Name     string
	From, To time.Time // of the first picture's beginning and the last one's end
	Bytes    int64
	Tag      string // what the store calls this content
	Parts    []Part // of some queries only
}

// Intend keeps that an object is about to be sent, before it is: so none is ever in the
// second home of which the index does not know. again says that it was intended before,
// by the same name, and may be there already. A stream has one object at a time that
// is being sent: another one that was intended is abandoned. The error is
// ErrNameTaken, or ErrOtherFile, too: what it was made of took a while to read.
func (x *Index) Intend(ctx context.Context, o *Object) (again bool, err error) {
	err = x.db.Write(ctx, "intend an object", func(ctx context.Context, tx *sql.Tx) error {
		for i := range o.Parts {
			if still, err := o.Parts[i].still(ctx, tx, o.Stream); err != nil {
				return err
			} else if !still {
				return ErrOtherFile
			}
		}
		var state objectState
		err := tx.QueryRowContext(ctx, "SELECT id, state FROM objects WHERE name = ?", o.Name).Scan(&o.ID, &state)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if again = err == nil; again && state != objectSent {
			return ErrNameTaken
		}
		if err := abandon(ctx, tx, "stream = ? AND state = ? AND name <> ?", o.Stream, objectSent, o.Name); err != nil {
			return err
		}
		if !again {
			return insertObject(ctx, tx, o, objectSent)
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM copies WHERE object = ?", o.ID); err != nil {
			return err
		}
		return insertParts(ctx, tx, o)
	})
	return again, err
}

// abandon dooms objects.
func abandon(ctx context.Context, tx *sql.Tx, where string, arguments ...any) error {
	if _, err := tx.ExecContext(ctx, "DELETE FROM copies WHERE object IN (SELECT id FROM objects WHERE "+where+")", arguments...); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE objects SET state = ? WHERE "+where, append([]any{objectDoomed}, arguments...)...)
	return err
}

func insertObject(ctx context.Context, tx *sql.Tx, o *Object, state objectState) error {
	err := tx.QueryRowContext(ctx, `
		INSERT INTO objects (stream, state, name, start, end, bytes, tag) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		o.Stream, state, o.Name, o.From.UnixMicro(), o.To.UnixMicro(), o.Bytes, o.Tag).Scan(&o.ID)
	if err != nil {
		return err
	}
	return insertParts(ctx, tx, o)
}

// insertParts keeps which files an object has. One that was part of another object,
// which was never finished, is so no more.
func insertParts(ctx context.Context, tx *sql.Tx, o *Object) error {
	for _, p := range o.Parts {
		if err := forgetCopy(ctx, tx, Key{o.Stream, p.Number}); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO copies (stream, number, object, offset) VALUES (?, ?, ?, ?)", o.Stream, p.Number, o.ID, p.Offset)
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetCopy tells that nobody needs the copy of a file. An object of which no file is
// needed is doomed.
func forgetCopy(ctx context.Context, tx *sql.Tx, key Key) error {
	if err := unqueueUnlessFile(ctx, tx, key); err != nil {
		return err
	}
	var id int64
	err := tx.QueryRowContext(ctx, "DELETE FROM copies WHERE stream = ? AND number = ? RETURNING object", key.Stream, key.Number).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return doomEmpty(ctx, tx, id)
}

// unqueueUnlessFile unqueues what is no file any more.
func unqueueUnlessFile(ctx context.Context, tx *sql.Tx, key Key) error {
	_, err := tx.ExecContext(ctx, `
		DELETE FROM uncopied WHERE stream = ?1 AND number = ?2
			AND NOT EXISTS (SELECT 1 FROM files WHERE stream = ?1 AND number = ?2)`, key.Stream, key.Number)
	return err
}

// doomEmpty dooms an object that has no file any more, but not one that is being
// sent: Copied does so then.
func doomEmpty(ctx context.Context, tx *sql.Tx, id int64) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE objects SET state = ? WHERE id = ? AND state = ? AND NOT EXISTS (SELECT 1 FROM copies WHERE object = objects.id)`,
		objectDoomed, id, objectVerified)
	return err
}

// Copied tells that an object is in the second home, whole and verified. Its files
// are there from then on; those that were deleted or replaced meanwhile are not.
func (x *Index) Copied(ctx context.Context, o *Object) error {
	return x.write(ctx, "keep an object", o.Stream, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "UPDATE objects SET state = ?, tag = ? WHERE id = ? AND state = ?",
			objectVerified, o.Tag, o.ID, objectSent); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			UPDATE files SET places = places | ?2 WHERE stream = ?3 AND number IN (SELECT number FROM copies WHERE object = ?1)`,
			o.ID, SecondHome, o.Stream); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			DELETE FROM uncopied WHERE stream = ?2 AND number IN (SELECT number FROM copies WHERE object = ?1)`, o.ID, o.Stream); err != nil {
			return err
		}
		return doomEmpty(ctx, tx, o.ID)
	})
}

// Abandon tells that intended objects will not be sent: those of streams of which
// nothing is to be copied. What there is of them is doomed.
func (x *Index) Abandon(ctx context.Context) error {
	return x.db.Write(ctx, "abandon objects", func(ctx context.Context, tx *sql.Tx) error {
		return abandon(ctx, tx, "state = ? AND stream NOT IN (SELECT stream FROM uncopied)", objectSent)
	})
}

// OldestObjects returns the verified objects of which the footage is oldest, at most
// limit, from a time on.
func (x *Index) OldestObjects(ctx context.Context, from time.Time, limit int) ([]Object, error) {
	return x.objects(ctx, "WHERE state = ? AND start >= ? ORDER BY start, id LIMIT ?", objectVerified, from.UnixMicro(), limit)
}

// DoomedObjects returns the objects that are to be deleted, at most limit.
func (x *Index) DoomedObjects(ctx context.Context, limit int) ([]Object, error) {
	return x.objects(ctx, "WHERE state = ? ORDER BY start, id LIMIT ?", objectDoomed, limit)
}

// ForgetObject tells that a doomed object is gone.
func (x *Index) ForgetObject(ctx context.Context, id int64) error {
	return x.db.Write(ctx, "forget an object", func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM objects WHERE id = ? AND state = ?", id, objectDoomed)
		return err
	})
}

func (x *Index) objects(ctx context.Context, where string, arguments ...any) ([]Object, error) {
	rows, err := x.db.Reader().QueryContext(ctx, "SELECT id, stream, name, start, end, bytes, tag FROM objects "+where, arguments...)
	if err != nil {
		return nil, fmt.Errorf("read objects: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	var all []Object
	for rows.Next() {
		var o Object
		var start, end int64
		if err := rows.Scan(&o.ID, &o.Stream, &o.Name, &start, &end, &o.Bytes, &o.Tag); err != nil {
			return nil, fmt.Errorf("read objects: %w", sqlite.Explain(err))
		}
		o.From, o.To = fromMicros(start), fromMicros(end)
		all = append(all, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read objects: %w", sqlite.Explain(err))
	}
	return all, nil
}

// Stored is how much there is in the second home.
type Stored struct {
	Objects  int64 // those that are being sent, too
	Verified int64 // objects
	Bytes    int64
	Doomed   int64     // objects that are to be deleted
	From     time.Time // the beginning of the oldest footage; zero without objects
}

// Stored returns how much there is in the second home.
func (x *Index) Stored(ctx context.Context) (Stored, error) {
	var s Stored
	var from sql.NullInt64
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT count(*) FILTER (WHERE state <> ?2), coalesce(sum(bytes) FILTER (WHERE state <> ?2), 0), count(*) FILTER (WHERE state = ?2),
			count(*) FILTER (WHERE state = ?1), min(start) FILTER (WHERE state = ?1)
		FROM objects`, objectVerified, objectDoomed).Scan(&s.Objects, &s.Bytes, &s.Doomed, &s.Verified, &from)
	if err != nil {
		return s, fmt.Errorf("read what is stored: %w", sqlite.Explain(err))
	}
	if from.Valid {
		s.From = fromMicros(from.Int64)
	}
	return s, nil
}

// Copy is where in the second home a file lies.
type Copy struct {
	Name   string // of the object
	Tag    string
	Offset int64 // of the file's first byte in the object
	Bytes  int64 // of the file
	Object int64 // bytes of the object
}

// Copy returns where in the second home a file lies; false where it does not.
func (x *Index) Copy(ctx context.Context, key Key) (Copy, bool, error) {
	var c Copy
	err := x.db.Reader().QueryRowContext(ctx, `
		SELECT o.name, o.tag, c.offset, f.bytes, o.bytes FROM copies c
		JOIN objects o ON o.id = c.object JOIN files f ON f.stream = c.stream AND f.number = c.number
		WHERE c.stream = ? AND c.number = ? AND o.state = ?`, key.Stream, key.Number, objectVerified).
		Scan(&c.Name, &c.Tag, &c.Offset, &c.Bytes, &c.Object)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	if err != nil {
		return c, false, fmt.Errorf("read where a copy lies: %w", sqlite.Explain(err))
	}
	return c, true, nil
}

// Evict takes an object out of the second home, in one transaction: it is doomed, and
// those of its files that lie nowhere else are taken out of the archive and leave a
// gap. They are not copied again.
func (x *Index) Evict(ctx context.Context, o *Object, cause Cause) error {
	defer x.reshaped(o.Stream)
	return x.db.Write(ctx, "take an object out", func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, selectFilesOnly+`
			JOIN copies c ON c.stream = f.stream AND c.number = f.number WHERE c.object = ? ORDER BY f.number`, o.ID)
		if err != nil {
			return err
		}
		files, err := scanFiles(rows, nil)
		if err != nil {
			return err
		}
		for i := range files {
			if err := evict(ctx, tx, &files[i], cause); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE objects SET state = ? WHERE id = ?", objectDoomed, o.ID)
		return err
	})
}

func evict(ctx context.Context, tx *sql.Tx, f *File, cause Cause) error {
	if f.Places&Here == 0 {
		return remove(ctx, tx, f, f.Places, cause)
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM copies WHERE stream = ? AND number = ?", f.Stream, f.Number); err != nil {
		return err
	}
	return leave(ctx, tx, f, f.Places|Evicted, SecondHome)
}

// Adopt puts an object that was found in the second home into an index that does not
// know it, and those of its files that the index does not have. Those that it has and
// that are the same have a copy then. It returns how many of both there are, and how
// many cannot be adopted, since their numbers were given to other recordings.
func (x *Index) Adopt(ctx context.Context, o *Object, files []File) (adopted, taken int, err error) {
	defer x.reshaped(o.Stream)
	err = x.db.Write(ctx, "adopt an object", func(ctx context.Context, tx *sql.Tx) error {
		adopted, taken = 0, 0
		var known int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM objects WHERE name = ?", o.Name).Scan(&known); err != nil || known > 0 {
			return err
		}
		var wanted []Part
		for i := range files {
			switch err := adopt(ctx, tx, &files[i]); {
			case err == nil:
				wanted = append(wanted, o.Parts[i])
			case errors.Is(err, errTaken):
				taken++
			case !errors.Is(err, errCopied):
				return err
			}
		}
		if adopted = len(wanted); adopted == 0 {
			return nil
		}
		kept := *o
		kept.Parts = wanted
		return insertObject(ctx, tx, &kept, objectVerified)
	})
	return adopted, taken, err
}

// Why a file is not adopted.
var (
	errTaken  = errors.New("another recording has the file's number")
	errCopied = errors.New("another copy of the file is known, or what was made of it")
)

// adopt makes a file one that lies in the second home.
func adopt(ctx context.Context, tx *sql.Tx, f *File) error {
	var places Places
	var bytes, start int64
	err := tx.QueryRowContext(ctx, "SELECT places, bytes, start FROM files WHERE stream = ? AND number = ?", f.Stream, f.Number).Scan(&places, &bytes, &start)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return adoptMissing(ctx, tx, f)
	case err != nil:
		return err
	case start != f.Start.UnixMicro():
		return errTaken
	case places != Here || bytes != f.Bytes:
		return errCopied
	}
	if err := unqueue(ctx, tx, f.Key()); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE files SET places = ? WHERE stream = ? AND number = ?", Here|SecondHome, f.Stream, f.Number)
	return err
}

// adoptMissing makes the row of a file that lies in the second home alone.
func adoptMissing(ctx context.Context, tx *sql.Tx, f *File) error {
	format, err := formatID(ctx, tx, f.Format)
	if err != nil {
		return err
	}
	if err := insertFile(ctx, tx, f, format); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE streams SET next_number = max(next_number, ?) WHERE id = ?", f.Number+1, f.Stream); err != nil {
		return err
	}
	if err := finish(ctx, tx, f); err != nil {
		return err
	}
	if err := unqueue(ctx, tx, f.Key()); err != nil {
		return err
	}
	return leave(ctx, tx, f, Here|SecondHome, Here)
}

// Object returns what is known of the object of a name that is in the second home, or
// may be, and whether it is verified; nil where nothing is.
func (x *Index) Object(ctx context.Context, name string) (o *Object, verified bool, err error) {
	all, err := x.objects(ctx, "WHERE name = ?", name)
	if err != nil || len(all) == 0 {
		return nil, false, err
	}
	var state objectState
	if err := x.db.Reader().QueryRowContext(ctx, "SELECT state FROM objects WHERE id = ?", all[0].ID).Scan(&state); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, false, fmt.Errorf("read an object: %w", sqlite.Explain(err))
	}
	return &all[0], state == objectVerified, nil
}
