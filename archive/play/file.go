package play

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/negotiate"
)

// bytesCache is for bytes that stay as they are: copies are not to outlive what was
// deleted by long. growingCache is for those up to the end of a file that grows.
const (
	bytesCache   = "public, max-age=3600"
	growingCache = "public, max-age=1"
)

// file answers with the bytes of a recorded file, up to the last whole fragment. Files
// are not kept open for the next request: to open one costs less than to find it in
// the index, and what was deleted would go on to fill the disk.
func (p *reply) file(n *name) *problem {
	stream, ok := p.options.Index.Find(n.camera, n.file.Source)
	if !ok {
		return gone()
	}
	f, found, err := p.files.find(p.ctx(), p.options.Index, stream, n.file.Number)
	switch {
	case err != nil:
		return p.failed(p.r.Context(), n.camera, err)
	case !found || f.name != n.file:
		return gone()
	}
	key := index.Key{Stream: stream.ID, Number: n.file.Number}
	if f.away {
		return p.away(key, &f)
	}
	opened, err := p.root.Open(string(layout.AppendPath(nil, f.name)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.open:
		return gone()
	case errors.Is(err, fs.ErrNotExist):
		return p.away(key, &f) // it may have left the disk just now
	case err != nil:
		return p.failed(p.r.Context(), n.camera, err)
	}
	defer opened.Close()
	p.watched(n.camera)
	p.header["Content-Type"] = p.headers.mp4
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	p.header["Cache-Control"] = []string{bytesCache}
	if f.open && !p.within(f.size, f.etag) {
		p.header["Cache-Control"] = []string{growingCache}
	}
	if offset, size, ok := p.head(f.size, f.etag); ok {
		p.send(&fileReader{file: opened, offset: offset, left: size})
	}
	return nil
}

// within reports whether what is asked for lies wholly within the size bytes that a file
// has so far: of more bytes it is the same part.
func (p *reply) within(size int64, etag string) bool {
	kind, offset, n := p.asked(size, etag)
	later, from, count := p.asked(size+1, etag)
	return kind == negotiate.RangePart && later == kind && from == offset && count == n
}

// A fileFact is what a request for bytes needs of a row of the index.
type fileFact struct {
	name layout.Name
	size int64 // of what is whole
	open bool
	away bool // it lies in the second home alone
	etag string

	shape, version uint64 // of the stream, when it was looked up
}

// maxFacts bounds a fileBook: some 200 bytes each.
const maxFacts = 4096

// A fileBook remembers what the index says of files that are asked for again and
// again, segment by segment. The zero value is ready; all may call it.
type fileBook struct {
	mu    sync.Mutex
	facts map[index.Key]*list.Element // of *bookEntry
	order list.List                   // the last used first
}

type bookEntry struct {
	key  index.Key
	fact fileFact
}

func (b *fileBook) find(ctx context.Context, x *index.Index, stream index.Stream, number int64) (fileFact, bool, error) {
	key := index.Key{Stream: stream.ID, Number: number}
	shape, version := x.Shape(key.Stream), x.Version(key.Stream)
	if fact, ok := b.known(key); ok && fact.shape == shape && (!fact.open || fact.version == version) {
		return fact, true, nil
	}
	f, found, err := x.FileByNumber(ctx, key)
	if err != nil || !found || f.Places&(index.Here|index.SecondHome) == 0 || f.Open && len(f.Fragments) == 0 {
		b.forget(key)
		return fileFact{}, false, err
	}
	path := layout.AppendPath(nil, nameOf(stream, &f))
	name, err := layout.ParsePath(string(path)) // its start is cut to what a name says
	if err != nil {
		return fileFact{}, false, fmt.Errorf("file %d of stream %d: %w", key.Number, key.Stream, err)
	}
	fact := fileFact{name: name, size: f.Bytes, open: f.Open, away: f.Places&index.Here == 0, shape: shape, version: version,
		etag: `"` + strconv.FormatInt(f.Start.UnixMicro(), 36) + "-" + strconv.FormatInt(f.Number, 36) + "-" + strconv.FormatInt(f.Bytes, 36) + `"`}
	b.keep(key, fact)
	return fact, true, nil
}

func (b *fileBook) known(key index.Key) (fileFact, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.facts[key]
	if !ok {
		return fileFact{}, false
	}
	b.order.MoveToFront(e)
	return e.Value.(*bookEntry).fact, true
}

func (b *fileBook) keep(key index.Key, fact fileFact) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.facts == nil {
		b.facts = map[index.Key]*list.Element{}
	}
	if e, ok := b.facts[key]; ok {
		e.Value.(*bookEntry).fact = fact
		b.order.MoveToFront(e)
		return
	}
	b.facts[key] = b.order.PushFront(&bookEntry{key, fact})
	if len(b.facts) > maxFacts {
		oldest := b.order.Back()
		b.order.Remove(oldest)
		delete(b.facts, oldest.Value.(*bookEntry).key)
	}
}

func (b *fileBook) forget(key index.Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.facts[key]; ok {
		b.order.Remove(e)
		delete(b.facts, key)
	}
}

// A fileReader reads a range of an open file. Where it is copied to a connection, the
// kernel sends it (see core/wire).
type fileReader struct {
	file         *os.File
	offset, left int64
}

// Len returns how many bytes are left.
func (r *fileReader) Len() int64 { return r.left }

func (r *fileReader) advance(n int) {
	r.offset += int64(n)
	r.left -= int64(n)
}
