package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/store"
)

const (
	secret1 = "hunter2-sesame"
	secret2 = "hunter3-sesame"
)

func TestTheSmallestBodyAddsACamera(t *testing.T) {
	b := newBench(t, nil)
	w := b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://192.168.1.20/stream1"}`)
	if got := w.Header().Get("Location"); got != "/api/v1/cameras/door" {
		t.Errorf("Location %s", got)
	}
	c := b.camera(w)
	want := []Source{{Name: "main", URL: "rtsp://192.168.1.20/stream1", Transport: "auto", TLS: TLS{Verify: "system"}}}
	if c.ID != "door" || !c.Enabled || c.OnDemand || c.Origin != "api" || c.ReadOnly || c.Record.Mode != "off" || !reflect.DeepEqual(c.Sources, want) {
		t.Errorf("got %+v", c)
	}
}

func TestAFullBodyAddsACameraThatSurvivesARestart(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{
		"id": "yard", "name": "Back yard", "enabled": false, "on_demand": true, "labels": {"site": "home"},
		"record": {"mode": "continuous", "max_age": "30d", "max_bytes": 500000000000},
		"sources": [
			{"name": "main", "url": "rtsp://h/1", "username": "u", "password": "p@s#/:?%^!\"", "transport": "tcp"},
			{"url": "rtsps://h/2"}
		]}`)
	// What is on disk at this moment, as after a power cut.
	after := t.TempDir()
	if err := os.CopyFS(after, os.DirFS(b.dir)); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), after, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	specs, err := again.Cameras(t.Context())
	if err != nil || len(specs) != 1 {
		t.Fatalf("got %v, %v", specs, err)
	}
	got := specs[0]
	if got.Name != "Back yard" || got.Enabled || !got.OnDemand || got.Labels["site"] != "home" ||
		!reflect.DeepEqual(got.Record, camera.RecordSpec{Mode: camera.RecordContinuous, MaxAge: 720 * time.Hour, MaxBytes: 500e9}) {
		t.Errorf("got %+v", got)
	}
	if len(got.Sources) != 2 || got.Sources[0].Password.Reveal() != `p@s#/:?%^!"` || got.Sources[0].Transport != camera.TransportTCP || got.Sources[1].Name != "sub" {
		t.Errorf("got %+v", got.Sources)
	}
}

