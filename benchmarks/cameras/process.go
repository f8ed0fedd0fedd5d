package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// startTime bounds how long a process may take to get ready.
const startTime = time.Minute

// A process is one of the two that are measured. Its output goes to a file.
type process struct {
	command *exec.Cmd
	log     string
	ended   chan struct{}
}

func start(log string, extra []string, name string, arguments ...string) (*process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer output.Close() // the child has its own
	p := &process{command: exec.Command(name, arguments...), log: log, ended: make(chan struct{})}
	p.command.Env = append(os.Environ(), extra...)
	p.command.Stdout, p.command.Stderr = output, output
	// A process of its own group is not hit by the terminal's Ctrl-C, but ended by stop.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() {
		defer close(p.ended)
		_ = p.command.Wait() // how it ended is in its log
	}()
	return p, nil
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

// tail returns the last lines that the process said.
func (p *process) tail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(len(lines)-10, 0):], "\n")
}

// await tries again until done, or until the process or the time has ended.
func (p *process) await(ctx context.Context, what string, done func() error) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := done()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-p.ended:
			return fmt.Errorf("%s: the process has ended: %s", what, p.tail())
		case <-ctx.Done():
			return fmt.Errorf("waited in vain until %s: %w", what, err)
		}
	}
}

// startSimulator returns when all its cameras can be pulled, with their URLs.
func startSimulator(ctx context.Context, o options, folder string) (*process, []string, error) {
	p, err := start(filepath.Join(folder, "simcam.log"), nil, o.simcam,
		"-listen", "127.0.0.1:0", "-cameras", fmt.Sprint(o.cameras), "-clip", o.clip, "-audio", o.audio, "-start", "next")
	if err != nil {
		return nil, nil, err
	}
	var urls []string
	err = p.await(ctx, "the simulator is ready", func() error {
		text, err := os.ReadFile(p.log)
		if err != nil {
			return err
		}
		urls = readyURLs(string(text))
		if len(urls) < o.cameras {
			return fmt.Errorf("%d of %d cameras are ready", len(urls), o.cameras)
		}
		return nil
	})
	if err != nil {
		p.stop()
		return nil, nil, err
	}
	return p, urls, nil
}

// readyURLs reads the lines "ready URL" that the simulator begins with.
func readyURLs(text string) []string {
	var urls []string
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if url, found := strings.CutPrefix(lines.Text(), "ready "); found {
			urls = append(urls, url)
		}
	}
	return urls
}

// A server is the process under test.
type server struct {
	*process
	address  string
	profiles string // address of its profiles, "" without
}

func startServer(ctx context.Context, o options, folder string, urls []string) (*server, error) {
	var config strings.Builder
	config.WriteString("cameras:\n")
	if o.record == 0 {
		for i, url := range urls {
			fmt.Fprintf(&config, "  cam%d: %s\n", i+1, url)
		}
	}
	file := filepath.Join(folder, "drover.yaml")
	if err := os.WriteFile(file, []byte(config.String()), 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	environment := []string{"DROVER_HTTP_ADDRESS=" + address, "DROVER_DATA_DIR=" + filepath.Join(cmp.Or(o.data, folder), "data")}
	arguments := []string{"serve", "--config", file}
	profiles := ""
	if o.profile {
		if profiles, err = freeAddress(); err != nil {
			return nil, err
		}
		arguments = append(arguments, "--pprof", profiles)
	}
	p, err := start(filepath.Join(folder, "drover.log"), environment, o.server, arguments...)
	if err != nil {
		return nil, err
	}
	s := &server{process: p, address: address, profiles: profiles}
	if o.record > 0 {
		if err := s.addCameras(ctx, urls); err != nil {
			p.stop()
			return nil, err
		}
	}
	return s, nil
}

// awaitLive waits until the server says that so many cameras are live.
func (s *server) awaitLive(ctx context.Context, cameras int) error {
	return s.await(ctx, fmt.Sprintf("%d cameras are live", cameras), func() error {
		m, err := s.metrics(ctx)
		if err != nil {
			return err
		}
		if live := int(m.sum("drover_cameras", `state="live"`)); live < cameras {
			return fmt.Errorf("%d are", live)
		}
		return nil
	})
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
