package archive

import (
	"sync"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
)

const (
	// patience is how long footage may be missing before the gap is told while it
	// still goes on. What is shorter is told when it is over.
	patience = 5 * time.Second

	// maxEntries bounds what waits to be written down while the index hangs.
	maxEntries = 256
)

// A ledger keeps what is missing of one stream, from when to when, and why. It is told
// of footage by the disk's goroutine, of states by others, and writes nothing itself:
// what is to be written down is taken by the recorder's books.
type ledger struct {
	mu      sync.Mutex
	covered time.Time // up to here all is told; zero: nothing was ever recorded
	open    bool      // a gap was told that goes on from covered
	openBy  index.Cause
	counted time.Time     // up to here the open gap is in missing, where it counts
	heard   time.Time     // when footage was last written: its own time may be another clock's
	why     reason        // why nothing comes now; its cause is "" where something should
	lately  []lost        // why nothing came, from when to when, since the last footage
	lost    []lost        // what was not written since, oldest first
	leapt   time.Duration // by which the clock was set before what was not written
	entries []entry

	frames, missing time.Duration // covered and missing since the recorder began, without what nobody asked for
}

// A reason says why footage is missing.
type reason struct {
	cause  index.Cause
	detail string
	since  time.Time
}

// lost is a time of which nothing was written, for a reason.
type lost struct {
	from, to time.Time
	reason
}

// An entry is to be written down.
type entry struct {
	gap   index.Gap // without its stream
	close time.Time // not zero: what goes on ends here
	back  time.Time // not zero: the clock was set back to here
}

func (e *entry) isGap() bool { return e.close.IsZero() && e.back.IsZero() }

// outcome takes what became of a fragment, as it is known at a time.
func (l *ledger) outcome(o disk.Outcome, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.Written {
		l.wrote(o, now)
		return
	}
	l.leapt += o.Leap
	if n := len(l.lost); n > 0 && (l.lost[n-1].cause == o.Cause || n >= maxEntries) {
		l.lost[n-1].to = o.End
		return
	}
	l.lost = append(l.lost, lost{o.Start, o.End, reason{o.Cause, o.Detail, o.Start}})
}

func (l *ledger) wrote(o disk.Outcome, now time.Time) {
	leap := l.leapt + o.Leap
	due := o.Start.Add(-leap) // when it would begin by a clock that nobody set
	missing, end := due.Sub(l.covered), o.Start
	if leap > 0 {
		end = due
	}
	switch {
	case l.open:
		l.entries = append(l.entries, entry{close: end})
		l.count(due)
		l.open = false
	case l.covered.IsZero(), missing <= o.Slack:
	default:
		r := l.reasonFor(o)
		l.add(entry{gap: index.Gap{From: l.covered, To: end, Cause: r.cause, Detail: r.detail}})
		if r.cause != index.CauseRequest {
			l.missing += missing
		}
	}
	if leap > 0 && !l.covered.IsZero() {
		l.add(entry{gap: index.Gap{From: later(l.covered, end), To: o.Start, Cause: index.CauseUnknown, Detail: "the clock was set ahead, or this machine slept"}})
	}
	l.leapt = 0
	l.heard = now
	l.frames += o.End.Sub(o.Start)
	switch {
	case o.End.After(l.covered):
		l.covered = o.End
	case l.covered.Sub(o.End) > mostOverlap: // the clock was set back
		if len(l.entries) < maxEntries {
			l.entries = append(l.entries, entry{back: o.Start})
		}
		l.covered = o.End
	}
	l.lost, l.lately = after(l.lost, l.covered), after(l.lately, l.covered)
}

// count counts what is missing of the open gap up to a time, by the cause that it has
// until then.
func (l *ledger) count(to time.Time) {
	if l.openBy != index.CauseRequest {
		l.missing += max(0, to.Sub(l.counted))
	}
	l.counted = to
}

// after leaves what ends after a time.
func after(list []lost, t time.Time) []lost {
	for len(list) > 0 && !list[0].to.After(t) {
		list = list[1:]
	}
	return list
}

