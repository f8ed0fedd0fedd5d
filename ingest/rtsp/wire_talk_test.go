package rtsp

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// credLeak: whatever goes wrong, the login is not shown.
func credLeak(w *wire) func(t *testing.T) {
	const query = "?user=SECRET&password=SECRET2"
	login := withLogin("u", "SECRET")
	leak := func(status int, headers ...string) *peer {
		return &peer{answer: func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
			return true, conn.ReplyStatus(request, status, "", headers...)
		}}
	}
	urls := map[string]string{
		"refused":      "rtsp://127.0.0.1:1/live" + query,
		"no-such-host": "rtsp://no-such-host.invalid/live" + query,
		"in-the-url":   "rtsp://u:SECRET@no-such-host.invalid/live" + query,
		"not-found":    leak(404).start(w.t) + query,
		"401":          leak(401, `WWW-Authenticate: Basic realm="SECRET"`).start(w.t) + query,
		"redirected":   leak(302, "Location: rtsp://u:SECRET@no-such-host.invalid/x"+query).start(w.t) + query,
		"to-a-scheme":  leak(302, "Location: gopher://u:SECRET@h/x"+query).start(w.t) + query,
		"to-nothing":   leak(302, "Location: "+query).start(w.t) + query,
		"said":         (&peer{answer: says("RTSP/1.0 404 rtsp://u:SECRET@h/?password=SECRET2 SECRET")}).start(w.t) + query,
		"not-rtsp":     (&peer{answer: says("HTTP/1.1 400 SECRET")}).start(w.t) + query,
	}
	for variant, url := range urls {
		if variant == "in-the-url" {
			w.url("cred-leak-"+variant, url)
		} else {
			w.url("cred-leak-"+variant, url, login)
		}
	}
	return func(t *testing.T) {
		for variant := range urls {
			s := w.rig.untilStatus(t, "cred-leak-"+variant, "an error", func(s camera.SourceStatus) bool { return s.Error != "" })
			if s.State == camera.StateLive {
				t.Errorf("%s: %+v", variant, s)
			}
		}
		if text := w.rig.everything(); strings.Contains(text, "SECRET") {
			at := strings.Index(text, "SECRET")
			t.Errorf("a login is shown: …%s…", text[max(0, at-300):min(len(text), at+50)])
		}
	}
}

// says answers everything with a status line.
func says(line string) func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
	return func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
		return true, conn.Write([]byte(line + "\r\nCSeq: " + request.Header("CSeq") + "\r\n\r\n"))
	}
}

// specialPassword: characters that mean something in URLs and headers.
func specialPassword(w *wire) func(t *testing.T) {
	const password, encoded = `p@s#/:?%^!"`, `p%40s%23%2F%3A%3F%25%5E%21%22`
	var ids []string
	for _, auth := range []rtsptest.Auth{rtsptest.AuthBasic, rtsptest.AuthDigest} {
		for _, way := range []string{"fields", "url"} {
			id := "special-password-" + string(auth) + "-" + way
			ids = append(ids, id)
			w.camera(rtsptest.CameraConfig{Path: id, Auth: auth, User: "ad min", Password: password}, func(s *camera.SourceSpec) {
				if way == "fields" {
					withLogin("ad min", password)(s)
				} else {
					s.URL = strings.Replace(s.URL, "://", "://ad%20min:"+encoded+"@", 1)
				}
			})
		}
	}
	return func(t *testing.T) { w.playsAll(t, "h264", ids...) }
}

