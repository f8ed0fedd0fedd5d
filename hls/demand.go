package hls

import "github.com/drover-video/drover/core/admission"

// Demand implements admission.Meter: what a viewer of a camera asks of the server
// is its best source, with its sound.
func (h *Hub) Demand(camera string) (admission.Demand, bool) {
	c, ok := h.find(camera)
	if !ok {
		return admission.Demand{}, false
	}
	demand := admission.Demand{SentBytes: c.sent.Load()}
	sound := int64(0) // where it is apart
	for _, m := range *c.muxers.Load() {
		n := m.published.Load()
		if m.derived {
			sound = n.variant.average
		} else {
			demand.Bitrate = max(demand.Bitrate, n.variant.average)
		}
		demand.Target = max(demand.Target, n.target)
	}
	demand.Bitrate += sound
	return demand, true
}

// SentBytes implements admission.Meter.
func (h *Hub) SentBytes() uint64 {
	h.mu.RLock()
	defer h.mu.RUnlock()
	sum := uint64(0)
	for _, c := range h.cameras {
		sum += c.sent.Load()
	}
	return sum
}
