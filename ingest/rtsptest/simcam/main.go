// Command simcam runs simulated cameras until it is told to end:
//
//	simcam -camera door
//	simcam -camera door:clip=h265,audio=aac -camera gate:stall=20,once=1
//	simcam -cameras 100 -clip h264-720p -start next
//
// It says "ready URL" for each camera, then a line per event. Lines on standard
// input are commands; "help" lists them. SIGTERM and SIGINT end it.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/drover-video/drover/ingest/rtsptest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "simcam:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	settings, err := parseFlags(args)
	if err != nil {
		return err
	}
	printer := &linePrinter{out: out}
	if settings.clips == "" {
		if settings.clips, err = rtsptest.DefaultClipDir(); err != nil {
			return err
		}
	}
	if err := rtsptest.MakeClips(ctx, settings.clips, printer); err != nil {
		return err
	}
	server, err := rtsptest.New(rtsptest.Options{
		Address: settings.listen,
		Clips:   settings.clips,
		Cameras: settings.cameras,
		OnEvent: func(e rtsptest.Event) { printer.line("event %s", e) },
	})
	if err != nil {
		return err
	}
	for _, camera := range server.Cameras() {
		printer.line("ready %s", camera.URL())
	}
	// Nothing interrupts a read of standard input, so its goroutine is left to the
	// end of the process.
	go readCommands(in, server, printer)
	return server.Run(ctx)
}

func readCommands(in io.Reader, server *rtsptest.Server, printer *linePrinter) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) == 0 {
			continue
		}
		if err := command(server, words); err != nil {
			printer.line("error %v", err)
		}
	}
}

// linePrinter lets several goroutines write whole lines.
type linePrinter struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *linePrinter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Write(b)
}

func (p *linePrinter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format+"\n", args...)
}

// settings is what the command line asks for.
type settings struct {
	listen  string
	clips   string
	cameras []rtsptest.CameraConfig
}

func parseFlags(args []string) (*settings, error) {
	s := &settings{}
	var specs []string
	flags := flag.NewFlagSet("simcam", flag.ContinueOnError)
	flags.StringVar(&s.listen, "listen", "127.0.0.1:8554", "address to listen on")
	flags.StringVar(&s.clips, "clips", "", "folder of the clips; those that are missing are made (default $DROVER_CLIPS, else build/clips in the repository)")
	count := flags.Int("cameras", 0, "number of cameras at /cam1, /cam2, ... beside those of -camera")
	user := flags.String("user", "", "NAME:PASSWORD that all cameras want by digest")
	clip := flags.String("clip", "h264", "clip of cameras that do not say: "+strings.Join(rtsptest.ClipNames(), ", ")+", mjpeg; h264-people (a street) where Debian's opencv-doc is installed")
	audio := flags.String("audio", "", "sound of cameras that do not say: aac, pcma, none")
	start := flags.String("start", "keyframe", "where clients begin if a camera does not say: keyframe (the camera jumps to one), next, any")
	flags.Func("camera", "PATH[:KEY=VALUE,...], may be repeated; keys: "+strings.Join(cameraKeys(), ", "), func(spec string) error {
		specs = append(specs, spec)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	for i := range *count {
		specs = append(specs, fmt.Sprintf("cam%d", i+1))
	}
	if len(specs) == 0 {
		specs = []string{"door"}
	}
	for _, spec := range specs {
		config := rtsptest.CameraConfig{Clip: *clip}
		if name, password, found := strings.Cut(*user, ":"); found {
			config.Auth, config.User, config.Password = rtsptest.AuthDigest, name, password
		}
		if err := setCamera(&config, spec, *audio, *start); err != nil {
			return nil, fmt.Errorf("camera %q: %w", spec, err)
		}
		s.cameras = append(s.cameras, config)
	}
	return s, nil
}

// seconds reads a time written as a number of seconds, which may be negative.
func seconds(value string) (time.Duration, error) {
	return time.ParseDuration(value + "s")
}
