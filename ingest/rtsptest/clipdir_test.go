package rtsptest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestOnlyMissingClipsAreMadeThoughTwoMakeThem(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(ClipDir(t))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tick.alaw", "h264-small.csv"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	var logs [2]strings.Builder
	var makers sync.WaitGroup
	for i := range logs {
		makers.Go(func() {
			if err := MakeClips(context.Background(), dir, &logs[i]); err != nil {
				t.Errorf("%v\n%s", err, logs[i].String())
			}
		})
	}
	makers.Wait()
	log := logs[0].String() + logs[1].String()
	for _, name := range []string{"tick.alaw", "h264-small"} {
		if strings.Count(log, "make-clips: "+name) != 1 {
			t.Errorf("%s is not made once:\n%s", name, log)
		}
	}
	if strings.Contains(log, "tick.aac") || strings.Contains(log, "h265") {
		t.Errorf("what was there is made again:\n%s", log)
	}
	if _, err := LoadClip(dir, "h264-small"); err != nil {
		t.Error(err)
	}
	var log3 strings.Builder
	if err := MakeClips(context.Background(), dir, &log3); err != nil || log3.Len() > 0 {
		t.Errorf("with all there: %v, %q", err, log3.String())
	}
}
