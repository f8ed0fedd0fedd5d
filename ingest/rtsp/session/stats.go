package session

import "sync/atomic"

// counters count what was left out, by reason.
type counters struct {
	unknownChannel, invalid, strangers, earlyDropped, truncated atomic.Uint64
}

// Stats count what a session left out of what it received, and what came of
// each track.
type Stats struct {
	GarbageBytes   uint64 // between frames
	Resyncs        uint64 // times that framing was lost and found
	UnknownChannel uint64 // frames for no media
	Invalid        uint64 // packets that are neither RTP nor RTCP
	Strangers      uint64 // datagrams from elsewhere
	EarlyDropped   uint64 // frames before Run that found no room
	Truncated      uint64 // datagrams larger than their buffer

	Tracks []TrackStats // in the order of Setup
}

// TrackStats are those of one media that was set up.
type TrackStats struct {
	Media         int
	Received      uint64 // RTP packets that came, in all
	Lost          uint64 // that did not come in time
	Reordered     uint64 // that came after later ones, but in time
	Late          uint64 // of those lost, that came after all
	Duplicates    uint64
	KernelDropped uint64 // of those lost, that the receive buffer had no room for

	// ReceiveBufferBytes is what the kernel granted for the socket of UDP, as
	// it counts: about half of it is for packets. 0 if unknown.
	ReceiveBufferBytes int
}

// Stats returns the counts so far. A Handler must not call it.
func (s *Session) Stats() Stats {
	stats := Stats{
		GarbageBytes:   s.talk.in.garbageBytes.Load(),
		Resyncs:        s.talk.in.resyncs.Load(),
		UnknownChannel: s.counters.unknownChannel.Load(),
		Invalid:        s.counters.invalid.Load(),
		Strangers:      s.counters.strangers.Load(),
		EarlyDropped:   s.counters.earlyDropped.Load(),
		Truncated:      s.counters.truncated.Load(),
	}
	s.delivery.Lock()
	tracks := s.tracks
	s.delivery.Unlock()
	for _, t := range tracks {
		c := &t.window.counts
		each := TrackStats{
			Media: t.media, Received: c.received.Load(), Lost: c.lost.Load(), Reordered: c.reordered.Load(),
			Late: c.late.Load(), Duplicates: c.duplicates.Load(), KernelDropped: c.kernelDropped.Load(),
		}
		if t.udp != nil {
			each.ReceiveBufferBytes = t.udp.granted
		}
		stats.Tracks = append(stats.Tracks, each)
	}
	return stats
}
