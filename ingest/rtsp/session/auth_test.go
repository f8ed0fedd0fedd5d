package session

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/secret"
)

func TestDigestMatchesTheExamplesOfRFC7616(t *testing.T) {
	for algorithm, want := range map[string]string{
		"MD5":     "8ca523f5e9506fed4657c9700eebdbec",
		"SHA-256": "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
	} {
		l := login{username: "Mufasa", password: secret.New("Circle of Life"), uses: 1, chosen: &parseChallenges([]string{
			`Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=` + algorithm +
				`, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`,
		})[0]}
		got := l.digest("GET", "/dir/index.html", "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
		if !strings.Contains(got, `response="`+want+`"`) {
			t.Errorf("%s: %s", algorithm, got)
		}
	}
}

// guard is a camera's side of a login, written apart from what it tests.
type guard struct {
	username, password string
	challenges         []string        // header values, %s being the nonce
	nonce              string          // the one that is good
	counts             map[string]bool // seen "nonce nc"
	fresh              func() string   // makes the next nonce when set
	took               *regexp.Regexp  // what an accepted answer must match
}

var pair = regexp.MustCompile(`(\w+)=(?:"((?:[^"\\]|\\.)*)"|([^",\s]+))`)

// check returns "" when the request may pass, else what is wrong.
func (g *guard) check(r *request) string {
	given := r.header.Get("Authorization")
	if given == "" {
		return "no login"
	}
	if g.took != nil && !g.took.MatchString(given) {
		return "not the right kind: " + given
	}
	if text, ok := strings.CutPrefix(given, "Basic "); ok {
		if text != base64.StdEncoding.EncodeToString([]byte(g.username+":"+g.password)) {
			return "basic"
		}
		return ""
	}
	params := map[string]string{}
	for _, m := range pair.FindAllStringSubmatch(given, -1) {
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
			return "count used twice"
		}
		g.counts[count] = true
		middle += ":" + params["nc"] + ":" + params["cnonce"] + ":" + params["qop"]
	}
	want := hash(hash(g.username+":cam:"+g.password) + ":" + middle + ":" + hash(r.method+":"+r.uri))
	switch {
	case params["uri"] != r.uri:
		return "uri is " + params["uri"]
	case params["username"] != g.username:
		return "username is " + params["username"]
	case params["response"] != want:
		return "response"
	case params["nonce"] != g.nonce:
		return "stale"
	}
	return ""
}

// serve is a camera behind a guard. It returns what was wrong, in order.
func (g *guard) serve(p *peer, sdp string) []string {
	var wrong []string
	g.counts = map[string]bool{}
	for r := p.next(); r != nil; r = p.next() {
		if g.fresh != nil {
			g.nonce = g.fresh()
		}
		problem := g.check(r)
		if problem == "" {
			p.usual(r, sdp)
			continue
		}
		wrong = append(wrong, problem)
		var headers []string
		for _, c := range g.challenges {
			c = strings.ReplaceAll(c, "%s", g.nonce)
			if problem == "stale" {
				c += ", stale=TRUE"
			}
			headers = append(headers, "WWW-Authenticate: "+c)
		}
		p.reply(r, "401 Unauthorized", "", headers...)
	}
	return wrong
}

const (
	digestMD5    = `Digest realm="cam", nonce="%s"`
	digestMD5QOP = `Digest realm="cam", nonce="%s", qop="auth", algorithm=MD5, opaque="o"`
	digestSHA    = `Digest realm="cam", nonce="%s", algorithm=SHA-256`
	digestSHAQOP = `Digest realm="cam",nonce="%s",qop="auth,auth-int",algorithm=SHA-256`
	basic        = `Basic realm="cam"`
)

func TestCaseDigestModernLogsIn(t *testing.T) {
	for name, c := range map[string]struct {
		challenges []string
		took       string
	}{
		"basic":                      {[]string{basic}, "^Basic "},
		"MD5 of old":                 {[]string{digestMD5}, `^Digest [^c]*$|^Digest`},
		"MD5 with qop":               {[]string{digestMD5QOP}, `opaque="o", qop=auth, nc=0000000\d, cnonce="`},
		"SHA-256":                    {[]string{digestSHA}, `algorithm=SHA-256$`},
		"SHA-256 with qop":           {[]string{digestSHAQOP}, `algorithm=SHA-256, qop=auth, nc=`},
		"the strongest of several":   {[]string{basic, digestMD5QOP, digestSHAQOP}, "SHA-256"},
		"the strongest of one line":  {[]string{basic + ", " + digestMD5 + ", " + digestSHA}, "SHA-256"},
		"an unknown one beside":      {[]string{`Digest realm="cam", nonce="%s", algorithm=SHA-1024`, `Negotiate`, digestMD5}, "^Digest"},
		"an unknown qop beside":      {[]string{`Digest realm="cam", nonce="%s", algorithm=SHA-256, qop="auth-x"`, digestMD5}, "^Digest"},
		"quotes where there are few": {[]string{`Digest realm="cam", nonce=%s, algorithm="MD5", qop=auth`}, "qop=auth"},
	} {
		t.Run(name, func(t *testing.T) {
			g := &guard{username: "admin", password: "secret", challenges: c.challenges, nonce: "n1", took: regexp.MustCompile(c.took)}
			wrong := make(chan []string, 1)
			s := play(t, script(t, func(p *peer) { wrong <- g.serve(p, videoSDP) }).withLogin("admin", "secret"))
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if got := <-wrong; len(got) != 1 || got[0] != "no login" {
				t.Errorf("refused for %q, want only the first request", got)
			}
		})
	}
}

