package play_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
)

// silent takes an answer and keeps nothing of it.
type silent struct{ header http.Header }

func (s silent) Header() http.Header          { return s.header }
func (silent) WriteHeader(int)                {}
func (silent) Write(data []byte) (int, error) { return len(data), nil }

func benchmark(b *testing.B, r *rig, path string, headers ...string) {
	request := httptest.NewRequest(http.MethodGet, "/archive/door/"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	b.ReportAllocs()
	for b.Loop() {
		r.handler.ServeHTTP(silent{http.Header{}}, request)
	}
}

// BenchmarkRange is a request for a byte of a recorded file: all but the sending.
func BenchmarkRange(b *testing.B) {
	r := newRig(b)
	r.Take(archivetest.LoadClip(b, "h264"), 1, 0).Record(7)
	benchmark(b, r, "main/20261130T120000.000Z-1.mp4", "Range", "bytes=1000-1000")
}

// BenchmarkPoll is a poll of the time shift of a day by one of many.
func BenchmarkPoll(b *testing.B) {
	r := newRig(b)
	fill(b, r, 24*60)
	r.set(24 * time.Hour)
	benchmark(b, r, "index.m3u8?_HLS_skip=YES", "Accept-Encoding", "gzip")
}

// BenchmarkFrame is a picture for who scrubs.
func BenchmarkFrame(b *testing.B) {
	r := newRig(b)
	r.Take(archivetest.LoadClip(b, "h264"), 1, 0).Record(7)
	benchmark(b, r, "frame?at="+at(31*time.Second))
}

// BenchmarkClosed is a closed range of ten minutes that nobody else asks for.
func BenchmarkClosed(b *testing.B) {
	r := newRig(b)
	fill(b, r, 24*60)
	r.set(48 * time.Hour)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		from := time.Duration(i%1_000_000) * time.Millisecond
		r.handler.ServeHTTP(silent{http.Header{}}, httptest.NewRequest(http.MethodGet, "/archive/door/index.m3u8"+span(from, from+10*time.Minute), nil))
	}
}
