package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newCameras() *cobra.Command {
	return group(&cobra.Command{
		Use:   "cameras",
		Short: "Lists, adds and removes cameras of a running server",
	}, newCamerasList(), newCamerasAdd(), newCamerasRemove())
}

// listed is a camera as far as the list shows it.
type listed struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Origin  string `json:"origin"`
	Sources []struct {
		URL string `json:"url"`
	} `json:"sources"`
	Status struct {
		State   string `json:"state"`
		Error   string `json:"error"`
		Viewers int    `json:"viewers"`
	} `json:"status"`
}

func newCamerasList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Lists all cameras and how they are doing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newClient(cmd)
			if err != nil {
				return err
			}
			if asJSON {
				var all json.RawMessage
				if err := c.do(cmd.Context(), "GET", "/api/v1/cameras", nil, &all); err != nil {
					return err
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", all)
				return err
			}
			var answer struct {
				Cameras []listed `json:"cameras"`
			}
			if err := c.do(cmd.Context(), "GET", "/api/v1/cameras", nil, &answer); err != nil {
				return err
			}
			return printCameras(cmd.OutOrStdout(), answer.Cameras)
		},
	}
	addClientFlags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, as the API answers")
	return cmd
}

func printCameras(out io.Writer, cameras []listed) error {
	if len(cameras) == 0 {
		_, err := fmt.Fprintln(out, "no cameras yet: drover cameras add ID rtsp://…")
		return err
	}
	table := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATE\tVIEWERS\tURL\tERROR")
	for _, c := range cameras {
		var address string
		if len(c.Sources) > 0 {
			address = c.Sources[0].URL
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", c.ID, c.Status.State, c.Status.Viewers, address, c.Status.Error)
	}
	return table.Flush()
}

func newCamerasAdd() *cobra.Command {
	var name, username, passwordFile, transport, sub string
	var onDemand bool
	cmd := &cobra.Command{
		Use:   "add ID URL",
		Short: "Adds a camera",
		Long: "Adds a camera to a running server, which pulls it at once and keeps it over restarts.\n\n" +
			"  drover cameras add door rtsp://192.168.1.20/stream1 --username admin --password-file -\n\n" +
			"A password is read from a file, or from the input (-): one on the command line is seen by all who are on this machine.",
		Args: wants,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newClient(cmd)
			if err != nil {
				return err
			}
			main := map[string]any{"name": "main", "url": args[1]}
			setText(main, "transport", transport)
			setText(main, "username", username)
			if passwordFile != "" {
				password, err := readPassword(passwordFile, cmd.InOrStdin())
				if err != nil {
					return err
				}
				main["password"] = password
			}
			sources := []map[string]any{main}
			if sub != "" {
				second := map[string]any{}
				for k, v := range main {
					second[k] = v
				}
				second["name"], second["url"] = "sub", sub
				sources = append(sources, second)
			}
			body := map[string]any{"id": args[0], "sources": sources, "on_demand": onDemand}
			setText(body, "name", name)
			if err := c.do(cmd.Context(), "POST", "/api/v1/cameras", body, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "added %s: watch it at %s\n", args[0], c.base.JoinPath("watch", args[0]))
			return err
		},
	}
	addClientFlags(cmd)
	cmd.Flags().StringVar(&name, "name", "", "a `name` for people")
	cmd.Flags().StringVar(&username, "username", "", "user `name`, if it is not in the URL")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "`file` with the password; - reads it from the input")
	cmd.Flags().StringVar(&transport, "transport", "", "`auto|tcp|udp|multicast|tunnel`; auto is the default")
	cmd.Flags().StringVar(&sub, "sub", "", "`URL` of the camera's sub stream, with the same login")
	cmd.Flags().BoolVar(&onDemand, "on-demand", false, "pull it only while somebody watches")
	return cmd
}

func setText(into map[string]any, key, value string) {
	if value != "" {
		into[key] = value
	}
}

// mostPassword bounds what is read: the API takes no more characters.
const mostPassword = 1024

func readPassword(path string, in io.Reader) (string, error) {
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("the password cannot be read from %s: %w", path, reason(err))
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, mostPassword+1))
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" || len(text) > mostPassword {
		return "", errors.New("read the password: it is empty or too long")
	}
	return password, nil
}

// reason is why a file could not be had, without its name, which the message has.
func reason(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

func newCamerasRemove() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "Removes a camera",
		Args:  wants,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newClient(cmd)
			if err != nil {
				return err
			}
			if err := c.do(cmd.Context(), "DELETE", "/api/v1/cameras/"+url.PathEscape(args[0]), nil, nil); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", args[0])
			return err
		},
	}
	addClientFlags(cmd)
	return cmd
}
