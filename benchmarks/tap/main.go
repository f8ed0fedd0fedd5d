// Tap measures what it costs to hand all frames of many cameras to an AI worker: on
// the server's side, per frame, and how long a frame takes from the ring to the worker,
// by each way in turn.
//
//	go run ./benchmarks/tap -cameras 100 -duration 10s -rounds 3
//
//	go build -o build/herd ./benchmarks/herd
//	go run ./benchmarks/tap -beside -viewers 1000 -duration 30s -rounds 2
//
// The first: the server is a process of its own that has cameras' rings and the tap, and nothing
// else: cameras write into their rings as a puller does. What a way costs is the CPU time
// of that process with a worker, less that without one in the same round. The second: the
// binary that is shipped serves and records a camera, beside workers that take nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	cameras  int
	duration time.Duration
	rounds   int
	results  string
	beside   bool
	viewers  int
	drover   string
	simcam   string
	herd     string
	role     string
	folder   string
	way      string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tap:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o options
	flags := flag.NewFlagSet("tap", flag.ContinueOnError)
	flags.IntVar(&o.cameras, "cameras", 100, "how many, of 2 Mbit/s and 25 frames a second each")
	flags.DurationVar(&o.duration, "duration", 10*time.Second, "how long each way is measured in each round")
	flags.IntVar(&o.rounds, "rounds", 3, "how often")
	flags.StringVar(&o.results, "results", "benchmarks/results/tap", "folder for the raw results")
	flags.BoolVar(&o.beside, "beside", false, "have stuck workers beside viewers and recorder, and none, by turns")
	flags.IntVar(&o.viewers, "viewers", 1000, "of -beside")
	flags.StringVar(&o.drover, "drover", "bin/drover", "of -beside: the server's binary")
	flags.StringVar(&o.simcam, "simcam", "build/simcam", "of -beside: the simulated camera's binary")
	flags.StringVar(&o.herd, "herd", "build/herd", "of -beside: the viewers' binary")
	flags.StringVar(&o.role, "role", "", "for this program's own use: server, worker or stuck")
	flags.StringVar(&o.folder, "folder", "", "of the server, for this program's own use")
	flags.StringVar(&o.way, "way", "", "of the worker, for this program's own use")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case o.cameras < 1 || o.cameras > 1000:
		return errors.New("-cameras: must be 1 to 1000")
	case o.duration < time.Second || o.duration > time.Hour:
		return errors.New("-duration: must be 1s to 1h")
	case o.rounds < 1 || o.rounds > 100:
		return errors.New("-rounds: must be 1 to 100")
	}
	switch o.role {
	case "server":
		return runServer(ctx, o.folder, o.cameras)
	case "worker":
		return runWorker(ctx, o.folder, o.way)
	case "stuck":
		return runStuck(ctx, o.folder)
	}
	if o.beside {
		return beside(ctx, o)
	}
	return compare(ctx, o)
}
