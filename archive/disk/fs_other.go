//go:build !linux

package disk

import "math"

// WriteBuffers implements File.
func (f osFile) WriteBuffers(buffers [][]byte, offset int64) (int64, error) {
	written := int64(0)
	for _, b := range buffers {
		n, err := f.WriteAt(b, offset+written)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Begin implements File: there is no such hint here.
func (f osFile) Begin(int64, int64) {}

// Forget implements File: there is no such hint here.
func (f osFile) Forget(int64, int64) {}

// syncDir: systems other than Linux write names by themselves, or not at all.
func syncDir(string) error { return nil }

// space is not known here: the disk is never full until it says so.
func space(string) (Space, error) { return Space{Total: math.MaxInt64, Free: math.MaxInt64}, nil }
