//go:build !linux

package play

import "errors"

// SendTo implements wire.Sendable, of which nothing is asked here.
func (r *fileReader) SendTo(int, int64) (int, error) { return 0, errors.ErrUnsupported }
