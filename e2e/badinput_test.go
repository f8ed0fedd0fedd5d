//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A problem is an RFC 9457 answer.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// checkProblem fails unless an answer is a problem that says what is wrong.
func checkProblem(t *testing.T, a answer, statuses ...int) {
	t.Helper()
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Errorf("answered %d with %.200q, which is no problem: %v", a.status, a.body, err)
		return
	}
	expected := false
	for _, status := range statuses {
		expected = expected || a.status == status
	}
	if !expected || p.Status != a.status || p.Type == "" || p.Title+p.Detail == "" {
		t.Errorf("answered %d with %s, want one of %v", a.status, a.body, statuses)
	}
	if got := a.header.Get("Content-Type"); !strings.HasPrefix(got, "application/problem+json") {
		t.Errorf("a problem has the type %q", got)
	}
}

func TestBadRequestsAreAnsweredAndChangeNothing(t *testing.T) {
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "good"})
	s := newServer(t, "")
	s.addCamera("good", rack.Camera("good").URL())
	s.awaitState("good", "live")

	long := strings.Repeat("x", 300)
	tests := []struct {
		name, body string
		statuses   []int
	}{
		{"a URL of another protocol", `{"id":"a","url":"http://127.0.0.1/x"}`, []int{400, 422}},
		{"a file", `{"id":"a","url":"file:///etc/passwd"}`, []int{400, 422}},
		{"a command", `{"id":"a","url":"exec:id"}`, []int{400, 422}},
		{"no URL", `{"id":"a"}`, []int{400, 422}},
		{"an empty URL", `{"id":"a","url":""}`, []int{400, 422}},
		{"a URL without a host", `{"id":"a","url":"rtsp:///x"}`, []int{400, 422}},
		{"a URL that is none", `{"id":"a","url":"rtsp://%zz"}`, []int{400, 422}},
		{"an id with a capital", `{"id":"Door","url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"an id that climbs", `{"id":"../door","url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"an id with a NUL", `{"id":"a\u0000b","url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"an id of 300 letters", `{"id":"` + long + `","url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"no id", `{"url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"an id that exists", `{"id":"good","url":"rtsp://127.0.0.1/x"}`, []int{409}},
		{"an unknown field", `{"id":"a","url":"rtsp://127.0.0.1/x","pasword":"y"}`, []int{400, 422}},
		{"a wrong type", `{"id":1,"url":"rtsp://127.0.0.1/x"}`, []int{400, 422}},
		{"nothing", ``, []int{400, 422}},
		{"null", `null`, []int{400, 422}},
		{"a list", `[]`, []int{400, 422}},
		{"half of it", `{"id":"a"`, []int{400, 422}},
		{"10 MB", `{"id":"a","name":"` + strings.Repeat("x", 10<<20) + `"}`, []int{413}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkProblem(t, s.on(t).post("/api/v1/cameras", test.body), test.statuses...)
		})
	}
	for _, path := range []string{
		"/api/v1/cameras/nobody", "/api/v1/nothing", "/api/nothing", "/hls/nobody/index.m3u8", "/hls/good/nothing.m4s",
		"/hls/good/..%2f..%2fetc%2fpasswd", "/hls/", "/archive/nobody/index.m3u8",
	} {
		a, err := s.do("GET", path, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if a.status != 404 || strings.Contains(string(a.body), "<html") {
			t.Errorf("GET %s: %d %.100q, want a 404 that is not the page", path, a.status, a.body)
		}
	}
	if a, err := s.do("GET", "/api/v1/cameras/a", nil, ""); err != nil || a.status != 404 {
		t.Errorf("a refused camera is there: %d %s %v", a.status, a.body, err)
	}
	good := s.camera("good")
	if good.Status.State != "live" || good.reconnects() != 0 {
		t.Errorf("the good camera has noticed: %+v", good.Status)
	}
}

func TestABadCameraHasAReasonAndNoOtherNotices(t *testing.T) {
	t.Parallel()
	rack := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "good"},
		rtsptest.CameraConfig{Path: "nonsense", Answer: rtsptest.AnswerNonsense},
		rtsptest.CameraConfig{Path: "silent", Answer: rtsptest.AnswerNever},
		rtsptest.CameraConfig{Path: "gone", Status: map[string]int{"DESCRIBE": 404}},
		rtsptest.CameraConfig{Path: "locked", Auth: rtsptest.AuthDigest, User: "admin", Password: "right"},
		rtsptest.CameraConfig{Path: "stalling", Faults: []rtsptest.Fault{{Do: rtsptest.Stall()}}},
	)
	s := newServer(t, "")
	s.addCamera("good", rack.Camera("good").URL())
	s.awaitState("good", "live")
	for _, camera := range rack.Cameras()[1:] {
		id := camera.URL()[strings.LastIndex(camera.URL(), "/")+1:]
		s.addCamera(id, camera.URL())
	}
	s.addCamera("nobody", "rtsp://127.0.0.1:1/nobody")
	t.Run("cameras", func(t *testing.T) {
		for _, id := range []string{"nonsense", "silent", "gone", "locked", "stalling", "nobody"} {
			inParallel(t, id, func(t *testing.T) {
				s := s.on(t)
				s.await("a state with a reason", func() error {
					view := s.camera(id)
					if view.Status.Error == "" || view.Status.State == "live" {
						return fmt.Errorf("it is %s (%q)", view.Status.State, view.Status.Error)
					}
					return nil
				})
				if a, err := s.do("GET", "/hls/"+id+"/index.m3u8", nil, ""); err != nil || a.status != 503 || a.header.Get("Retry-After") == "" {
					t.Errorf("its playlist is answered with %d %s %v, want 503 and Retry-After", a.status, a.header, err)
				}
				checkProbeOfBadCamera(t, s, rack, id)
			})
		}
	})
	good := s.camera("good")
	if good.Status.State != "live" || good.reconnects() != 0 {
		t.Errorf("the good camera has noticed: %+v", good.Status)
	}
}

