package hls

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// served is a rig with a window full of segments with sound.
func served(t testing.TB) (*rig, string) {
	r := newRig(t, Config{})
	r.sound = aacParams()
	r.gops(8)
	p := r.playlist()
	return r, "door/" + p.Segments[2].URI
}

func TestHeadersAreThoseThatCachesNeed(t *testing.T) {
	r, segment := served(t)
	p := r.playlist()
	const playlistType = "application/vnd.apple.mpegurl"
	for _, c := range []struct {
		name, path, contentType, cacheControl string
		status                                int
	}{
		{"multivariant", "door/index.m3u8", playlistType, "public, max-age=5, stale-if-error=60", 200},
		{"media playlist", "door/main.index.m3u8", playlistType, "public, max-age=1, stale-if-error=2", 200},
		{"segment", segment, "video/mp4", "public, max-age=3600, immutable", 200},
		{"init", "door/" + p.Segments[0].MapURI, "video/mp4", "public, max-age=3600, immutable", 200},
		{"ts multivariant", "door/ts/index.m3u8", playlistType, "public, max-age=5, stale-if-error=60", 200},
		{"ts playlist", "door/ts/main.index.m3u8", playlistType, "public, max-age=1, stale-if-error=2", 200},
		{"ts segment", "door/ts/" + strings.TrimSuffix(p.Segments[2].URI, "m4s") + "ts", "video/mp2t", "public, max-age=3600, immutable", 200},
		{"segment to come", "door/main." + strconv.Itoa(rigEpoch) + ".999999999.m4s", "application/problem+json", "max-age=1", 404},
		{"segment of another run", "door/main.5." + strconv.FormatUint(p.MediaSequence, 10) + ".m4s", "application/problem+json", "max-age=1", 404},
		{"init of other content", "door/main.init-0123456789abcdef.mp4", "application/problem+json", "max-age=1", 404},
		{"unknown source", "door/sub.index.m3u8", "application/problem+json", "max-age=1", 404},
		{"unknown name", "door/index.html", "application/problem+json", "max-age=1", 404},
		{"unknown camera", "shed/index.m3u8", "application/problem+json", "max-age=1", 404},
		{"camera that never sent", "new/index.m3u8", "application/problem+json", "no-store", 503},
		{"camera without hls", "off/index.m3u8", "application/problem+json", "no-store", 503},
		{"ts of a camera that never sent", "new/ts/index.m3u8", "application/problem+json", "no-store", 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodHead} {
				response := r.do(method, c.path, "Origin", "https://elsewhere.example")
				body := bodyOf(t, response)
				h := response.Header
				if response.StatusCode != c.status || h.Get("Content-Type") != c.contentType || h.Get("Cache-Control") != c.cacheControl {
					t.Errorf("%s: %d, %q, %q", method, response.StatusCode, h.Get("Content-Type"), h.Get("Cache-Control"))
				}
				if h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Expose-Headers") != "Age, Date, Content-Length, Content-Range" || h.Get("Timing-Allow-Origin") != "*" {
					t.Errorf("%s: CORS headers %v", method, h)
				}
				if h.Get("Set-Cookie") != "" {
					t.Errorf("%s: a cookie", method)
				}
				vary := ""
				if c.contentType == playlistType {
					vary = "Accept-Encoding"
				}
				if h.Get("Vary") != vary {
					t.Errorf("%s: Vary %q, want %q", method, h.Get("Vary"), vary)
				}
				if c.status == 200 && h.Get("Etag") == "" {
					t.Errorf("%s: no ETag", method)
				}
				if c.status == 503 && h.Get("Retry-After") == "" {
					t.Errorf("%s: no Retry-After", method)
				}
				n, _ := strconv.Atoi(h.Get("Content-Length"))
				if method == http.MethodGet && n != len(body) || method == http.MethodHead && (n == 0 || body != "") {
					t.Errorf("%s: Content-Length %d of %d bytes", method, n, len(body))
				}
				if method == http.MethodGet && c.status >= 400 {
					var problem struct {
						Type, Title, Detail string
						Status              int
					}
					if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Status != c.status || problem.Type == "" || problem.Detail == "" {
						t.Errorf("problem %s: %v", body, err)
					}
				}
			}
		})
	}
}

func TestOptionsAndOtherMethods(t *testing.T) {
	r, segment := served(t)
	for _, path := range []string{segment, "door/index.m3u8", "nothing/at/all"} {
		response := r.do(http.MethodOptions, path, "Origin", "https://elsewhere.example", "Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "range")
		h := response.Header
		if response.StatusCode != 204 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Methods") == "" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Range") {
			t.Errorf("OPTIONS %s: %d %v", path, response.StatusCode, h)
		}
		response = r.do(http.MethodPost, path)
		if response.StatusCode != 405 || response.Header.Get("Allow") != "GET, HEAD, OPTIONS" || response.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("POST %s: %d %v", path, response.StatusCode, response.Header)
		}
	}
}

