package hls

import (
	"bytes"
	"compress/gzip"
	"strconv"
	"sync"
)

// A document is one version of a playlist with everything that a response to it
// says. Its gzip form is made once, when it is first asked for.
type document struct {
	plain        representation
	cacheControl []string

	tag      string
	once     sync.Once
	deflated representation
}

type representation struct {
	data   []byte
	etag   []string
	length []string
}

func newRepresentation(data []byte, etag string) representation {
	return representation{data: data, etag: []string{`"` + etag + `"`}, length: []string{strconv.Itoa(len(data))}}
}

// newDocument makes a document of data, which must not change afterwards. The
// tag names this version.
func newDocument(data []byte, tag string, cacheControl []string) *document {
	return &document{plain: newRepresentation(data, tag), cacheControl: cacheControl, tag: tag}
}

// gzipped returns the gzip form. Its ETag is another: the bytes are.
func (d *document) gzipped() *representation {
	d.once.Do(func() {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		w.Write(d.plain.data) // a buffer takes everything
		w.Close()
		d.deflated = newRepresentation(out.Bytes(), d.tag+"-gzip")
	})
	return &d.deflated
}
