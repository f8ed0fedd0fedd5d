//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// An edge is a cache in front of a server, with the recipe that is shipped.
type edge struct {
	*server         // whose address is the edge's
	behind  *server // Drover itself
}

// newEdge runs a cache from a recipe of configs/, in which texts are replaced by what
// this test has for them: each must be there.
func newEdge(t *testing.T, behind *server, recipe string, replace map[string]string, command func(file, address, folder string) *exec.Cmd) *edge {
	t.Helper()
	content, err := os.ReadFile("../configs/" + recipe)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for old, new := range replace {
		if !strings.Contains(text, old) {
			t.Fatalf("%s has no %q any more", recipe, old)
		}
		text = strings.ReplaceAll(text, old, new)
	}
	folder := t.TempDir()
	text = strings.ReplaceAll(text, "FOLDER", folder)
	file := filepath.Join(folder, recipe)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	mine := *behind
	mine.t, mine.address = t, freeAddress(t)
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "ADDRESS", mine.address)), 0o644); err != nil {
		t.Fatal(err)
	}
	e := &edge{server: &mine, behind: behind}
	run := command(file, mine.address, folder)
	log := &logBuffer{}
	run.Stdout, run.Stderr = log, log
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	t.Cleanup(func() {
		_ = run.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(patience):
			_ = run.Process.Kill()
			<-ended
			t.Error("the cache did not end")
		}
		if t.Failed() {
			t.Logf("the cache's log:\n%s", log)
		}
	})
	e.await("the cache answers", func() error {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the cache ended at once: %v", err)
		default:
		}
		_, err := e.tryGet("/healthz")
		return err
	})
	return e
}

func newNginx(t *testing.T, behind *server) *edge {
	return newEdge(t, behind, "nginx.conf", map[string]string{
		"worker_processes auto;": "worker_processes 1;",
		"listen 8080;":           "listen ADDRESS;",
		"server 127.0.0.1:8090;": "server " + behind.address + ";",
		"/var/cache/nginx/":      "FOLDER/",
		"access_log off;":        "access_log off;\n  client_body_temp_path FOLDER/body;\n  proxy_temp_path FOLDER/proxy;\n  fastcgi_temp_path FOLDER/f;\n  uwsgi_temp_path FOLDER/u;\n  scgi_temp_path FOLDER/s;",
	}, func(file, _, folder string) *exec.Cmd {
		settings := "daemon off; pid " + folder + "/pid;"
		if os.Getuid() == 0 { // else its workers could not read the test's folder
			settings += " user root;"
		}
		return exec.Command("nginx", "-c", file, "-e", "stderr", "-g", settings)
	})
}

func newVarnish(t *testing.T, behind *server) *edge {
	host, port, _ := strings.Cut(behind.address, ":")
	return newEdge(t, behind, "varnish.vcl", map[string]string{
		`.host = "127.0.0.1";`: fmt.Sprintf(".host = %q;", host),
		`.port = "8090";`:      fmt.Sprintf(".port = %q;", port),
	}, func(file, address, folder string) *exec.Cmd {
		return exec.Command("varnishd", "-F", "-j", "none", "-a", address, "-f", file, "-n", filepath.Join(folder, "work"), "-s", "malloc,64m")
	})
}

