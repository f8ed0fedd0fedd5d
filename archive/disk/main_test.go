package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// A rig is a writer on a directory whose operations can be made to fail or to wait.
type rig struct {
	t      *testing.T
	dir    string
	fs     *faultyFS
	index  *index.Index
	writer *disk.Writer
	lane   *disk.Lane
	stop   func() error

	mu       sync.Mutex
	outcomes []disk.Outcome
	health   []disk.Health
	full     int
	changed  chan struct{}
}

func newRig(t *testing.T, change func(*disk.Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), changed: make(chan struct{}, 1)}
	x, err := index.Open(t.Context(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	r.fs = &faultyFS{FS: disk.NewDir(r.dir)}
	r.index = x
	o := disk.Options{
		FS: r.fs, Index: x, Round: time.Millisecond, SyncInterval: 2 * time.Millisecond,
		Changed: func(h disk.Health) { r.note(func() { r.health = append(r.health, h) }) },
		Full:    func() { r.note(func() { r.full++ }) },
	}
	if change != nil {
		change(&o)
	}
	if r.writer, err = disk.New(o); err != nil {
		t.Fatal(err)
	}
	r.lane = r.writer.Lane("door", "main", func(o disk.Outcome) { r.note(func() { r.outcomes = append(r.outcomes, o) }) })
	r.stop = start(t, r.writer)
	return r
}

func (r *rig) note(do func()) {
	r.mu.Lock()
	do()
	r.mu.Unlock()
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// await waits until something is so.
func (r *rig) await(what string, is func() bool) {
	r.t.Helper()
	late := time.After(20 * time.Second)
	for {
		r.mu.Lock()
		ok := is()
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.changed:
		case <-time.After(5 * time.Millisecond):
		case <-late:
			r.t.Fatalf("never: %s", what)
		}
	}
}

var spec = &disk.FileSpec{Run: 1, Epoch: 1, Init: append(append([]byte{0, 0, 0, 8}, "ftyp"...), append([]byte{0, 0, 0, 12}, "moov____"...)...),
	Format: index.Format{Codecs: "avc1.640028", Width: 1920, Height: 1080, FPS: 25}}

// fragment is the n-th of two seconds each, of which every second begins with a
// keyframe where gops is 2.
func fragment(n, gops, bytes int) *disk.Fragment {
	f := &disk.Fragment{Spec: spec, Start: noon.Add(time.Duration(n) * 2 * time.Second), Fresh: n == 0, Slack: 60 * time.Millisecond}
	f.End = f.Start.Add(2 * time.Second)
	body := make([]byte, bytes)
	for i := range body {
		body[i] = byte(n)
	}
	key := n%gops == 0
	moof := fmp4.AppendFragment(nil, uint32(n), []fmp4.Run{{TrackID: 1, Samples: []fmp4.Sample{{Duration: 180_000, Size: uint32(bytes), Sync: key}}}})
	mark := layout.Mark{Keyframe: key, Start: f.Start, Duration: 180_000, Bytes: uint32(len(moof) + bytes), Frames: [2]uint32{1, 0},
		CRC: layout.CRC(layout.CRC(0, moof), body)}
	if key {
		mark.Head = layout.MarkBytes + mark.Bytes
	}
	f.Head = append(layout.AppendMark(nil, mark), moof...)
	f.Body = [][]byte{body[:bytes/2], body[bytes/2:]}
	f.Bytes = int64(len(f.Head) + bytes)
	f.Counts = [2]int64{1, 0}
	f.Entry = layout.Fragment{Bytes: f.Bytes, Head: int64(mark.Head), Duration: 180_000, Keyframe: key}
	return f
}

// written returns which fragments were written and which were not, by their number.
func (r *rig) written() (yes, no []int) {
	for _, o := range r.outcomes {
		n := int(o.Start.Sub(noon) / (2 * time.Second))
		if o.Written {
			yes = append(yes, n)
		} else {
			no = append(no, n)
		}
	}
	return yes, no
}

// verify scans all files of the index, whole, and returns how many fragments there are.
func (r *rig) verify() int {
	r.t.Helper()
	stream, ok := r.index.Find("door", "main")
	if !ok {
		return 0
	}
	files, err := r.index.Files(r.t.Context(), stream.ID, noon.Add(-time.Hour), noon.Add(time.Hour))
	if err != nil {
		r.t.Fatal(err)
	}
	total := 0
	for _, f := range files {
		path := string(layout.AppendPath(nil, layout.Name{Camera: "door", Source: "main", Start: f.Start, Number: f.Number}))
		file, err := os.Open(filepath.Join(r.dir, path))
		if err != nil {
			r.t.Fatal(err)
		}
		info, err := file.Stat()
		if err != nil {
			r.t.Fatal(err)
		}
		s, err := layout.Scan(file, info.Size(), layout.CheckAll)
		if err != nil {
			r.t.Fatal(err)
		}
		file.Close()
		if f.Open || len(s.Damaged) > 0 || s.End != info.Size() || s.End != f.Bytes || len(s.Fragments) != len(f.Fragments) {
			r.t.Errorf("file %d (open: %t): the index says %d fragments up to %d, the file %d (damaged: %v) up to %d of %d",
				f.Number, f.Open, len(f.Fragments), f.Bytes, len(s.Fragments), s.Damaged, s.End, info.Size())
		}
		if s.Identity.Sequence != f.Sequence || s.Identity.Discontinuity != f.Discontinuity {
			r.t.Errorf("file %d: the index says segment %d, %d, the file %d, %d", f.Number, f.Sequence, f.Discontinuity, s.Identity.Sequence, s.Identity.Discontinuity)
		}
		total += len(s.Fragments)
	}
	open, err := r.index.Unfinished(r.t.Context())
	if err != nil || len(open) > 0 {
		r.t.Errorf("rows stay open: %v, %v", open, err)
	}
	return total
}

// faultyFS fails or waits where it is told to.
type faultyFS struct {
	disk.FS
	mu     sync.Mutex
	create func(path string) error
	write  func(offset int64, buffers [][]byte) (int64, error, bool) // true: instead of writing
	sync   func() error
	remove func() error
}

func (f *faultyFS) set(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	do()
}

func (f *faultyFS) Create(path string) (disk.File, error) {
	f.mu.Lock()
	create := f.create
	f.mu.Unlock()
	if create != nil {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	file, err := f.FS.Create(path)
	if err != nil {
		return nil, err
	}
	return &faultyFile{File: file, fs: f}, nil
}

func (f *faultyFS) Remove(path string) error {
	f.mu.Lock()
	remove := f.remove
	f.mu.Unlock()
	if remove != nil {
		if err := remove(); err != nil {
			return err
		}
	}
	return f.FS.Remove(path)
}

type faultyFile struct {
	disk.File
	fs *faultyFS
}

func (f *faultyFile) WriteBuffers(buffers [][]byte, offset int64) (int64, error) {
	f.fs.mu.Lock()
	write := f.fs.write
	f.fs.mu.Unlock()
	if write != nil {
		if n, err, done := write(offset, buffers); done {
			if n > 0 { // a short write leaves something behind
				if _, err := f.File.WriteBuffers([][]byte{buffers[0][:n]}, offset); err != nil {
					return 0, errors.Join(errors.New("not even the short write"), err)
				}
			}
			return n, err
		}
	}
	return f.File.WriteBuffers(buffers, offset)
}

func (f *faultyFile) Sync() error {
	f.fs.mu.Lock()
	sync := f.fs.sync
	f.fs.mu.Unlock()
	if sync != nil {
		if err := sync(); err != nil {
			return err
		}
	}
	return f.File.Sync()
}
