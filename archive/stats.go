package archive

import (
	"cmp"
	"slices"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/core/footage"
)

// Stats is how a recorder is doing.
type Stats struct {
	Disk    disk.Stats
	Space   Space
	Sources []SourceStats
}

// SourceStats is how the recording of one source is doing.
type SourceStats struct {
	Camera, Source string
	Recording      bool              // footage is being written
	Frames         uint64            // taken from the ring
	Dropped        map[string]uint64 // of those, by reason
	Coverage       float64           // of the time that should have been recorded since Drover started
	HasCoverage    bool              // there was such a time
}

// Stats returns how the recorder is doing.
func (r *Recorder) Stats() Stats {
	stats := Stats{Disk: r.writer.Stats(), Space: r.Space()}
	now := r.now()
	r.mu.Lock()
	sources := make([]*source, 0, len(r.sources))
	for _, s := range r.sources {
		sources = append(sources, s)
	}
	r.mu.Unlock()
	slices.SortFunc(sources, func(a, b *source) int {
		return cmp.Or(cmp.Compare(a.key.camera, b.key.camera), cmp.Compare(a.key.source, b.key.source))
	})
	for _, s := range sources {
		taken := takenBy(s.lane.Health()).State == footage.RecordingOn
		one := SourceStats{Camera: s.key.camera, Source: s.key.source, Recording: taken && s.comes(), Frames: s.frames.Load(), Dropped: make(map[string]uint64, int(dropReasons))}
		for reason := range dropReasons {
			one.Dropped[reason.String()] = s.drops[reason].Load()
		}
		one.Coverage, one.HasCoverage = s.ledger.coverage(now)
		stats.Sources = append(stats.Sources, one)
	}
	return stats
}

// Health returns how the archive's disk is doing.
func (r *Recorder) Health() footage.Health {
	space, written := r.Space(), r.writer.Stats()
	return footage.Health{
		Total: space.Total, Free: space.Free, Floor: space.Floor, Rate: space.Rate, HoursLeft: space.HoursLeft, Queued: written.Queued,
		Trouble: string(written.Health.Cause), Detail: written.Health.Detail, Since: written.Health.Since, ClockDoubted: space.DoubtsClock,
	}
}
