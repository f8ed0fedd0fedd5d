package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startTime bounds how long a process may take to get ready.
const startTime = time.Minute

// A process is one that compare has started. Its output goes to a file.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
}

// start runs a program on some processors only: all it starts inherits them.
func start(folder string, cores unix.CPUSet, environment []string, name string, arguments ...string) (*process, error) {
	p := &process{command: exec.Command(name, arguments...), ended: make(chan struct{})}
	output, err := os.CreateTemp(folder, filepath.Base(name)+"-*.log")
	if err != nil {
		return nil, err
	}
	defer output.Close() // the child has its own
	p.log = output.Name()
	p.command.Env = append(os.Environ(), environment...)
	p.command.Stdout, p.command.Stderr = output, output
	// Ctrl-C in the terminal reaches this program alone, which ends the others.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		defer close(p.ended)
		err := pin(cores)
		if err == nil {
			err = p.command.Start()
		}
		started <- err
		if err == nil {
			_ = p.command.Wait() // how it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return p, nil
}

// pin gives the goroutine a thread of its own that has these processors, for as
// long as the goroutine runs: a child begins with those of the thread that started
// it, and ends with it (Pdeathsig).
func pin(cores unix.CPUSet) error {
	runtime.LockOSThread()
	return unix.SchedSetaffinity(0, &cores)
}

// only returns the set of one core, and others all but it, if there are others.
func only(core int) (set unix.CPUSet) {
	set.Set(core)
	return set
}

func others(core int) (set unix.CPUSet) {
	for i := range runtime.NumCPU() {
		if i != core || runtime.NumCPU() == 1 {
			set.Set(i)
		}
	}
	return set
}

// stop ends the process and waits for it.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

func (p *process) pid() int { return p.command.Process.Pid }

func (p *process) output() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(text))
}

// await tries again until done, or until the process or the time has ended.
func (p *process) await(ctx context.Context, what string, done func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.ended:
			return fmt.Errorf("%s: the process has ended: %s", what, p.output())
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s: %w\n%s", what, err, lastLines(p.output()))
		}
	}
}

func lastLines(text string) string {
	lines := strings.Split(text, "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}
