package intake

import "time"

// A bucket fills by rate per second up to two seconds' worth, and is taken from.
type bucket struct {
	level float64
	at    time.Time
}

const burst = 2 // seconds of rate

// fill brings the bucket up to now.
func (b *bucket) fill(now time.Time, rate float64) {
	if b.at.IsZero() {
		b.level, b.at = burst*rate, now
		return
	}
	if passed := now.Sub(b.at).Seconds(); passed > 0 {
		b.level, b.at = min(burst*rate, b.level+passed*rate), now
	}
}

// lacks returns how long it takes until there is as much as is wanted; 0: it is there.
func (b *bucket) lacks(amount, rate float64) time.Duration {
	if missing := min(amount, burst*rate) - b.level; missing > 0 {
		return time.Duration(missing / rate * float64(time.Second))
	}
	return 0
}

// maxMeters bounds the workers that are known: their names are their own choice.
const maxMeters = 4096

// A meter is the buckets of one worker on one camera.
type meter struct{ reports, bytes bucket }

type meterKey struct{ camera, worker string }

// meters holds workers to their rates. It belongs to the holder of Desk.mu.
type meters struct {
	limits Limits
	all    bucket
	each   map[meterKey]*meter
}

// take returns 0 and counts a report, or says how long to wait.
func (m *meters) take(key meterKey, bytes int, now time.Time) time.Duration {
	one := m.each[key]
	if one == nil {
		if len(m.each) >= maxMeters {
			m.sweep(now)
		}
		if len(m.each) >= maxMeters {
			return time.Second
		}
		one = &meter{}
		m.each[key] = one
	}
	m.all.fill(now, m.limits.AllReports)
	one.reports.fill(now, m.limits.WorkerReports)
	one.bytes.fill(now, m.limits.WorkerBytes)
	wait := max(m.all.lacks(1, m.limits.AllReports), one.reports.lacks(1, m.limits.WorkerReports), one.bytes.lacks(float64(bytes), m.limits.WorkerBytes))
	if wait == 0 {
		m.all.level--
		one.reports.level--
		one.bytes.level -= float64(bytes)
	}
	return wait
}

// sweep forgets workers that have not reported for so long that their buckets are full.
func (m *meters) sweep(now time.Time) {
	for key, one := range m.each {
		if now.Sub(one.reports.at) > burst*time.Second {
			delete(m.each, key)
		}
	}
}
