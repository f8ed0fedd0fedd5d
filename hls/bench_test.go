package hls

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
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

// BenchmarkSegmenterLive is the same while somebody asks for low latency: five
// parts a second, each with a playlist.
func BenchmarkSegmenterLive(b *testing.B) {
	r := newRig(b, Config{})
	r.watching = false
	r.sound = aacParams()
	r.bytes = 10_000
	r.gops(10)
	r.goLive()
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
		r.muxer.wanted.Store(r.clock.now().UnixNano())
		b.StartTimer()
		for _, f := range frames {
			r.pipeline.segmenter.push(ring.Item{Frame: f})
			r.pipeline.publish()
		}
	}
	b.StopTimer()
	r.source.out = out
	if r.muxer.published.Load().live == nil {
		b.Fatal("low latency has ended")
	}
}

// BenchmarkRelease is a part for ten thousand who wait for it: from its
// publication to the last answer, without a network.
func BenchmarkRelease(b *testing.B) {
	const viewers = 10_000
	r := newRig(b, Config{})
	r.watching = false
	r.gops(8)
	r.goLive()
	out := r.source.out
	r.source.out = func(f *media.Frame) {
		r.pipeline.segmenter.push(ring.Item{Frame: f})
		r.pipeline.publish()
	}
	for b.Loop() {
		b.StopTimer()
		v := r.muxer.published.Load().live
		path := fmt.Sprintf("/hls/door/main.live.m3u8?_HLS_msn=%d&_HLS_part=%d", v.msn, len(v.parts))
		var waiting, answered sync.WaitGroup
		for range viewers {
			waiting.Add(1)
			answered.Go(func() {
				w := &silentWriter{header: http.Header{}}
				request := httptest.NewRequest(http.MethodGet, path, nil)
				waiting.Done()
				r.handler.ServeHTTP(w, request)
				if w.status != 200 {
					b.Error(w.status)
				}
			})
		}
		waiting.Wait()
		r.muxer.wanted.Store(r.clock.now().UnixNano())
		b.StartTimer()
		for before := v; r.muxer.published.Load().live == before; {
			r.picture()
		}
		answered.Wait()
	}
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
