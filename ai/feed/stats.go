package feed

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"
)

// tally counts what a worker got and missed. Sinks count, and streams what never came to
// those.
type tally struct{ sent, bytes, missed atomic.Uint64 }

type counts struct{ sent, bytes, missed uint64 }

func (t *tally) counts() counts {
	return counts{sent: t.sent.Load(), bytes: t.bytes.Load(), missed: t.missed.Load()}
}

func (c counts) plus(o counts) counts {
	return counts{c.sent + o.sent, c.bytes + o.bytes, c.missed + o.missed}
}

// Sent counts a frame that the worker was given.
func (s *Subscription) Sent(bytes int) {
	s.counts.sent.Add(1)
	s.counts.bytes.Add(uint64(bytes))
}

// Missed counts frames that the worker wanted and was too slow for.
func (s *Subscription) Missed(frames uint64) { s.counts.missed.Add(frames) }

// WorkerStats is what all workers of one name got.
type WorkerStats struct {
	Worker  string
	Open    int // subscriptions now
	Streams int // cameras that they take now
	Sent    uint64
	Bytes   uint64
	Missed  uint64
}

// Stats is what workers got.
type Stats struct {
	Workers []WorkerStats // by name
	Refused uint64        // for there were too many
}

// maxPastWorkers is how many names of workers that have gone are remembered: names are
// theirs to choose. What others got is counted together, as of "others".
const maxPastWorkers = 64

const others = "others"

// remember adds up what a worker got that goes. The caller holds h.mu.
func (h *Hub) remember(s *Subscription) {
	name := s.request.Worker
	if _, known := h.past[name]; !known && len(h.past) >= maxPastWorkers {
		name = others
	}
	h.past[name] = h.past[name].plus(s.counts.counts())
}

// Stats returns what workers have got since the server started.
func (h *Hub) Stats() Stats {
	h.mu.Lock()
	defer h.mu.Unlock()
	byName := map[string]*WorkerStats{}
	of := func(name string) *WorkerStats {
		if byName[name] == nil {
			byName[name] = &WorkerStats{Worker: name}
		}
		return byName[name]
	}
	add := func(w *WorkerStats, c counts) {
		w.Sent += c.sent
		w.Bytes += c.bytes
		w.Missed += c.missed
	}
	for name, c := range h.past {
		add(of(name), c)
	}
	for s := range h.subscriptions {
		w := of(s.request.Worker)
		w.Open++
		w.Streams += len(s.streams)
		add(w, s.counts.counts())
	}
	stats := Stats{Refused: h.refused}
	for _, w := range slices.SortedFunc(maps.Values(byName), func(a, b *WorkerStats) int { return cmp.Compare(a.Worker, b.Worker) }) {
		stats.Workers = append(stats.Workers, *w)
	}
	return stats
}
