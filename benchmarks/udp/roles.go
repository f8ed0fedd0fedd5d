package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsp"
)

// counts are what the puller's process did up to a moment.
type counts struct {
	at            time.Time
	user, system  time.Duration
	switches      int64 // of context, because there was nothing to do
	bytes, frames uint64
	lost, dropped uint64
	live          int
}

// measured is what one run found.
type measured struct {
	Batch         int     `json:"batch"`
	Seconds       float64 `json:"seconds"`
	UserSeconds   float64 `json:"user_cpu_seconds"`
	SystemSeconds float64 `json:"system_cpu_seconds"`
	Switches      int64   `json:"voluntary_context_switches"`
	Bytes         uint64  `json:"rtp_bytes"`
	Frames        uint64  `json:"frames"`
	Lost          uint64  `json:"lost_packets"`
	KernelDropped uint64  `json:"kernel_dropped_packets"`

	// Of a run that counts system calls: those of a second, by name; "all" too.
	SystemCalls map[string]uint64 `json:"system_calls_per_second,omitempty"`
}

type noStore struct{}

func (noStore) Cameras(context.Context) ([]camera.Spec, error)  { return nil, nil }
func (noStore) AddCamera(context.Context, camera.Spec) error    { return errors.ErrUnsupported }
func (noStore) UpdateCamera(context.Context, camera.Spec) error { return errors.ErrUnsupported }
func (noStore) RemoveCamera(context.Context, string) error      { return errors.ErrUnsupported }

// pullCameras is the process under test: sources as the server has them, up to the
// ring. It says when it measures, and then what it found.
func pullCameras(ctx context.Context, o options) error {
	var specs []camera.Spec
	for i := range o.cameras {
		spec := camera.Spec{ID: fmt.Sprintf("cam%d", i), Enabled: true, Sources: []camera.SourceSpec{{
			URL: fmt.Sprintf("%s%d", o.base, i), Transport: camera.TransportUDP,
		}}}
		if err := spec.Normalize(); err != nil {
			return err
		}
		specs = append(specs, spec)
	}
	registry, err := camera.NewRegistry(ctx, camera.Options{
		Open: rtsp.Open(rtsp.Options{Batch: o.batch}), Store: noStore{}, Pool: media.NewPool(),
	}, specs)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	err = measure(ctx, o, registry)
	cancel()
	return errors.Join(err, <-done)
}

func measure(ctx context.Context, o options, registry *camera.Registry) error {
	for limit := time.Now().Add(time.Minute); count(registry).live < o.cameras; {
		if time.Now().After(limit) {
			return fmt.Errorf("%d of %d cameras are live after a minute", count(registry).live, o.cameras)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	if err := wait(ctx, o.settle); err != nil {
		return err
	}
	fmt.Println("measuring")
	before := count(registry)
	if err := wait(ctx, o.duration); err != nil {
		return err
	}
	after := count(registry)
	if after.live < o.cameras {
		return fmt.Errorf("%d of %d cameras are live at the end", after.live, o.cameras)
	}
	return json.NewEncoder(os.Stdout).Encode(measured{
		Batch:         o.batch,
		Seconds:       after.at.Sub(before.at).Seconds(),
		UserSeconds:   (after.user - before.user).Seconds(),
		SystemSeconds: (after.system - before.system).Seconds(),
		Switches:      after.switches - before.switches,
		Bytes:         after.bytes - before.bytes,
		Frames:        after.frames - before.frames,
		Lost:          after.lost - before.lost,
		KernelDropped: after.dropped - before.dropped,
	})
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func count(registry *camera.Registry) counts {
	c := counts{at: time.Now()}
	for _, view := range registry.List() {
		if view.Status.State == camera.StateLive {
			c.live++
		}
		for _, source := range registry.Counters(view.Spec.ID) {
			c.bytes += source.BytesIn
			c.frames += source.Frames
			c.lost += source.LostPackets
			c.dropped += source.KernelDroppedPackets
		}
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err == nil {
		c.user, c.system = time.Duration(usage.Utime.Nano()), time.Duration(usage.Stime.Nano())
		c.switches = usage.Nvcsw
	}
	return c
}
