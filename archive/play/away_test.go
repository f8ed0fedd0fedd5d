package play_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/play"
)

// A fakeHome has the content of one file.
type fakeHome struct {
	content []byte
	err     error // of each Open
	breaks  int64 // a body ends with an error after so many bytes; 0: it does not
	url     string
	opened  int
}

func (f *fakeHome) Open(_ context.Context, key index.Key, offset, n int64) (io.ReadCloser, error) {
	f.opened++
	if f.err != nil {
		return nil, f.err
	}
	if key.Number != 1 || offset < 0 || offset+n > int64(len(f.content)) {
		return nil, fmt.Errorf("%d bytes at %d of file %d: %w", n, offset, key.Number, fs.ErrNotExist)
	}
	body := io.Reader(bytes.NewReader(f.content[offset : offset+n]))
	if f.breaks > 0 {
		body = io.MultiReader(io.LimitReader(body, f.breaks), brokenReader{})
	}
	return io.NopCloser(body), nil
}

func (f *fakeHome) URL(context.Context, index.Key) (string, bool, error) {
	return f.url, f.url != "", nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("it broke") }

const awayName = "main/20261130T120000.000Z-1.mp4"

// newAwayRig has a file that has left the disk, and a copy.
func newAwayRig(t *testing.T) (*rig, *fakeHome) {
	t.Helper()
	r := newRig(t)
	w := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	w.Round()
	w.Finish()
	home := &fakeHome{}
	var err error
	if home.content, err = os.ReadFile(w.Path); err != nil {
		t.Fatal(err)
	}
	o := &index.Object{Stream: r.Stream.ID, Name: "o", From: w.Start, To: w.Start.Add(time.Minute), Bytes: w.Bytes, Parts: []index.Part{{Number: 1, Bytes: w.Bytes, Start: w.Start}}}
	if _, err := r.Index.Intend(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if err := r.Index.Copied(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r.serve(play.Options{Away: home})
	if got := r.get(awayName); got.Code != http.StatusOK || home.opened != 0 {
		t.Fatalf("while it is here: %d, %d reads elsewhere", got.Code, home.opened)
	}
	f, _, err := r.Index.FileByNumber(t.Context(), w.Key())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Index.Doom(t.Context(), index.CauseDeleted, index.Victim{File: f, Path: strings.TrimPrefix(w.Path, r.Dir+"/")}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.Path); err != nil {
		t.Fatal(err)
	}
	return r, home
}

func TestWhatLeftTheDiskIsServedAsBefore(t *testing.T) {
	r, home := newAwayRig(t)
	whole := len(home.content)
	for name, c := range map[string]struct {
		method  string
		headers []string
		status  int
		want    []byte
		opened  int
	}{
		"the whole":              {http.MethodGet, nil, http.StatusOK, home.content, 1},
		"a range":                {http.MethodGet, []string{"Range", "bytes=1000-2999"}, http.StatusPartialContent, home.content[1000:3000], 1},
		"to the end":             {http.MethodGet, []string{"Range", fmt.Sprintf("bytes=%d-", whole-10)}, http.StatusPartialContent, home.content[whole-10:], 1},
		"nothing but the header": {http.MethodHead, []string{"Range", "bytes=0-9"}, http.StatusPartialContent, nil, 0},
		"behind the end":         {http.MethodGet, []string{"Range", fmt.Sprintf("bytes=%d-", whole)}, http.StatusRequestedRangeNotSatisfiable, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			home.opened = 0
			w := r.do(c.method, awayName, c.headers...)
			if w.Code != c.status || home.opened != c.opened || c.want != nil && !bytes.Equal(w.Body.Bytes(), c.want) {
				t.Errorf("%d, %d bytes, %d reads, want %d, %d, %d", w.Code, w.Body.Len(), home.opened, c.status, len(c.want), c.opened)
			}
			if c.want != nil && w.Header().Get("Content-Length") != fmt.Sprint(len(c.want)) {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
	etag := r.do(http.MethodHead, awayName).Header().Get("ETag")
	if w := r.get(awayName, "If-None-Match", etag); w.Code != http.StatusNotModified {
		t.Errorf("what is known already: %d", w.Code)
	}
	playlist := r.playlist("index.m3u8" + span(0, time.Minute) + "&source=main")
	if strings.Contains(playlist, "EXT-X-GAP") {
		t.Errorf("a gap where there is a copy:\n%s", playlist)
	}
	if w := r.get("frame?at=" + at(0)); w.Code != http.StatusOK || w.Body.Len() == 0 {
		t.Errorf("its first picture: %d %s", w.Code, w.Body)
	}
}

func TestASecondHomeThatCannotBeReadIsToldAsSuch(t *testing.T) {
	r, home := newAwayRig(t)
	home.err = errors.New("the store has gone")
	for _, path := range []string{awayName, "frame?at=" + at(0)} {
		w := r.get(path)
		r.refused(w, http.StatusServiceUnavailable, "second-home-away")
		if w.Header().Get("Retry-After") == "" || w.Header().Get("ETag") != "" || w.Header().Get("Cache-Control") != "no-store" || strings.Contains(w.Body.String(), "gone") {
			t.Errorf("%s: %v %s", path, w.Header(), w.Body)
		}
	}
	home.err = fmt.Errorf("no copy: %w", fs.ErrNotExist)
	r.refused(r.get(awayName, "Range", "bytes=0-9"), http.StatusNotFound, "file-not-found")
	r.serve(play.Options{})
	r.refused(r.get(awayName), http.StatusNotFound, "file-not-found")
	r.refused(r.get("frame?at="+at(0)), http.StatusNotFound, "no-recording")
}

func TestWhatBreaksOnItsWayIsShorterThanItSaid(t *testing.T) {
	r, home := newAwayRig(t)
	home.breaks = 100
	response, err := http.Get(r.server().URL + "/archive/door/" + awayName)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	if got, err := io.ReadAll(response.Body); err == nil || len(got) != 100 {
		t.Errorf("%d bytes, %v, want 100 and an error", len(got), err)
	}
}

func TestAPlayerIsSentToTheStoreWhereThatIsWanted(t *testing.T) {
	r, home := newAwayRig(t)
	home.url = "https://store.example.org/b/o?X-Amz-Signature=1"
	w := r.get(awayName, "Range", "bytes=0-9")
	if w.Code != http.StatusFound || w.Header().Get("Location") != home.url || !strings.HasPrefix(w.Header().Get("Cache-Control"), "private, max-age=") || home.opened != 0 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	// The store would refuse it: the URL is signed for GET.
	if w := r.do(http.MethodHead, awayName); w.Code != http.StatusOK || w.Header().Get("Content-Length") != fmt.Sprint(len(home.content)) || home.opened != 0 {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
}
