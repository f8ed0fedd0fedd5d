//go:build !linux

package memfile

// Sendable reports whether there are such files on this system.
const Sendable = false

func create([][]byte, int64) (int, error) { return -1, ErrUnsupported }

func release(int) {}

func readAt(int, []byte, int64) (int, error) { return 0, ErrUnsupported }

func sendFile(int, int, int64, int64) (int, error) { return 0, ErrUnsupported }
