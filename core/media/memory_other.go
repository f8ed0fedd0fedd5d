//go:build !linux

package media

// allocate returns zeroed memory, here of Go's heap.
func allocate(size int) ([]byte, error) { return make([]byte, size), nil }

// free leaves memory to the collector.
func free([]byte) {}