func TestACameraIsShownAsTheContractSays(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://u:p@h/x","record":{"max_age":"36h"}}`)
	var got, want any
	if err := json.Unmarshal(b.must(http.StatusOK, "GET", "/api/v1/cameras/door", "").Body.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"id": "door", "name": "", "enabled": true, "on_demand": false, "labels": {}, "origin": "api", "read_only": false,
		"record": {"mode": "off", "max_age": "36h", "max_bytes": 0, "sources": [], "pre_roll": "", "post_roll": "", "schedule": {"zone": "", "spans": []}, "thin": {"after": "", "keep": ""}},
		"sources": [{"name": "main", "url": "rtsp://h/x", "fallback_url": "", "username": "u", "has_password": true, "transport": "auto",
			"tls": {"verify": "system", "fingerprint": ""}}],
		"status": {"state": "live", "since": "2023-11-14T22:13:20.001Z", "error": "", "viewers": 7, "recording": false, "recording_state": "off", "recording_reason": "",
			"sources": [{"name": "main", "state": "live", "error": "", "transport": "tcp", "transport_reason": "tried first", "gop_seconds": 2,
				"last_frame_at": "2023-11-14T22:13:20.120Z", "reconnects": 3, "lost_packets": 4, "reordered_packets": 5, "kernel_dropped_packets": 6, "bytes_in": 0, "on_fallback": false,
				"tracks": [{"codec": "H264", "profile": "", "width": 1920, "height": 1080, "fps": 29.97, "sample_rate": 0,
					"bitrate_bps": 4000000, "playable": true, "reason": "", "delivered_as": "", "mpegts": true, "note": ""}]}]}}`), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	list := b.must(http.StatusOK, "GET", "/api/v1/cameras", "").Body.String()
	if !strings.HasPrefix(list, `{"cameras":[{"id":"door"`) {
		t.Errorf("list: %s", list)
	}
}

func TestAnEmptyListIsAList(t *testing.T) {
	b := newBench(t, nil)
	if got := strings.TrimSpace(b.must(http.StatusOK, "GET", "/api/v1/cameras", "").Body.String()); got != `{"cameras":[]}` {
		t.Errorf("got %s", got)
	}
}

func TestAPatchChangesOnlyWhatItNames(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","name":"Door","labels":{"a":"1"},"record":{"mode":"event","max_age":"1d"},"sources":[
		{"url":"rtsp://h/1?user=x&password=`+secret1+`","username":"u","password":"`+secret2+`"},{"url":"rtsp://h/2","password":"q"}]}`)
	before := b.stored("door")
	steps := []struct {
		body  string
		apply func(*camera.Spec)
	}{
		{`{}`, func(*camera.Spec) {}},
		{`{"name":null,"sources":null,"password":null,"labels":null,"record":null}`, func(*camera.Spec) {}},
		{`{"name":"Front door"}`, func(s *camera.Spec) { s.Name = "Front door" }},
		{`{"enabled":false}`, func(s *camera.Spec) { s.Enabled = false }},
		{`{"on_demand":true}`, func(s *camera.Spec) { s.OnDemand = true }},
		{`{"labels":{"b":"2"}}`, func(s *camera.Spec) { s.Labels = map[string]string{"b": "2"} }},
		{`{"record":{"max_bytes":5}}`, func(s *camera.Spec) { s.Record.MaxBytes = 5 }},
		{`{"record":{"mode":"schedule","schedule":{"zone":"Europe/Berlin","spans":["mon-fri 08:00-18:00"]}}}`, func(s *camera.Spec) {
			s.Record.Mode = camera.RecordSchedule
			s.Record.Schedule = camera.Schedule{Zone: "Europe/Berlin", Spans: []string{"mon-fri 08:00-18:00"}}
		}},
		{`{"record":{"pre_roll":"5s","post_roll":"1m","sources":["main"],"thin":{"after":"7d","keep":"keyframes"}}}`, func(s *camera.Spec) {
			s.Record.PreRoll, s.Record.PostRoll, s.Record.Sources = 5*time.Second, time.Minute, []string{"main"}
			s.Record.Thin = camera.ThinSpec{After: 7 * 24 * time.Hour, Keep: camera.ThinKeyframes}
		}},
		{`{"record":{"max_age":""}}`, func(s *camera.Spec) { s.Record.MaxAge = 0 }},
		{`{"transport":"udp"}`, func(s *camera.Spec) { s.Sources[0].Transport = camera.TransportUDP }},
		{`{"tls":{"fingerprint":"` + strings.Repeat("AB", 32) + `"}}`, func(s *camera.Spec) {
			s.Sources[0].TLS = camera.TLSSpec{Verify: camera.TLSVerifyPin, Fingerprint: strings.Repeat("ab", 32)}
		}},
		{`{"tls":{}}`, func(*camera.Spec) {}},
		{`{"tls":{"verify":"none"}}`, func(s *camera.Spec) { s.Sources[0].TLS = camera.TLSSpec{Verify: camera.TLSVerifyNone} }},
		{`{"tls":{"verify":"system"}}`, func(s *camera.Spec) { s.Sources[0].TLS.Verify = camera.TLSVerifySystem }},
		{`{"username":"v"}`, func(s *camera.Spec) { s.Sources[0].Username = "v" }},
		// The URL as it was shown, and the stored password, stay.
		{`{"url":"rtsp://h/1?user=[redacted]&password=[redacted]"}`, func(*camera.Spec) {}},
		{`{"sources":[{"name":"main","url":"rtsp://h/1?user=[redacted]&password=[redacted]"},{"name":"sub"}]}`, func(*camera.Spec) {}},
		{`{"sources":[{"name":"sub"},{"name":"main"}]}`, func(s *camera.Spec) { s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0] }},
		{`{"sources":[{"name":"main"}]}`, func(s *camera.Spec) { s.Sources = s.Sources[1:] }},
		{`{"url":"rtsp://h/3"}`, func(s *camera.Spec) { s.Sources[0].URL = "rtsp://h/3" }},
		{`{"password":""}`, func(s *camera.Spec) { s.Sources[0].Password = camera.SourceSpec{}.Password }},
	}
	want := before
	for _, step := range steps {
		want.Sources = append([]camera.SourceSpec(nil), want.Sources...)
		step.apply(&want)
		b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", step.body)
		if got := b.stored("door"); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\ngot  %#v\nwant %#v", step.body, got, want)
		}
	}
}

