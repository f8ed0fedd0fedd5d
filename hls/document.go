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
	deflate  *deflater
	once     sync.Once
	deflated representation
}

// A deflater keeps the state of compressors, which is large, from one document to
// the next.
type deflater struct{ writers sync.Pool }

func (d *deflater) gzip(data []byte) []byte {
	var out bytes.Buffer
	w, ok := d.writers.Get().(*gzip.Writer)
	if !ok {
		w = gzip.NewWriter(nil)
	}
	w.Reset(&out)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	d.writers.Put(w)
	return out.Bytes()
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
func newDocument(data []byte, tag string, cacheControl []string, deflate *deflater) *document {
	return &document{plain: newRepresentation(data, tag), cacheControl: cacheControl, tag: tag, deflate: deflate}
}

// gzipped returns the gzip form. Its ETag is another: the bytes are.
func (d *document) gzipped() *representation {
	d.once.Do(func() {
		d.deflated = newRepresentation(d.deflate.gzip(d.plain.data), d.tag+"-gzip")
	})
	return &d.deflated
}
