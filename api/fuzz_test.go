package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
)

func seeds(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `[]`, `{}`, `{"id":"a","url":"rtsp://h/x"}`, `{"id":"a","url":"rtsp://u:p%40@h/x?password=y","enabled":false}`,
		`{"id":"a","sources":[{"url":"rtsp://h/x"},{"name":"sub","url":"rtsps://h/y","transport":"udp"}],"labels":{"a":"b"}}`,
		`{"url":"rtsp://h/x?password=[redacted]"}`, `{"sources":[{"name":"main"}]}`, `{"sources":null,"record":{"max_age":"30d","max_bytes":1}}`,
		`{"id":"a","url":"rtsp://[::1]:554/x"}`, `{"id":"a","url":"rtsp://h/\u0000"}`, `{"id":"a","url":"RTSP://H"}`, `{"record":{"max_age":"1e9d"}}`,
	} {
		f.Add(seed)
	}
}

// sound checks an answer, and that what is kept is fit to be kept.
func (b *bench) sound(t *testing.T, method, path, body string) {
	b.t = t
	w := b.do(method, path, body)
	b.answers.Reset()
	b.log.Reset()
	if w.Code >= 500 || w.Code < 200 || !json.Valid(w.Body.Bytes()) {
		t.Fatalf("status %d: %.300s", w.Code, w.Body)
	}
	if w.Code >= 400 {
		var p problemBody
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Type == "" || p.Detail == "" {
			t.Fatalf("no problem: %.300s", w.Body)
		}
	}
	if strings.Contains(w.Body.String(), secret1) {
		t.Fatalf("the answer holds the password: %.300s", w.Body)
	}
	for _, view := range b.registry.List() {
		spec := view.Spec
		spec.Sources = append([]camera.SourceSpec(nil), spec.Sources...)
		if err := spec.Normalize(); err != nil {
			t.Fatalf("a camera that is not normal was kept: %v", err)
		}
	}
}

func FuzzPost(f *testing.F) {
	seeds(f)
	b := newBench(f, nil)
	f.Fuzz(func(t *testing.T, body string) {
		b.sound(t, "POST", "/api/v1/cameras", body)
		for _, view := range b.registry.List() {
			if err := b.registry.Remove(t.Context(), view.Spec.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPatch(f *testing.F) {
	seeds(f)
	b := newBench(f, nil)
	f.Fuzz(func(t *testing.T, body string) {
		b.t = t
		b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x?password=`+secret1+`","password":"`+secret1+`"}`)
		b.sound(t, "PATCH", "/api/v1/cameras/door", body)
		b.sound(t, "POST", "/api/v1/probe", `{"camera":"door"}`)
		if err := b.registry.Remove(t.Context(), "door"); err != nil {
			t.Fatal(err)
		}
	})
}
