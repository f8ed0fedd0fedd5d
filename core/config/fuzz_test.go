package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzLoad holds that any file is either a configuration that keeps the rules
// or a list of problems with their places, and that no problem shows a password.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "cameras:\n  door: rtsp://u:hunter2@h/x\n", "http:\n  address: 1:2\n", "a: &a\n  b: *a\n",
		"cameras: &a\n  door: {sources: [{url: 'rtsp://h/${X}', password: hunter2}], labels: {a: b}}\n  x: *a\n",
		"? [a]\n: b\n", "cameras:\n  <<: {a: b}\n", "ring: {max_bytes: 32MB}\n---\n", "\xff\xfe", "%YAML 9\n---\n", "hls: !!binary aGk=\n",
		"http: {tls: {cert: a, key: b}, acme: {domains: [a], email: }}\n", "http: {tls.cert: a}\n", "http: &h {tls: *h}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		path := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(Source{File: path, Environ: []string{"X=hunter2"}})
		if err != nil {
			var problems Problems
			if !errors.As(err, &problems) || len(problems) == 0 || c != nil {
				t.Fatalf("got %v, %v", c, err)
			}
			for _, p := range problems {
				if p.Place == "" || p.Reason == "" {
					t.Errorf("problem without a place or a reason: %+v", p)
				}
			}
			if strings.Contains(content, "${X}") && !strings.Contains(content, "hunter2") && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("a problem shows a variable's value: %v", err)
			}
			return
		}
		for _, camera := range c.Cameras {
			again := camera
			if err := again.Normalize(); err != nil {
				t.Errorf("camera %s is not normal: %v", camera.ID, err)
			}
		}
	})
}
