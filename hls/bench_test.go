package hls

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// BenchmarkSegmenter is what a source costs: frames in, segments, playlists and
// snapshots out. One round is a second of 25 pictures and their sound.
func BenchmarkSegmenter(b *testing.B) {
	r := newRig(b, Config{})
	r.watching = false
	r.sound = aacParams()
	r.bytes = 10_000
	r.gops(10)
	// Frames are made ahead: their making is the source's cost, and small.
	const gops = 20
	var frames []*media.Frame
	out := r.source.out
	r.source.out = func(f *media.Frame) { frames = append(frames, f) }
	b.ReportAllocs()
	b.ResetTimer()
	for done := 0; done < b.N; done += gops * 2 {
		b.StopTimer()
		frames = frames[:0]
		r.gops(gops)
		b.StartTimer()
		for _, f := range frames {
			r.pipeline.segmenter.push(ring.Item{Frame: f})
			r.pipeline.publish()
		}
	}
	b.StopTimer()
	r.source.out = out
}

func BenchmarkPlaylistHit(b *testing.B) {
	for _, zipped := range []bool{false, true} {
		b.Run(map[bool]string{false: "plain", true: "gzip"}[zipped], func(b *testing.B) {
			r, _ := served(b)
			w := &silentWriter{header: http.Header{}}
			request := playlistRequest(zipped)
			b.ReportAllocs()
			for b.Loop() {
				r.handler.ServeHTTP(w, request)
			}
		})
	}
}

func BenchmarkSegmentHit(b *testing.B) {
	r, segment := served(b)
	w := &silentWriter{header: http.Header{}}
	request := httptest.NewRequest(http.MethodGet, "/hls/"+segment, nil)
	b.ReportAllocs()
	for b.Loop() {
		r.handler.ServeHTTP(w, request)
	}
}

func BenchmarkTransportStream(b *testing.B) {
	r, segment := served(b)
	name := parseName(segment)
	s := r.muxer.published.Load().segment(name.epoch, name.sequence)
	defer s.release()
	b.ReportAllocs()
	b.SetBytes(s.object.size)
	for b.Loop() {
		s.held.Add(-s.ts.size)
		s.ts = rendition{}
		s.renderTS("x")
	}
}
