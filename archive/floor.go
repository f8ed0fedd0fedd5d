package archive

import "github.com/drover-video/drover/archive/disk"

// A Floor is how much of a disk is kept free. The zero value is the default: a
// twentieth, and a GiB at least, but of a small disk no more than a quarter.
type Floor struct {
	Bytes   int64
	Percent float64 // of the disk
}

// of returns how many bytes that is of a disk.
func (f Floor) of(s disk.Space) int64 {
	switch {
	case f.Bytes > 0:
		return min(f.Bytes, s.Total)
	case f.Percent > 0:
		return int64(float64(s.Total) * f.Percent / 100)
	default:
		return min(max(s.Total/20, 1<<30), s.Total/4)
	}
}

// largestFile is how long a file may become, so that of a small disk enough can be
// deleted at a time.
func largestFile(s disk.Space) int64 { return max(s.Total/64, 1<<20) }