// overlap returns the first of a list that overlaps a time.
func overlap(list []lost, from, to time.Time) (reason, bool) {
	for i := range list {
		if list[i].from.Before(to) && list[i].to.After(from) {
			return list[i].reason, true
		}
	}
	return reason{}, false
}

// reasonFor returns why something is missing before a fragment.
func (l *ledger) reasonFor(o disk.Outcome) reason {
	if r, ok := overlap(l.lost, l.covered, o.Start); ok {
		return r
	}
	if r, ok := overlap(l.lately, l.covered, o.Start); ok {
		return r
	}
	switch {
	case l.why.cause != "" && l.why.since.Before(o.Start):
		return l.why
	case o.Busy:
		return reason{cause: index.CauseUnknown, detail: "Drover was too busy to take what came"}
	case o.Lost:
		return reason{cause: index.CauseLoss, detail: "packets did not arrive, and with them pictures"}
	default:
		return reason{cause: index.CauseNetwork, detail: "nothing came"}
	}
}

// add notes an entry. Of too many, the newest two become one: the index hangs.
func (l *ledger) add(e entry) {
	if n := len(l.entries); n >= maxEntries && l.entries[n-1].isGap() && e.isGap() {
		l.entries[n-1].gap.To = e.gap.To
		return
	}
	l.entries = append(l.entries, e)
}

// absent tells why nothing will come from now on.
func (l *ledger) absent(cause index.Cause, detail string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why.cause == cause {
		l.why.detail = detail
		return
	}
	l.over(at)
	l.why = reason{cause, detail, at}
}

// over notes that what kept footage from coming does not any more.
func (l *ledger) over(at time.Time) {
	if l.why.cause == "" {
		return
	}
	if len(l.lately) >= maxEntries {
		l.lately = l.lately[1:]
	}
	l.lately = append(l.lately, lost{l.why.since, at, l.why})
}

// present tells that something should come from now on.
func (l *ledger) present(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.over(at)
	l.why = reason{}
}

// expected tells that something should come, though nothing is known of the camera
// yet. What kept it from coming before holds until then, unless nobody wanted it.
func (l *ledger) expected(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.why.cause == "" || l.why.cause == index.CauseRequest || l.why.cause == index.CauseCameraOff {
		l.over(now)
		l.why = reason{index.CauseNetwork, "connecting", now}
	}
}

// begin tells up to where everything has been told before.
func (l *ledger) begin(covered time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.covered = covered
}

// take returns what is to be written down at a time, gaps that go on included.
func (l *ledger) take(now time.Time) []entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.heard.IsZero() {
		l.heard = now
	}
	if r, ok := l.goesOn(now); ok && !l.covered.IsZero() && !(l.open && l.openBy == r.cause) {
		from := l.covered
		if l.open { // another cause took over
			if from = l.counted; r.since.After(from) {
				from = r.since
			}
			l.count(from)
		}
		l.entries = append(l.entries, entry{gap: index.Gap{From: from, Cause: r.cause, Detail: r.detail}})
		l.open, l.openBy, l.counted = true, r.cause, from
	}
	entries := l.entries
	l.entries = nil
	return entries
}

// goesOn returns why nothing has come for a while.
func (l *ledger) goesOn(now time.Time) (reason, bool) {
	silent := now.Sub(l.heard)
	switch {
	case l.why.cause != "" && now.Sub(l.why.since) > patience:
		return l.why, true
	case len(l.lost) > 0 && silent > patience:
		return l.lost[len(l.lost)-1].reason, true
	case l.open || silent < 12*patience:
		return reason{}, false
	case len(l.lately) > 0:
		return l.lately[len(l.lately)-1].reason, true
	default:
		return reason{cause: index.CauseNetwork, detail: "nothing comes"}, true
	}
}

// again gives entries back that could not be written down.
func (l *ledger) again(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(entries, l.entries...)
}

// coverage returns how much of the time that should have been recorded was, from 0 to
// 1; false where there was no such time.
func (l *ledger) coverage(now time.Time) (float64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	missing := l.missing
	if l.open && l.openBy != index.CauseRequest {
		missing += max(0, now.Sub(l.counted))
	}
	if l.frames+missing <= 0 {
		return 0, false
	}
	return float64(l.frames) / float64(l.frames+missing), true
}
