package hls

import "time"

// A snapshot is everything of a source that a viewer can ask for at one moment.
// It is immutable but for the forms its documents and segments make of
// themselves once.
type snapshot struct {
	changed chan struct{} // closed when there is a newer snapshot
	ended   bool          // there will be none, and nothing of the source is to be had

	epoch    int64
	target   time.Duration
	media    *document  // nil: there is no whole segment yet
	ts       *document  // nil: not all listed segments can be MPEG-TS
	boxes    *boxesView // nil: there is no whole segment yet, or nobody who sees
	segments []*segment // those that linger, then those listed: consecutive numbers
	variant  variant

	live   *liveView // nil: nobody has asked for low latency of late
	broken int       // how often those who waited were told to wait no longer
}

// after returns a copy that takes the place of n.
func (n *snapshot) after() *snapshot {
	next := *n
	next.changed = make(chan struct{})
	return &next
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

// part returns a part, without a reference to its segment, and whether it is the
// one that comes next.
func (n *snapshot) part(name *name) (p *part, coming bool) {
	if name.epoch != n.epoch {
		return nil, false
	}
	var parts []*part
	if n.live != nil && name.sequence == n.live.msn {
		parts = n.live.parts
		coming = name.part == len(parts)
	} else if s := n.segment(name.epoch, name.sequence); s != nil {
		parts = s.parts
		s.release()
	}
	if name.part >= len(parts) {
		return nil, coming
	}
	return parts[name.part], false
}

// init returns an init segment, or nil.
func (n *snapshot) init(hash string) *object {
	if n.live != nil && n.live.layout != nil && n.live.layout.init.hash == hash {
		return &n.live.layout.init.object
	}
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
	bandwidth, average     int64
	tsBandwidth, tsAverage int64
	codecs, tsCodecs       string
	width, height          int // 0: no picture
	fps                    float64
	channels               int // of sound in fragmented MP4; 0: none, or not known
	ts                     bool
}

// inLive is what the multivariant playlist of low latency says of the source;
// false where there is nothing to play yet.
func (n *snapshot) inLive() (variant, bool) {
	switch {
	case n.media != nil:
		return n.variant, true
	case n.live != nil:
		return n.live.variant, true
	default:
		return variant{}, false
	}
}