// keepalive: in time, in the way that the camera knows, and never the end of a
// stream.
func keepalive(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "keepalive-wanted", SessionTimeout: 2 * time.Second})
	peers := map[string]*peer{}
	for variant, keep := range map[string]func(conn *rtsptest.ScriptConn, request *rtsptest.Request) error{
		"refused": func(conn *rtsptest.ScriptConn, request *rtsptest.Request) error {
			return conn.ReplyStatus(request, 400, "")
		},
		"unanswered": func(*rtsptest.ScriptConn, *rtsptest.Request) error { return nil },
	} {
		peers[variant] = w.peer("keepalive-"+variant, &peer{
			sdp: h264SDP(),
			answer: func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
				switch {
				case request.Method == "SETUP":
					return true, conn.Reply(request, "", "Session: 4711;timeout=1", "Transport: "+request.Header("Transport"))
				case request.Header("Session") != "" && (request.Method == "GET_PARAMETER" || request.Method == "OPTIONS"):
					return true, keep(conn, request)
				}
				return false, nil
			},
			play: func(s *playing) { w.feeder("h264").stream(s) },
		})
	}
	return func(t *testing.T) {
		for variant, p := range peers {
			t.Run(variant, func(t *testing.T) {
				w.rig.until(t, "keepalive-"+variant, "keepalives", func() bool {
					return p.asks("GET_PARAMETER")+p.asks("OPTIONS") >= 4
				})
				w.plays(t, "keepalive-"+variant, "h264", 40)
				if n := p.connections(); n != 1 {
					t.Errorf("%d connections", n)
				}
			})
		}
		t.Run("wanted", func(t *testing.T) {
			w.server.Camera("keepalive-wanted").WaitUntil(t, "keepalives", func(seen rtsptest.Seen) bool { return seen.Keepalives >= 3 })
			w.plays(t, "keepalive-wanted", "h264", 60)
		})
	}
}

// sessionLimit: a camera whose slots are taken is left alone until it may have
// forgotten who took them.
func sessionLimit(w *wire) func(t *testing.T) {
	w.camera(rtsptest.CameraConfig{Path: "session-limit", Slots: 1, SlotHold: time.Hour})
	w.before = append(w.before, func() { vanish(w.t, w.server.Camera("session-limit")) })
	return func(t *testing.T) {
		c := w.server.Camera("session-limit")
		s := w.rig.untilError(t, "session-limit", "the camera serves no more sessions")
		if seen := c.Seen(); s.State != camera.StateBackoff || seen.ConnsEver != 2 {
			t.Errorf("%s after %d connections, that of who took the slot included", s.State, seen.ConnsEver)
		}
		set(t, c, func(config *rtsptest.CameraConfig) { config.Slots = 2 })
		if err := w.rig.registry.Restart(t.Context(), "session-limit"); err != nil {
			t.Fatal(err)
		}
		w.rig.untilLive(t, "session-limit")
	}
}

// controlled is what answers to 200 cameras at one address.
type controlled struct {
	peer
	refuses atomic.Bool

	mu       sync.Mutex
	refusals map[string]int // by URL
}

// reconnectStorm: 200 cameras go away and come back, and one accepts and closes
// again and again; a healthy one notices nothing.
func reconnectStorm(w *wire) func(t *testing.T) {
	const cameras = 200
	c := &controlled{refusals: map[string]int{}}
	c.refuses.Store(true)
	c.sdp = h264SDP()
	c.answer = func(_ *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
		if !c.refuses.Load() {
			return false, nil
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refusals[request.URL]++
		return true, errors.New("refused")
	}
	c.play = func(s *playing) {
		for f := w.feeder("h264-small"); s.send(f.unit()...) && s.wait(time.Second); {
		}
	}
	address := c.start(w.t)
	id := func(i int) string { return fmt.Sprintf("reconnect-storm-%03d", i) }
	for i := range cameras {
		w.url(id(i), fmt.Sprintf("%s%03d", address, i))
	}
	w.camera(rtsptest.CameraConfig{Path: "reconnect-storm-flapping", Faults: []rtsptest.Fault{{After: 200 * time.Millisecond, Do: rtsptest.Close()}}})
	w.camera(rtsptest.CameraConfig{Path: "reconnect-storm-healthy"})
	return func(t *testing.T) {
		w.rig.until(t, id(0), "all to be refused a few times", func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			n := 0
			for _, times := range c.refusals {
				if times >= 3 {
					n++
				}
			}
			return n == cameras
		})
		for i := range cameras {
			if s := w.rig.status(t, id(i)); s.State == camera.StateLive || s.Error == "" {
				t.Fatalf("%s: %+v", id(i), s)
			}
		}
		c.refuses.Store(false)
		for i := range cameras {
			if s := w.rig.untilLive(t, id(i)); s.Reconnects != 0 {
				t.Errorf("%s: %+v", id(i), s)
			}
		}
		w.rig.untilShots(t, "reconnect-storm-flapping", "a few connections", func(shots []shot) bool { return epochs(shots) >= 3 })
		w.plays(t, "reconnect-storm-healthy", "h264", 30)
	}
}

