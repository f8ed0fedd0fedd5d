package shm

import (
	"strings"
	"time"

	"github.com/drover-video/drover/ai/schema"
)

// Item is what a reader reads next: one of the two is there.
type Item struct {
	Status *schema.Status
	Frame  *Frame // valid until the next call
}

// Frame is a frame, copied out of the memory.
type Frame struct {
	Config *schema.Config
	Slot   Slot
	Missed uint64 // frames of the track since the one before
	Data   []byte
}

// Keyframe reports whether decoding can begin here.
func (f *Frame) Keyframe() bool { return f.Slot.Flags&FlagKeyframe != 0 }

// Reader reads a memory from the newest keyframes on. Where the writer overtakes it, or
// it falls behind by more than it may, it goes on with the newest keyframes again. It
// belongs to one goroutine.
type Reader struct {
	memory    *Memory
	maxBehind time.Duration
	now       func() time.Time

	next   uint64
	tracks map[uint32]*reading // by entry
	told   map[string]told     // by camera: each is told again for every worker that comes
	frame  Frame
}

type told struct {
	source string
	state  uint32
}

// reading is how far a reader has come with a track.
type reading struct {
	config       *schema.Config
	ordinal      uint64 // of the frame before; 0: none yet
	needKeyframe bool
}

// NewReader returns a reader of a memory, which begins on the newest keyframes, and not
// after a slot. Behind by more than maxBehind, frames are left out.
func NewReader(m *Memory, from uint64, maxBehind time.Duration, now func() time.Time) *Reader {
	return &Reader{
		memory: m, maxBehind: maxBehind, now: now, next: min(from, m.resume()),
		tracks: map[uint32]*reading{}, told: map[string]told{},
	}
}

// Read returns the next item, or false where there is none yet.
func (r *Reader) Read() (Item, bool) {
	for {
		s := &r.frame.Slot
		switch r.memory.slot(r.next, s) {
		case notYet:
			return Item{}, false
		case gone:
			r.skip(r.memory.resume())
			continue
		}
		if r.behind(s) {
			continue
		}
		if s.Kind == KindStatus {
			if item, ok := r.status(s); ok {
				return item, true
			}
			continue
		}
		if r.read(s) {
			return Item{Frame: &r.frame}, true
		}
	}
}

// skip goes on with a slot further on. What comes before the next keyframes cannot be
// decoded.
func (r *Reader) skip(to uint64) {
	r.next = max(to, r.next+1)
	for _, t := range r.tracks {
		t.needKeyframe = true
	}
}

// behind leaves out what is too old, if there is something newer to begin with.
func (r *Reader) behind(s *Slot) bool {
	if s.Kind != KindFrame || r.now().Sub(time.UnixMicro(s.Arrival)) <= r.maxBehind {
		return false
	}
	to := r.memory.resume()
	if to <= r.next {
		return false
	}
	r.skip(to)
	return true
}

// status reads a slot that is a status.
func (r *Reader) status(s *Slot) (Item, bool) {
	data, ok := r.memory.appendData(nil, s)
	if !ok {
		r.skip(r.memory.resume())
		return Item{}, false
	}
	r.next++
	parts := strings.SplitN(string(data), "\n", 3)
	if len(parts) != 3 {
		return Item{}, false
	}
	news := told{parts[1], s.Number}
	if r.told[parts[0]] == news {
		return Item{}, false
	}
	r.told[parts[0]] = news
	if schema.State(s.Number) == schema.State_STATE_REMOVED {
		delete(r.told, parts[0])
	}
	return Item{Status: &schema.Status{Camera: parts[0], Source: parts[1], State: schema.State(s.Number), Reason: parts[2]}}, true
}

// read reads a slot that is a frame, unless it is of no use.
func (r *Reader) read(s *Slot) bool {
	t := r.tracks[s.Entry]
	if t == nil || t.config.Number != s.Number {
		track, ok := r.memory.readTrack(s.Entry, s.Number)
		if !ok { // the entry is of another by now: its frames come soon
			r.next++
			return false
		}
		t = &reading{config: configOf(&track), needKeyframe: true}
		r.tracks[s.Entry] = t
	}
	if t.needKeyframe && s.Flags&FlagKeyframe == 0 {
		r.next++
		return false
	}
	data, ok := r.memory.appendData(r.frame.Data[:0], s)
	r.frame.Data = data
	if !ok {
		r.skip(r.memory.resume())
		return false
	}
	r.next++
	r.frame.Config, r.frame.Missed = t.config, 0
	if t.ordinal != 0 && s.Ordinal > t.ordinal {
		r.frame.Missed = s.Ordinal - t.ordinal - 1
	}
	t.ordinal, t.needKeyframe = s.Ordinal, false
	return true
}

func configOf(t *Track) *schema.Config {
	return &schema.Config{
		Camera: t.Camera, Source: t.Source, Track: t.Track, Number: t.Number, Codec: schema.Codec(t.Codec), Format: schema.Format(t.Format),
		Vps: t.VPS, Sps: t.SPS, Pps: t.PPS, AudioConfig: t.Audio, Width: t.Width, Height: t.Height, Fps: t.FPS,
		SampleRate: t.SampleRate, Channels: t.Channels,
	}
}
