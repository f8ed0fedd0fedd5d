package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/sqlite"
)

// Repaired is what repairing an archive did.
type Repaired struct {
	Files, Fragments int
	Bytes            int64
	Torn             int      // files whose torn end was cut off
	Left             []string // files that are named as the archive's and are none, or not that of their number
	Old              string   // where the index is that was there before; "" if there was none
}

// Repair makes an index of the files alone. One that is there is put aside. No Drover
// may be at work on the directory.
func Repair(ctx context.Context, dir string, now time.Time) (*Repaired, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	done := &Repaired{}
	var err error
	if done.Old, err = putAside(dir, now); err != nil {
		return nil, err
	}
	x, err := index.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	r := &repairer{index: x, files: disk.NewDir(dir), done: done, streams: map[sourceKey][]found{}}
	if err := walk(ctx, dir, r.find); err != nil {
		return nil, err
	}
	for key, files := range r.streams {
		if err := r.stream(ctx, key, files); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", key.camera, key.source, err)
		}
	}
	return done, nil
}

// putAside moves an index away, whatever state it is in, but for one that is in use.
func putAside(dir string, now time.Time) (string, error) {
	x, err := index.Open(context.Background(), dir)
	if err == nil {
		err = x.Close()
	} else if errors.Is(err, sqlite.ErrInUse) {
		return "", err
	} else {
		err = nil // that it cannot be opened is why it is repaired
	}
	if err != nil {
		return "", err
	}
	old := "archive.db.before-" + now.UTC().Format("20060102T150405.000Z")
	moved := ""
	for _, suffix := range []string{"", "-wal", "-shm"} {
		err := os.Rename(filepath.Join(dir, "archive.db"+suffix), filepath.Join(dir, old+suffix))
		switch {
		case err == nil:
			moved = old
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	return moved, nil
}

type repairer struct {
	index   *index.Index
	files   disk.FS
	done    *Repaired
	streams map[sourceKey][]found
}

type found struct {
	path string
	name layout.Name
}

func (r *repairer) find(path string, name layout.Name) error {
	key := sourceKey{name.Camera, name.Source}
	r.streams[key] = append(r.streams[key], found{path, name})
	return nil
}

// stream puts the files of a stream into the index, in the order of their numbers.
// What lies between them is a gap whose cause nobody knows any more.
func (r *repairer) stream(ctx context.Context, key sourceKey, files []found) error {
	slices.SortFunc(files, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.name.Number, b.name.Number), cmp.Compare(a.path, b.path)) // "1.mp4" is before "1k.mp4"
	})
	s, err := r.index.Stream(ctx, key.camera, key.source)
	if err != nil {
		return err
	}
	told := coverage{}
	for len(files) > 0 {
		n := slices.IndexFunc(files, func(f found) bool { return f.name.Number != files[0].name.Number })
		if n < 0 {
			n = len(files)
		}
		f, err := r.number(ctx, s, files[:n])
		if err != nil {
			return err
		}
		files = files[n:]
		if f == nil {
			continue
		}
		if err := r.index.Restore(ctx, *f); err != nil {
			return err
		}
		f.Span = layout.Ends(f.Start, f.Fragments).Sub(f.Start)
		told.file(f)
		r.done.Files++
		r.done.Fragments += len(f.Fragments)
		r.done.Bytes += f.Bytes
	}
	var gaps []index.Gap
	for _, hole := range told.holes() {
		gaps = append(gaps, index.Gap{Stream: s.ID, From: hole.from, To: hole.to, Cause: index.CauseUnknown, Detail: "the index was made anew"})
	}
	return r.index.AddGaps(ctx, gaps...)
}

// number returns the file of the index among those of one number: the longest. nil: none
// is one. There are two where Drover ended while one was thinned: of those that last as
// long it is the whole one, and what was to take its place is doomed, as it was in the
// index that is lost.
func (r *repairer) number(ctx context.Context, s index.Stream, files []found) (*index.File, error) {
	var longest *index.File
	var taken found
	var others []found
	for _, each := range files {
		f, err := r.file(each, s)
		switch {
		case errors.Is(err, layout.ErrFile):
			others = append(others, each)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", each.path, err)
		case longest == nil:
			longest, taken = f, each
		case f.Duration > longest.Duration:
			others = append(others, taken)
			longest, taken = f, each
		default:
			others = append(others, each)
		}
	}
	for _, each := range others {
		if longest == nil || !thinnedOf(each.name, taken.name) {
			r.done.Left = append(r.done.Left, each.path)
			continue
		}
		if err := r.index.Promise(ctx, each.path); err != nil {
			return nil, err
		}
	}
	return longest, nil
}

// thinnedOf reports whether a file is named as the keyframes of another.
func thinnedOf(name, whole layout.Name) bool {
	whole.Thinned = !whole.Thinned
	return name.Thinned && name == whole
}

// file reads what a file says of itself. layout.ErrFile: it is none.
func (r *repairer) file(each found, s index.Stream) (*index.File, error) {
	file, err := r.files.Open(each.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	scanned, err := cutTorn(file, layout.CheckTail)
	if err != nil {
		return nil, err
	}
	id := scanned.Identity
	if id.Camera != s.Camera || id.Source != s.Source || id.Number != each.name.Number || len(scanned.Fragments) == 0 ||
		max(uint64(id.Number), id.Sequence, id.Discontinuity) > layout.MaxNumber || !id.Start.Truncate(time.Millisecond).Equal(each.name.Start) {
		return nil, layout.ErrFile
	}
	if scanned.End < size {
		r.done.Torn++
	}
	init := make([]byte, scanned.Init)
	if _, err := file.ReadAt(init, 0); err != nil {
		return nil, err
	}
	format, err := formatOf(init)
	if err != nil {
		return nil, layout.ErrFile
	}
	f := &index.File{
		Stream: s.ID, Number: id.Number, Run: id.Run, Epoch: id.Epoch, Start: id.Start, Init: scanned.Init, Header: scanned.Header,
		Bytes: scanned.End, Duration: scanned.Duration, Format: format, Frames: scanned.Frames, Thinned: each.name.Thinned,
		Places: index.Here, Sequence: id.Sequence, Discontinuity: id.Discontinuity, Fragments: scanned.Fragments,
	}
	return f, nil
}
