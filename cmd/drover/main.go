// Command drover restreams cameras: it pulls each once and hands its picture to
// any number of viewers.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	_ "time/tzdata" // schedules name time zones, and a container may have none

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "drover: "+err.Error())
		os.Exit(1)
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "drover",
		Short: "Restreams RTSP cameras to browsers: each pulled once, for any number of viewers",
		Long: "Drover pulls each camera once and hands its picture to any number of viewers.\n\n" +
			"  drover serve                 starts the server; open http://127.0.0.1:8090\n" +
			"  drover probe rtsp://…        shows what a camera offers\n" +
			"  drover cameras list          lists the cameras of a running server; add and remove, too\n" +
			"  drover check FILE            says what is wrong with a configuration",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newServe(), newCheck(), newProbe(), newCameras(), newArchive(), newVersion())
	return root
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Prints the version",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "drover "+version)
			return err
		},
	}
}
