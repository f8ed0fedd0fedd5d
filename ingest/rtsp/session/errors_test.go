package session

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWordsOfTheCameraAreShownWithoutTheLogin(t *testing.T) {
	const password, address = "S e/c+R%t:ü", "rtsp://h/x?user=joe&password=Qs3cret%2Fx+y&p=ab&channel=1"
	lowerHex := func(s string) string {
		s = strings.NewReplacer("%2F", "%2f", "%2B", "%2b", "%3A", "%3a", "%C3%BC", "%c3%bc").Replace(s)
		return s
	}
	basic := base64.StdEncoding.EncodeToString([]byte("usr:" + password))
	hash := strings.Repeat("0aB9", 8)
	for name, c := range map[string]struct{ words, want string }{
		"harmless":                 {"Not Found (channel 1)", "Not Found (channel 1)"},
		"the password":             {"no " + password + " here", "no [redacted] here"},
		"in another case":          {"no " + "s E/C+r%T:ü", "no [redacted]"},
		"path-escaped":             {"no " + url.PathEscape(password) + ".", "no [redacted]."},
		"path-escaped, lower hex":  {"no " + lowerHex(url.PathEscape(password)) + ".", "no [redacted]."},
		"query-escaped":            {"no " + url.QueryEscape(password) + ".", "no [redacted]."},
		"query-escaped, lower hex": {"no " + lowerHex(url.QueryEscape(password)) + ".", "no [redacted]."},
		"base64":                   {"no " + basic + ".", "no [redacted]"},
		"base64 without padding":   {"no " + strings.TrimRight(basic, "=") + ".", "no [redacted]."},
		"base64 in a longer word":  {"no x" + strings.TrimRight(basic, "=") + ".", "no [redacted]."},
		"Basic":                    {"no Basic b3RoZXI6b25l", "no Basic [redacted]"},
		"Basic behind a tab":       {"no basic\tb3RoZXI6b25l", "no basic [redacted]"},
		"digest response":          {`no response="` + hash[:20] + `"`, "no response=[redacted]"},
		"bare digest response":     {"no " + hash + " x", "no [redacted] x"},
		"query value":              {"bad password Qs3cret%2Fx+y!", "bad password [redacted]!"},
		"query value, lower hex":   {"bad password Qs3cret%2fx+y!", "bad password [redacted]!"},
		"query value, decoded":     {"bad password Qs3cret/x y!", "bad password [redacted]!"},
		"query value, all escaped": {"bad password %51s3cret%2Fx%20y!", "bad password [redacted]!"},
		"query user":               {"joe is locked", "[redacted] is locked"},
		"too short to look for":    {"able to about", "able to about"},
		"short key":                {"no rtsp://h/x?p=ab", "no rtsp://h/x?p=[redacted]"},
		"twice, side by side":      {password + password, "[redacted]"},
	} {
		t.Run(name, func(t *testing.T) {
			got := printable(c.words, password, address)
			if c.want == "no [redacted]" {
				got = strings.TrimRight(got, "=.")
			}
			if got != c.want {
				t.Errorf("printable(%q) = %q, want %q", c.words, got, c.want)
			}
		})
	}
}

func TestACameraThatEchoesTheHeaderOfTheLoginDoesNotShowIt(t *testing.T) {
	for name, challenge := range map[string]string{"basic": basic, "digest": digestMD5} {
		t.Run(name, func(t *testing.T) {
			options := script(t, func(p *peer) {
				for r := p.next(); r != nil; r = p.next() {
					p.reply(r, "401 no "+r.header.Get("Authorization"), "", "WWW-Authenticate: "+challenge)
				}
			}).withLogin("usr", "SECRETZZ")
			_, err := Open(t.Context(), options)
			if err == nil {
				t.Fatal("opened")
			}
			text := err.Error()
			if strings.Contains(text, "dXNyOlNFQ1JFVFpa") || strings.Contains(text, "response=\"") || !strings.Contains(text, "[redacted]") {
				t.Errorf("shown in %q", text)
			}
		})
	}
}

func FuzzPrintableNeverShowsThePassword(f *testing.F) {
	f.Add("no ", "%", "SECRET%41+x")
	f.Add("Basic ", "response=", "a b")
	f.Fuzz(func(t *testing.T, before, after, password string) {
		got := printable(before+password+after, password, "rtsp://h/?pw="+before)
		if !utf8.ValidString(got) && utf8.ValidString(before+password+after) {
			t.Errorf("not text: %q", got)
		}
		// What the marks themselves are made of may be a password too.
		ours := strings.Contains("[redacted]@basic [redacted]response=[redacted]response%3d[redacted]", strings.ToLower(password))
		if len(password) >= leastSecret && onePrintableLine(password) == password && !ours && strings.Contains(got, password) {
			t.Errorf("%q shown in %q", password, got)
		}
	})
}

func TestACameraThatEchoesALoginOfTheQueryWithoutItsKeyDoesNotShowIt(t *testing.T) {
	options := script(t, func(p *peer) {
		for r := p.next(); r != nil; r = p.next() {
			p.reply(r, "400 bad password Qs3cretWord", "")
		}
	})
	options.URL += "?user=u&password=Qs3cretWord"
	_, err := Open(t.Context(), options)
	e := (*Error)(nil)
	if !errors.As(err, &e) || e.Status != 400 {
		t.Fatalf("got %v, want the camera's 400", err)
	}
	for _, text := range []string{err.Error(), e.Hint(), e.Reason} {
		if strings.Contains(text, "Qs3cretWord") {
			t.Errorf("shown in %q", text)
		}
	}
}
