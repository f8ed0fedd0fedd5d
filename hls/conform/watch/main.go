// Command watch watches a live stream as a player does and holds it against RFC
// 8216 and RFC 8216bis:
//
//	go run ./hls/conform/watch http://127.0.0.1:8090/hls/door/live.m3u8 -duration 60s
//
// It exits with 1 if it found something.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/drover-video/drover/hls/conform"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:]))
}

func run(ctx context.Context, args []string) int {
	flags := flag.NewFlagSet("watch", flag.ContinueOnError)
	duration := flags.Duration("duration", time.Minute, "how `long` to watch")
	var urls []string
	for len(args) > 0 { // flags may stand behind the URL
		if err := flags.Parse(args); err != nil {
			return 2
		}
		if args = flags.Args(); len(args) > 0 {
			urls, args = append(urls, args[0]), args[1:]
		}
	}
	if len(urls) != 1 {
		fmt.Fprintln(os.Stderr, "give the URL of one playlist")
		return 2
	}
	reports, err := conform.Watch(ctx, conform.Options{URL: urls[0], Duration: *duration})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := 0
	for _, r := range reports {
		fmt.Printf("%s: %d playlists, %d segments, %d parts, %d new lives, %d times late, at most %v between changes: %d violations\n",
			r.URL, r.Loads, r.Segments, r.Parts, r.Restarts, r.Late, r.LongestWait.Round(time.Millisecond), len(r.Violations))
		for _, v := range r.Violations {
			code = 1
			fmt.Println("  " + v)
		}
	}
	return code
}