func TestCaseDigestModernRenewsAStaleNonceWithoutFailure(t *testing.T) {
	requests := 0
	g := &guard{username: "admin", password: "secret", challenges: []string{digestSHAQOP}, fresh: func() string {
		requests++
		return fmt.Sprint("n", requests/3) // each is good for a short while
	}}
	s := play(t, script(t, func(p *peer) { g.serve(p, bothSDP) }).withLogin("admin", "secret"))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCaseDigestModernRenewsANonceThatAgedWithoutAWord(t *testing.T) {
	refused := 0
	play(t, script(t, func(p *peer) {
		nonce := "n1"
		for r := p.next(); r != nil; r = p.next() {
			if r.method == "PLAY" && nonce == "n1" {
				nonce = "n2"
			}
			if !strings.Contains(r.header.Get("Authorization"), nonce) {
				refused++
				p.reply(r, "401 Unauthorized", "", `WWW-Authenticate: Digest realm="cam", nonce="`+nonce+`"`)
				continue
			}
			p.usual(r, videoSDP)
		}
	}).withLogin("admin", "secret"))
	if refused != 2 {
		t.Errorf("refused %d times, want 2", refused)
	}
}

func TestAWrongPasswordIsTriedOnce(t *testing.T) {
	for name, challenge := range map[string]string{"digest": digestSHAQOP, "basic": basic} {
		t.Run(name, func(t *testing.T) {
			nonces := 0
			g := &guard{username: "admin", password: "right", challenges: []string{challenge}, fresh: func() string {
				nonces++
				return fmt.Sprint("n", nonces) // a new one each time, as many do
			}}
			wrong := make(chan []string, 1)
			_, err := Open(t.Context(), script(t, func(p *peer) { wrong <- g.serve(p, videoSDP) }).withLogin("admin", "wrong"))
			if !errors.Is(err, ErrAuth) {
				t.Fatalf("got %v, want ErrAuth", err)
			}
			if got := <-wrong; len(got) != 2 { // the first request, without a login, and one with
				t.Errorf("refused for %q", got)
			}
		})
	}
}

func TestAServerThatCallsEveryNonceStaleIsGivenUp(t *testing.T) {
	_, err := Open(t.Context(), script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			p.reply(r, "401 Unauthorized", "", `WWW-Authenticate: Digest realm="cam", nonce="x", stale=true`)
		}
	}).withLogin("admin", "secret"))
	if !errors.Is(err, ErrAuth) {
		t.Errorf("got %v, want ErrAuth", err)
	}
}

func TestCaseSpecialPasswordLogsIn(t *testing.T) {
	for name, challenge := range map[string]string{"digest": digestMD5, "sha": digestSHAQOP, "basic": basic} {
		t.Run(name, func(t *testing.T) {
			const username, password = `ad"min\`, `p@s#/:?%^!" ü`
			g := &guard{username: username, password: password, challenges: []string{challenge}, nonce: "n1"}
			options := script(t, func(p *peer) { g.serve(p, videoSDP) }).withLogin(username, password)
			options.URL = "rtsp://192.0.2.1/li%20ve é?a=\"b\"&c=%41" // digest covers it as it is sent
			play(t, options)
		})
	}
}

func TestALoginThatIsMissingIsSaid(t *testing.T) {
	g := &guard{challenges: []string{digestMD5}, nonce: "n1"}
	_, err := Open(t.Context(), script(t, func(p *peer) { g.serve(p, videoSDP) }))
	var e *Error
	if !errors.Is(err, ErrAuth) || !errors.As(err, &e) {
		t.Fatalf("got %v, want ErrAuth", err)
	}
	if got, want := e.Hint(), "the camera asks for a login: give user name and password"; got != want {
		t.Errorf("hint %q, want %q", got, want)
	}
}

func FuzzChallenges(f *testing.F) {
	f.Add(digestSHAQOP)
	f.Add(basic + ", " + digestMD5)
	f.Add(`Digest realm="a\"b\`)
	f.Add(`==,=",Digest nonce = x , y`)
	f.Fuzz(func(t *testing.T, text string) {
		offered := parseChallenges([]string{text, text})
		if len(offered) > maxChallenges {
			t.Fatalf("%d challenges", len(offered))
		}
		l := login{username: "u", password: secret.New("p")}
		l.renew(&message{headers: []header{{"WWW-Authenticate", text}}}, false)
		if got := l.authorization("OPTIONS", "rtsp://h/"); strings.ContainsAny(got, "\r\n") {
			t.Errorf("a login of several lines: %q", got)
		}
	})
}
