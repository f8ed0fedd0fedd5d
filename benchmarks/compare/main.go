// Compare measures what serving costs, side by side: Drover, nginx with the same
// segments on tmpfs, a handler of net/http with them in memory, and any other
// server that is given.
//
//	make bin/drover build/simcam build/clips.stamp
//	go run ./benchmarks/compare
//
// The contenders serve by turns, each pinned to one core, in a network namespace
// of their own; `benchmarks/herd` asks them, from the other cores. What counts is
// their CPU time for a gigabyte or for a request, in the median of the rounds. Raw
// results go to benchmarks/results/compare, a table to benchmarks/RESULTS.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	rounds    int
	duration  time.Duration
	warmup    time.Duration
	herd      time.Duration // of the long run; 0: none
	waiters   int           // of one camera's next part; 0: none
	waiting   time.Duration // for how long they are watched
	viewers   []int
	scenarios []string
	ways      bool
	together  bool
	core      int
	drover    string
	simcam    string
	nginx     string
	results   string
	table     string
	others    []other
}

// An other is a server that somebody else has started.
type other struct {
	name, url string
	pid       int
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == plainArgument {
		return servePlain(args[1], args[2])
	}
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Another's server is not in a namespace of ours.
	if len(o.others) == 0 && !inNamespace() {
		if entered, err := runInNamespace(ctx); entered {
			return err
		}
	}
	return compare(ctx, o)
}

func parseOptions(args []string) (options, error) {
	o := options{viewers: []int{64, 1000}, scenarios: []string{scenarioLarge, scenarioSmall, scenarioPlaylist}}
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 5, "how often each contender serves each scenario")
	flags.DurationVar(&o.duration, "duration", 4*time.Second, "how long it serves, the warm-up included")
	flags.DurationVar(&o.warmup, "warmup", time.Second, "how long before it is measured")
	flags.DurationVar(&o.herd, "herd", 0, "how long each serves a herd of 1000 the playlist and the newest segment, once; 0: not at all")
	flags.IntVar(&o.waiters, "waiters", 0, "how many wait for each part of low-latency HLS of Drover, once; 0: not at all")
	flags.DurationVar(&o.waiting, "waiting", 30*time.Second, "how long they are watched")
	flags.Func("viewers", "how many clients, with commas in between (default 64,1000)", func(text string) (err error) {
		o.viewers, err = parseViewers(text)
		return err
	})
	flags.Func("scenarios", "which of large, small and playlist, with commas in between (default all); none for the herd alone", func(text string) (err error) {
		o.scenarios, err = parseScenarios(text)
		return err
	})
	flags.BoolVar(&o.ways, "ways", false, "Drover also through net/http, and without memory files")
	flags.BoolVar(&o.together, "together", false, "the herd has the servers' core, and not the others")
	flags.IntVar(&o.core, "core", 0, "the processor that servers have")
	flags.StringVar(&o.drover, "drover", "bin/drover", "the server's binary")
	flags.StringVar(&o.simcam, "simcam", "build/simcam", "the simulator's binary")
	flags.StringVar(&o.nginx, "nginx", "nginx", "the binary of nginx; empty: without it")
	flags.StringVar(&o.results, "results", "benchmarks/results/compare", "folder for the raw results")
	flags.StringVar(&o.table, "table", "benchmarks/RESULTS.md", "file whose table is renewed; empty: none")
	flags.Func("other", "`name,url,pid` of one more server: what the URL names is asked for in every scenario", func(text string) error {
		one, err := parseOther(text)
		o.others = append(o.others, one)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	switch {
	case o.rounds < 1 || o.rounds > 100:
		return o, errors.New("-rounds: must be 1 to 100")
	case o.duration < 500*time.Millisecond || o.duration > 8*time.Second:
		return o, errors.New("-duration: must be 500ms to 8s: a segment is asked for until it leaves the window")
	case o.warmup <= 0 || o.warmup >= o.duration:
		return o, errors.New("-warmup: must be above 0 and shorter than the duration")
	case o.herd < 0 || o.herd > time.Hour:
		return o, errors.New("-herd: must be 0 to 1h")
	case o.waiters < 0 || o.waiters > 20_000:
		return o, errors.New("-waiters: must be 0 to 20000")
	case o.waiting <= 0 || o.waiting > time.Hour:
		return o, errors.New("-waiting: must be above 0 and at most 1h")
	case o.core < 0 || o.core >= runtime.NumCPU():
		return o, fmt.Errorf("-core: must be 0 to %d", runtime.NumCPU()-1)
	}
	return o, nil
}

func parseViewers(text string) ([]int, error) {
	var all []int
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || n > 20_000 {
			return nil, errors.New("must be numbers from 1 to 20000")
		}
		all = append(all, n)
	}
	return all, nil
}

func parseScenarios(text string) ([]string, error) {
	var all []string
	for field := range strings.SplitSeq(text, ",") {
		switch field {
		case scenarioLarge, scenarioSmall, scenarioPlaylist:
			all = append(all, field)
		case "none":
		default:
			return nil, fmt.Errorf("there is no %q", field)
		}
	}
	return all, nil
}

func parseOther(text string) (other, error) {
	fields := strings.Split(text, ",")
	if len(fields) != 3 {
		return other{}, errors.New("must be name,url,pid")
	}
	pid, err := strconv.Atoi(fields[2])
	if err != nil || pid < 1 {
		return other{}, errors.New("the pid must be a number above 0")
	}
	return other{fields[0], fields[1], pid}, nil
}
