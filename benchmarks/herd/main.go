// Herd is a crowd of viewers, each with a keep-alive HTTP/1.1 connection. It
// reports what they saw. There are three kinds:
//
//   - paced, as players are: the playlist of a camera every two seconds, and each
//     new segment once;
//   - fast: the playlist and its newest segment, again and again as fast as they
//     are served;
//   - repeat: the URL itself, again and again.
//
// The bodies of segments stay in the kernel, so that the herd measures the server
// and not itself.
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
	"strings"
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
	warmup   time.Duration
	mode     mode
	poll     time.Duration
	header   string // one more of each request; "" for none
	pid      int
	json     bool
}

// mode is what viewers do.
type mode string

const (
	modePaced  mode = "paced"
	modeFast   mode = "fast"
	modeRepeat mode = "repeat"
)

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
	flags.DurationVar(&o.warmup, "warmup", 0, "what is asked for before this time is not reported")
	flags.StringVar((*string)(&o.mode), "mode", string(modePaced), "what viewers do: paced, fast or repeat")
	flags.DurationVar(&o.poll, "poll", 2*time.Second, "how often each asks for the playlist")
	flags.StringVar(&o.header, "header", "", "one more `field: value` of each request")
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
	case o.warmup < 0 || o.warmup >= o.duration:
		return o, errors.New("-warmup: must be shorter than the duration")
	case o.mode != modePaced && o.mode != modeFast && o.mode != modeRepeat:
		return o, errors.New("-mode: must be paced, fast or repeat")
	case o.poll < 100*time.Millisecond:
		return o, errors.New("-poll: must be at least 100ms")
	case strings.ContainsAny(o.header, "\r\n") || o.header != "" && !strings.Contains(o.header, ": "):
		return o, errors.New("-header: must be one field: value")
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
	tally, warm := newTally(), newTally()
	scratch := make([]byte, discardBytes)
	started := time.Now()
	usage := watchUsage(ctx, o)
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
				conn:  newConnection(o.url.Host, addressOf(o.url), o.header, scratch),
				start: o.url,
				poll:  o.poll,
				stall: max(10*time.Second, 5*o.poll),
				tally: tally,
				warm:  warm,
				from:  started.Add(o.warmup),
			}
			switch o.mode {
			case modeFast:
				v.fast(ctx)
			case modeRepeat:
				v.repeat(ctx)
			default:
				v.run(ctx)
			}
		})
	}
	samples := watchServer(ctx, o.pid, started, tally)
	crowd.Wait()
	return newReport(o, tally, time.Since(started)-o.warmup, samples, <-usage)
}
