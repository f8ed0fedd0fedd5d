package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestProbeReadsThePasswordFromAFile(t *testing.T) {
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "gate", Auth: rtsptest.AuthDigest, User: "viewer", Password: "p@ss/word"}).Camera("gate")
	file := filepath.Join(t.TempDir(), "password")
	for password, want := range map[string]string{"p@ss/word\n": "", "another": "check user name and password"} {
		if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := command(t, "probe", camera.URL(), "--username", "viewer", "--password-file", file)
		switch {
		case want == "" && (err != nil || !strings.Contains(out, "H264")):
			t.Errorf("with the right one: %v, %q", err, out)
		case want != "" && (err == nil || !strings.HasSuffix(err.Error(), want)):
			t.Errorf("with a wrong one: %v, want it to end in %q", err, want)
		}
	}
}
