package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/drover-video/drover/benchmarks/proc"
)

// sampleEvery is how often the server's process is looked at.
const sampleEvery = 5 * time.Second

// A sample is what the server's process held and had used at one moment.
type sample struct {
	AtSeconds  float64     `json:"at_seconds"`
	Viewers    int64       `json:"viewers"`
	CPUSeconds float64     `json:"cpu_seconds"`
	Memory     proc.Memory `json:"memory"`
}

// watchServer samples the process until the context ends. Without one it only
// waits.
func watchServer(ctx context.Context, pid int, started time.Time, t *tally) []sample {
	if pid == 0 {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(sampleEvery)
	defer ticker.Stop()
	var samples []sample
	for {
		s, err := takeSample(pid, started, t)
		if err != nil {
			fmt.Fprintln(os.Stderr, "herd: the server's process:", err)
			<-ctx.Done()
			return samples
		}
		samples = append(samples, s)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return samples
		}
	}
}

func takeSample(pid int, started time.Time, t *tally) (sample, error) {
	cpu, err := proc.CPU(pid)
	if err != nil {
		return sample{}, err
	}
	memory, err := proc.MemoryOf(pid)
	if err != nil {
		return sample{}, err
	}
	return sample{time.Since(started).Seconds(), t.viewers.Load(), cpu.Seconds(), memory}, nil
}

// usage is what the server's process used while it was measured.
type usage struct {
	Seconds    float64 `json:"seconds"`
	CPUSeconds float64 `json:"cpu_seconds"`
}

// watchUsage reads what the process has used at the end of the warm-up and when
// the context ends. It sends nil without a process, or where it cannot be read.
func watchUsage(ctx context.Context, o options) <-chan *usage {
	result := make(chan *usage, 1)
	if o.pid == 0 {
		result <- nil
		return result
	}
	go func() {
		timer := time.NewTimer(o.warmup)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
		from := time.Now()
		before, err := proc.ThreadCPU(o.pid)
		<-ctx.Done()
		after, errAfter := proc.ThreadCPU(o.pid)
		if err = errors.Join(err, errAfter); err != nil {
			fmt.Fprintln(os.Stderr, "herd: the server's process:", err)
			result <- nil
			return
		}
		result <- &usage{Seconds: time.Since(from).Seconds(), CPUSeconds: (after - before).Seconds()}
	}()
	return result
}
