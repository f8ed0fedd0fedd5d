package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drover-video/drover/archive/index"
)

// command runs drover with arguments.
func command(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(arguments)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestVerifySaysWhatIsThereAndWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	if _, err := command(t, "archive", "verify", "--archive.dir", filepath.Join(dir, "none")); err == nil || !strings.Contains(err.Error(), "there is no archive") {
		t.Errorf("got %v", err)
	}
	x, err := index.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "archive", "verify", "--archive.dir", dir); err == nil || !strings.Contains(err.Error(), "stop the Drover") {
		t.Errorf("got %v", err)
	}
	x.Close()
	out, err := command(t, "archive", "verify", "--archive.dir", dir)
	if err != nil || !strings.Contains(out, "0 files") {
		t.Errorf("got %q, %v", out, err)
	}
	stray := filepath.Join(dir, "door/main/2026-01-01/20260101T000000.000Z-1.mp4")
	if err := errors.Join(os.MkdirAll(filepath.Dir(stray), 0o700), os.WriteFile(stray, []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out, err = command(t, "archive", "verify", "--archive.dir", dir, "--checksums")
	if !errors.Is(err, errProblems) || !strings.Contains(out, "not in the index") {
		t.Errorf("got %q, %v", out, err)
	}
	out, err = command(t, "archive", "repair", "--archive.dir", dir)
	if err != nil || !strings.Contains(out, "left alone") || !strings.Contains(out, "is now archive.db.before-") {
		t.Errorf("got %q, %v", out, err)
	}
}
