package play

import (
	"bytes"
	"compress/gzip"
	"sync"
)

// A document is one version of a playlist with what an answer says of it. Each form
// is made once, when it is first asked for.
type document struct {
	tag          string // names this version
	cacheControl string
	write        func() []byte // the playlist
	compress     func() []byte // its gzip form

	plain, packed form
}

type form struct {
	once sync.Once
	data []byte
	etag string
}

// text returns the playlist.
func (d *document) text() *form {
	d.plain.once.Do(func() { d.plain.data, d.plain.etag = d.write(), `"`+d.tag+`"` })
	return &d.plain
}

// gzipped returns its gzip form. Its ETag is another: the bytes are.
func (d *document) gzipped() *form {
	d.packed.once.Do(func() { d.packed.data, d.packed.etag = d.compress(), `"`+d.tag+`-gzip"` })
	return &d.packed
}

// newDocument makes a document of a text, which must not change afterwards.
func newDocument(text []byte, tag, cacheControl string) *document {
	return &document{tag: tag, cacheControl: cacheControl,
		write: func() []byte { return text },
		compress: func() []byte {
			var out bytes.Buffer
			w := gzip.NewWriter(&out)
			_, _ = w.Write(text) // a buffer takes everything
			_ = w.Close()
			return out.Bytes()
		},
	}
}
