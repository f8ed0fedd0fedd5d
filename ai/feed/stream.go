package feed

import (
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/sample"
)

// pumpFrames is how many frames may wait in the ring's channel for a stream's
// goroutine, which never waits for its worker.
const pumpFrames = 64

// A Stream is one source as one subscription takes it.
type Stream struct {
	Camera, Source string

	subscription *Subscription
	ring         *ring.Ring
	reader       *ring.Subscriber
	done         chan struct{} // the pump has ended

	// Owned by the pump.
	pace    pace
	configs []*Config // in force, by track; nil before a track's first frame
	losses  losses

	// Of Mailbox, if that is the sink; owned by the holder of its lock.
	box box
}

// pump gives the sink what the worker wants of the ring, until that ends.
func (s *Stream) pump() {
	defer close(s.done)
	for item := range s.reader.C {
		s.take(item)
	}
}

func (s *Stream) take(item ring.Item) {
	f := item.Frame
	s.subscription.Missed(s.losses.add(item.Missed))
	if !s.wants(f) {
		s.losses.came++
		f.Release()
		return
	}
	s.subscription.sink.Take(s, Frame{
		Frame: f, Camera: s.Camera, Source: s.Source, Config: s.config(f), Missed: s.losses.take(),
		Arrival: s.subscription.hub.now(), AnnexB: s.subscription.request.AnnexB,
	})
}

// wants reports whether a frame is one that the worker asked for.
func (s *Stream) wants(f *media.Frame) bool {
	if f.Track.Kind == media.KindAudio {
		return s.subscription.request.Audio
	}
	return s.pace.passes(f, &s.subscription.request)
}

// config returns the configuration that a frame has.
func (s *Stream) config(f *media.Frame) *Config {
	for f.Track.ID >= len(s.configs) {
		s.configs = append(s.configs, nil)
	}
	config := s.configs[f.Track.ID]
	if config != nil && config.Track == f.Track && config.Params == f.Params {
		return config
	}
	next := &Config{Camera: s.Camera, Source: s.Source, Track: f.Track, Params: f.Params, AnnexB: s.subscription.request.AnnexB}
	if config != nil && config.Track.Codec == f.Track.Codec && sameParams(config.Params, f.Params) {
		next.Number = config.Number // said again, as cameras do, or by a new connection
	} else {
		next.Number = s.subscription.nextConfig.Add(1)
	}
	s.configs[f.Track.ID] = next
	return next
}

// sameParams reports whether a worker need not be told of either parameters after the
// other. The size of a JPEG is nowhere else.
func sameParams(a, b *media.Params) bool {
	return a == b || sample.SameParams(a, b) && a.Width == b.Width && a.Height == b.Height
}

// end stops the pump and waits for it.
func (s *Stream) end() {
	s.reader.Close()
	<-s.done
}

// pace thins video out.
type pace struct {
	begun   bool
	tokens  float64
	at      time.Duration // decoding time of the frame before
	skipped bool          // a frame that others build upon: until the next keyframe none is of use
}

// burst is how many frames above its limit a camera may send at once, whose frames
// never come quite evenly.
const burst = 1.5

// passes reports whether a frame of video is wanted.
func (p *pace) passes(f *media.Frame, request *Request) bool {
	alone := f.Keyframe || f.Track.Codec == media.CodecJPEG
	if request.Keyframes && !alone || p.skipped && !alone {
		return false
	}
	if request.MaxFPS > 0 && !p.pay(f.Track.Duration(f.DTS), request.MaxFPS) {
		p.skipped = p.skipped || !disposable(f)
		return false
	}
	p.skipped = false
	return true
}

// pay takes a token for a frame, of which there are so many for each second of the
// camera's time. That is decoding time, which never goes back.
func (p *pace) pay(at time.Duration, fps float64) bool {
	p.tokens = min(burst, p.tokens+(at-p.at).Seconds()*fps)
	if !p.begun {
		p.begun, p.tokens = true, burst
	}
	p.at = at
	if p.tokens < 1 {
		return false
	}
	p.tokens--
	return true
}

// disposable reports whether nothing builds upon a frame: of H.264, where its first
// slice says so.
func disposable(f *media.Frame) bool {
	if f.Track.Codec != media.CodecH264 {
		return f.Track.Codec == media.CodecJPEG
	}
	for nal := range NALUnits(f.Payload()) {
		if kind := nal[0] & 31; kind >= 1 && kind <= 5 {
			return nal[0]&0x60 == 0
		}
	}
	return false
}

// Subscription returns the one that the stream belongs to, for a Sink to count.
func (s *Stream) Subscription() *Subscription { return s.subscription }