// A guard asks for a login in a camera's way, and checks it by RFC 7616.
type guard struct {
	username, password string
	challenges         []string // with %s for the nonce
	each               bool     // a nonce is good for one request only

	mu     sync.Mutex
	nonces int
	counts map[string]bool // nonce counts that were used
	fails  []string        // why logins that were given were refused
}

func (g *guard) nonce() string { return fmt.Sprintf("n%d", g.nonces) }

func (g *guard) answer(conn *rtsptest.ScriptConn, request *rtsptest.Request) (handled bool, err error) {
	g.mu.Lock()
	problem := g.check(request)
	if problem == "" {
		if g.each {
			g.nonces++
		}
		g.mu.Unlock()
		return false, nil
	}
	if problem != "none" && problem != "stale" {
		g.fails = append(g.fails, problem)
	}
	var headers []string
	for _, challenge := range g.challenges {
		challenge = strings.ReplaceAll(challenge, "%s", g.nonce())
		if problem == "stale" {
			challenge += ", stale=true"
		}
		headers = append(headers, "WWW-Authenticate: "+challenge)
	}
	g.mu.Unlock()
	return true, conn.ReplyStatus(request, 401, "", headers...)
}

var authPair = regexp.MustCompile(`(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,]+))`)

// check returns what is wrong with a request's login. The caller holds mu.
func (g *guard) check(request *rtsptest.Request) string {
	scheme, given, _ := strings.Cut(request.Header("Authorization"), " ")
	switch scheme {
	case "":
		return "none"
	case "Basic":
		if given != base64.StdEncoding.EncodeToString([]byte(g.username+":"+g.password)) {
			return "basic login"
		}
		return ""
	}
	params := map[string]string{}
	for _, m := range authPair.FindAllStringSubmatch(given, -1) {
		params[m[1]] = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(m[2]) + m[3]
	}
	hash := func(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }
	if params["algorithm"] == "SHA-256" {
		hash = func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	}
	middle := params["nonce"]
	if params["qop"] != "" {
		count := params["nonce"] + " " + params["nc"]
		if g.counts[count] {
			return "nonce count used twice"
		}
		g.counts[count] = true
		middle += ":" + params["nc"] + ":" + params["cnonce"] + ":" + params["qop"]
	}
	want := hash(hash(g.username+":cam:"+g.password) + ":" + middle + ":" + hash(request.Method+":"+request.URL))
	switch {
	case params["uri"] != request.URL:
		return "uri " + params["uri"]
	case params["username"] != g.username:
		return "user name " + params["username"]
	case params["response"] != want:
		return "response"
	case params["nonce"] != g.nonce():
		return "stale"
	}
	return ""
}

// digestModern: the strongest of what is asked for, and a fresh nonce as often as
// the camera wants one.
func digestModern(w *wire) func(t *testing.T) {
	const (
		basic    = `Basic realm="cam"`
		md5Plain = `Digest realm="cam", nonce="%s"`
		md5QOP   = `Digest realm="cam", nonce="%s", qop="auth", algorithm=MD5, opaque="o"`
		sha      = `Digest realm="cam", nonce="%s", algorithm=SHA-256`
		shaQOP   = `Digest realm="cam",nonce="%s",qop="auth,auth-int",algorithm=SHA-256`
		unknown  = `Digest realm="cam", nonce="%s", algorithm=SHA-9000`
	)
	guards := map[string]*guard{
		"md5":           {challenges: []string{md5Plain}},
		"md5-qop":       {challenges: []string{md5QOP}},
		"sha":           {challenges: []string{sha}},
		"sha-qop":       {challenges: []string{shaQOP}},
		"several":       {challenges: []string{basic, md5QOP, shaQOP}},
		"unknown-too":   {challenges: []string{unknown, md5Plain}},
		"nonce-expires": {challenges: []string{md5QOP}, each: true},
		"sha-expires":   {challenges: []string{shaQOP}, each: true},
	}
	for variant, g := range guards {
		g.username, g.password, g.counts = `a"d\m`, `p"w\:`, map[string]bool{}
		w.peer("digest-modern-"+variant, &peer{sdp: h264SDP(), answer: g.answer, play: func(s *playing) { w.feeder("h264").stream(s) }},
			withLogin(g.username, g.password))
	}
	return func(t *testing.T) {
		for variant, g := range guards {
			t.Run(variant, func(t *testing.T) {
				w.plays(t, "digest-modern-"+variant, "h264", 5)
				g.mu.Lock()
				defer g.mu.Unlock()
				if len(g.fails) != 0 {
					t.Errorf("refused for %q", g.fails)
				}
			})
		}
	}
}

