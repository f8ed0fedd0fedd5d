package home_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// thin puts a file of one fragment in the place of a whole one, as thinning does.
func (b *bench) thin(key index.Key, content []byte, unlink bool) error {
	f, _, err := b.index.FileByNumber(b.t.Context(), key)
	if err != nil {
		return err
	}
	s, _ := b.index.Find("door", "main")
	by := f
	by.Thinned, by.Fragments, by.Bytes = true, f.Fragments[:1], int64(len(content))
	old, fresh := path(s, &f), string(layout.AppendPath(nil, layout.Name{Camera: s.Camera, Source: s.Source, Start: f.Start, Number: f.Number, Thinned: true}))
	if err := os.WriteFile(filepath.Join(b.dir, filepath.FromSlash(fresh)), content, 0o600); err != nil {
		return err
	}
	if err := b.index.Replace(b.t.Context(), index.Victim{File: f, Path: old}, index.Victim{File: by, Path: fresh}); err != nil || !unlink {
		return err
	}
	return os.Remove(filepath.Join(b.dir, filepath.FromSlash(old)))
}

func TestAFileThatIsThinnedWhileItIsReadIsCopiedAsItIsThen(t *testing.T) {
	for name, unlink := range map[string]bool{"the whole one is open": false, "the whole one is gone": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			files := b.record("door", 12)
			third := b.victims("door")[2].File.Key()
			thinned := bytes.Repeat([]byte("k"), 900+fragmentBytes)
			var begun atomic.Bool
			h := b.home(func(o *home.Options) {
				// It is asked first between the look into the index and the reading.
				o.Now = func() time.Time {
					if begun.CompareAndSwap(true, false) {
						if err := b.thin(third, thinned, unlink); err != nil {
							t.Error(err)
						}
					}
					return time.Now()
				}
			})
			begun.Store(true)
			b.copyAll(h)
			files[third] = thinned
			b.proves(h, files)
			s := b.status(h)
			if s.Missing > 0 || len(s.Failures) > 0 {
				t.Errorf("it is told as a failure: %+v", s)
			}
			if f, _, err := b.index.FileByNumber(t.Context(), third); err != nil || f.Places != index.Here|index.SecondHome {
				t.Errorf("places %b, %v", f.Places, err)
			}
		})
	}
}