func TestALoginInAURLReplacesTheStoredOne(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://u:p@h/x"}`)
	b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", `{"url":"rtsp://v:q%40@h/x"}`)
	got := b.stored("door").Sources[0]
	if got.Username != "v" || got.Password.Reveal() != "q@" || got.URL != "rtsp://h/x" {
		t.Errorf("got %s, %s, %s", got.URL, got.Username, got.Password.Reveal())
	}
}

func TestAHiddenPartIsNotTakenForAURL(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x?password=`+secret1+`"}`)
	for _, url := range []string{"rtsp://other/x?password=[redacted]", "rtsp://h/y?password=%5Bredacted%5D", "rtsp://[redacted]@h/x"} {
		b.refused(b.do("PATCH", "/api/v1/cameras/door", `{"url":"`+url+`"}`), problemInvalid)
	}
	b.refused(b.do("POST", "/api/v1/cameras", `{"id":"yard","url":"rtsp://h/x?password=[redacted]"}`), problemInvalid)
}

func TestARemovedCameraIsGone(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	if w := b.must(http.StatusNoContent, "DELETE", "/api/v1/cameras/door", ""); w.Body.Len() != 0 {
		t.Errorf("body %s", w.Body)
	}
	b.refused(b.do("GET", "/api/v1/cameras/door", ""), problemNoCamera)
	b.refused(b.do("DELETE", "/api/v1/cameras/door", ""), problemNoCamera)
}

func TestARestartIsPassedOn(t *testing.T) {
	b := newBench(t, nil)
	b.addFileCamera("door")
	b.must(http.StatusNoContent, "POST", "/api/v1/cameras/door/restart", "")
	if len(b.registry.restarted) != 1 || b.registry.restarted[0] != "door" {
		t.Errorf("got %v", b.registry.restarted)
	}
	b.refused(b.do("POST", "/api/v1/cameras/yard/restart", ""), problemNoCamera)
}

