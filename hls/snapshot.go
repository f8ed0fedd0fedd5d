package hls

import "time"

// A snapshot is everything of a source that a viewer can ask for at one moment.
// It is immutable but for the forms its documents and segments make of
// themselves once.
type snapshot struct {
	epoch    int64
	target   time.Duration
	media    *document
	ts       *document  // nil: not all listed segments can be MPEG-TS
	segments []*segment // those that linger, then those listed: consecutive numbers
	variant  variant
}

// segment returns a segment with a reference for the caller, or nil.
func (n *snapshot) segment(epoch int64, sequence uint64) *segment {
	if epoch != n.epoch || len(n.segments) == 0 {
		return nil
	}
	first := n.segments[0].sequence
	if sequence < first || sequence-first >= uint64(len(n.segments)) {
		return nil
	}
	s := n.segments[sequence-first]
	if !s.acquire() {
		return nil // it has left the window since the snapshot was taken
	}
	return s
}

// init returns an init segment, or nil.
func (n *snapshot) init(hash string) *object {
	for i := len(n.segments) - 1; i >= 0; i-- {
		if in := n.segments[i].layout.init; in.hash == hash {
			return &in.object
		}
	}
	return nil
}

// variant is what the multivariant playlist says of a source. It is compared
// with ==.
type variant struct {
	bandwidth, average int64
	codecs, tsCodecs   string
	width, height      int
	fps                float64
	ts                 bool
}
