package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/drover-video/drover/core/config"
)

// addConfigFlags adds --config and a flag for each key.
func addConfigFlags(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "configuration `file` (YAML); none is needed")
	config.AddFlags(cmd.Flags())
}

// addSomeConfigFlags adds them to a command that needs few: its help shows these alone,
// or what the command itself takes would be lost among them.
func addSomeConfigFlags(cmd *cobra.Command, shown ...string) {
	cmd.Flags().StringP("config", "c", "", "configuration `file` (YAML), as drover serve takes it; its keys are flags here, too")
	keys := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	config.AddFlags(keys)
	keys.VisitAll(func(f *pflag.Flag) { f.Hidden = !slices.Contains(shown, f.Name) })
	cmd.Flags().AddFlagSet(keys)
}

// loadConfig reads the configuration. Warnings go to errOut.
func loadConfig(cmd *cobra.Command) (*config.Config, error) {
	file, err := cmd.Flags().GetString("config")
	if err != nil {
		return nil, err
	}
	c, warnings, err := config.Load(config.Source{Flags: cmd.Flags(), Environ: os.Environ(), File: file})
	for _, w := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w.Error())
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration has errors:\n%w", err)
	}
	return c, nil
}

// newLogger returns a logger as configured.
func newLogger(c config.Log, out io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, errors.New("log.level must be debug, info, warn or error")
	}
	options := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return slog.New(slog.NewTextHandler(out, options)), nil
}

func newCheck() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Checks a configuration and says what is wrong and where",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if cmd.Flags().Changed("config") {
					return errors.New("give the file once: as an argument, or by --config")
				}
				if err := cmd.Flags().Set("config", args[0]); err != nil {
					return err
				}
			}
			c, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			protocol := "HTTP"
			if c.HTTP.TLS.Cert != "" {
				protocol = "HTTPS"
				if _, err := tls.LoadX509KeyPair(c.HTTP.TLS.Cert, c.HTTP.TLS.Key); err != nil {
					return fmt.Errorf("http.tls: %w", err)
				}
			}
			if len(c.HTTP.ACME.Domains) > 0 {
				protocol = "HTTPS"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the configuration is good: %s on %s, data in %s, %s\n",
				protocol, c.HTTP.Address, c.Data.Dir, counted(len(c.Cameras), "camera"))
			return err
		},
	}
	addConfigFlags(cmd)
	return cmd
}
