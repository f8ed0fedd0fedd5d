package export_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// A fakeHome has what lies in another folder, by the files' numbers.
type fakeHome struct {
	paths        map[int64]string
	opened, open atomic.Int64
	asked        atomic.Int64 // bytes
}

func (f *fakeHome) Open(_ context.Context, key index.Key, offset, n int64) (io.ReadCloser, error) {
	path, ok := f.paths[key.Number]
	if !ok {
		return nil, fmt.Errorf("no copy: %w", fs.ErrNotExist)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || offset < 0 || n <= 0 || offset+n > info.Size() {
		file.Close()
		return nil, fmt.Errorf("%d bytes at %d are no part of the file", n, offset)
	}
	f.opened.Add(1)
	f.open.Add(1)
	f.asked.Add(n)
	return &fakeBody{io.NewSectionReader(file, offset, n), file, f}, nil
}

type fakeBody struct {
	io.Reader
	file *os.File
	home *fakeHome
}

func (b *fakeBody) Close() error {
	b.home.open.Add(-1)
	return b.file.Close()
}

func TestAClipOfWhatLeftTheDiskIsTheSame(t *testing.T) {
	r := newRig(t)
	k := r.take(loadClip(t, "h264"), 1, 0)
	var files []*index.File
	for range 4 {
		files = append(files, r.record(k, 2))
	}
	request := export.Request{From: noon.Add(15 * time.Second), To: noon.Add(41 * time.Second)}
	want, _, _ := fetch(t, r, request)

	home := &fakeHome{paths: make(map[int64]string)}
	elsewhere := t.TempDir()
	for _, f := range files[:2] { // the others stay
		name := layout.Name{Camera: "door", Source: "main", Start: f.Start, Number: f.Number}
		home.paths[f.Number] = filepath.Join(elsewhere, fmt.Sprint(f.Number))
		if err := os.Rename(filepath.Join(r.dir, string(layout.AppendPath(nil, name))), home.paths[f.Number]); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if r.export, err = export.New(r.index, r.dir, 2, home); err != nil {
		t.Fatal(err)
	}
	defer r.export.Close()
	got, _, _ := fetch(t, r, request)
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want the same %d", len(got), len(want))
	}
	if home.open.Load() != 0 {
		t.Errorf("%d bodies were not closed", home.open.Load())
	}
	// One for each header and each fragment's, and a few for the media.
	if opened := home.opened.Load(); opened > 40 {
		t.Errorf("%d requests for two files", opened)
	}
	delete(home.paths, files[1].Number)
	if _, err := r.export.Clip(t.Context(), export.Request{Camera: "door", From: request.From, To: request.To}); err == nil {
		t.Error("a clip of what lies nowhere")
	}
}
