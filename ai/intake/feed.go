package intake

import (
	"slices"
	"sort"
	"time"

	"github.com/drover-video/drover/core/detection"
)

const (
	// keptReports bounds what is remembered of one camera, and keptFor how long: for
	// listeners that lag, and for boxes in the live stream.
	keptReports = 2048
	keptBytes   = 4 << 20
	keptFor     = 3 * time.Minute
)

// A remembered report, and how much memory it takes.
type remembered struct {
	detection.Numbered
	bytes int
}

// A feed is the newest reports of a camera. It belongs to the holder of Desk.mu.
type feed struct {
	reports []remembered // as they came
	origin  uint64       // the number before the first there ever was
	last    uint64       // number of the newest there ever was
	bytes   int
	changed chan struct{} // closed by the next report
	seen    time.Time     // when something was last seen, by the server's clock
	latest  time.Time     // when a report last came
}

func newFeed(now time.Time) *feed {
	// Milliseconds, so that a listener's last number stays behind those of the next
	// feed.
	origin := uint64(max(now.UnixMilli(), 0))
	return &feed{origin: origin, last: origin, changed: make(chan struct{}), latest: now}
}

func (f *feed) add(r detection.Report, bytes int, now time.Time) {
	f.last++
	f.reports = append(f.reports, remembered{detection.Numbered{Report: r, Number: f.last}, bytes})
	f.bytes += bytes
	f.latest = now
	if len(r.Detections) > 0 {
		f.seen = now
	}
	f.trim(now)
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) trim(now time.Time) {
	n := 0
	for n < len(f.reports) && (len(f.reports)-n > keptReports || f.bytes > keptBytes || f.reports[n].Time.Before(now.Add(-keptFor))) {
		f.bytes -= f.reports[n].bytes
		n++
	}
	if n > 0 {
		f.reports = slices.Delete(f.reports, 0, n)
	}
}

// after returns reports that came after a number. One that this feed never gave out
// misses nothing.
func (f *feed) after(number uint64, limit int) detection.Batch {
	number = min(max(number, f.origin), f.last)
	b := detection.Batch{Changed: f.changed}
	first := f.last - uint64(len(f.reports)) // the number before the oldest
	if number < first {
		b.Missed = first - number
		number = first
	}
	from := int(number - first)
	to := min(from+limit, len(f.reports))
	for i := from; i < to; i++ {
		b.Reports = append(b.Reports, f.reports[i].Numbered)
	}
	b.Last = number + uint64(to-from)
	return b
}

// between returns the reports of frames of a time, by time.
func (f *feed) between(from, to time.Time) []detection.Report {
	var found []detection.Report
	for i := range f.reports {
		if at := f.reports[i].Time; !at.Before(from) && at.Before(to) {
			found = append(found, f.reports[i].Report)
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].Time.Before(found[j].Time) })
	return found
}
