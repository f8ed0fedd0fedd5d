package conform

import (
	"bytes"
	"time"
)

// What media may be off by from what a playlist says of it.
const (
	pictureSlack = time.Millisecond
	soundSlack   = 60 * time.Millisecond // the last frame of a fragment may be of a duration that is guessed
)

// A mediaChecker holds the bytes of segments and parts against the playlist, and
// against each other.
type mediaChecker struct {
	*Checker
	inits map[string][]Track
	ends  map[uint32]time.Duration // of tracks: where the last fragment ended
	next  place                    // that goes on from there; whole segments are part -1

	began func(s Segment, at time.Duration) // told of the media time at which a segment begins

	bytes map[uint64][]byte // of the parts of segments that are not whole yet
}

func newMediaChecker(c *Checker) *mediaChecker {
	return &mediaChecker{Checker: c, inits: map[string][]Track{}, bytes: map[uint64][]byte{}}
}

func (m *mediaChecker) init(uri string, data []byte) {
	tracks, err := ParseInit(data)
	if err != nil {
		m.Fail("3: %s: %v", uri, err)
		return
	}
	m.inits[uri] = tracks
}

// part takes a part's bytes. Parts come in their order; where one is left out,
// what comes does not have to go on from what was before.
func (m *mediaChecker) part(s Segment, index int, data []byte) {
	part := s.Parts[index]
	fragments := m.fragments(part.URI, data)
	if fragments == nil {
		return
	}
	if len(fragments) != 1 {
		m.Fail("3: part %s has %d fragments", part.URI, len(fragments))
	}
	at := place{s.Sequence, index}
	m.follow(part.URI, s.MapURI, fragments, part.Duration, at == m.next && !(s.Discontinuity && index == 0))
	if sync := fragments[0].Runs[0].Sync; sync != part.Independent {
		m.Fail("4.4.4.9: part %s is said to be independent: %v, and is: %v", part.URI, part.Independent, sync)
	}
	if index == 0 {
		m.bytes[s.Sequence] = []byte{}
		m.tellBegin(s, fragments)
	}
	if before, whole := m.bytes[s.Sequence]; whole && at == m.next || index == 0 {
		m.bytes[s.Sequence] = append(before, data...)
	} else {
		delete(m.bytes, s.Sequence)
	}
	m.next = place{s.Sequence, index + 1}
}

// partsEnd tells that a segment is whole: what comes is the first part of the next.
func (m *mediaChecker) partsEnd(s Segment) {
	if m.next == (place{s.Sequence, len(s.Parts)}) {
		m.next = place{s.Sequence + 1, 0}
	}
}

// segment takes a whole segment's bytes. Where its parts were seen they must be
// the same.
func (m *mediaChecker) segment(s Segment, data []byte) {
	if parts, seen := m.bytes[s.Sequence]; seen {
		delete(m.bytes, s.Sequence)
		if !bytes.Equal(parts, data) {
			m.Fail("3: segment %s of %d bytes is not its parts, which have %d", s.URI, len(data), len(parts))
		}
		return
	}
	fragments := m.fragments(s.URI, data)
	if fragments == nil {
		return
	}
	at := place{s.Sequence, -1}
	m.follow(s.URI, s.MapURI, fragments, s.Duration, at == m.next && !s.Discontinuity)
	m.tellBegin(s, fragments)
	if !fragments[0].Runs[0].Sync {
		m.Fail("4.3.5.1: segment %s begins with a picture that needs others", s.URI)
	}
	m.next = place{s.Sequence + 1, -1}
}

func (m *mediaChecker) tellBegin(s Segment, fragments []Fragment) {
	for _, t := range m.inits[s.MapURI] {
		if run := fragments[0].Runs[0]; t.ID == run.Track && m.began != nil {
			m.began(s, t.time(run.Base+uint64(max(run.Offset, 0))))
		}
	}
}

func (m *mediaChecker) fragments(uri string, data []byte) []Fragment {
	fragments, err := ParseFragments(data)
	if err != nil || len(fragments) == 0 {
		m.Fail("3: %s: %d fragments, %v", uri, len(fragments), err)
		return nil
	}
	return fragments
}

// follow holds fragments against where the last ones ended, if they go on from
// them, and the leading track's duration against the playlist's.
func (m *mediaChecker) follow(uri, mapURI string, fragments []Fragment, duration time.Duration, goesOn bool) {
	tracks := map[uint32]Track{}
	for _, t := range m.inits[mapURI] {
		tracks[t.ID] = t
	}
	if len(tracks) == 0 {
		return // the init segment could not be had, which was said
	}
	if !goesOn {
		m.ends = map[uint32]time.Duration{}
	}
	lead := time.Duration(0)
	for _, f := range fragments {
		for i, run := range f.Runs {
			track, known := tracks[run.Track]
			if !known {
				m.Fail("3: %s has track %d, of which its map says nothing", uri, run.Track)
				continue
			}
			begin, lasts := track.time(run.Base), track.time(run.Duration)
			slack := pictureSlack
			if !track.Video {
				slack = soundSlack
			}
			if end, goesOn := m.ends[run.Track]; goesOn && (begin-end).Abs() > slack {
				m.Fail("3: track %d of %s begins at %v, the one before ended at %v", run.Track, uri, begin, end)
			}
			m.ends[run.Track] = begin + lasts
			if i == 0 {
				lead += lasts
			}
		}
	}
	if (lead - duration).Abs() > pictureSlack {
		m.Fail("4.4.4: %s lasts %v, the playlist says %v", uri, lead, duration)
	}
}

func (t Track) time(ticks uint64) time.Duration {
	rate := uint64(t.Timescale)
	return time.Duration(ticks/rate)*time.Second + time.Duration(ticks%rate*uint64(time.Second)/rate)
}
