//go:build !linux

package wire

import (
	"fmt"
	"time"
)

func queued(int) int64 { return 0 }

func prepare(_ int, congestion string, _ time.Duration) error {
	if congestion != "" {
		return fmt.Errorf("congestion control %q: it can be chosen on Linux only", congestion)
	}
	return nil
}
