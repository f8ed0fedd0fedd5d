package rtsp

import "github.com/drover-video/drover/ingest/rtsp/session"

// Irregular implements session.Watcher.
func (s *stream) Irregular(_ int, what session.Irregularity, packets int) {
	switch what {
	case session.Reordered:
		s.feed.Reordered(packets)
	case session.KernelDropped:
		s.feed.KernelDropped(packets)
	case session.Late:
		for range packets {
			s.feed.Discard("late_packet")
		}
	case session.Duplicate:
		for range packets {
			s.feed.Discard("duplicate_packet")
		}
	}
}
