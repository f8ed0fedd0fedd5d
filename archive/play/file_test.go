package play_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/wire"
)

func TestAFileIsServedByteForByte(t *testing.T) {
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	w.Finish()
	all, err := os.ReadFile(w.Path)
	if err != nil {
		t.Fatal(err)
	}
	const name = "main/20261130T120000.000Z-1.mp4"
	size := strconv.Itoa(len(all))
	etag := r.get(name).Header().Get("ETag")
	for title, c := range map[string]struct {
		headers []string
		status  int
		want    []byte
		span    string
	}{
		"whole":                 {nil, 200, all, ""},
		"a range":               {[]string{"Range", "bytes=10-19"}, 206, all[10:20], "bytes 10-19/" + size},
		"from a place on":       {[]string{"Range", "bytes=100-"}, 206, all[100:], "bytes 100-" + strconv.Itoa(len(all)-1) + "/" + size},
		"the end":               {[]string{"Range", "bytes=-7"}, 206, all[len(all)-7:], "bytes " + strconv.Itoa(len(all)-7) + "-" + strconv.Itoa(len(all)-1) + "/" + size},
		"over the end":          {[]string{"Range", "bytes=5-99999999999999999999"}, 206, all[5:], "bytes 5-" + strconv.Itoa(len(all)-1) + "/" + size},
		"behind the end":        {[]string{"Range", "bytes=" + size + "-"}, 416, nil, "bytes */" + size},
		"several ranges":        {[]string{"Range", "bytes=0-1,5-6"}, 200, all, ""},
		"nonsense":              {[]string{"Range", "lines=1-2"}, 200, all, ""},
		"if it is the same":     {[]string{"Range", "bytes=0-1", "If-Range", etag}, 206, all[:2], "bytes 0-1/" + size},
		"if it were another":    {[]string{"Range", "bytes=0-1", "If-Range", `"other"`}, 200, all, ""},
		"unless it is the same": {[]string{"If-None-Match", etag}, 304, nil, ""},
	} {
		t.Run(title, func(t *testing.T) {
			got := r.get(name, c.headers...)
			if got.Code != c.status || got.Header().Get("Content-Range") != c.span {
				t.Fatalf("got %d, %q", got.Code, got.Header().Get("Content-Range"))
			}
			if c.want != nil && (!bytes.Equal(got.Body.Bytes(), c.want) || got.Header().Get("Content-Length") != strconv.Itoa(len(c.want)) || got.Header().Get("Content-Type") != "video/mp4") {
				t.Errorf("got %d bytes, %v", got.Body.Len(), got.Header())
			}
			head := r.do(http.MethodHead, name, c.headers...)
			if head.Code != c.status || head.Body.Len() != 0 || head.Header().Get("Content-Length") != got.Header().Get("Content-Length") {
				t.Errorf("HEAD: %d with %d bytes, %v", head.Code, head.Body.Len(), head.Header())
			}
		})
	}
}

