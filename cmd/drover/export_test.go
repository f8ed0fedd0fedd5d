package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestAClipIsFetchedFromTheCommandLine(t *testing.T) {
	r := run(t)
	camera := rtsptest.Start(t, rtsptest.CameraConfig{Path: "yard", AAC: true}).Camera("yard")
	if out, err := r.drover("", "cameras", "add", "yard", camera.URL()); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, r.url+"/api/v1/cameras/yard", strings.NewReader(`{"record":{"mode":"continuous"}}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	path := filepath.Join(t.TempDir(), "yard.mp4")
	deadline := time.Now().Add(time.Minute)
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for ; ; <-again.C {
		out, err := r.drover("", "archive", "export", "yard", time.Now().Add(-time.Minute).Format(time.RFC3339), time.Now().Format(time.RFC3339), "-o", path)
		if err == nil {
			if !strings.Contains(out, "SHA-256 ") || !strings.Contains(out, "100 %") {
				t.Errorf("it says %q", out)
			}
			break
		}
		if time.Now().After(deadline) || !strings.Contains(err.Error(), "recorded") && !strings.Contains(err.Error(), "changed") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	clip, err := os.ReadFile(path)
	if err != nil || len(clip) < 10_000 || string(clip[4:8]) != "ftyp" {
		t.Errorf("%d bytes, %v", len(clip), err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".drover-export-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := r.drover("", "archive", "export", "yard", "2001-01-01T00:00:00Z", "2001-01-01T00:01:00Z", "-o", path, "--force"); err == nil || !strings.Contains(err.Error(), "recorded") {
		t.Errorf("a time without footage: %v", err)
	}
}

// TestADownloadThatBreaksOffGoesOn has a server that ends connections in mid-answer.
func TestADownloadThatBreaksOffGoesOn(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789"), 30_000)
	for name, c := range map[string]struct {
		cuts    int
		changes bool
		sum     []byte
		want    string // of the error; "": none
	}{
		"twice":                         {2, false, content, ""},
		"for good":                      {1000, false, content, "no answer"},
		"what was recorded has changed": {1, true, content, "changed"},
		"wrong bytes":                   {0, false, content[1:], "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, ".sha256") {
					sum := sha256.Sum256(c.sum)
					fmt.Fprintln(w, hex.EncodeToString(sum[:])+"  door.mp4")
					return
				}
				asked++
				w.Header().Set("ETag", `"one"`)
				if c.changes && asked > 1 {
					w.Header().Set("ETag", `"two"`)
				}
				w.Header().Set("Content-Disposition", `attachment; filename="../../door.mp4"`)
				if asked <= c.cuts {
					from := 0
					if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from); err == nil {
						w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
						w.Header().Set("Content-Length", fmt.Sprint(len(content)-from))
						w.WriteHeader(http.StatusPartialContent)
					} else {
						w.Header().Set("Content-Length", fmt.Sprint(len(content)))
					}
					if c.cuts < 100 {
						_, _ = w.Write(content[from : from+100_000])
					}
					panic(http.ErrAbortHandler)
				}
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			}))
			defer server.Close()
			t.Chdir(t.TempDir())
			out, err := (&running{t, server.URL}).drover("", "archive", "export", "door", "1", "2")
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, %q, want something of %q", err, out, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile("door.mp4"); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v, want %d", len(got), err, len(content))
			}
			mayReplaceByForceAlone(t, server.URL)
		})
	}
}

// mayReplaceByForceAlone exports door.mp4 where there is one.
func mayReplaceByForceAlone(t *testing.T, server string) {
	t.Helper()
	r := &running{t, server}
	if err := os.WriteFile("door.mp4", []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{nil, {"-o", "door.mp4"}, {"-o", os.DevNull, "--force"}} {
		if out, err := r.drover("", append([]string{"archive", "export", "door", "1", "2"}, args...)...); err == nil || !strings.Contains(err.Error(), "is there") {
			t.Errorf("%v: got %v, %q", args, err, out)
		}
	}
	if got, err := os.ReadFile("door.mp4"); err != nil || string(got) != "precious" {
		t.Errorf("the file that was there is %q, %v", got, err)
	}
	if out, err := r.drover("", "archive", "export", "door", "1", "2", "--force"); err != nil {
		t.Errorf("by force: %v, %q", err, out)
	}
}
