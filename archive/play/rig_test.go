package play_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/play"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A rig is an archive and who serves it.
type rig struct {
	*archivetest.Archive
	t       testing.TB
	handler *play.Handler
	now     atomic.Int64 // Unix nanoseconds
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigWith(t, play.Options{})
}

func newRigWith(t testing.TB, o play.Options) *rig {
	t.Helper()
	r := &rig{Archive: archivetest.New(t), t: t}
	r.set(time.Hour)
	r.serve(o)
	return r
}

func (r *rig) serve(o play.Options) {
	r.t.Helper()
	o.Index, o.Dir, o.Log = r.Index, r.Dir, slog.New(slog.DiscardHandler)
	o.Known = func(camera string) bool { return camera == "door" || camera == "new" }
	o.Now = func() time.Time { return time.Unix(0, r.now.Load()).UTC() }
	var err error
	if r.handler, err = play.New(o); err != nil {
		r.t.Fatal(err)
	}
	handler := r.handler
	r.t.Cleanup(func() { handler.Close() })
}

// set sets the clock to so long after noon.
func (r *rig) set(after time.Duration) { r.now.Store(archivetest.Noon.Add(after).UnixNano()) }

// do asks for a path below the camera's; headers come in pairs.
func (r *rig) do(method, path string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	request := httptest.NewRequest(method, "/archive/door/"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, request)
	return w
}

func (r *rig) get(path string, headers ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	return r.do(http.MethodGet, path, headers...)
}

// playlist asks for one that there is.
func (r *rig) playlist(path string) string {
	r.t.Helper()
	w := r.get(path)
	if w.Code != http.StatusOK {
		r.t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// refused checks that an answer is a problem.
func (r *rig) refused(w *httptest.ResponseRecorder, status int, kind string) {
	r.t.Helper()
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		r.t.Errorf("no problem: %d, %v: %.200s", w.Code, err, w.Body)
		return
	}
	if w.Code != status || p.Status != status || p.Type != "/problems/"+kind || p.Detail == "" || p.Title == "" {
		r.t.Errorf("got %d %s, want %d %s", w.Code, w.Body, status, kind)
	}
	if w.Header().Get("Access-Control-Allow-Origin") != "*" || w.Header().Get("Cache-Control") == "" {
		r.t.Errorf("headers %v", w.Header())
	}
}

// at is a time of day, so long after noon, for a query.
func at(after time.Duration) string {
	return archivetest.Noon.Add(after).Format("2006-01-02T15:04:05.999Z")
}

// span is a query for a range.
func span(from, to time.Duration) string { return "?from=" + at(from) + "&to=" + at(to) }

// lines returns the lines of a text that begin so.
func lines(text, prefix string) []string {
	var found []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

// server serves the rig over TCP.
func (r *rig) server() *httptest.Server {
	r.t.Helper()
	server := httptest.NewServer(r.handler)
	r.t.Cleanup(server.Close)
	return server
}

func body(t testing.TB, response *http.Response) []byte {
	t.Helper()
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
