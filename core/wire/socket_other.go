//go:build !linux

package wire

import (
	"errors"
	"fmt"
	"time"
)

func sendBytes(int, []byte, bool) (int, error) { return 0, errors.ErrUnsupported }

func receive(int, []byte) (int, error) { return 0, errors.ErrUnsupported }

const canAnswer = false

func queued(int) int64 { return 0 }

func prepare(_ int, congestion string, _ time.Duration) error {
	if congestion != "" {
		return fmt.Errorf("congestion control %q: it can be chosen on Linux only", congestion)
	}
	return nil
}