// checkProbeOfBadCamera asks what such a camera offers: an answer in time, and
// never a 5xx, which would blame the server.
func checkProbeOfBadCamera(t *testing.T, s *server, rack *rtsptest.Server, id string) {
	t.Helper()
	address := "rtsp://127.0.0.1:1/nobody"
	if camera := rack.Camera(id); camera != nil {
		address = camera.URL()
	}
	a := s.post("/api/v1/probe", fmt.Sprintf(`{"url":%q}`, address))
	if a.status >= 500 && a.status != 502 && a.status != 504 {
		t.Errorf("the probe is answered with %d %s", a.status, a.body)
	}
}

func TestPasswordsWorkAndAppearNowhere(t *testing.T) {
	t.Parallel()
	const password = `p@s:s/w?o#r%d&"x`
	rack := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "field", Auth: rtsptest.AuthDigest, User: "admin", Password: password},
		rtsptest.CameraConfig{Path: "url", Auth: rtsptest.AuthDigest, User: "admin", Password: password},
		rtsptest.CameraConfig{Path: "basic", Auth: rtsptest.AuthBasic, User: "admin", Password: password},
		rtsptest.CameraConfig{Path: "wrong", Auth: rtsptest.AuthDigest, User: "admin", Password: "another"},
		rtsptest.CameraConfig{Path: "refused", Auth: rtsptest.AuthDigest, User: "admin", Password: password, Status: map[string]int{"PLAY": 500}},
	)
	withLogin := func(path string) string {
		return strings.Replace(rack.Camera(path).URL(), "rtsp://", "rtsp://admin:"+url.QueryEscape(password)+"@", 1)
	}
	s := newServer(t, "cameras:\n  file: "+withLogin("url")+"\n")
	body, err := json.Marshal(map[string]any{"id": "field", "sources": []map[string]string{
		{"name": "main", "url": rack.Camera("field").URL(), "username": "admin", "password": password},
	}})
	if err != nil {
		t.Fatal(err)
	}
	said := []answer{s.post("/api/v1/cameras", string(body))}
	if said[0].status != 201 {
		t.Fatalf("POST with the password as a field: %d %s", said[0].status, said[0].body)
	}
	for _, path := range []string{"url", "basic", "wrong", "refused"} {
		s.addCamera(path, withLogin(path))
	}
	for _, id := range []string{"field", "url", "basic", "file"} {
		s.awaitState(id, "live")
	}
	s.await("the wrong password is said to be", func() error {
		if view := s.camera("wrong"); view.Status.Error == "" {
			return fmt.Errorf("it is %s", view.Status.State)
		}
		return nil
	})
	said = append(said,
		s.post("/api/v1/probe", fmt.Sprintf(`{"url":%q}`, withLogin("wrong"))),
		s.post("/api/v1/probe", fmt.Sprintf(`{"url":%q}`, withLogin("url"))),
		s.post("/api/v1/cameras", fmt.Sprintf(`{"id":"NO","url":%q}`, withLogin("url"))),
		s.post("/api/v1/cameras", fmt.Sprintf(`{"id":"no","url":%q}`, strings.Replace(withLogin("url"), "rtsp:", "http:", 1))),
		// Written as a person would, with the special characters as they are.
		s.post("/api/v1/cameras", fmt.Sprintf(`{"id":"no","url":%q}`, "rtsp://admin:"+password+"@127.0.0.1/x")),
		s.post("/api/v1/cameras", fmt.Sprintf(`{"id":"field","url":%q}`, withLogin("url"))),
	)
	for _, path := range []string{"/api/v1/cameras", "/api/v1/cameras/field", "/api/v1/cameras/wrong", "/api/v1/events", "/metrics", "/readyz"} {
		a, err := s.do("GET", path, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, a)
	}
	s.stop()
	texts := []string{s.log.String()}
	for _, a := range said {
		texts = append(texts, string(a.body))
	}
	checkSecret(t, password, texts)
}

// checkSecret looks for a password in the ways in which it could be written.
func checkSecret(t *testing.T, password string, texts []string) {
	t.Helper()
	asJSON, err := json.Marshal(password)
	if err != nil {
		t.Fatal(err)
	}
	forms := []string{
		password, url.QueryEscape(password), url.PathEscape(password), url.UserPassword("", password).String(),
		strings.Trim(string(asJSON), `"`), fmt.Sprintf("%q", password),
		"p@s", "p%40s", // its beginning is enough to see that it leaks
	}
	for _, text := range texts {
		for _, form := range forms {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("the password appears as %s in: %.200s", form, text[max(at-100, 0):])
				break
			}
		}
	}
}