func TestOfAFileThatGrowsWholeFragmentsAreServed(t *testing.T) {
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	const name = "main/20261130T120000.000Z-1.mp4"
	r.refused(r.get(name), http.StatusNotFound, "file-not-found") // nothing whole yet
	w.Round()
	whole := w.Bytes
	torn, err := os.OpenFile(w.Path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer torn.Close()
	if _, err := torn.WriteString("half a fragment"); err != nil {
		t.Fatal(err)
	}
	got := r.get(name)
	if got.Code != http.StatusOK || int64(got.Body.Len()) != whole || got.Header().Get("Cache-Control") != "public, max-age=1" {
		t.Errorf("%d, %d of %d bytes, %v", got.Code, got.Body.Len(), whole, got.Header())
	}
	r.refused(r.get(name, "Range", "bytes="+strconv.FormatInt(whole, 10)+"-"), http.StatusRequestedRangeNotSatisfiable, "range-not-satisfiable")
	part := r.get(name, "Range", "bytes=0-99")
	if part.Code != http.StatusPartialContent || part.Header().Get("Cache-Control") != "public, max-age=3600" || part.Header().Get("ETag") != got.Header().Get("ETag") {
		t.Errorf("a range: %d, %v", part.Code, part.Header())
	}
}

func TestOfAFileThatGrowsOnlyWhatIsWrittenIsKeptForLong(t *testing.T) {
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	const name, brief, long = "main/20261130T120000.000Z-1.mp4", "public, max-age=1", "public, max-age=3600"
	last := strconv.FormatInt(w.Bytes-1, 10)
	cases := map[string]struct {
		headers []string
		open    string // how long it is kept while the file grows
	}{
		"the whole":                 {nil, brief},
		"a part":                    {[]string{"Range", "bytes=0-9"}, long},
		"up to the last byte":       {[]string{"Range", "bytes=9-" + last}, long},
		"beyond the last byte":      {[]string{"Range", "bytes=0-9" + last}, brief},
		"from a place on":           {[]string{"Range", "bytes=9-"}, brief},
		"the last bytes":            {[]string{"Range", "bytes=-9"}, brief},
		"more of them than written": {[]string{"Range", "bytes=-9" + last}, brief},
		"several parts":             {[]string{"Range", "bytes=0-1,5-6"}, brief},
		"nonsense":                  {[]string{"Range", "nonsense"}, brief},
		"a part of another file":    {[]string{"Range", "bytes=0-9", "If-Range", `"x"`}, brief},
	}
	for title, c := range cases {
		if got := r.get(name, c.headers...).Header().Get("Cache-Control"); got != c.open {
			t.Errorf("%s: got %q, want %q", title, got, c.open)
		}
	}
	w.Finish()
	for title, c := range cases {
		if got := r.get(name, c.headers...).Header().Get("Cache-Control"); got != long {
			t.Errorf("%s, of the finished file: got %q", title, got)
		}
	}
}

func TestWhatWasDeletedIsGoneAtOnceAndGoesOnBeingSent(t *testing.T) {
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	w.Finish()
	server := r.server()
	const name = "main/20261130T120000.000Z-1.mp4"
	response, err := http.Get(server.URL + "/archive/door/" + name)
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(w.Path, r.Dir+"/")
	if err := r.Index.Doom(t.Context(), index.CauseDeleted, index.Victim{File: *w.File, Path: path}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.Path); err != nil {
		t.Fatal(err)
	}
	if got := body(t, response); int64(len(got)) != w.Bytes {
		t.Errorf("%d of %d bytes came", len(got), w.Bytes)
	}
	r.refused(r.get(name), http.StatusNotFound, "file-not-found")
	server.Client().CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
}

func TestAFileThatIsMissingOrUnreadableIsNoRiddle(t *testing.T) {
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	w.Finish()
	const name = "main/20261130T120000.000Z-1.mp4"
	if err := os.Rename(w.Path, w.Path+".away"); err != nil {
		t.Fatal(err)
	}
	r.refused(r.get(name), http.StatusNotFound, "file-not-found")
	// A link out of the archive is not followed.
	outside := t.TempDir() + "/secret"
	if err := os.WriteFile(outside, bytes.Repeat([]byte("x"), int(w.Bytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, w.Path); err != nil {
		t.Fatal(err)
	}
	r.refused(r.get(name), http.StatusServiceUnavailable, "archive-not-readable")
}

func TestNoOtherNameLeadsToAFile(t *testing.T) {
	r := newRig(t)
	r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(1)
	for _, path := range []string{
		"main/20261130T120000.000Z-2.mp4", "main/20261130T120000.001Z-1.mp4", "sub/20261130T120000.000Z-1.mp4",
		"main/20261130T120000.000Z-01.mp4", "main/20261130T120000.000Z-1.mp4/", "main/../main/20261130T120000.000Z-1.mp4",
		"main/20261130T120000.000Z--1.mp4", "main/", "main", "", "../../archive.db", "archive.db", "main/2026-11-30/20261130T120000.000Z-1.mp4",
		"main/20261130T120000.000Z-99999999999999999999.mp4", "main//20261130T120000.000Z-1.mp4", "index.m3u8/..", "INDEX.m3u8",
	} {
		if w := r.get(path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %.100s", path, w.Code, w.Body)
		}
	}
}

// serveWire serves the rig as the server does, and returns its address and counters.
func (r *rig) serveWire(ahead bool) (string, *wire.Counters) {
	r.t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	counters := new(wire.Counters)
	options := wire.Options{Patience: time.Minute, Counters: counters, ReadHeaderTimeout: time.Minute, IdleTimeout: time.Minute}
	if ahead {
		options.Handler, options.Prefixes = r.handler, []string{"/archive/"}
	}
	listener := wire.NewListener(inner, options)
	server := &http.Server{Handler: r.handler}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	r.t.Cleanup(func() {
		_ = server.Close()
		_ = listener.Shutdown(context.Background())
		<-done
	})
	return "http://" + inner.Addr().String(), counters
}

func TestTheKernelSendsRecordedFiles(t *testing.T) {
	if !memfile.Sendable {
		t.Log("on this system it does not")
		return
	}
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	w.Finish()
	all, err := os.ReadFile(w.Path)
	if err != nil {
		t.Fatal(err)
	}
	for way, ahead := range map[string]bool{"ahead of net/http": true, "by net/http": false} {
		t.Run(way, func(t *testing.T) {
			url, counters := r.serveWire(ahead)
			limit := time.Now().Add(time.Minute)
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i, c := range []struct {
				span string
				want []byte
			}{{"", all}, {"bytes=1000-400999", all[1000:401000]}} {
				request, err := http.NewRequest(http.MethodGet, url+"/archive/door/main/20261130T120000.000Z-1.mp4", nil)
				if err != nil {
					t.Fatal(err)
				}
				if c.span != "" {
					request.Header.Set("Range", c.span)
				}
				before := counters.Stats()
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(response.Body)
				response.Body.Close()
				if err != nil || !bytes.Equal(got, c.want) {
					t.Fatalf("request %d: %d bytes, %v", i, len(got), err)
				}
				// It is counted when the last byte is out. net/http looks at the first 512.
				for counters.Stats().KernelSends == before.KernelSends {
					if time.Now().After(limit) {
						t.Fatal("the kernel sent nothing")
					}
					runtime.Gosched()
				}
				if n := counters.Stats().KernelBytes - before.KernelBytes; n > uint64(len(c.want)) || n < uint64(len(c.want))-512 || ahead && n != uint64(len(c.want)) {
					t.Errorf("request %d: the kernel sent %d of %d bytes", i, n, len(c.want))
				}
			}
		})
	}
}