// closedAddress is where nobody listens.
func closedAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

// ssrfRedirect: a camera does not decide where Drover connects to, nor who gets
// the login.
func ssrfRedirect(w *wire) func(t *testing.T) {
	to := func(location string) *peer {
		return &peer{answer: func(conn *rtsptest.ScriptConn, request *rtsptest.Request) (bool, error) {
			if request.Method == "DESCRIBE" {
				return true, conn.ReplyStatus(request, 302, "", "Location: "+strings.ReplaceAll(location, "HOST", conn.Net.LocalAddr().String()))
			}
			return false, nil
		}}
	}
	login := withLogin("u", "p")
	second := &peer{sdp: h264SDP(), play: func(s *playing) { w.feeder("h264").stream(s) }}
	w.peer("ssrf-redirect-second", to(second.start(w.t)), login)
	self := w.peer("ssrf-redirect-self", to("rtsp://HOST/live"), login)
	refused := map[string]string{
		"metadata": "rtsp://169.254.169.254/latest", "link-local": "rtsp://[fe80::1]/x", "unspecified": "rtsp://0.0.0.0:554/x",
		"closed": "rtsp://" + closedAddress(w.t) + "/x", "http": "http://127.0.0.1/x", "file": "file:///etc/passwd", "empty": "",
	}
	for variant, location := range refused {
		w.peer("ssrf-redirect-"+variant, to(location), login)
	}
	w.url("ssrf-redirect-direct", "rtsp://169.254.169.254/latest")
	w.url("ssrf-redirect-mapped", "rtsp://[::ffff:169.254.169.254]/latest")
	return func(t *testing.T) {
		t.Run("second", func(t *testing.T) {
			w.plays(t, "ssrf-redirect-second", "h264", 5)
			for _, request := range second.requests() {
				if login := request.Header("Authorization"); login != "" {
					t.Errorf("%s took the login along: %s", request.Method, login)
				}
			}
		})
		t.Run("self", func(t *testing.T) {
			s := w.rig.untilError(t, "ssrf-redirect-self", "the camera sends us elsewhere")
			if s.State == camera.StateLive {
				t.Errorf("status %+v", s)
			}
			asked := self.asks("DESCRIBE") // first, for it goes on
			tries := w.rig.log.count("ssrf-redirect-self", "waiting before the next try")
			if asked > 4*(tries+1) {
				t.Errorf("%d DESCRIBEs in %d tries", asked, tries)
			}
		})
		for variant := range refused {
			t.Run(variant, func(t *testing.T) {
				w.rig.untilError(t, "ssrf-redirect-"+variant, "the camera sends us elsewhere: give the URL that it should be pulled from")
			})
		}
		// Whether a port is open, closed or forbidden cannot be told apart.
		for _, variant := range []string{"metadata", "link-local", "unspecified", "closed"} {
			if got, want := w.rig.status(t, "ssrf-redirect-"+variant).Error, w.rig.status(t, "ssrf-redirect-closed").Error; got != want {
				t.Errorf("%s: %q, and a closed port: %q", variant, got, want)
			}
		}
		for _, id := range []string{"ssrf-redirect-direct", "ssrf-redirect-mapped"} {
			w.rig.untilError(t, id, "cameras may not be at this address")
		}
	}
}
