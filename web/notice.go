package web

import (
	"html"
	"io"
	"net/http"
	"strconv"
)

// writeNotice answers a small page that needs no file of the app.
func writeNotice(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	page := "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n" +
		"<meta name=\"viewport\" content=\"width=device-width\">\n<meta name=\"color-scheme\" content=\"light dark\">\n" +
		"<title>" + html.EscapeString(title) + " - Drover</title>\n<h1>" + html.EscapeString(title) + "</h1>\n<p>" +
		html.EscapeString(text) + "</p>\n<p><a href=\"/\">Drover</a></p>\n</html>\n"
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(page)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", contentPolicy+appFrames)
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// A viewer who left does not need the rest.
		_, _ = io.WriteString(w, page)
	}
}
