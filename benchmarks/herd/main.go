// Herd is a crowd of viewers: each has a keep-alive HTTP/1.1 connection, asks for
// the playlist of one camera every two seconds and fetches each new segment once,
// as players do. It reports what they saw.
//
//	go run ./benchmarks/herd -url http://127.0.0.1:8090/hls/door/index.m3u8 \
//	    -viewers 1000 -duration 70s -pid "$(pgrep -x drover)"
//
// It asks no host but the URL's, ends by itself, and exits with 1 when a request
// failed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	maxViewers  = 20_000
	maxDuration = time.Hour
)

type options struct {
	url      *url.URL
	viewers  int
	duration time.Duration
	ramp     time.Duration
	poll     time.Duration
	pid      int
	json     bool
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "herd:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report := run(ctx, o)
	if o.json {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		err = report.print(os.Stdout)
	}
	if err != nil || report.Failed > 0 {
		stop()
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("herd", flag.ContinueOnError)
	address := flags.String("url", "http://127.0.0.1:8090/hls/door/index.m3u8", "the playlist that all watch")
	flags.IntVar(&o.viewers, "viewers", 1000, "how many watch")
	flags.DurationVar(&o.duration, "duration", 70*time.Second, "how long, the ramp included")
	flags.DurationVar(&o.ramp, "ramp", 10*time.Second, "over how long they arrive")
	flags.DurationVar(&o.poll, "poll", 2*time.Second, "how often each asks for the playlist")
	flags.IntVar(&o.pid, "pid", 0, "the server's process, whose memory and CPU are reported too")
	flags.BoolVar(&o.json, "json", false, "print the report as JSON")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.url, err = url.Parse(*address); err != nil {
		return o, fmt.Errorf("-url: %w", err)
	}
	switch {
	case o.url.Scheme != "http" || o.url.Host == "":
		return o, errors.New("-url: must be an http:// URL with a host")
	case o.viewers < 1 || o.viewers > maxViewers:
		return o, fmt.Errorf("-viewers: must be 1 to %d", maxViewers)
	case o.duration <= 0 || o.duration > maxDuration:
		return o, fmt.Errorf("-duration: must be above 0 and at most %v", maxDuration)
	case o.ramp < 0 || o.ramp > o.duration:
		return o, errors.New("-ramp: must be 0 to the duration")
	case o.poll < 100*time.Millisecond:
		return o, errors.New("-poll: must be at least 100ms")
	case o.pid < 0:
		return o, errors.New("-pid: must not be negative")
	}
	return o, nil
}

func addressOf(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

// run lets the viewers arrive one after another, waits until all have left, and
// says what they saw.
func run(ctx context.Context, o options) report {
	ctx, cancel := context.WithTimeout(ctx, o.duration)
	defer cancel()
	tally := newTally()
	scratch := make([]byte, discardBytes)
	started := time.Now()
	var crowd sync.WaitGroup
	for i := range o.viewers {
		crowd.Go(func() {
			arrival := time.NewTimer(o.ramp * time.Duration(i) / time.Duration(o.viewers))
			defer arrival.Stop()
			select {
			case <-arrival.C:
			case <-ctx.Done():
				return
			}
			v := &viewer{
				conn:  newConnection(o.url.Host, addressOf(o.url), scratch),
				start: o.url,
				poll:  o.poll,
				stall: max(10*time.Second, 5*o.poll),
				tally: tally,
			}
			v.run(ctx)
		})
	}
	samples := watchServer(ctx, o.pid, started, tally)
	crowd.Wait()
	return newReport(o, tally, time.Since(started), samples)
}
