package notice

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func written(method string, p Page) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	Write(w, httptest.NewRequest(method, "/", nil), p)
	return w
}

func TestPolicyAllowsTheStyleOfThePageAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		framed bool
		frames string
	}{{false, "frame-ancestors 'none'"}, {true, "frame-ancestors *"}} {
		w := written(http.MethodGet, Page{Status: 404, Title: "Not found", Text: "No.", Framed: c.framed})
		_, rest, _ := strings.Cut(w.Body.String(), "<style>")
		text, _, ok := strings.Cut(rest, "</style>")
		if !ok {
			t.Fatalf("no style in %s", w.Body)
		}
		hash := sha256.Sum256([]byte(text))
		got := w.Header().Get("Content-Security-Policy")
		want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"
		if !strings.HasPrefix(got, "default-src 'none'; "+want) || !strings.HasSuffix(got, c.frames) || strings.Contains(got, "unsafe") {
			t.Errorf("policy %q, want %q and %q", got, want, c.frames)
		}
	}
}

func TestWhatIsSaidIsTextAndNeverMarkup(t *testing.T) {
	body := written(http.MethodGet, Page{Status: 404, Title: "<b>", Text: "<script>&"}).Body.String()
	if !strings.Contains(body, "<h1>&lt;b&gt;</h1>") || !strings.Contains(body, "&lt;script&gt;&amp;") || strings.Contains(body, "<script>") {
		t.Errorf("body %s", body)
	}
}

func TestOnlyWhoMaySeeTheAppIsLedThere(t *testing.T) {
	for _, home := range []bool{false, true} {
		body := written(http.MethodGet, Page{Status: 404, Home: home}).Body.String()
		if got := strings.Contains(body, `href="/"`); got != home {
			t.Errorf("link %v, want %v", got, home)
		}
	}
}

func TestHeadHasTheLengthOfThePageAndNoBody(t *testing.T) {
	p := Page{Status: http.StatusGone, Title: "Over"}
	get, head := written(http.MethodGet, p), written(http.MethodHead, p)
	if head.Code != http.StatusGone || head.Body.Len() != 0 || head.Header().Get("Content-Length") != get.Header().Get("Content-Length") {
		t.Errorf("HEAD: %d, %d bytes, %v", head.Code, head.Body.Len(), head.Header())
	}
}
