package hls

import (
	"sync"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/core/sample"
)

// soundSource is the name of the sound that a camera's variants share. It is none
// that a source can have.
const soundSource = "_sound"

// A mixer makes one stream of sound of those of a camera's sources, for a playlist
// that all variants share. It is the sound of one source, that of another when
// the first falls silent for good, and silence where there is neither: a player
// that has begun with sound stands still when there is no more, and a bad audio
// track never costs the video.
//
// Frames are copied, as they are small, and stamped anew on the camera's timeline.
// The muxers of all sources call it; it has no goroutine.
type mixer struct {
	ring  *ring.Ring
	now   func() time.Time
	wall  func(at time.Duration) time.Time
	drops dropCounters

	mu     sync.Mutex
	closed bool
	arena  *media.Arena
	voice  string // the source that is heard
	spoke  time.Time
	seen   map[string]sighting // of sources: their newest picture

	track  *media.Track // nil: there has been no sound yet
	params *media.Params
	sound  sample.Sound
	quiet  silence
	epoch  uint64
	seq    uint64
	old    uint64 // the newest frame that is stale
	wrote  time.Time
	end    int64 // ticks: where the newest frame ends

	from   *media.Track // of the voice, for which offset is good
	offset int64        // ticks from its timeline to media time

	patience time.Duration // how long there may be no sound before it counts as missing
}

// A sighting is a picture that was seen.
type sighting struct {
	when time.Time
	at   time.Duration // media time
}

// Bounds of a mixer.
const (
	soundLate     = 600 * time.Millisecond // the patience, until sound is seen to come later
	soundLatest   = 5 * time.Second        // and then
	silenceBehind = 300 * time.Millisecond // how far silence stays behind pictures: sound may come yet
	voiceLost     = 1500 * time.Millisecond
	longestFill   = 10 * time.Second      // what is further away is another time, and no hole
	offsetSlack   = 30 * time.Millisecond // beyond half a frame: how far sound may be from its place
)

// mixerBuffer is how many frames are on their way to the muxer: silence comes in
// one go.
const mixerBuffer = 2048

func newMixer(pool *media.Pool, config *Config, periods *periods) *mixer {
	return &mixer{
		ring: ring.New(ring.Limits{Buffer: mixerBuffer}), now: config.Now, wall: periods.wall,
		arena: media.NewArena(pool, 4<<10), seen: map[string]sighting{}, patience: soundLate,
	}
}

// close ends the stream.
func (m *mixer) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.ring.Close()
	m.arena.Close()
}

// heard reports whether there has ever been sound.
func (m *mixer) heard() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.track != nil
}

// lose tells that a source has gone away.
func (m *mixer) lose(source string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, source)
	if source == m.voice {
		m.spoke = time.Time{}
	}
}

// see takes note of a source's picture. The time of pictures is what tells that
// sound is missing.
func (m *mixer) see(source string, at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	m.seen[source] = sighting{now, at}
	if m.closed || m.track == nil || source != m.voice && now.Sub(m.seen[m.voice].when) < voiceLost {
		return
	}
	missing := now.Sub(m.spoke) > m.patience
	switch late := at - m.track.Duration(m.end); {
	case late.Abs() > longestFill:
		if missing {
			m.begin(at - silenceBehind)
		}
	case missing, late > soundLatest:
		m.fill(at - silenceBehind)
	}
}

// hear takes a frame of a source's sound, which is heard at a media time. The frame
// stays the caller's.
func (m *mixer) hear(source string, f *media.Frame, at time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	now := m.now()
	if source != m.voice {
		if m.voice != "" && now.Sub(m.spoke) < max(voiceLost, m.patience) {
			return
		}
		m.voice, m.from = source, nil
	}
	if last, known := m.seen[source]; known && (at-last.at).Abs() > longestFill {
		m.drops.add(DropTimeBackwards, 1) // no sound of that picture's
		return
	}
	if n := len(f.Payload()); n == 0 || n > mostSoundBytes(f.Params) || !m.tune(f, at) {
		m.drops.add(DropParameters, 1)
		return
	}
	ticks := m.sound.Ticks(f.Payload())
	next := f.DTS + m.offset
	if m.from != f.Track || (m.track.Duration(next)-at).Abs() > offsetSlack+m.track.Duration(ticks/2) {
		m.from = f.Track
		next = m.track.Ticks(at)
	}
	if m.track.Duration(next-m.end).Abs() > longestFill {
		m.begin(at)
	}
	if gap := next - m.end; gap > ticks/2 {
		m.fill(m.track.Duration(next + ticks/2))
	}
	switch gap := next - m.end; {
	case gap < -ticks/2:
		// Silence has taken its place: it is not so late the next time.
		m.patience = min(max(m.patience, silenceBehind+m.track.Duration(-gap)+soundLate), soundLatest)
		m.drops.add(DropTimeBackwards, 1)
		return
	case gap <= ticks/2:
		next = m.end // frame by frame, so that parts are all of a length
	}
	m.spoke, m.offset = now, next-f.DTS
	m.write(f.Payload(), next, ticks)
}

// tune makes the stream one of a frame's codec, and reports whether it can be.
func (m *mixer) tune(f *media.Frame, at time.Duration) bool {
	if m.track != nil && m.track.ClockRate == f.Track.ClockRate && sample.SameParams(m.params, f.Params) {
		return true
	}
	codec, err := sample.NewSound(f.Track, f.Params)
	if err != nil {
		return false
	}
	m.track = &media.Track{ID: f.Track.ID, Kind: media.KindAudio, Codec: f.Track.Codec, ClockRate: f.Track.ClockRate}
	m.params, m.sound, m.quiet, m.from = f.Params, codec, newSilence(f), nil
	m.begin(at)
	return true
}

// begin lets the stream go on at another time, which does not relate to what was.
func (m *mixer) begin(at time.Duration) {
	m.epoch++
	m.end = m.track.Ticks(max(at, 0))
}

// fill is silent until a media time, by whole frames. Where the codec's silence is
// not known, what comes is behind a hole.
func (m *mixer) fill(until time.Duration) {
	ticks := m.quiet.ticks
	if ticks <= 0 {
		return
	}
	for end := m.track.Ticks(until); m.end+ticks <= end; {
		m.write(m.quiet.frame, m.end, ticks)
	}
}

// staleSound is how long nothing may have been written before what the ring holds is
// of another time: unlike a camera's, it is not written to while nobody watches.
const staleSound = 20 * time.Second

// age notes that what was written is old, if it is. The caller holds mu.
func (m *mixer) age() {
	if m.now().Sub(m.wrote) > staleSound {
		m.old = m.seq
	}
}

// stale returns the number of the newest frame that is old.
func (m *mixer) stale() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.age()
	return m.old
}

// write hands a frame on.
func (m *mixer) write(payload []byte, at, ticks int64) {
	m.arena.Begin()
	if err := m.arena.Append(payload); err != nil {
		return
	}
	f, err := m.arena.Finish()
	if err != nil {
		return
	}
	m.age()
	m.wrote = m.now()
	m.seq++
	f.Track, f.Params, f.Seq, f.Epoch = m.track, m.params, m.seq, m.epoch
	f.PTS, f.DTS, f.Keyframe, f.Entry = at, at, true, true
	f.Wall = m.wall(m.track.Duration(at))
	m.end = at + ticks
	m.ring.Write(f)
}
