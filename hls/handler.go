package hls

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/drover-video/drover/core/memfile"
	"github.com/drover-video/drover/core/negotiate"
)

// Cameras finds the HLS of cameras. Hub is one.
type Cameras interface {
	// Lookup returns a camera's HLS: nil where the camera is known and has none.
	Lookup(camera string) (c *Camera, known bool)
	// Await returns a place among those who wait for a camera that has no
	// playlist yet; false where it is not to be waited for.
	Await(camera string) (*Place, bool)
}

// Handler serves everything below /hls/. It keeps no state per viewer, and for
// a playlist it allocates nothing.
type Handler struct {
	cameras  Cameras
	now      func() time.Time
	problems problems
	headers  headers
}

// headers are values that are the same in each response.
type headers struct {
	anyOrigin, exposed, methods, requestHeaders, preflightAge []string
	playlist, mp4, ts, text, problem                          []string
	gzip, acceptEncoding, acceptRanges, none                  []string
	mediaCache, partCache, boxesCache                         []string
}

// NewHandler returns a handler. now is the clock that viewers are counted by;
// nil: time.Now.
func NewHandler(cameras Cameras, now func() time.Time) *Handler {
	if now == nil {
		now = time.Now
	}
	return &Handler{cameras: cameras, now: now, problems: newProblems(), headers: headers{
		anyOrigin:      []string{"*"},
		exposed:        []string{"Age, Date, Content-Length, Content-Range"},
		methods:        []string{allowedMethods},
		requestHeaders: []string{"Range, If-None-Match, If-Range"},
		preflightAge:   []string{"86400"},
		playlist:       []string{"application/vnd.apple.mpegurl"},
		mp4:            []string{"video/mp4"},
		ts:             []string{"video/mp2t"},
		text:           []string{"text/vtt; charset=utf-8"},
		problem:        []string{"application/problem+json"},
		gzip:           []string{"gzip"},
		acceptEncoding: []string{"Accept-Encoding"},
		acceptRanges:   []string{"bytes"},
		mediaCache:     []string{"public, max-age=3600, immutable"},
		partCache:      []string{"public, max-age=600, immutable"},
		boxesCache:     []string{boxesCache},
		none:           []string{"0"},
	}}
}

// A reply is one request being answered. It lives on the stack.
type reply struct {
	*Handler
	w      http.ResponseWriter
	r      *http.Request
	header http.Header
	camera *Camera
}

// ServeHTTP answers a request whose path begins with /hls/. The query changes no
// answer but that of a playlist with parts: it would ruin every cache.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := reply{Handler: h, w: w, r: r, header: w.Header()}
	// On every answer, errors too: without them a player on another site sees
	// no status at all. Header keys are in canonical form.
	p.header["Access-Control-Allow-Origin"] = h.headers.anyOrigin
	p.header["Access-Control-Expose-Headers"] = h.headers.exposed
	p.header["Timing-Allow-Origin"] = h.headers.anyOrigin
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		p.serve()
	case http.MethodOptions:
		p.header["Access-Control-Allow-Methods"] = h.headers.methods
		p.header["Access-Control-Allow-Headers"] = h.headers.requestHeaders
		p.header["Access-Control-Max-Age"] = h.headers.preflightAge
		p.header["Content-Length"] = h.headers.none
		w.WriteHeader(http.StatusNoContent)
	default:
		p.problem(h.problems.method)
	}
}

func (p *reply) serve() {
	path, ok := strings.CutPrefix(p.r.URL.Path, "/hls/")
	n := parseName(path)
	if !ok || n.kind == nameUnknown || p.r.URL.RawPath != "" {
		p.problem(p.problems.unknown)
		return
	}
	if n.kind.playlist() {
		p.playlist(&n)
		return
	}
	if !p.lookup(n.camera) {
		p.problem(p.problems.camera)
		return
	}
	if p.camera == nil {
		p.problem(p.problems.notYet)
		return
	}
	p.count()
	m := p.camera.muxer(n.source)
	if m == nil {
		p.problem(p.problems.unknown)
		return
	}
	published := m.published.Load()
	switch n.kind {
	case nameInit:
		p.init(published, n.hash)
	case namePart:
		p.part(m, &n)
	case nameBoxesSegment:
		p.boxes(published, &n)
	default:
		p.segment(published, &n)
	}
}

// lookup finds the camera. It is false where there is none.
func (p *reply) lookup(camera string) (known bool) {
	p.camera, known = p.cameras.Lookup(camera)
	return known
}

// count counts the request as one of its camera.
func (p *reply) count() {
	if p.camera != nil {
		p.camera.requests.Add(1)
	}
}

func (p *reply) init(published *snapshot, hash string) {
	o := published.init(hash)
	if o == nil {
		p.problem(p.problems.gone)
		return
	}
	p.object(o, p.headers.mp4, p.headers.mediaCache)
}

