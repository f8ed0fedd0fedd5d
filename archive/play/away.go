package play

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"

	"github.com/drover-video/drover/archive/index"
)

// A SecondHome has copies of files, and reads those for which the disk had no room.
type SecondHome interface {
	// Open returns n bytes of a file from an offset on. The error is fs.ErrNotExist
	// where there is no copy.
	Open(ctx context.Context, key index.Key, offset, n int64) (io.ReadCloser, error)

	// URL returns where a player may read a file by itself; false where it is to be
	// served from here.
	URL(ctx context.Context, key index.Key) (string, bool, error)
}

// redirectCache is for redirects: for less than the URLs that they lead to are valid.
const redirectCache = "private, max-age=300"

// away answers with the bytes of a file that lies in the second home.
func (p *reply) away(key index.Key, f *fileFact) *problem {
	if p.options.Away == nil {
		return gone()
	}
	switch url, ok, err := p.awayURL(key); {
	case err != nil:
		return p.notReached(f.name.Camera, err)
	case ok:
		p.header["Location"] = []string{url}
		p.header["Cache-Control"] = []string{redirectCache}
		p.header["Content-Length"] = p.headers.none
		p.w.WriteHeader(http.StatusFound)
		return nil
	}
	p.header["Content-Type"] = p.headers.mp4
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	p.header["Cache-Control"] = []string{bytesCache}
	offset, n, status := p.conditions(f.size, f.etag)
	if status == 0 {
		return nil
	}
	if p.r.Method == http.MethodHead || n == 0 {
		p.w.WriteHeader(status)
		return nil
	}
	body, err := p.options.Away.Open(p.r.Context(), key, offset, n)
	if err != nil {
		for _, name := range [...]string{"Etag", "Content-Range", "Accept-Ranges"} {
			delete(p.header, name)
		}
		return p.notReached(f.name.Camera, err)
	}
	defer body.Close()
	p.w.WriteHeader(status)
	wrote, err := io.CopyBuffer(struct{ io.Writer }{p.w}, body, make([]byte, 64<<10))
	p.sent.Add(uint64(max(0, wrote)))
	if err != nil && p.r.Context().Err() == nil {
		p.options.Log.Warn("a recording broke off on its way from the second home", "camera", f.name.Camera, "err", err)
	}
	return nil
}

// awayURL returns where a player is sent to. A URL is signed for GET: by any other
// method the store refuses it.
func (p *reply) awayURL(key index.Key) (string, bool, error) {
	if p.r.Method != http.MethodGet {
		return "", false, nil
	}
	return p.options.Away.URL(p.r.Context(), key)
}

// notReached says what to answer when the second home could not be read.
func (p *reply) notReached(camera string, err error) *problem {
	if errors.Is(err, fs.ErrNotExist) {
		return gone()
	}
	if p.r.Context().Err() == nil {
		p.options.Log.Warn("the second home cannot be read", "camera", camera, "err", err)
	}
	return notAtHome()
}

// awayReader reads small parts of a file that lies in the second home.
type awayReader struct {
	ctx  context.Context
	home SecondHome
	key  index.Key
}

// ReadAt implements io.ReaderAt.
func (r awayReader) ReadAt(into []byte, offset int64) (int, error) {
	body, err := r.home.Open(r.ctx, r.key, offset, int64(len(into)))
	if err != nil {
		return 0, err
	}
	defer body.Close()
	return io.ReadFull(body, into)
}

// Close implements io.Closer.
func (awayReader) Close() error { return nil }

// A source is a recorded file, wherever it lies.
type source interface {
	io.ReaderAt
	io.Closer
}

// openSource opens a file to read small parts of it.
func (p *reply) openSource(path string, f *index.File) (source, error) {
	if f.Places&index.Here == 0 {
		return awayReader{p.r.Context(), p.options.Away, f.Key()}, nil
	}
	return p.root.Open(path)
}

// played reports whether a file lies where it can be read.
func (h *Handler) played(f *index.File) bool {
	return f.Places&index.Here != 0 || f.Places&index.SecondHome != 0 && h.options.Away != nil
}
