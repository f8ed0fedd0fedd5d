package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/secret"
	"github.com/drover-video/drover/ingest/rtsp"
)

func newProbe() *cobra.Command {
	var username, password, passwordFile, transport string
	var tls camera.TLSSpec
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe URL",
		Short: "Shows what a camera offers, and what Drover does with each track",
		Long: "Connects to a camera as the server would, and shows what it offers. No server is needed.\n\n" +
			"  drover probe rtsp://192.168.1.20/stream1 --username admin --password-file -\n\n" +
			"A password is read from a file, or from the input (-): one on the command line is seen by all who are on this machine.",
		Args: wants,
		RunE: func(cmd *cobra.Command, args []string) error {
			if passwordFile != "" {
				var err error
				if password, err = readPassword(passwordFile, cmd.InOrStdin()); err != nil {
					return err
				}
			}
			spec := camera.Spec{ID: "probe", Sources: []camera.SourceSpec{{
				URL: args[0], Username: username, Password: secret.New(password), Transport: camera.Transport(transport), TLS: tls,
			}}}
			if err := spec.Normalize(); err != nil {
				return err
			}
			result := camera.Probe(cmd.Context(), camera.Options{
				Open: rtsp.Open(rtsp.Options{}), Pool: media.NewPool(),
			}, spec.Sources[0])
			if err := printProbe(cmd.OutOrStdout(), result, asJSON); err != nil {
				return err
			}
			if result.Error != "" {
				return errors.New(withoutCause(result))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&username, "username", "", "user `name`, if it is not in the URL")
	cmd.Flags().StringVar(&password, "password", "", "`password`, if it is not in the URL; seen by all who are on this machine")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "`file` with the password; - reads it from the input")
	cmd.MarkFlagsMutuallyExclusive("password", "password-file")
	cmd.Flags().StringVar(&transport, "transport", "auto", "`auto|tcp|udp|multicast|tunnel`")
	cmd.Flags().StringVar((*string)(&tls.Verify), "tls-verify", "", "for rtsps: `system|pin|none`; system is the default")
	cmd.Flags().StringVar(&tls.Fingerprint, "tls-fingerprint", "", "`SHA-256` of the certificate to pin")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withoutCause is what a probe failed with as a sentence for people: what the camera or
// the system said word by word stands behind it in brackets, and is in the JSON.
func withoutCause(result camera.ProbeResult) string {
	sentence, _, _ := strings.Cut(result.Error, " ("+result.Step+": ")
	return sentence
}

// probeTrack is a track as probe prints it in JSON: as in the API.
type probeTrack struct {
	Codec      string  `json:"codec"`
	Profile    string  `json:"profile,omitempty"`
	Width      int     `json:"width,omitempty"`
	Height     int     `json:"height,omitempty"`
	FPS        float64 `json:"fps,omitempty"`
	SampleRate int     `json:"sample_rate,omitempty"`
	BitrateBPS int64   `json:"bitrate_bps,omitempty"`
	Playable   bool    `json:"playable"`
	Reason     string  `json:"reason,omitempty"`

	DeliveredAs string `json:"delivered_as,omitempty"`
	Note        string `json:"note,omitempty"`
	MPEGTS      bool   `json:"mpegts"`
}

func printProbe(out io.Writer, result camera.ProbeResult, asJSON bool) error {
	if asJSON {
		tracks := make([]probeTrack, len(result.Tracks))
		for i, t := range result.Tracks {
			tracks[i] = probeTrack(t)
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(map[string]any{
			"transport": result.Transport, "transport_reason": result.TransportReason, "tracks": tracks, "gop_seconds": result.GOP.Seconds(),
			"elapsed_ms": result.Elapsed.Milliseconds(), "step": result.Step, "error": result.Error,
		})
	}
	for _, t := range result.Tracks {
		if _, err := fmt.Fprintln(out, describeTrack(t)); err != nil {
			return err
		}
	}
	if result.Error != "" {
		return nil
	}
	keyframes := "no two keyframes seen"
	if result.GOP > 0 {
		keyframes = fmt.Sprintf("a keyframe every %.1f s", result.GOP.Seconds())
	}
	reason := ""
	if result.TransportReason != "" {
		reason = " (" + result.TransportReason + ")"
	}
	_, err := fmt.Fprintf(out, "over %s%s, %s\n", result.Transport, reason, keyframes)
	return err
}

func describeTrack(t camera.TrackStatus) string {
	text := t.Codec
	if t.Profile != "" {
		text += " " + t.Profile
	}
	if t.Width > 0 {
		text += fmt.Sprintf(" %dx%d", t.Width, t.Height)
	}
	if t.FPS > 0 {
		text += fmt.Sprintf(", %.4g pictures a second", t.FPS)
	}
	if t.SampleRate > 0 {
		text += fmt.Sprintf(", %d Hz", t.SampleRate)
	}
	if t.BitrateBPS > 0 {
		text += fmt.Sprintf(", %d kbit/s", t.BitrateBPS/1000)
	}
	if t.Playable {
		text += ": plays"
		if t.Codec == string(media.CodecH265) {
			text += " in browsers that can decode it (Safari; others with the right hardware)"
		}
		if t.DeliveredAs != "" {
			text += " as " + t.DeliveredAs
		}
		if !t.MPEGTS {
			text += ", but not in MPEG-TS"
		}
		return text
	}
	return text + ": left out: " + t.Reason
}

// A prober probes for the API, which bounds how many do at once.
type prober struct{ options camera.Options }

// Probe implements api.Prober.
func (p prober) Probe(ctx context.Context, spec camera.SourceSpec) (camera.ProbeResult, error) {
	return camera.Probe(ctx, p.options, spec), nil
}
