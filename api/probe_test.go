package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
)

// probing is a prober that keeps what it was asked.
type probing struct {
	mu     sync.Mutex
	asked  camera.SourceSpec
	result camera.ProbeResult
}

func (p *probing) Probe(_ context.Context, source camera.SourceSpec) (camera.ProbeResult, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = source
	return p.result, nil
}

func TestAProbeShowsWhatTheCameraOffers(t *testing.T) {
	p := &probing{result: camera.ProbeResult{Transport: camera.TransportTCP, Elapsed: 1500 * time.Millisecond, GOP: 2 * time.Second,
		Tracks: []camera.TrackStatus{{Codec: "H264", Width: 640, Height: 360, FPS: 25, Playable: true, MPEGTS: true}, {Codec: "G711", SampleRate: 8000, Reason: "no browser plays it"}}}}
	b := newBench(t, func(o *Options) { o.Prober = p })
	w := b.must(http.StatusOK, "POST", "/api/v1/probe", `{"url":"rtsp://u:p%40@h/x","transport":"tcp"}`)
	if p.asked.URL != "rtsp://h/x" || p.asked.Username != "u" || p.asked.Password.Reveal() != "p@" || p.asked.Transport != camera.TransportTCP {
		t.Errorf("asked %+v", p.asked)
	}
	want := `{"ok":true,"transport":"tcp","transport_reason":"","tracks":[` +
		`{"codec":"H264","profile":"","width":640,"height":360,"fps":25,"sample_rate":0,"bitrate_bps":0,"playable":true,"reason":"","delivered_as":"","mpegts":true,"note":""},` +
		`{"codec":"G711","profile":"","width":0,"height":0,"fps":0,"sample_rate":8000,"bitrate_bps":0,"playable":false,"reason":"no browser plays it","delivered_as":"","mpegts":false,"note":""}],` +
		`"gop_seconds":2,"elapsed_seconds":1.5,"step":"","error":""}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestACameraThatCannotBeAskedIsAResult(t *testing.T) {
	p := &probing{result: camera.ProbeResult{Step: "connect", Error: "nobody answers at h:554"}}
	b := newBench(t, func(o *Options) { o.Prober = p })
	var got ProbeResult
	if err := json.Unmarshal(b.must(http.StatusOK, "POST", "/api/v1/probe", `{"url":"rtsp://h/x"}`).Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.OK || got.Step != "connect" || got.Error != "nobody answers at h:554" || got.Tracks == nil {
		t.Errorf("got %+v", got)
	}
}

func TestAProbeOfAStoredCameraUsesWhatIsStored(t *testing.T) {
	p := &probing{}
	b := newBench(t, func(o *Options) { o.Prober = p })
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","sources":[
		{"url":"rtsp://h/1?password=abcd","username":"u","password":"secret1"},{"url":"rtsp://h/2","password":"secret2"}]}`)
	for body, want := range map[string][3]string{
		`{"camera":"door"}`: {"rtsp://h/1?password=abcd", "u", "secret1"},
		`{"camera":"door","url":"rtsp://h/1?password=[redacted]"}`:   {"rtsp://h/1?password=abcd", "u", "secret1"},
		`{"camera":"door","source":"sub"}`:                           {"rtsp://h/2", "", "secret2"},
		`{"camera":"door","url":"rtsp://h/new"}`:                     {"rtsp://h/new", "u", "secret1"},
		`{"camera":"door","password":"other"}`:                       {"rtsp://h/1?password=abcd", "u", "other"},
		`{"camera":"door","url":"rtsp://evil/1"}`:                    {"rtsp://evil/1", "u", ""},
		`{"camera":"door","url":"rtsp://h:555/1"}`:                   {"rtsp://h:555/1", "u", ""},
		`{"camera":"door","url":"rtsp://evil/1","password":"given"}`: {"rtsp://evil/1", "u", "given"},
	} {
		b.must(http.StatusOK, "POST", "/api/v1/probe", body)
		if got := [3]string{p.asked.URL, p.asked.Username, p.asked.Password.Reveal()}; got != want {
			t.Errorf("%s: asked %v, want %v", body, got, want)
		}
	}
	if got := b.stored("door").Sources[0].Password.Reveal(); got != "secret1" {
		t.Errorf("the probe changed the stored password to %s", got)
	}
	b.refused(b.do("POST", "/api/v1/probe", `{"camera":"yard"}`), problemNoCamera)
	b.refused(b.do("POST", "/api/v1/probe", `{"camera":"door","source":"third"}`), problemInvalid)
}

func TestABadProbeIsRefused(t *testing.T) {
	b := newBench(t, nil)
	for _, body := range []string{`{}`, `null`, `[]`, `{"url":""}`, `{"url":"http://h/x"}`, `{"url":"exec:ls"}`, `{"url":"rtsp://h/x","nope":1}`, `{"url":"rtsp://h/x","transport":"x"}`} {
		b.refused(b.do("POST", "/api/v1/probe", body), problemInvalid)
	}
}

func TestOnlySoManyProbesRunAtOnce(t *testing.T) {
	started, finish := make(chan struct{}), make(chan struct{})
	b := newBench(t, func(o *Options) {
		o.Prober = prober(func(context.Context, camera.SourceSpec) (camera.ProbeResult, error) {
			started <- struct{}{}
			<-finish
			return camera.ProbeResult{}, nil
		})
	})
	ask := func() *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/api/v1/probe", strings.NewReader(`{"url":"rtsp://h/x"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		return w
	}
	var group sync.WaitGroup
	for range maxProbes {
		group.Go(func() {
			if w := ask(); w.Code != http.StatusOK {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
		<-started
	}
	w := ask()
	b.refused(w, problemBusy)
	if w.Header().Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	close(finish)
	group.Wait()
}
