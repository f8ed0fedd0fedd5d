package archive

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain lets the test binary be the process that is killed, too.
func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDirVariable); dir != "" {
		if err := recordForEver(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}