func TestACameraOfTheFileIsReadOnly(t *testing.T) {
	b := newBench(t, nil)
	b.addFileCamera("door")
	if c := b.camera(b.must(http.StatusOK, "GET", "/api/v1/cameras/door", "")); !c.ReadOnly || c.Origin != "file" {
		t.Errorf("got %+v", c)
	}
	for _, w := range []*httptest.ResponseRecorder{
		b.do("PATCH", "/api/v1/cameras/door", `{"name":"x"}`),
		b.do("DELETE", "/api/v1/cameras/door", ""),
	} {
		if p := b.refused(w, problemReadOnly); !strings.Contains(p.Detail, "configuration file") {
			t.Errorf("no reason: %s", p.Detail)
		}
	}
	b.refused(b.do("POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`), problemCameraExists)
}

func TestBadBodiesAreRefusedWithTheFieldNamed(t *testing.T) {
	const valid = `"url":"rtsp://h/x"`
	tests := map[string]struct {
		body  string
		want  kind
		field string // that the problem names; "" for none
	}{
		"empty":                     {` `, problemMalformed, ""},
		"null":                      {`null`, problemInvalid, ""},
		"a list":                    {`[]`, problemInvalid, ""},
		"an empty object":           {`{}`, problemInvalid, "id"},
		"cut short":                 {`{"id":"a"`, problemMalformed, ""},
		"two values":                {`{"id":"a",` + valid + `}{}`, problemMalformed, ""},
		"deep nesting":              {strings.Repeat(`[`, 100_000), problemMalformed, ""},
		"deep objects":              {strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat(`}`, 9_000), problemInvalid, "a"},
		"no url":                    {`{"id":"a"}`, problemInvalid, "url"},
		"an empty url":              {`{"id":"a","url":" "}`, problemInvalid, "url"},
		"an unknown field":          {`{"id":"a",` + valid + `,"adress":"x"}`, problemInvalid, "adress"},
		"an unknown source field":   {`{"id":"a","sources":[{` + valid + `,"nope":1}]}`, problemInvalid, "sources[0].nope"},
		"url and sources":           {`{"id":"a",` + valid + `,"sources":[{` + valid + `}]}`, problemInvalid, "sources"},
		"no sources":                {`{"id":"a","sources":[]}`, problemInvalid, "url"},
		"nine sources":              {`{"id":"a","sources":[` + strings.Repeat(`{},`, 8) + `{}]}`, problemInvalid, "sources"},
		"a null list":               {`{"id":"a","sources":null}`, problemInvalid, "url"},
		"a number for a name":       {`{"id":"a",` + valid + `,"name":5}`, problemInvalid, "name"},
		"a word for a boolean":      {`{"id":"a",` + valid + `,"enabled":"yes"}`, problemInvalid, "enabled"},
		"an unknown transport":      {`{"id":"a",` + valid + `,"transport":"pigeon"}`, problemInvalid, "transport"},
		"an unknown trust":          {`{"id":"a",` + valid + `,"tls":{"verify":"maybe"}}`, problemInvalid, "tls.verify"},
		"a short fingerprint":       {`{"id":"a",` + valid + `,"tls":{"fingerprint":"ab"}}`, problemInvalid, "tls.fingerprint"},
		"an unknown mode":           {`{"id":"a",` + valid + `,"record":{"mode":"always"}}`, problemInvalid, "record.mode"},
		"an hour of nonsense":       {`{"id":"a",` + valid + `,"record":{"schedule":{"spans":["mon"]}}}`, problemInvalid, "record.schedule.spans[0]"},
		"a roll without unit":       {`{"id":"a",` + valid + `,"record":{"pre_roll":"30"}}`, problemInvalid, "record.pre_roll"},
		"an age without unit":       {`{"id":"a",` + valid + `,"record":{"max_age":"30"}}`, problemInvalid, "record.max_age"},
		"a negative age":            {`{"id":"a",` + valid + `,"record":{"max_age":"-5s"}}`, problemInvalid, "record.max_age"},
		"negative bytes":            {`{"id":"a",` + valid + `,"record":{"max_bytes":-1}}`, problemInvalid, "record.max_bytes"},
		"huge bytes":                {`{"id":"a",` + valid + `,"record":{"max_bytes":1e300}}`, problemInvalid, ""},
		"exec":                      {`{"id":"a","url":"exec:rm -rf /"}`, problemInvalid, "url"},
		"file":                      {`{"id":"a","url":"file:///etc/passwd"}`, problemInvalid, "url"},
		"http":                      {`{"id":"a","url":"http://169.254.169.254/latest"}`, problemInvalid, "url"},
		"no scheme":                 {`{"id":"a","url":"192.168.1.20/x"}`, problemInvalid, "url"},
		"no host":                   {`{"id":"a","url":"rtsp:///x"}`, problemInvalid, "url"},
		"a line break in a url":     {`{"id":"a","url":"rtsp://h/x\r\nX: y"}`, problemInvalid, "url"},
		"a line break in a login":   {`{"id":"a",` + valid + `,"password":"a\r\nb"}`, problemInvalid, "username"},
		"a url of 3000 bytes":       {`{"id":"a","url":"rtsp://h/` + strings.Repeat("x", 3000) + `"}`, problemInvalid, "url"},
		"a name of 300 bytes":       {`{"id":"a",` + valid + `,"name":"` + strings.Repeat("x", 300) + `"}`, problemInvalid, "name"},
		"too many labels":           {`{"id":"a",` + valid + `,"labels":{` + manyLabels(33) + `}}`, problemInvalid, "labels"},
		"a source named twice":      {`{"id":"a","sources":[{"name":"x",` + valid + `},{"name":"x",` + valid + `}]}`, problemInvalid, "sources[1].name"},
		"an id in capitals":         {`{"id":"Door",` + valid + `}`, problemInvalid, "id"},
		"an id that climbs":         {`{"id":"../../etc",` + valid + `}`, problemInvalid, "id"},
		"an id that climbs coded":   {`{"id":"%2e%2e%2f",` + valid + `}`, problemInvalid, "id"},
		"an id with a backslash":    {`{"id":"..\\",` + valid + `}`, problemInvalid, "id"},
		"an id with a NUL":          {`{"id":"a\u0000",` + valid + `}`, problemInvalid, "id"},
		"an id of 300 letters":      {`{"id":"` + strings.Repeat("a", 300) + `",` + valid + `}`, problemInvalid, "id"},
		"an empty id":               {`{"id":"",` + valid + `}`, problemInvalid, "id"},
		"an id with a line break":   {`{"id":"a\n",` + valid + `}`, problemInvalid, "id"},
		"a hundred thousand fields": {`{` + manyLabels(80_000) + `}`, problemInvalid, ""},
	}
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"kept","url":"rtsp://h/x"}`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b.t = t
			w := b.do("POST", "/api/v1/cameras", test.body)
			p := b.refused(w, test.want)
			if w.Body.Len() > 10_000 {
				t.Errorf("an answer of %d bytes", w.Body.Len())
			}
			if test.field == "" {
				return
			}
			for _, e := range p.Errors {
				if e.Location == "body."+test.field || strings.Contains(e.Message, test.field) {
					return
				}
			}
			t.Errorf("%s is not named: %s", test.field, w.Body)
		})
	}
	b.t = t
	if got := b.registry.List(); len(got) != 1 {
		t.Errorf("a refused camera was added: %d cameras", len(got))
	}
}

func manyLabels(n int) string {
	var text strings.Builder
	for i := range n {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `"l%d":"v"`, i)
	}
	return text.String()
}

func TestADuplicateIsAConflict(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	b.refused(b.do("POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/other"}`), problemCameraExists)
	if got := b.stored("door").Sources[0].URL; got != "rtsp://h/x" {
		t.Errorf("the first was changed to %s", got)
	}
}

