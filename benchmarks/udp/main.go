// UDP measures what reading datagrams in batches is worth: simulated cameras of 2
// Mbit/s in one process send to a puller in another, on loopback, with batches of 1
// and of 32 datagrams in turn. CPU is what the puller's process used; system calls
// are counted by perf in runs of their own, since counting costs.
//
//	make build/clips.stamp
//	go run ./benchmarks/udp -cameras 100 -duration 10s -rounds 3
//
// It prints a table, and leaves all that was measured in benchmarks/results/udp.
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

const maxCameras = 500

type options struct {
	cameras  int
	clip     string
	settle   time.Duration
	duration time.Duration
	rounds   int
	results  string

	role  string // of a process that this one started
	batch int
	base  string // of the cameras' URLs
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "udp:", err)
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("udp", flag.ContinueOnError)
	flags.IntVar(&o.cameras, "cameras", 100, "how many")
	flags.StringVar(&o.clip, "clip", "h264-720p", "what they play: 2 Mbit/s, looped")
	flags.DurationVar(&o.settle, "settle", 2*time.Second, "how long all have been live before measuring")
	flags.DurationVar(&o.duration, "duration", 10*time.Second, "how long each run measures")
	flags.IntVar(&o.rounds, "rounds", 3, "runs with each batch, in turn; one more of each counts system calls")
	flags.StringVar(&o.results, "results", filepath.Join("benchmarks", "results", "udp"), "folder for the raw results")
	flags.StringVar(&o.role, "role", "", "of a process that is started by another: cameras or pull")
	flags.IntVar(&o.batch, "batch", 32, "of the role pull")
	flags.StringVar(&o.base, "base", "", "of the role pull")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.cameras < 1 || o.cameras > maxCameras:
		return o, fmt.Errorf("-cameras: must be 1 to %d", maxCameras)
	case o.duration < time.Second || o.duration > time.Minute || o.settle < 0 || o.settle > time.Minute:
		return o, errors.New("-duration and -settle: must be at most 1m, and -duration 1s at least")
	case o.rounds < 1 || o.rounds > 10:
		return o, errors.New("-rounds: must be 1 to 10")
	}
	return o, nil
}

func run(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	switch o.role {
	case "":
		return compare(ctx, o)
	case "cameras":
		return serveFarm(ctx, o)
	case "pull":
		return pullCameras(ctx, o)
	}
	return fmt.Errorf("-role: there is no %q", o.role)
}
