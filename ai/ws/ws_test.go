package ws_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/ai/ws"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve serves a rig until the test ends; stop ends the contexts of all requests, as a
// server does that stops.
func serve(t *testing.T, rig *aitest.Rig) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	handler := ws.New(rig.Hub, slog.New(slog.DiscardHandler))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		both, end := context.WithCancel(r.Context())
		defer end()
		defer context.AfterFunc(ctx, end)()
		handler.ServeHTTP(w, r.WithContext(both))
	}))
	t.Cleanup(func() {
		cancel()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return server.URL, cancel
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

type worker struct {
	*websocket.Conn
	t *testing.T
}

func open(t *testing.T, address, query string) worker {
	t.Helper()
	conn, _, err := websocket.Dial(soon(t), address+"/?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return worker{conn, t}
}

func (w worker) message() (*schema.Message, error) {
	kind, data, err := w.Read(soon(w.t))
	if err != nil {
		return nil, err
	}
	var m schema.Message
	if err := proto.Unmarshal(data, &m); err != nil || kind != websocket.MessageBinary {
		w.t.Fatalf("a message of kind %v: %v", kind, err)
	}
	return &m, nil
}

func (w worker) frame() *schema.Frame {
	w.t.Helper()
	for {
		m, err := w.message()
		if err != nil {
			w.t.Fatal(err)
		}
		if f := m.GetFrame(); f != nil {
			return f
		}
	}
}

// ends returns the code and reason with which the server closes.
func (w worker) ends() (websocket.StatusCode, string) {
	w.t.Helper()
	for {
		if _, err := w.message(); err != nil {
			var closed websocket.CloseError
			if !errors.As(err, &closed) {
				w.t.Fatal(err)
			}
			return closed.Code, closed.Reason
		}
	}
}

func TestABrowserGetsTheSameMessagesAsByGRPC(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 50_000
	address, _ := serve(t, rig)
	w := open(t, address, "camera=door&format=length_prefixed&worker=page")
	m, err := w.message()
	if err != nil || m.GetStatus().GetState() != schema.State_STATE_WATCHING {
		t.Fatalf("got %v, %v", m, err)
	}
	door.Write()
	if m, err = w.message(); err != nil || m.GetConfig().GetFormat() != schema.Format_FORMAT_LENGTH_PREFIXED {
		t.Fatalf("got %v, %v", m, err)
	}
	for n := uint64(1); n <= 10; n++ {
		if f := w.frame(); f.Sequence != n || aitest.Number(f.Data) != n || len(f.Data) != door.Bytes {
			t.Fatalf("got frame %d of %d bytes, want %d", f.Sequence, len(f.Data), n)
		}
		door.Write()
	}
}

func TestAnotherSitesPageIsRefused(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	rig.Attach("door", "main")
	address, _ := serve(t, rig)
	for origin, allowed := range map[string]bool{address: true, "": true, "http://evil.example": false, "null": false} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		conn, answer, err := websocket.Dial(soon(t), address+"/?camera=door", &websocket.DialOptions{HTTPHeader: header})
		if (err == nil) != allowed || !allowed && answer.StatusCode != http.StatusForbidden {
			t.Errorf("origin %q: got %v", origin, err)
		}
		if err == nil {
			_ = conn.CloseNow()
		}
	}
}

func TestWhatIsWrongIsAnsweredBeforeThereIsAWebSocket(t *testing.T) {
	rig := aitest.New(t, feed.Options{MaxWorkers: 1})
	rig.Attach("door", "main")
	address, _ := serve(t, rig)
	open(t, address, "camera=*")
	for query, status := range map[string]int{
		"":                                http.StatusUnprocessableEntity,
		"camera=a/b":                      http.StatusUnprocessableEntity,
		"camera=door&max_fps=x":           http.StatusUnprocessableEntity,
		"camera=door&selection=x":         http.StatusUnprocessableEntity,
		"camera=door&format=x":            http.StatusUnprocessableEntity,
		"camera=door&audio=x":             http.StatusUnprocessableEntity,
		"camera=door&what=x":              http.StatusUnprocessableEntity,
		"camera=door&max_behind_ms=-1":    http.StatusUnprocessableEntity,
		"camera=door&max_behind_ms=99999": http.StatusUnprocessableEntity,
		"camera=door":                     http.StatusServiceUnavailable,
	} {
		_, answer, err := websocket.Dial(soon(t), address+"/?"+query, nil)
		if err == nil || answer.StatusCode != status {
			t.Errorf("%s: got %v", query, err)
			continue
		}
		var problem struct{ Type, Detail string }
		if err := json.NewDecoder(answer.Body).Decode(&problem); err != nil || problem.Type == "" || problem.Detail == "" {
			t.Errorf("%s: got %+v, %v", query, problem, err)
		}
	}
	answer, err := http.Get(address + "/?camera=door")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("to a request that is no WebSocket: %d", answer.StatusCode)
	}
}

func TestTheEndHasACodeAndAReason(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	rig.Attach("yard", "main")
	address, stop := serve(t, rig)
	w := open(t, address, "camera=door")
	rig.Know("door")
	door.Detach()
	if code, reason := w.ends(); code != ws.StatusRemoved || !strings.Contains(reason, "removed") {
		t.Errorf("removed: got %d %s", code, reason)
	}
	w = open(t, address, "camera=yard")
	if _, err := w.message(); err != nil {
		t.Fatal(err)
	}
	stop()
	if code, _ := w.ends(); code != ws.StatusStopped {
		t.Errorf("stopped: got %d", code)
	}
}

func TestAWorkerThatReadsNothingAndDiesLeavesNothingBehind(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 400_000
	address, _ := serve(t, rig)
	stuck, good := open(t, address, "camera=door&max_behind_ms=1&worker=stuck"), open(t, address, "camera=door&max_behind_ms=10000&worker=good")
	for range 50 {
		n := door.Write()
		if f := good.frame(); f.Sequence != n || f.Missed != 0 {
			t.Fatalf("got frame %d, %d missed, want %d", f.Sequence, f.Missed, n)
		}
	}
	_ = stuck.CloseNow()
	for limit := soon(t); ; time.Sleep(time.Millisecond) {
		open := 0
		for _, s := range rig.Hub.Stats().Workers {
			if s.Worker == "stuck" {
				open = s.Open
				if s.Missed == 0 {
					t.Fatal("a worker that read nothing missed nothing")
				}
			}
		}
		if open == 0 {
			break
		}
		if err := limit.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// FuzzQuery asks for whatever a query may say: the answer is a refusal, or a WebSocket
// is asked for.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"camera=door", "camera=%00&camera=*", "max_fps=NaN", "max_behind_ms=4294967296", "a;b", "%zz"} {
		f.Add(seed)
	}
	rig := aitest.New(f, feed.Options{})
	rig.Know("door", "main")
	handler := ws.New(rig.Hub, slog.New(slog.DiscardHandler))
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL = &url.URL{Path: "/", RawQuery: query}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusUnprocessableEntity && w.Code != http.StatusUpgradeRequired {
			t.Errorf("%q: status %d", query, w.Code)
		}
	})
}
