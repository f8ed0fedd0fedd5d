// Waiters is a crowd that watches one camera by low-latency HLS, as far as waiting
// goes: each viewer has a connection and asks for the next part's playlist before
// there is one (blocking reload, RFC 8216bis 6.2.5.2). It reports whether all were
// answered for each part, how long it took from the first answer to the last, and
// what of the server's memory and CPU time they took.
//
//	go run ./benchmarks/waiters -url http://127.0.0.1:8090/hls/door/live.m3u8 \
//	    -viewers 10000 -pid "$(pgrep -xo drover)"
//
// It asks no host but the URL's, ends by itself, and exits with 1 when a request
// failed or a part did not reach everybody.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"strings"
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
	settle   time.Duration
	header   string // one more of each request; "" for none
	pid      int
	json     bool
}

func main() {
	o, err := parseOptions(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "waiters:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	report, err := run(ctx, o)
	if err == nil && o.json {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else if err == nil {
		err = report.print(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "waiters:", err)
	}
	if err != nil || report.Failed > 0 || report.Complete < report.Parts {
		stop()
		os.Exit(1)
	}
}

func parseOptions(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("waiters", flag.ContinueOnError)
	address := flags.String("url", "http://127.0.0.1:8090/hls/door/live.m3u8", "the playlist that all wait for")
	flags.IntVar(&o.viewers, "viewers", 10_000, "how many wait")
	flags.DurationVar(&o.duration, "duration", 30*time.Second, "how long they are watched once all wait")
	flags.DurationVar(&o.ramp, "ramp", 10*time.Second, "over how long they arrive")
	flags.DurationVar(&o.settle, "settle", 5*time.Second, "how long the server has before they arrive, and after")
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
	case o.ramp < 0 || o.ramp > maxDuration || o.settle < 0 || o.settle > maxDuration:
		return o, fmt.Errorf("-ramp and -settle: must be 0 to %v", maxDuration)
	case strings.ContainsAny(o.header, "\r\n") || o.header != "" && !strings.Contains(o.header, ": "):
		return o, errors.New("-header: must be one field: value")
	case o.pid < 0:
		return o, errors.New("-pid: must not be negative")
	}
	return o, nil
}