func TestRangesOfASegment(t *testing.T) {
	r, segment := served(t)
	whole := bodyOf(t, r.get(segment))
	size := len(whole)
	etag := r.get(segment).Header.Get("Etag")
	for _, c := range []struct {
		header   string
		status   int
		from, to int
	}{
		{"bytes=0-0", 206, 0, 1},
		{"bytes=0-99", 206, 0, 100},
		{"bytes=100-", 206, 100, size},
		{"bytes=-7", 206, size - 7, size},
		{"bytes=5000-5999", 206, 5000, 6000},
		{"bytes=10-99999999999999999999999999", 206, 10, size},
		{fmt.Sprintf("bytes=%d-", size), 416, 0, 0},
		{"bytes=99999999999999999999999-", 416, 0, 0},
		{"bytes=-0", 416, 0, 0},
		{"bytes=5-2", 200, 0, size},
		{"bytes=1-2,4-5", 200, 0, size},
		{"bytes=-", 200, 0, size},
		{"bytes=a-b", 200, 0, size},
		{"lines=1-2", 200, 0, size},
		{"bytes=--5", 200, 0, size},
	} {
		response := r.get(segment, "Range", c.header)
		body := bodyOf(t, response)
		if response.StatusCode != c.status {
			t.Errorf("%s: %d, want %d", c.header, response.StatusCode, c.status)
			continue
		}
		switch c.status {
		case 416:
			if got := response.Header.Get("Content-Range"); got != fmt.Sprintf("bytes */%d", size) {
				t.Errorf("%s: Content-Range %q", c.header, got)
			}
			continue
		case 206:
			if got, want := response.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-%d/%d", c.from, c.to-1, size); got != want {
				t.Errorf("%s: Content-Range %q, want %q", c.header, got, want)
			}
		}
		if body != whole[c.from:c.to] || response.Header.Get("Content-Length") != strconv.Itoa(len(body)) {
			t.Errorf("%s: wrong bytes", c.header)
		}
	}
	if response := r.get(segment, "Range", "bytes=0-9", "If-Range", etag); response.StatusCode != 206 {
		t.Errorf("If-Range that holds: %d", response.StatusCode)
	}
	if response := r.get(segment, "Range", "bytes=0-9", "If-Range", `"other"`); response.StatusCode != 200 {
		t.Errorf("If-Range that does not hold: %d", response.StatusCode)
	}
}

func TestEveryRangeOfASegmentIsItsBytes(t *testing.T) {
	r, segment := served(t)
	whole := bodyOf(t, r.get(segment))
	for from := 0; from < len(whole); from += 997 {
		for _, n := range []int{1, 13, 4096, 9000} {
			to := min(from+n, len(whole))
			body := bodyOf(t, r.get(segment, "Range", fmt.Sprintf("bytes=%d-%d", from, to-1)))
			if body != whole[from:to] {
				t.Fatalf("bytes %d to %d are others", from, to)
			}
		}
	}
}

func TestNotModified(t *testing.T) {
	r, segment := served(t)
	for _, path := range []string{segment, "door/index.m3u8", "door/main.index.m3u8"} {
		etag := r.get(path).Header.Get("Etag")
		for header, want := range map[string]int{etag: 304, "W/" + etag: 304, `"a", ` + etag: 304, "*": 304, `"a"`: 200, "": 200} {
			response := r.get(path, "If-None-Match", header)
			body := bodyOf(t, response)
			if response.StatusCode != want || (want == 304) != (body == "") {
				t.Errorf("%s with %s: %d, %d bytes", path, header, response.StatusCode, len(body))
			}
			if want == 304 && (response.Header.Get("Etag") != etag || response.Header.Get("Cache-Control") == "") {
				t.Errorf("%s: 304 without its headers", path)
			}
		}
	}
}

func TestGzipIsForPlaylistsAndHasAnETagOfItsOwn(t *testing.T) {
	r, segment := served(t)
	for _, path := range []string{"door/index.m3u8", "door/main.index.m3u8", "door/ts/main.index.m3u8"} {
		plain, zipped := r.get(path), r.get(path, "Accept-Encoding", "br, gzip;q=0.8")
		if zipped.Header.Get("Content-Encoding") != "gzip" || zipped.Header.Get("Etag") == plain.Header.Get("Etag") {
			t.Fatalf("%s: %v", path, zipped.Header)
		}
		reader, err := gzip.NewReader(zipped.Body)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(reader)
		if err != nil || string(data) != bodyOf(t, plain) {
			t.Errorf("%s: gzip holds other text: %v", path, err)
		}
		if response := r.get(path, "Accept-Encoding", "gzip", "If-None-Match", plain.Header.Get("Etag")); response.StatusCode != 200 {
			t.Errorf("%s: the plain ETag stood for gzip", path)
		}
	}
	for header, want := range map[string]bool{"gzip": true, "GZIP": true, "*": true, "gzip;q=0": false, "gzip;q=0.0": false, "deflate, br": false, "*;q=0": false, "identity, gzip; q=1": true, "": false} {
		if got := r.get("door/index.m3u8", "Accept-Encoding", header).Header.Get("Content-Encoding") == "gzip"; got != want {
			t.Errorf("Accept-Encoding %q: gzip %v", header, got)
		}
	}
	if r.get(segment, "Accept-Encoding", "gzip").Header.Get("Content-Encoding") != "" {
		t.Error("a segment is sent as gzip")
	}
}

