// Cameras measures what pulling many cameras costs: it starts the simulator with
// so many of them and a server that pulls them all, waits until every one is live,
// and reads from /proc and /metrics what both use over some time.
//
//	make bin/drover build/simcam build/clips.stamp
//	go run ./benchmarks/cameras -cameras 100 -duration 60s
//	go run ./benchmarks/cameras -cameras 100 -record 3
//
// It prints a table, and leaves all it read as JSON in benchmarks/results.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const maxCameras = 1000

type options struct {
	cameras  int
	clip     string
	audio    string
	settle   time.Duration
	duration time.Duration
	server   string
	simcam   string
	results  string
	profile  bool
	record   int    // rounds; 0: recording is not measured
	data     string // the server's data; "": below the system's folder for such
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cameras:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("cameras", flag.ContinueOnError)
	flags.IntVar(&o.cameras, "cameras", 100, "how many")
	flags.StringVar(&o.clip, "clip", "h264-720p", "what they play: 2 Mbit/s, looped")
	flags.StringVar(&o.audio, "audio", "none", "their sound: aac or none")
	flags.DurationVar(&o.settle, "settle", 20*time.Second, "how long all have been live before measuring: longer than the window")
	flags.DurationVar(&o.duration, "duration", time.Minute, "how long to measure")
	flags.StringVar(&o.server, "drover", "bin/drover", "the server's binary")
	flags.StringVar(&o.simcam, "simcam", "build/simcam", "the simulator's binary")
	flags.StringVar(&o.results, "results", "benchmarks/results", "folder for the raw results")
	flags.BoolVar(&o.profile, "profile", false, "take CPU and heap profiles too; the CPU figure then includes taking them")
	flags.IntVar(&o.record, "record", 0, "measure what recording costs: so many windows without and with it in turn")
	flags.StringVar(&o.data, "data", "", "folder for what is recorded, on the disk that is meant; empty: a temporary one")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.cameras < 1 || o.cameras > maxCameras:
		return o, fmt.Errorf("-cameras: must be 1 to %d", maxCameras)
	case o.duration < time.Second || o.duration > time.Hour:
		return o, errors.New("-duration: must be 1s to 1h")
	case o.record < 0 || o.record > 100:
		return o, errors.New("-record: must be 0 to 100")
	case o.settle < 0 || o.settle > time.Hour:
		return o, errors.New("-settle: must be 0 to 1h")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "drover-cameras-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)

	rack, urls, err := startSimulator(ctx, o, folder)
	if err != nil {
		return err
	}
	defer rack.stop()
	server, err := startServer(ctx, o, folder, urls)
	if err != nil {
		return err
	}
	defer server.stop()

	fmt.Printf("waiting until %d cameras are live\n", o.cameras)
	if err := server.awaitLive(ctx, o.cameras); err != nil {
		return fmt.Errorf("%w\n%s", err, server.tail())
	}
	if o.record > 0 {
		return record(ctx, o, server)
	}
	fmt.Printf("settling for %v, then measuring for %v\n", o.settle, o.duration)
	if err := wait(ctx, o.settle); err != nil {
		return err
	}
	result, err := measure(ctx, o, rack, server)
	if err != nil {
		return err
	}
	if err := result.print(os.Stdout); err != nil {
		return err
	}
	file, err := result.save(o.results)
	if err != nil {
		return err
	}
	fmt.Println("\nraw results:", filepath.ToSlash(file))
	return nil
}

// record measures what recording costs.
func record(ctx context.Context, o options, server *server) error {
	fmt.Printf("%d windows of %v without recording and with it, after %v each\n", o.record, o.duration, o.settle)
	result, err := measureRecording(ctx, o, server)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, server.tail())
	}
	if err := result.print(os.Stdout); err != nil {
		return err
	}
	file, err := result.save(o.results)
	if err != nil {
		return err
	}
	fmt.Println("\nraw results:", filepath.ToSlash(file))
	return nil
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
