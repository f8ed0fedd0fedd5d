package camera

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/timeline"
)

// Feed is the way of one connection into a source's ring. Its methods are called
// from the goroutine that reads the stream, but for those of counters, which may
// be called from any.
type Feed struct {
	// Pool is where frames are made.
	Pool *media.Pool

	// Timeline of the source. It lives on over connections.
	Timeline *timeline.Timeline

	// Logger has the camera and the source in it.
	Logger *slog.Logger

	ring      *ring.Ring
	puller    *puller
	connected func() // gives the place among those who dial back
	seq       *uint64
	fallback  bool // by the fallback URL

	transport atomic.Pointer[Transport]
	reason    atomic.Pointer[string] // for the transport
	tracks    atomic.Pointer[[]*feedTrack]
	waiting   atomic.Pointer[string] // why no frame can be written yet
	readyAt   atomic.Int64           // when Connected was called, in ns of Unix time
	firstAt   atomic.Int64           // of the first frame written
	lastAt    atomic.Int64           // of the newest frame written
	gopNs     atomic.Int64
	lastKey   int64
	hasKey    bool
}

// feedTrack is what is counted of a track.
type feedTrack struct {
	offer   TrackOffer
	params  atomic.Pointer[media.Params]
	aliveAt atomic.Int64  // when an access unit came, in ns of Unix time
	units   atomic.Uint64 // access units that came
	bytes   atomic.Uint64 // of those that were handed on
	note    atomic.Pointer[string]

	mu    sync.Mutex // the rates are read and measured by different goroutines
	rates rates
}

// Connected tells that the camera agreed to send, by which transport, and which
// tracks it has. Frames and Alive refer to tracks by their place in tracks.
func (f *Feed) Connected(transport Transport, tracks []TrackOffer) {
	now := f.puller.options.Now()
	list := make([]*feedTrack, len(tracks))
	for i, offer := range tracks {
		list[i] = &feedTrack{offer: offer}
		list[i].params.Store(offer.Params)
		list[i].aliveAt.Store(now.UnixNano())
	}
	if f.transport.Swap(&transport) == nil { // else the same try goes on by another transport
		f.puller.connects.Add(1)
	}
	f.tracks.Store(&list)
	f.readyAt.Store(now.UnixNano())
	f.connected()
}

// Because tells why the transport of the next Connected was chosen, for people. It
// must not hold a secret.
func (f *Feed) Because(reason string) { f.reason.Store(&reason) }

// Waiting tells why what comes cannot be handed on yet, for people, where that is
// known better than that there was no keyframe. It is shown until the first frame.
func (f *Feed) Waiting(why string) {
	if f.firstAt.Load() != 0 {
		return
	}
	if was := f.waiting.Load(); was == nil || *was != why {
		f.waiting.Store(&why)
	}
}

// Alive tells that an access unit of a track came in, whether or not it can be
// handed on.
func (f *Feed) Alive(track int, arrival time.Time) {
	t := (*f.tracks.Load())[track]
	t.aliveAt.Store(arrival.UnixNano())
	t.units.Add(1)
}

// Write puts a frame into the ring and takes over the caller's reference. Track,
// PTS, DTS and Wall must be set; Seq and Epoch are set here.
func (f *Feed) Write(track int, frame *media.Frame, arrival time.Time) {
	t := (*f.tracks.Load())[track]
	if t.params.Load() != frame.Params {
		t.params.Store(frame.Params)
	}
	t.bytes.Add(uint64(len(frame.Payload())))
	if frame.Keyframe && frame.Track.Kind == media.KindVideo {
		if f.hasKey {
			f.gopNs.Store(int64(frame.Track.Duration(frame.DTS - f.lastKey)))
		}
		f.lastKey, f.hasKey = frame.DTS, true
	}
	*f.seq++
	frame.Seq, frame.Epoch = *f.seq, f.Timeline.Epoch()
	f.lastAt.Store(arrival.UnixNano())
	first := f.firstAt.Load() == 0
	f.ring.Write(frame)
	if first {
		f.firstAt.Store(arrival.UnixNano())
		f.puller.live()
	}
}

// Note tells what is odd about a track and what is done about it, for people. It must
// not hold a secret.
func (f *Feed) Note(track int, note string) {
	t := (*f.tracks.Load())[track]
	if was := t.note.Swap(&note); was == nil || *was != note {
		f.Logger.Warn("odd track", "track", track, "note", note)
	}
}

// Lost counts packets that never came.
func (f *Feed) Lost(packets int) { f.puller.lost.Add(uint64(packets)) }

// Reordered counts packets that overtook others and were put in order.
func (f *Feed) Reordered(packets int) { f.puller.reordered.Add(uint64(packets)) }

// KernelDropped counts packets that this machine had no room for. They are counted
// as lost, too.
func (f *Feed) KernelDropped(packets int) { f.puller.kernelDropped.Add(uint64(packets)) }

// Received counts bytes from the camera, as they came.
func (f *Feed) Received(bytes int) { f.puller.received.Add(uint64(bytes)) }

// Discard counts something that came and was not handed on.
func (f *Feed) Discard(reason string) { f.puller.discards.add(reason) }

// discards counts by reason. The reasons are few, and fixed by the sources.
type discards struct {
	mu     sync.Mutex
	counts map[string]uint64
}

func (d *discards) add(reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.counts == nil {
		d.counts = map[string]uint64{}
	}
	d.counts[reason]++
}

func (d *discards) snapshot() map[string]uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make(map[string]uint64, len(d.counts))
	for reason, n := range d.counts {
		counts[reason] = n
	}
	return counts
}

// rates are measured over the seconds between two looks at the counters.
type rates struct {
	at         time.Time
	frames     uint64
	bytes      uint64
	fps        float64
	bitsPerSec float64
}

// rateInterval is the least time that a rate is measured over.
const rateInterval = 4 * time.Second

// measure looks at the counters, if it is time to.
func (t *feedTrack) measure(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	frames, bytes := t.units.Load(), t.bytes.Load()
	if t.rates.at.IsZero() {
		if frames > 0 {
			t.rates = rates{at: now, frames: frames, bytes: bytes}
		}
		return
	}
	elapsed := now.Sub(t.rates.at)
	if elapsed < rateInterval {
		return
	}
	t.rates = rates{
		at: now, frames: frames, bytes: bytes,
		fps:        float64(frames-t.rates.frames) / elapsed.Seconds(),
		bitsPerSec: float64(bytes-t.rates.bytes) * 8 / elapsed.Seconds(),
	}
}

func (t *feedTrack) status() TrackStatus {
	s := TrackStatus{
		Codec: t.offer.Codec, Playable: t.offer.Playable, Reason: t.offer.Reason,
		SampleRate: t.offer.SampleRate, DeliveredAs: t.offer.DeliveredAs, MPEGTS: t.offer.MPEGTS,
	}
	if note := t.note.Load(); note != nil {
		s.Note = *note
	}
	if p := t.params.Load(); p != nil {
		s.Width, s.Height, s.FPS, s.Profile = p.Width, p.Height, p.FPS, p.Profile()
		if p.SampleRate > 0 {
			s.SampleRate = p.SampleRate
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.BitrateBPS = int64(t.rates.bitsPerSec)
	if t.offer.Kind == media.KindVideo && t.rates.fps > 0 {
		// What comes counts, not what was promised. A tenth is as exact as it is.
		s.FPS = float64(int(t.rates.fps*10+0.5)) / 10
	}
	return s
}
