package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// namespaceVariable tells the process in the namespace that it is there.
const namespaceVariable = "DROVER_COMPARE_NAMESPACE"

func inNamespace() bool { return os.Getenv(namespaceVariable) != "" }

const congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"

// runInNamespace runs this program again in a network namespace of its own, with
// TCP that is the same on every machine: under BBR, which paces what it sends,
// sendfile over loopback costs two to five times as much. It reports false where
// such a namespace may not be made.
func runInNamespace(ctx context.Context) (entered bool, err error) {
	if os.Getuid() != 0 {
		return false, nil
	}
	self, err := os.Executable()
	if err != nil {
		return false, err
	}
	command := exec.CommandContext(ctx, self, os.Args[1:]...)
	command.Env = append(os.Environ(), namespaceVariable+"=1")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		return false, err
	}
	var exit *exec.ExitError
	if err := command.Wait(); errors.As(err, &exit) {
		return true, errors.New("in the namespace, see above")
	} else if err != nil {
		return true, err
	}
	return true, nil
}

// prepareNetwork makes the namespace's network usable, and says what it is like.
func prepareNetwork() (string, error) {
	if inNamespace() {
		if output, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
			return "", fmt.Errorf("ip link set lo up: %w: %s", err, output)
		}
		if err := os.WriteFile(congestionFile, []byte("reno"), 0); err != nil {
			return "", err
		}
	}
	congestion, err := os.ReadFile(congestionFile)
	if err != nil {
		return "", err
	}
	where := "in the machine's own network"
	if inNamespace() {
		where = "in a network namespace"
	}
	return fmt.Sprintf("loopback %s, tcp_congestion_control=%s", where, strings.TrimSpace(string(congestion))), nil
}
