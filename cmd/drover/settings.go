package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/drover-video/drover/core/config"
)

// addConfigFlags adds --config and a flag for each key.
func addConfigFlags(cmd *cobra.Command) {
	cmd.Flags().StringP("config", "c", "", "configuration file (YAML); none is needed")
	config.AddFlags(cmd.Flags())
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
		Use:   "check",
		Short: "Checks a configuration and says what is wrong and where",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "the configuration is good: %s on %s, data in %s, %d cameras\n",
				protocol, c.HTTP.Address, c.Data.Dir, len(c.Cameras))
			return err
		},
	}
	addConfigFlags(cmd)
	return cmd
}