func TestAPathWithAnOddIDIsNotFound(t *testing.T) {
	b := newBench(t, nil)
	for _, id := range []string{"..", "%2e%2e%2f", "..%5c", "%00", "a%2Fb", strings.Repeat("a", 300), "Door", "%ff"} {
		for _, method := range []string{"GET", "DELETE"} {
			if w := b.do(method, "/api/v1/cameras/"+id, ""); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s %s: %d %s", method, id, w.Code, w.Body)
			}
		}
		if w := b.do("PATCH", "/api/v1/cameras/"+id, "{}"); w.Code != http.StatusNotFound {
			t.Errorf("PATCH %s: %d", id, w.Code)
		}
	}
}

func TestNoAnswerAndNoLogHoldsAPassword(t *testing.T) {
	b := newBench(t, func(o *Options) {
		o.Prober = prober(func(_ context.Context, s camera.SourceSpec) (camera.ProbeResult, error) {
			return camera.ProbeResult{}, fmt.Errorf("the camera said: %s %s is wrong", s.Username, s.Password.Reveal())
		})
	})
	url := "rtsp://admin:" + secret1 + "@h/x?user=admin&password=" + secret2
	post := func(path, body string) { b.do("POST", path, body) }
	post("/api/v1/cameras", `{"id":"door","url":"`+url+`"}`)
	post("/api/v1/cameras", `{"id":"door","url":"`+url+`"}`)
	post("/api/v1/cameras", `{"id":"yard","url":"rtsp://h/x","username":"u","password":"`+secret1+`"}`)
	post("/api/v1/cameras", `{"id":"a","url":"http://u:`+secret1+`@h/x"}`)
	post("/api/v1/cameras", `{"id":"a","url":"rtsp://u:`+secret1+`%zz@h/x"}`)
	post("/api/v1/cameras", `{"id":"a","url":"rtsp://u:`+secret1+`#@h/x"}`)
	post("/api/v1/cameras", `{"id":"a","url":"`+url+`","nope":1}`)
	post("/api/v1/cameras", `{"id":"a","url":"`+url+`","transport":"`+secret1+`"}`)
	post("/api/v1/cameras", `{"id":"a","url":"rtsp://h/x","password":["`+secret1+`"]}`)
	post("/api/v1/cameras", `{"id":"a","url":"rtsp://h/x","password":"`+strings.Repeat(secret1, 100)+`"}`)
	post("/api/v1/cameras", `{"id":"a","url":"rtsp://h/x","password":"`+secret1)
	post("/api/v1/cameras", `{"id":"`+secret1+`!","url":"rtsp://h/x"}`)
	post("/api/v1/probe", `{"url":"`+url+`"}`)
	post("/api/v1/probe", `{"camera":"yard"}`)
	b.do("PATCH", "/api/v1/cameras/door", `{"password":"`+secret2+`"}`)
	b.do("PATCH", "/api/v1/cameras/door", `{"password":"`+secret2+`","x":1}`)
	b.registry.fail = fmt.Errorf("the disk is full")
	post("/api/v1/cameras", `{"id":"b","url":"`+url+`"}`)
	for _, path := range []string{"/api/v1/cameras", "/api/v1/cameras/door", "/api/v1/cameras/yard", "/api/v1/events",
		"/metrics", "/readyz", "/healthz", "/api/v1/openapi.json", "/api/v1/nothing"} {
		b.do("GET", path, "")
	}
	for _, password := range []string{secret1, secret2} {
		if i := strings.Index(b.answers.String(), password); i >= 0 {
			t.Errorf("an answer holds a password: …%s…", b.answers.String()[max(0, i-200):i+40])
		}
		if i := strings.Index(b.log.String(), password); i >= 0 {
			t.Errorf("the log holds a password: …%s…", b.log.String()[max(0, i-200):i+40])
		}
	}
	if stored := b.stored("door").Sources[0]; stored.Password.Reveal() != secret2 || !strings.Contains(stored.URL, "password="+secret2) {
		t.Errorf("stored: %s, %s", stored.URL, stored.Password.Reveal())
	}
}