func (p *reply) segment(published *snapshot, n *name) {
	s := published.segment(n.epoch, n.sequence)
	if s == nil {
		p.problem(p.problems.gone)
		return
	}
	defer s.release()
	if !n.ts {
		p.object(&s.object, p.headers.mp4, p.headers.mediaCache)
		return
	}
	if !s.layout.ts {
		p.problem(p.problems.notInTS)
		return
	}
	p.object(s.renderTS(string(appendSegmentName(nil, n.source, n.epoch, n.sequence, ".ts"))), p.headers.ts, p.headers.mediaCache)
}

// get returns a request header without the cost of making its key canonical.
func (p *reply) get(key string) string {
	if values := p.r.Header[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func (p *reply) document(d *document, cacheControl []string) {
	p.header["Content-Type"] = p.headers.playlist
	p.header["Cache-Control"] = cacheControl
	p.header["Vary"] = p.headers.acceptEncoding
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	form := &d.plain
	if p.get("Range") == "" && negotiate.AcceptsGzip(p.get("Accept-Encoding")) {
		form = d.gzipped()
		p.header["Content-Encoding"] = p.headers.gzip
	}
	offset, n, ok := p.head(int64(len(form.data)), form.etag, form.length)
	if !ok {
		return
	}
	wrote, _ := p.w.Write(form.data[offset : offset+n]) // a viewer that left is no error of ours
	p.camera.sent.Add(uint64(wrote))
}

// writePatience is how long a viewer may take for one write. It must be longer
// than the kernel takes to say that there is room again.
const writePatience = 30 * time.Second

func (p *reply) object(o *object, contentType, cacheControl []string) {
	p.header["Content-Type"] = contentType
	p.header["Cache-Control"] = cacheControl
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	offset, n, ok := p.head(o.size, o.etag, o.length)
	if !ok {
		return
	}
	// A viewer that reads a byte a minute must not hold a segment for ever. Not
	// every ResponseWriter has deadlines, and the server's own then hold.
	control := http.NewResponseController(p.w)
	patience := func() { _ = control.SetWriteDeadline(time.Now().Add(writePatience)) }
	var wrote int64
	var err error
	if to, file := p.kernel(o); file != nil {
		patience() // the connection moves it on
		wrote, err = to.ReadFrom(file.Reader(offset, n))
	} else {
		wrote, err = o.writeRange(p.w, offset, n, patience)
	}
	p.camera.sent.Add(uint64(wrote))
	if err == nil {
		_ = control.SetWriteDeadline(time.Time{})
	}
}

// kernel returns the memory file of an object and who can send from it, if there
// are both. Over TLS and HTTP/2 the bytes have to pass through here.
func (p *reply) kernel(o *object) (io.ReaderFrom, *memfile.File) {
	to, ok := p.w.(io.ReaderFrom)
	if !ok || p.r.TLS != nil || p.r.ProtoMajor != 1 {
		return nil, nil
	}
	return to, o.promotion.ask(&o.body)
}

// head answers conditions and ranges and writes the header. It reports the bytes
// that are left to send, and false where there are none.
func (p *reply) head(size int64, etag, length []string) (offset, n int64, ok bool) {
	p.header["Etag"] = etag
	if match := p.get("If-None-Match"); match != "" && negotiate.Matches(match, etag[0]) {
		delete(p.header, "Content-Type")
		p.w.WriteHeader(http.StatusNotModified)
		return 0, 0, false
	}
	status := http.StatusOK
	kind, offset, n := negotiate.RangeAll, int64(0), size
	if asked := p.get("Range"); asked != "" {
		if condition := p.get("If-Range"); condition == "" || condition == etag[0] {
			kind, offset, n = negotiate.ParseRange(asked, size)
		}
	}
	switch kind {
	case negotiate.RangeUnsatisfied:
		delete(p.header, "Etag")
		p.header["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		p.problem(p.problems.unsatisfied)
		return 0, 0, false
	case negotiate.RangePart:
		status = http.StatusPartialContent
		p.header["Content-Range"] = []string{negotiate.ContentRange(offset, n, size)}
		length = []string{strconv.FormatInt(n, 10)}
	}
	p.header["Content-Length"] = length
	p.w.WriteHeader(status)
	return offset, n, p.r.Method != http.MethodHead
}

func (p *reply) problem(problem *problem) {
	p.header["Content-Type"] = p.headers.problem
	p.header["Content-Length"] = problem.length
	p.header["Cache-Control"] = problem.cacheControl
	if problem.retryAfter != nil {
		p.header["Retry-After"] = problem.retryAfter
	}
	if problem.allow != nil {
		p.header["Allow"] = problem.allow
	}
	p.w.WriteHeader(problem.status)
	if p.r.Method != http.MethodHead {
		_, _ = p.w.Write(problem.body)
	}
}
