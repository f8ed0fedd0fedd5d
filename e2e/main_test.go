//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// TestMain builds the binary that all tests start, as it is shipped.
func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "drover-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	if err := buildBinary(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.RemoveAll(folder)
	os.Exit(code)
}

// binaryVariable tells the tests where the binary is.
const binaryVariable = "DROVER_E2E_BINARY"

func buildBinary(folder string) error {
	binary := filepath.Join(folder, "drover")
	build := exec.Command("go", "build", "-o", binary, "../cmd/drover")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build drover: %w\n%s", err, output)
	}
	return os.Setenv(binaryVariable, binary)
}