func TestQueryChangesNoAnswer(t *testing.T) {
	r, segment := served(t)
	for _, path := range []string{segment, "door/index.m3u8", "door/main.index.m3u8"} {
		plain := r.get(path)
		asked := r.get(path + "?_HLS_msn=&CMCD=br%3D2&utm_source=x&token=secret")
		if asked.Header.Get("Etag") != plain.Header.Get("Etag") || bodyOf(t, asked) != bodyOf(t, plain) {
			t.Errorf("%s: another answer", path)
		}
	}
}

func TestMultivariantNamesWhatIsThere(t *testing.T) {
	r, _ := served(t)
	want := "#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-INDEPENDENT-SEGMENTS\n" +
		`#EXT-X-STREAM-INF:BANDWIDTH=98000,AVERAGE-BANDWIDTH=98000,CODECS="avc1.64000C,mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=25.000` + "\nmain.index.m3u8\n"
	if got := bodyOf(t, r.get("door/index.m3u8")); got != want {
		t.Errorf("got\n%s", got)
	}
}

func TestH265IsNotInMPEGTSAndSaysSo(t *testing.T) {
	r := newRig(t, Config{})
	r.params = h265Params()
	r.tracks()
	r.gops(4)
	segment := r.playlist().Segments[0].URI
	for _, path := range []string{"ts/index.m3u8", "ts/main.index.m3u8", "ts/" + strings.TrimSuffix(segment, "m4s") + "ts"} {
		response := r.get("door/" + path)
		if body := bodyOf(t, response); response.StatusCode != 406 || !strings.Contains(body, "H.265") {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
	if got := bodyOf(t, r.get("door/index.m3u8")); !strings.Contains(got, `CODECS="hvc1.1.6.L60.90"`) {
		t.Errorf("multivariant\n%s", got)
	}
	if bodyOf(t, r.get("door/"+segment)) == "" {
		t.Error("no segment")
	}
}

func TestTSIsRenderedOnceAndTheSameEachTime(t *testing.T) {
	r, segment := served(t)
	path := "door/ts/" + strings.TrimSuffix(strings.TrimPrefix(segment, "door/"), "m4s") + "ts"
	held := r.muxer.held.Load()
	first := bodyOf(t, r.get(path))
	once := r.muxer.held.Load()
	second := bodyOf(t, r.get(path))
	if first != second || first == "" || len(first)%188 != 0 {
		t.Error("two renderings differ")
	}
	if once-held != int64(len(first)) || r.muxer.held.Load() != once {
		t.Errorf("held %d, %d, %d bytes for a rendering of %d", held, once, r.muxer.held.Load(), len(first))
	}
}

func TestTSCountersGoOnOverSegmentsRenderedInAnyOrder(t *testing.T) {
	r, _ := served(t)
	p := r.playlist()
	parts := make([]string, len(p.Segments))
	for _, i := range []int{4, 0, 2, 1, 3} {
		parts[i] = bodyOf(t, r.get("door/ts/"+strings.TrimSuffix(p.Segments[i].URI, "m4s")+"ts"))
	}
	stream := strings.Join(parts, "")
	last := map[int]byte{}
	for at := 0; at < len(stream); at += 188 {
		packet := stream[at : at+188]
		pid, cc := int(packet[1]&0x1f)<<8|int(packet[2]), packet[3]&15
		if before, known := last[pid]; known && cc != (before+1)&15 {
			t.Fatalf("packet %d of pid %#x: counter %d after %d", at/188, pid, cc, before)
		}
		last[pid] = cc
	}
	if len(last) != 4 {
		t.Errorf("%d pids", len(last))
	}
}

func TestViewersAreCountedAndForgotten(t *testing.T) {
	now := zero
	var v viewerSet
	for i := range 100 {
		v.note(fmt.Sprintf("10.0.0.%d", i), "player", now, 6*time.Second)
	}
	v.note("10.0.0.1", "player", now, 6*time.Second)
	v.note("10.0.0.1", "another player", now, 6*time.Second)
	if got := v.count(now); got != 101 {
		t.Errorf("%d viewers, want 101", got)
	}
	now = now.Add(5 * time.Second)
	v.note("10.0.0.1", "player", now, 6*time.Second)
	if got := v.count(now.Add(2 * time.Second)); got != 1 {
		t.Errorf("%d viewers later, want 1", got)
	}
	for i := range maxViewers + 100 {
		v.note(strconv.Itoa(i), "", now, time.Hour)
	}
	if got := v.count(now); got != maxViewers {
		t.Errorf("%d viewers, bound is %d", got, maxViewers)
	}
}

func TestPlaylistRequestsCountAsViewersAndBytes(t *testing.T) {
	r, segment := served(t)
	before := r.camera.sent.Load()
	body := bodyOf(t, r.get(segment))
	if got := r.camera.sent.Load() - before; got != uint64(len(body)) {
		t.Errorf("%d bytes counted of %d", got, len(body))
	}
	if got := r.camera.viewers.count(zero); got != 1 {
		t.Errorf("%d viewers", got)
	}
}

// A silentWriter is a ResponseWriter that allocates nothing itself.
type silentWriter struct {
	header http.Header
	status int
	bytes  int
}

func (w *silentWriter) Header() http.Header { return w.header }
func (w *silentWriter) WriteHeader(status int) {
	w.status = status
}
func (w *silentWriter) Write(b []byte) (int, error) {
	w.bytes += len(b)
	return len(b), nil
}

func playlistRequest(gzip bool) *http.Request {
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/hls/door/main.index.m3u8"}, RemoteAddr: "192.0.2.1:4711",
		Header: http.Header{"User-Agent": {"player"}, "If-None-Match": {`"other"`}}}
	if gzip {
		r.Header["Accept-Encoding"] = []string{"gzip, br"}
	}
	return r
}

func TestPlaylistHitAllocatesNothing(t *testing.T) {
	r, _ := served(t)
	for _, zipped := range []bool{false, true} {
		w := &silentWriter{header: http.Header{}}
		request := playlistRequest(zipped)
		r.handler.ServeHTTP(w, request)
		if n := testing.AllocsPerRun(100, func() { r.handler.ServeHTTP(w, request) }); n != 0 || w.status != 200 {
			t.Errorf("gzip %v: %v allocations, status %d", zipped, n, w.status)
		}
	}
}

func TestResponseUnderWayKeepsItsSegment(t *testing.T) {
	r, segment := served(t)
	want := bodyOf(t, r.get(segment))
	ready, more := make(chan struct{}), make(chan struct{})
	w := &stoppingWriter{silentWriter: silentWriter{header: http.Header{}}, ready: ready, more: more}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/hls/"+segment, nil))
	}()
	<-ready
	r.gops(20) // the segment leaves the window, and its memory would be others'
	if status := r.get(segment).StatusCode; status != 404 {
		t.Errorf("segment outside the window: %d", status)
	}
	close(more)
	<-done
	if string(w.got) != want {
		t.Error("the response holds other bytes")
	}
}

