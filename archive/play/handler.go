package play

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/drover-video/drover/core/negotiate"
)

// headers are values that are the same in each answer.
type headers struct {
	anyOrigin, exposed, methods, requestHeaders, preflightAge []string
	playlist, mp4, vtt, problem                               []string
	gzip, acceptEncoding, acceptRanges, none                  []string
}

const allowedMethods = "GET, HEAD, OPTIONS"

func newHeaders() headers {
	return headers{
		anyOrigin:      []string{"*"},
		exposed:        []string{"Age, Date, Content-Length, Content-Range, Content-Disposition, ETag, Drover-Clip-From, Drover-Clip-To, Drover-Clip-Gaps, " + frameTime},
		methods:        []string{allowedMethods},
		requestHeaders: []string{"Range, If-None-Match, If-Range"},
		preflightAge:   []string{"86400"},
		playlist:       []string{"application/vnd.apple.mpegurl"},
		mp4:            []string{"video/mp4"},
		vtt:            []string{"text/vtt; charset=utf-8"},
		problem:        []string{"application/problem+json"},
		gzip:           []string{"gzip"},
		acceptEncoding: []string{"Accept-Encoding"},
		acceptRanges:   []string{"bytes"},
		none:           []string{"0"},
	}
}

// A reply is one request being answered.
type reply struct {
	*Handler
	w      http.ResponseWriter
	r      *http.Request
	header http.Header
}

// ServeHTTP answers a request whose path begins with /archive/.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.requests.Add(1)
	p := reply{Handler: h, w: w, r: r, header: w.Header()}
	path, ok := strings.CutPrefix(r.URL.Path, Prefix)
	n := parseName(path)
	if !ok || r.URL.RawPath != "" {
		n = name{}
	}
	// On every answer, errors too: without them a player on another site sees no
	// status at all. Header keys are in canonical form.
	p.header["Access-Control-Allow-Origin"] = h.headers.anyOrigin
	p.header["Access-Control-Expose-Headers"] = h.headers.exposed
	p.header["Timing-Allow-Origin"] = h.headers.anyOrigin
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if problem := p.serve(&n); problem != nil {
			p.problem(problem)
		}
	case http.MethodOptions:
		p.header["Access-Control-Allow-Methods"] = h.headers.methods
		p.header["Access-Control-Allow-Headers"] = h.headers.requestHeaders
		p.header["Access-Control-Max-Age"] = h.headers.preflightAge
		p.header["Content-Length"] = h.headers.none
		w.WriteHeader(http.StatusNoContent)
	default:
		p.header["Allow"] = h.headers.methods
		p.problem(notAllowed())
	}
}

// ctx is the request's context without its end: what is read takes milliseconds, and
// to watch for the client to leave would cost more.
func (p *reply) ctx() context.Context { return context.WithoutCancel(p.r.Context()) }

func (p *reply) serve(n *name) *problem {
	switch n.kind {
	case nameUnknown:
		return unknown()
	case nameFile:
		return p.file(n)
	}
	q, err := parseQuery(p.r.URL.RawQuery)
	if err != nil {
		return badRange(err)
	}
	stream, problem := p.stream(n.camera, q.source)
	if problem != nil {
		return problem
	}
	switch n.kind {
	case nameFrame:
		return p.frame(stream, &q)
	case nameClip, nameClipSum:
		return p.clip(stream, n.kind == nameClipSum, &q)
	case nameBoxes:
		return p.boxesPlaylist(stream, &q)
	case nameBoxesText:
		return p.boxes(stream)
	case nameMultivariant:
		return p.multivariant(stream, &q)
	default:
		return p.playlist(stream, n.kind == namePictures, &q)
	}
}

// watched counts who asks as a viewer of a camera.
func (p *reply) watched(camera string) {
	p.audience.note(camera, p.r.RemoteAddr, p.get("User-Agent"), p.options.Now())
}

// get returns a request header without the cost of making its key canonical.
func (p *reply) get(key string) string {
	if values := p.r.Header[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (p *reply) document(d *document) {
	p.header["Content-Type"] = p.headers.playlist
	p.header["Cache-Control"] = []string{d.cacheControl}
	p.header["Vary"] = p.headers.acceptEncoding
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	var f *form
	if p.get("Range") == "" && negotiate.AcceptsGzip(p.get("Accept-Encoding")) {
		f = d.gzipped()
		p.header["Content-Encoding"] = p.headers.gzip
	} else {
		f = d.text()
	}
	p.bytes(f.data, f.etag)
}

// bytes answers with what is in memory.
func (p *reply) bytes(data []byte, etag string) {
	offset, n, ok := p.head(int64(len(data)), etag)
	if !ok {
		return
	}
	wrote, _ := p.w.Write(data[offset : offset+n]) // a viewer that left is no error of ours
	p.sent.Add(uint64(wrote))
}

// head answers conditions and ranges and writes the header. It reports the bytes
// that are left to send, and false where there are none.
func (p *reply) head(size int64, etag string) (offset, n int64, ok bool) {
	offset, n, status := p.conditions(size, etag)
	if status == 0 {
		return 0, 0, false
	}
	p.w.WriteHeader(status)
	return offset, n, p.r.Method != http.MethodHead
}

// conditions looks at conditions and ranges and sets what the header says of them. It
// returns which bytes are to be sent with which status, which is 0 where the request
// was answered.
func (p *reply) conditions(size int64, etag string) (offset, n int64, status int) {
	p.header["Etag"] = []string{etag}
	if match := p.get("If-None-Match"); match != "" && negotiate.Matches(match, etag) {
		delete(p.header, "Content-Type")
		p.w.WriteHeader(http.StatusNotModified)
		return 0, 0, 0
	}
	status = http.StatusOK
	kind, offset, n := p.asked(size, etag)
	switch kind {
	case negotiate.RangeUnsatisfied:
		delete(p.header, "Etag")
		p.header["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		p.problem(unsatisfied())
		return 0, 0, 0
	case negotiate.RangePart:
		status = http.StatusPartialContent
		p.header["Content-Range"] = []string{negotiate.ContentRange(offset, n, size)}
	}
	p.header["Content-Length"] = []string{strconv.FormatInt(n, 10)}
	return offset, n, status
}

// asked returns which bytes are asked for, of size bytes.
func (p *reply) asked(size int64, etag string) (kind negotiate.RangeKind, offset, n int64) {
	if condition := p.get("If-Range"); condition != "" && condition != etag {
		return negotiate.RangeAll, 0, size
	}
	return negotiate.ParseRange(p.get("Range"), size)
}

func (p *reply) problem(problem *problem) {
	body := problem.body()
	delete(p.header, "Content-Encoding")
	p.header["Content-Type"] = p.headers.problem
	p.header["Content-Length"] = []string{strconv.Itoa(len(body))}
	p.header["Cache-Control"] = []string{problem.cache}
	if problem.status == http.StatusServiceUnavailable || problem.status == http.StatusTooManyRequests {
		p.header["Retry-After"] = []string{"2"}
	}
	p.w.WriteHeader(problem.status)
	if p.r.Method != http.MethodHead {
		_, _ = p.w.Write(body)
	}
}

// send answers with a range of a file. The kernel sends it where it can.
func (p *reply) send(source io.Reader) {
	var wrote int64
	if to, ok := p.w.(io.ReaderFrom); ok {
		wrote, _ = to.ReadFrom(source)
	} else {
		wrote, _ = io.Copy(p.w, source)
	}
	p.sent.Add(uint64(max(0, wrote)))
}
