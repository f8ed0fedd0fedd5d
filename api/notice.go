package api

import (
	"html"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// writeNotice answers somebody who opened a link in a browser with a problem that
// reads as a page.
func writeNotice(w http.ResponseWriter, p *huma.ErrorModel) {
	detail := strings.ToUpper(p.Detail[:1]) + p.Detail[1:] + "."
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "private, no-store")
	header.Set("Content-Security-Policy", "default-src 'none'")
	header.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(p.Status)
	// The error is that of a client that is gone.
	_, _ = io.WriteString(w, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"+
		"<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n"+
		"<title>"+html.EscapeString(p.Title)+"</title>\n<h1>"+html.EscapeString(p.Title)+"</h1>\n<p>"+html.EscapeString(detail)+"</p>\n</html>\n")
}
