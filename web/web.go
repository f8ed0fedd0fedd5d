// Package web serves the browser app of Drover, which is built by Vite into
// dist and embedded in the binary.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/drover-video/drover/core/notice"
)

// dist holds only .gitkeep until the app is built, so that the Go side of a
// clean clone builds without Node.
//
//go:embed all:dist
var dist embed.FS

// Headers of every page. The app loads nothing from elsewhere and holds no
// inline script or style; hls.js plays through blob: URLs.
const (
	contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"media-src 'self' blob:; worker-src 'self' blob:; connect-src 'self'; manifest-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors "
	appFrames    = "'none'" // nobody frames the pages that can change cameras
	playerFrames = "*"      // the bare player is made to be framed
)

// Handler serves the app: its page on "/", "/camera/{id}" and "/watch/{camera}",
// and its files. It knows nothing of /api, /hls, /archive and the other trees:
// they are routed before it.
func Handler() http.Handler {
	built, err := fs.Sub(dist, "dist")
	if err != nil {
		panic(err) // a constant, valid path
	}
	return newHandler(built)
}

func newHandler(built fs.FS) http.Handler {
	files, err := loadFiles(built)
	if err != nil {
		panic(err) // the embedded files are in memory: reading them cannot fail
	}
	return &handler{files: files}
}

type handler struct {
	files map[string]*file // by name below dist; never changed after loadFiles
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD are answered here", http.StatusMethodNotAllowed)
		return
	}
	if frames, ok := pageFrames(r.URL.Path); ok {
		h.servePage(w, r, frames)
		return
	}
	f, ok := h.files[strings.TrimPrefix(r.URL.Path, "/")]
	if !ok || f == h.files[indexName] {
		writeNotice(w, r, http.StatusNotFound, "Not found", "There is no page or file of this name.")
		return
	}
	f.serve(w, r)
}

func (h *handler) servePage(w http.ResponseWriter, r *http.Request, frames string) {
	index, ok := h.files[indexName]
	if !ok {
		writeNotice(w, r, http.StatusServiceUnavailable, "The web app is not built",
			"Run make in Drover's folder, then start the server again. The API and the streams work without it.")
		return
	}
	w.Header().Set("Content-Security-Policy", contentPolicy+frames)
	w.Header().Set("Referrer-Policy", "same-origin")
	index.serve(w, r)
}

func writeNotice(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	w.Header().Set("Cache-Control", "no-store")
	notice.Write(w, r, notice.Page{Status: status, Title: title, Text: text, Home: true})
}

// pageFrames says whether urlPath is a page of the app, and who may frame it.
// A client route must be listed here and in src/router.ts.
func pageFrames(urlPath string) (frames string, ok bool) {
	if urlPath == "/" {
		return appFrames, true
	}
	switch dir, id := path.Split(urlPath); {
	case id == "":
		return "", false
	case dir == "/camera/":
		return appFrames, true
	case dir == "/watch/":
		return playerFrames, true
	}
	return "", false
}
