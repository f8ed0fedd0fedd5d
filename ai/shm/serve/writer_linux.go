package serve

import (
	"sync"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/message"
	"github.com/drover-video/drover/ai/shm"
	"github.com/drover-video/drover/core/media"
)

// A writer writes a subscription's frames into a memory. It is a feed.Sink.
type writer struct {
	set *set

	mu     sync.Mutex // one slot is written after another
	memory *shm.Memory
	tracks map[trackKey]*track
	free   []int // entries of the table that were used and are not any more
	next   int   // entry that was never used

	statuses map[string]feed.Status // of cameras that are not removed
}

type trackKey struct {
	stream *feed.Stream
	track  int
}

// track is an entry of the table.
type track struct {
	entry   int
	config  *feed.Config
	ordinal uint64
	unfit   bool // its configuration does not fit into an entry
	broken  bool // a frame could not be written: those that build upon it are of no use
}

func newWriter(memory *shm.Memory, set *set) *writer {
	return &writer{set: set, memory: memory, tracks: map[trackKey]*track{}, statuses: map[string]feed.Status{}}
}

// Take implements feed.Sink.
func (w *writer) Take(s *feed.Stream, f feed.Frame) {
	w.mu.Lock()
	written := w.write(s, &f)
	w.mu.Unlock()
	if written {
		s.Subscription().Sent(len(f.Payload()))
		f.Release()
		w.set.ring()
		return
	}
	s.Subscription().Missed(1)
	f.Release()
}

// write is called by the holder of mu.
func (w *writer) write(s *feed.Stream, f *feed.Frame) bool {
	t := w.track(s, f)
	if t == nil {
		return false
	}
	t.ordinal += 1 + f.Missed
	alone := f.Keyframe || f.Track.Kind == media.KindAudio || f.Track.Codec == media.CodecJPEG
	if t.unfit || t.broken && !alone {
		return false
	}
	position, room, ok := w.memory.Claim(f.DataSize())
	t.broken = !ok
	if !ok {
		return false
	}
	slot := shm.Slot{
		Position: position, Size: uint32(len(f.AppendData(room))), Entry: uint32(t.entry), Number: t.config.Number,
		Sequence: f.Seq, Epoch: f.Epoch, PTS: message.Ticks(f.Track, f.PTS), DTS: message.Ticks(f.Track, f.DTS),
		Wall: f.Wall.UnixMicro(), Arrival: f.Arrival.UnixMicro(), Ordinal: t.ordinal, Lost: f.Lost, Kind: shm.KindFrame,
	}
	if alone {
		slot.Flags |= shm.FlagKeyframe
	}
	if f.WallSource == media.WallSender {
		slot.Flags |= shm.FlagSenderReport
	}
	w.memory.Publish(&slot)
	return true
}

// track returns the entry of a frame's track, with the configuration that it has.
func (w *writer) track(s *feed.Stream, f *feed.Frame) *track {
	key := trackKey{s, f.Track.ID}
	t := w.tracks[key]
	if t == nil {
		t = &track{entry: w.entry()}
		if t.entry < 0 {
			return nil
		}
		w.tracks[key] = t
	}
	if t.config == nil || t.config.Number != f.Config.Number {
		t.unfit = !w.memory.SetTrack(t.entry, trackOf(f.Config))
	}
	t.config = f.Config
	return t
}

// entry returns one that is free, or -1.
func (w *writer) entry() int {
	if n := len(w.free); n > 0 {
		entry := w.free[n-1]
		w.free = w.free[:n-1]
		return entry
	}
	if w.next >= w.memory.Sizes().Tracks {
		return -1
	}
	w.next++
	return w.next - 1
}

func trackOf(c *feed.Config) *shm.Track {
	t := &shm.Track{
		Number: c.Number, Track: uint32(c.Track.ID), Codec: uint32(message.Codec(c.Track.Codec)), Format: uint32(message.Format(c.AnnexB)),
		Camera: c.Camera, Source: c.Source,
	}
	if p := c.Params; p != nil {
		t.Width, t.Height, t.FPS = uint32(p.Width), uint32(p.Height), p.FPS
		t.SampleRate, t.Channels = uint32(p.SampleRate), uint32(p.Channels)
		t.VPS, t.SPS, t.PPS, t.Audio = p.VPS, p.SPS, p.PPS, p.AudioConfig
	}
	return t
}

// Forget implements feed.Sink.
func (w *writer) Forget(s *feed.Stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, t := range w.tracks {
		if key.stream == s {
			w.memory.SetTrack(t.entry, &shm.Track{})
			w.free = append(w.free, t.entry)
			delete(w.tracks, key)
		}
	}
}

// Status implements feed.Sink.
func (w *writer) Status(status feed.Status) {
	w.mu.Lock()
	if status.State == feed.StateRemoved {
		delete(w.statuses, status.Camera)
	} else {
		w.statuses[status.Camera] = status
	}
	w.tell(status)
	w.mu.Unlock()
	w.set.ring()
}

// tell writes a status. The caller holds mu.
func (w *writer) tell(status feed.Status) {
	text := status.Camera + "\n" + status.Source + "\n" + status.Reason
	position, room, ok := w.memory.Claim(len(text))
	if ok { // else the memory is of no use for frames either
		room = append(room, text...)
		w.memory.Publish(&shm.Slot{Position: position, Size: uint32(len(room)), Number: uint32(message.State(status.State)), Kind: shm.KindStatus})
	}
}

// repeat tells of all cameras once more, for a worker that comes, and returns the number
// of the first slot of it.
func (w *writer) repeat() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := w.memory.Written()
	for _, status := range w.statuses {
		w.tell(status)
	}
	return from
}

// Finish implements feed.Sink.
func (w *writer) Finish(err error) { w.set.finish(err) }