// counter reads one number from the metrics of Drover itself.
func (e *edge) counter(name string) int {
	e.t.Helper()
	match := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\d+)`).FindSubmatch(e.behind.get("/metrics"))
	if match == nil {
		return 0
	}
	n, err := strconv.Atoi(string(match[1]))
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

const doorRequests = `drover_hls_requests_total{camera="door"}`

// A herdReport is what benchmarks/herd prints.
type herdReport struct {
	Requests, Failed int
	Failures         map[string]int
	Kinds            []struct {
		Kind     string
		Requests int
	}
}

func runHerd(t *testing.T, url string, viewers int, duration time.Duration) herdReport {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "herd")
	if output, err := exec.Command("go", "build", "-o", binary, "../benchmarks/herd").CombinedOutput(); err != nil {
		t.Fatalf("build the herd: %v\n%s", err, output)
	}
	output, err := exec.Command(binary, "-json", "-url", url, "-viewers", strconv.Itoa(viewers), "-duration", duration.String(), "-ramp", "3s").Output()
	var report herdReport
	if jsonErr := json.Unmarshal(output, &report); jsonErr != nil {
		t.Fatalf("the herd: %v, %v: %s", err, jsonErr, output)
	}
	return report
}

const (
	herdViewers = 300
	herdTime    = 10 * time.Second

	// requestsEach is how many requests for each segment, and for each version of a
	// playlist, may reach Drover: one when it comes, one when what was kept of a
	// playlist is too old, and one to spare.
	requestsEach = 3
)

// herdAtEdge has a herd watch by the edge, and holds that Drover notices little of it.
func herdAtEdge(t *testing.T, e *edge, paths ...string) {
	t.Helper()
	before := e.counter(doorRequests)
	for _, path := range paths {
		report := runHerd(t, e.url(path), herdViewers, herdTime)
		for kind, n := range report.Failures {
			if strings.HasPrefix(kind, "status") || n > herdViewers/20 { // A few may have waited too long on a busy machine.
				t.Errorf("%d of %d requests failed: %s", n, report.Requests, kind)
			}
		}
		reached := e.counter(doorRequests) - before
		// Segments of 2 s, those of the window when it began, and as many versions.
		segments := int(herdTime/(2*time.Second)) + 5
		if limit := requestsEach * 2 * segments; reached == 0 || reached > limit {
			t.Errorf("of %d requests at the edge, %d reached Drover; at most %d should", report.Requests, reached, limit)
		}
		if report.Requests < 10*reached {
			t.Errorf("only %d requests came to the edge", report.Requests)
		}
		t.Logf("%d requests at the edge, %d at Drover", report.Requests, reached)
		before = e.counter(doorRequests)
	}
}

func newWatchedServer(t *testing.T) *server {
	t.Helper()
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door"})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	waitForIndex(s, "door")
	return s
}

func TestAHerdBehindNginxIsOneRequestForEachThing(t *testing.T) {
	t.Parallel()
	e := newNginx(t, newWatchedServer(t))
	herdAtEdge(t, e, "/hls/door/index.m3u8", e.share(`{"camera":"door"}`).Playlist)
}

func TestAHerdBehindVarnishIsOneRequestForEachThing(t *testing.T) {
	t.Parallel()
	herdAtEdge(t, newVarnish(t, newWatchedServer(t)), "/hls/door/index.m3u8")
}

func TestLowLatencyGoesThroughEitherCache(t *testing.T) {
	t.Parallel()
	behind := newWatchedServer(t)
	for name, start := range map[string]func(*testing.T, *server) *edge{"nginx": newNginx, "varnish": newVarnish} {
		t.Run(name, func(t *testing.T) {
			e := start(t, behind)
			before := e.counter(doorRequests)
			report := runK6(t, "llhls.js", -1, "BASE=http://"+e.address, "VIEWERS=10", "DURATION=5s")
			for threshold, holds := range report.Thresholds {
				if !holds && !aboutTime(threshold) {
					t.Errorf("it does not hold that %s", threshold)
				}
			}
			parts, reached := report.Metrics["ll_parts"].Count, e.counter(doorRequests)-before
			t.Logf("%v parts at the edge, %d requests at Drover", parts, reached)
			// Ten viewers wait for each part, and Varnish asks once for all.
			if name == "varnish" && float64(reached) > 0.6*parts {
				t.Errorf("%v parts at the edge, %d requests at Drover", parts, reached)
			}
		})
	}
}

func TestNginxLetsInByGoodLinksOnly(t *testing.T) {
	t.Parallel()
	e := newNginx(t, newWatchedServer(t))
	first, second := e.share(`{"camera":"door"}`), e.share(`{"camera":"door"}`)
	token := strings.TrimSuffix(first.Playlist, "/hls/door/index.m3u8")
	expect := func(path string, want int) answer {
		t.Helper()
		a, err := e.do("GET", path, nil, "")
		if err != nil || a.status != want {
			t.Errorf("%s: %d, %v, want %d: %.200s", path, a.status, err, want, a.body)
		}
		return a
	}
	media := strings.TrimSpace(string(expect(first.Playlist, http.StatusOK).body))
	variant := media[strings.LastIndexByte(media, '\n')+1:]
	before := e.counter(doorRequests)
	// One copy for all links, whatever their query.
	for _, path := range []string{first.Playlist, second.Playlist, second.Playlist + "?utm_source=x", "/hls/door/index.m3u8", "/hls/door/index.m3u8?CMCD=bl%3D1"} {
		if a := expect(path, http.StatusOK); string(a.body) != media+"\n" || a.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: another answer: %v", path, a.header)
		}
	}
	if n := e.counter(doorRequests) - before; n > 1 { // It may have grown too old meanwhile.
		t.Errorf("%d requests reached Drover", n)
	}
	expect(token+"/hls/door/"+variant, http.StatusOK)
	expect(first.Watch, http.StatusOK)
	// What only looks like a good link.
	for path, want := range map[string]int{
		token + "/hls/yard/index.m3u8":                  http.StatusForbidden,
		token + "x/hls/door/index.m3u8":                 http.StatusForbidden,
		"/s/x/hls/door/index.m3u8":                      http.StatusForbidden,
		token + "/watch/yard":                           http.StatusForbidden,
		token + "/hls/door/../yard/index.m3u8":          http.StatusNotFound,
		token + "/hls/door/%2e%2e/yard/index.m3u8":      http.StatusNotFound,
		token + "/hls/door/index%2em3u8":                http.StatusNotFound,
		token + "/hls/door//index.m3u8":                 http.StatusNotFound,
		token + "/api/v1/cameras":                       http.StatusNotFound,
		"/api/v1/shares/check":                          http.StatusNotFound,
		"/link":                                         http.StatusNotFound,
		"/hls/door/../../s/x/hls/door/%69ndex.m3u8":     http.StatusNotFound,
		token + "/hls/door/index.m3u8/../../../../hls/": http.StatusNotFound,
	} {
		a := expect(path, want)
		if want == http.StatusForbidden && strings.Contains(path, "/hls/") &&
			(a.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(string(a.body), "/problems/share-")) {
			t.Errorf("%s: a player would not learn why: %v %s", path, a.header, a.body)
		}
	}
	if a, err := e.do("POST", token+"/hls/door/cmcd", strings.NewReader("e=t,ts=1,sid=\"a\",sta=p\n"), "application/cmcd"); err != nil || a.status != http.StatusNoContent {
		t.Errorf("a player's report: %d, %v", a.status, err)
	}
	// Asked by a public name, of which Drover's API was told nothing, it looks at a link
	// once for all the same.
	before = e.counter(doorRequests)
	for range 5 {
		if a := e.ask(second.Playlist, "cameras.example.org", "player"); a.status != http.StatusOK || string(a.body) != media+"\n" {
			t.Errorf("by another name: %d %s", a.status, a.body)
		}
	}
	if n := e.counter(doorRequests) - before; n > 1 {
		t.Errorf("%d requests by another name reached Drover", n)
	}
	// A viewer too many learns that, and when to come back.
	small := e.share(`{"camera":"door","max_viewers":1}`)
	if a := e.behind.ask(small.Playlist, "localhost", "the one viewer"); a.status != http.StatusOK {
		t.Fatalf("the one viewer: %d %s", a.status, a.body)
	}
	if a := e.ask(small.Playlist, "localhost", "another"); a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" || !strings.Contains(string(a.body), "/problems/share-full") {
		t.Errorf("a viewer too many: %d %v %s", a.status, a.header, a.body)
	}
	// Taken back, a link is over when what nginx keeps of it is: after 10 seconds.
	if a, err := e.do("DELETE", "/api/v1/shares/"+first.ID, nil, ""); err != nil || a.status != http.StatusNoContent {
		t.Fatalf("%d, %v", a.status, err)
	}
	e.await("the link is over at the edge", func() error {
		a, err := e.do("GET", first.Playlist, nil, "")
		if err == nil && a.status != http.StatusForbidden {
			err = fmt.Errorf("status %d", a.status)
		}
		return err
	})
	expect(second.Playlist, http.StatusOK)
}

// ask asks by a name of the host, as some player.
func (s *server) ask(path, host, agent string) answer {
	s.t.Helper()
	request, err := http.NewRequest(http.MethodGet, s.url(path), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	request.Host = host
	request.Header.Set("User-Agent", agent)
	response, err := client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

func TestALinkThatCannotBeCheckedIsNoFailureOfNginx(t *testing.T) {
	t.Parallel()
	e := newNginx(t, newWatchedServer(t))
	given := e.share(`{"camera":"door"}`)
	e.behind.stop()
	if a := e.ask(given.Playlist, "localhost", "player"); a.status != http.StatusBadGateway {
		t.Errorf("with Drover away: %d %s", a.status, a.body)
	}
}
