// Archive measures how long the archive takes to answer: an index of many cameras
// and days is made of synthetic rows, and asked through the same handlers as a server's.
//
//	go run ./benchmarks/archive -dir /tmp/drover-index -cameras 1000 -days 30
//
// It asks for ten minutes anywhere, for the timeline of a day, for a year of one
// camera, and for the time shift of a day, and writes what it found as JSON. With
// -hour it records an hour of a synthetic camera, too, and reads two seconds of its
// last minute over TCP.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

type options struct {
	dir      string
	cameras  int
	days     int
	year     int // days of the camera that is asked for all it has
	requests int
	hour     bool
}

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "where the index is made, or is from the last time; empty: a directory that is removed")
	flag.IntVar(&o.cameras, "cameras", 1000, "cameras in the index")
	flag.IntVar(&o.days, "days", 30, "days of each, of a file a minute")
	flag.IntVar(&o.year, "year", 365, "days of one more camera, which is asked for all of them")
	flag.IntVar(&o.requests, "requests", 2000, "how often each question is asked")
	flag.BoolVar(&o.hour, "hour", true, "record an hour and read two seconds of it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := run(ctx, o)
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	}
	if err != nil {
		stop()
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

// run makes what is missing and measures.
func run(ctx context.Context, o options) (*Report, error) {
	if o.dir == "" {
		dir, err := os.MkdirTemp("", "drover-archive-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		o.dir = dir
	}
	report := newReport(o)
	if err := fill(ctx, o, report); err != nil {
		return nil, err
	}
	if err := ask(ctx, o, report); err != nil {
		return nil, err
	}
	if o.hour {
		var err error
		if report.Hour, err = measureHour(ctx); err != nil {
			return nil, err
		}
	}
	return report, nil
}
