package api

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/notice"
)

// writeNotice answers somebody who opened a link in a browser with a problem that
// reads as a page. It leads nowhere: who has a link may see nothing else.
func writeNotice(w http.ResponseWriter, r *http.Request, p *huma.ErrorModel) {
	header := w.Header()
	header.Set("Cache-Control", "private, no-store")
	header.Set("Referrer-Policy", "no-referrer")
	text := strings.ToUpper(p.Detail[:1]) + p.Detail[1:] + "."
	notice.Write(w, r, notice.Page{Status: p.Status, Title: p.Title, Text: text, Framed: true})
}
