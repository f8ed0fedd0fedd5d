// Package notice writes small pages that say why there is nothing else to see. They
// look like the app and need no file of it, nor that it is built.
package notice

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"strconv"
)

// A Page is one sentence and what it is about.
type Page struct {
	Status      int
	Title, Text string
	Home        bool // with a link to the app, for those who may see it
	Framed      bool // wherever it stands: in place of a player, which may
}

// style is what the app's tokens.css says of the same things.
const style = `:root{color-scheme:light dark;--page:#f4f6f4;--surface:#fff;--line:#dde3de;--text:#16201a;--soft:#57635b;--accent:#17694c}
@media(prefers-color-scheme:dark){:root{--page:#0e1210;--surface:#171c19;--line:#29312c;--text:#e8eeea;--soft:#9caaa1;--accent:#43b987}}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:var(--page);color:var(--text);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Liberation Sans',sans-serif}
main{box-sizing:border-box;width:min(440px,100vw - 28px);padding:26px 28px;border:1px solid var(--line);border-radius:12px;background:var(--surface);overflow-wrap:anywhere}
h1{margin:0 0 8px;font-size:20px;line-height:1.3;font-weight:650;letter-spacing:-.01em}
p{margin:0;color:var(--soft)}
p+p{margin-top:16px}
a{color:var(--accent)}`

// Write answers with a page. What is to be said of caching is the caller's to set.
func Write(w http.ResponseWriter, r *http.Request, p Page) {
	home := ""
	if p.Home {
		home = `<p><a href="/">Drover</a></p>` + "\n"
	}
	page := "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" +
		"<title>" + html.EscapeString(p.Title) + " - Drover</title>\n<style>" + style + "</style>\n<main>\n<h1>" +
		html.EscapeString(p.Title) + "</h1>\n<p>" + html.EscapeString(p.Text) + "</p>\n" + home + "</main>\n</html>\n"
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(page)))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", policy(p.Framed))
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		// A viewer who left does not need the rest.
		_, _ = io.WriteString(w, page)
	}
}

// policy allows the page its style, which it knows by its hash, and nothing else.
func policy(framed bool) string {
	hash := sha256.Sum256([]byte(style))
	frames := "'none'"
	if framed {
		frames = "*"
	}
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors " + frames
}
