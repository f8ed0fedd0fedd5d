package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

const (
	indexName   = "index.html"
	assetPrefix = "assets/" // names below it hold a hash of the content
	gzipSuffix  = ".gz"     // the build writes these beside what they compress
)

// A file is one file of the built app, with what is fixed about its answers.
type file struct {
	contentType  string
	cacheControl string
	plain        body
	gzipped      body // empty if the build left it uncompressed
}

// A body is one encoding of a file. Encodings have ETags of their own.
type body struct {
	bytes []byte
	etag  string
}

func loadFiles(built fs.FS) (map[string]*file, error) {
	files := map[string]*file{}
	err := fs.WalkDir(built, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(path.Base(name), ".") || strings.HasSuffix(name, gzipSuffix) {
			return err
		}
		f, err := loadFile(built, name)
		if err != nil {
			return fmt.Errorf("load %s of the web app: %w", name, err)
		}
		files[name] = f
		return nil
	})
	return files, err
}

func loadFile(built fs.FS, name string) (*file, error) {
	f := &file{contentType: contentType(name), cacheControl: "no-cache"}
	if strings.HasPrefix(name, assetPrefix) {
		f.cacheControl = "public, max-age=31536000, immutable"
	}
	plain, err := fs.ReadFile(built, name)
	if err != nil {
		return nil, err
	}
	f.plain = newBody(plain)
	if gzipped, err := fs.ReadFile(built, name+gzipSuffix); err == nil {
		f.gzipped = newBody(gzipped)
	}
	return f, nil
}

func newBody(content []byte) body {
	sum := sha256.Sum256(content)
	return body{bytes: content, etag: `"` + hex.EncodeToString(sum[:12]) + `"`}
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", f.cacheControl)
	header.Set("X-Content-Type-Options", "nosniff")
	b := f.plain
	if f.gzipped.bytes != nil {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Values("Accept-Encoding")) {
			b = f.gzipped
			header.Set("Content-Encoding", "gzip")
			// ServeContent leaves the length of encoded bodies to its caller.
			header.Set("Content-Length", strconv.Itoa(len(b.bytes)))
		}
	}
	header.Set("ETag", b.etag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.bytes))
}

// contentType is a table of our own, because mime.TypeByExtension answers what
// the machine's mime.types says.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
