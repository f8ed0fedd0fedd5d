package home_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestMain builds the S3 server, unless whoever runs the tests has done so.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "drover-s3server")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 0
	if os.Getenv(serverVariable) == "" {
		code = build(dir)
	}
	if code == 0 {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// serverVariable says where it is.
const serverVariable = "DROVER_TEST_S3SERVER"

func build(dir string) int {
	binary := filepath.Join(dir, "s3server")
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "build", "-C", "s3server", "-o", binary, ".")
	command.Stdout, command.Stderr = os.Stderr, os.Stderr
	if err := command.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the S3 server:", err)
		return 1
	}
	if err := os.Setenv(serverVariable, binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
