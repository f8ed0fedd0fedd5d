package archive

import "time"

const (
	// lateness is how long a file system may take to show the room that a deleted file
	// has left: many free it in the background. After that somebody else has taken it,
	// or the file is open.
	lateness = 30 * time.Second

	// lateWhenFull is how long that is waited for while the disk takes nothing.
	lateWhenFull = 5 * time.Second
)

// A late is what was deleted and does not show in the disk's free space yet: deleted
// again and again until it does, all would go.
type late struct {
	deleted []deletion
	free    int64  // of the disk, at the last look
	written uint64 // to it, until then
}

type deletion struct {
	at    time.Time
	bytes int64
}

// add tells that bytes were deleted.
func (l *late) add(now time.Time, bytes int64) {
	if bytes > 0 {
		l.deleted = append(l.deleted, deletion{now, bytes})
	}
}

// look returns how many bytes are still to show. What the free space has grown by, and
// what was written although it has not shrunk, has shown.
func (l *late) look(now time.Time, free int64, written uint64, patience time.Duration) (bytes int64) {
	shown := free - l.free + int64(written-l.written)
	l.free, l.written = free, written
	left := l.deleted[:0]
	for _, d := range l.deleted {
		seen := min(max(shown, 0), d.bytes)
		shown -= seen
		if d.bytes -= seen; d.bytes == 0 || now.Sub(d.at) >= patience || now.Before(d.at) {
			continue
		}
		left = append(left, d)
		bytes += d.bytes
	}
	l.deleted = left
	return bytes
}