type stoppingWriter struct {
	silentWriter
	ready, more chan struct{}
	got         []byte
}

func (w *stoppingWriter) Write(b []byte) (int, error) {
	if w.got == nil {
		close(w.ready)
		<-w.more
	}
	w.got = append(w.got, b...)
	return len(b), nil
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"door/index.m3u8", "door/main.index.m3u8", "door/ts/main.index.m3u8", "door/main.1790000000000.17.m4s",
		"door/ts/main.1790000000000.17.ts", "door/main.init-0123456789abcdef.mp4", "../etc/passwd", "door/../x", "door//index.m3u8", "door/main.007.1.m4s", "door/main.-1.1.m4s",
		"door/live.m3u8", "door/main.live.m3u8", "door/main.1790000000000.17.3.m4s", "door/ts/live.m3u8"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		n := parseName(path)
		if n.kind == nameUnknown {
			return
		}
		// What is known has one spelling.
		out := n.camera + "/"
		if n.ts {
			out += "ts/"
		}
		switch n.kind {
		case nameMultivariant:
			out += "index.m3u8"
		case nameMedia:
			out += n.source + ".index.m3u8"
		case nameInit:
			out += n.source + ".init-" + n.hash + ".mp4"
		case nameLiveMultivariant:
			out += "live.m3u8"
		case nameLive:
			out += n.source + ".live.m3u8"
		case namePart:
			out += string(appendPartName(nil, n.source, n.epoch, n.sequence, n.part))
		case nameSegment:
			suffix := ".m4s"
			if n.ts {
				suffix = ".ts"
			}
			out += string(appendSegmentName(nil, n.source, n.epoch, n.sequence, suffix))
		}
		if out != path || !validID(n.camera) || strings.Contains(path, "..") {
			t.Fatalf("%q was read as %+v", path, n)
		}
	})
}