func TestAFailureOfTheServerIsLoggedAndNotTold(t *testing.T) {
	b := newBench(t, nil)
	b.registry.fail = fmt.Errorf("the machine is on fire")
	p := b.refused(b.do("POST", "/api/v1/cameras", `{"id":"a","url":"rtsp://h/x"}`), problemInternal)
	if strings.Contains(p.Detail, "fire") || !strings.Contains(b.log.String(), "the machine is on fire") {
		t.Errorf("answer %q, log %s", p.Detail, b.log.String())
	}
}

func TestAFullDiskIsAProblemOfItsOwn(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://h/x"}`)
	b.registry.fail = fmt.Errorf("store camera a: %w", syscall.ENOSPC)
	for method, path := range map[string]string{"POST": "/api/v1/cameras", "PATCH": "/api/v1/cameras/door", "DELETE": "/api/v1/cameras/door"} {
		body := map[string]string{"POST": `{"id":"a","url":"rtsp://h/x"}`, "PATCH": `{"name":"x"}`}[method]
		if p := b.refused(b.do(method, path, body), problemDiskFull); !strings.Contains(p.Detail, "data.dir") {
			t.Errorf("%s does not say what to do: %s", method, p.Detail)
		}
	}
}

func TestAStoredPasswordStaysWithItsHost(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://camera:554/a","username":"u","password":"secret"}`)
	b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", `{"url":"rtsp://camera:554/b"}`)
	for _, body := range []string{
		`{"url":"rtsp://elsewhere/b"}`, `{"url":"rtsp://camera:8554/b"}`,
		`{"sources":[{"name":"main","url":"rtsp://elsewhere/b"}]}`, `{"fallback_url":"rtsp://elsewhere/b"}`,
	} {
		b.refused(b.do("PATCH", "/api/v1/cameras/door", body), problemInvalid)
	}
	b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", `{"url":"rtsp://elsewhere/b","password":"new"}`)
	b.must(http.StatusOK, "PATCH", "/api/v1/cameras/door", `{"url":"rtsp://third/b","password":""}`)
}

func TestManyPatchesAtOnceAllCount(t *testing.T) {
	b := newBench(t, nil)
	b.must(http.StatusCreated, "POST", "/api/v1/cameras", `{"id":"door","url":"rtsp://u:p@h/x","labels":{"a":"b"}}`)
	bodies := []string{`{"name":"n"}`, `{"enabled":false}`, `{"on_demand":true}`, `{"labels":{"c":"d"}}`,
		`{"transport":"tcp"}`, `{"username":"v"}`, `{"record":{"mode":"event"}}`, `{"record":{"max_bytes":9}}`}
	var group sync.WaitGroup
	for _, body := range bodies {
		for range 3 {
			group.Go(func() {
				r := httptest.NewRequest("PATCH", "/api/v1/cameras/door", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				b.handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					t.Errorf("%s: %d %s", body, w.Code, w.Body)
				}
			})
			group.Go(func() {
				w := httptest.NewRecorder()
				b.handler.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/cameras", nil))
			})
		}
	}
	group.Wait()
	got := b.stored("door")
	if got.Name != "n" || got.Enabled || !got.OnDemand || got.Labels["c"] != "d" || got.Sources[0].Transport != camera.TransportTCP ||
		got.Sources[0].Username != "v" || got.Sources[0].Password.Reveal() != "p" || got.Record.Mode != camera.RecordEvent || got.Record.MaxBytes != 9 {
		t.Errorf("got %+v", got)
	}
}
