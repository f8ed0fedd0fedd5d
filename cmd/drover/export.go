package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

const (
	// exportPatience is how long the server may send nothing, and exportTries how often
	// in a row a download that broke off is taken up where it did.
	exportPatience = 30 * time.Second
	exportTries    = 5

	progressInterval = time.Second
)

func newExport() *cobra.Command {
	var out, source, gaps string
	var force bool
	cmd := &cobra.Command{
		Use:   "export CAMERA FROM TO",
		Short: "Fetches one MP4 of what was recorded, from a running server",
		Long: "Fetches one ordinary MP4 of a camera's time from a running server, and checks its SHA-256.\n\n" +
			"  drover archive export door 2026-12-01T10:00:00Z 2026-12-01T10:05:00Z\n\n" +
			"Times are RFC 3339, or seconds since 1970. The clip begins at the keyframe before; it says itself when. " +
			"A download that breaks off goes on where it did.",
		Args: wants,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newClient(cmd)
			if err != nil {
				return err
			}
			query := url.Values{"from": {args[1]}, "to": {args[2]}, "gaps": {gaps}}
			if source != "" {
				query.Set("source", source)
			}
			d := &download{client: c, path: "/archive/" + url.PathEscape(args[0]) + "/clip.mp4", query: query.Encode(), force: force, report: cmd.ErrOrStderr(), sum: sha256.New()}
			d.file = out
			return d.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	addClientFlags(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write; by default as the server names it, in this folder")
	cmd.Flags().StringVar(&source, "source", "", "`name` of the source: main, sub, …; by default the one that was recorded first")
	cmd.Flags().StringVar(&gaps, "gaps", "close", "`close|keep`: close: what was recorded follows side by side; keep: the picture stands still for as long")
	cmd.Flags().BoolVar(&force, "force", false, "replace the file where it is there already")
	return cmd
}

// A download is one clip on its way.
type download struct {
	client      *client
	path, query string
	file        string // to write; "": as the server has it
	force       bool   // it may be there already
	report      io.Writer
	sum         hash.Hash

	etag     string
	from, to string // of the clip's first picture and its last
	size     int64
	got      int64
	told     time.Time
}

var errClipChanged = errors.New("what was recorded of that time has changed meanwhile: begin anew")

// run downloads into a file, which is there under its name only when it is whole.
func (d *download) run(ctx context.Context, out io.Writer) error {
	folder := "."
	if d.file != "" {
		folder = filepath.Dir(d.file)
		if err := d.mayWrite(); err != nil {
			return err
		}
	}
	part, err := os.CreateTemp(folder, ".drover-export-")
	if err != nil {
		return fmt.Errorf("nothing can be written in %s: %w", folder, reason(err))
	}
	defer os.Remove(part.Name()) // Gone already where it has its own name.
	defer part.Close()
	for failed := 0; d.size == 0 || d.got < d.size; {
		before := d.got
		err := d.fetch(ctx, part)
		if err == nil {
			continue
		}
		if d.got > before {
			failed = 0
		}
		if failed++; d.size == 0 || errors.Is(err, errClipChanged) || failed >= exportTries || ctx.Err() != nil {
			return err
		}
	}
	if err := d.check(ctx); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	if err := d.mayWrite(); err != nil { // It took a while.
		return err
	}
	if err := os.Rename(part.Name(), d.file); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s: %s, from %s to %s, SHA-256 %s\n", d.file, bytesText(d.size), d.from, d.to, hex.EncodeToString(d.sum.Sum(nil)))
	return err
}

// mayWrite returns an error where the file would replace something.
func (d *download) mayWrite() error {
	info, err := os.Lstat(d.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", d.file, reason(err))
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there and is no ordinary file: name another by --output", d.file)
	case !d.force:
		return fmt.Errorf("%s is there already: name another file by --output, or replace it by --force", d.file)
	}
	return nil
}

// fetch gets what is missing.
func (d *download) fetch(ctx context.Context, into io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	watch := time.AfterFunc(exportPatience, cancel)
	defer watch.Stop()
	response, err := d.ask(ctx, d.path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := d.begin(response); err != nil {
		return err
	}
	buffer := make([]byte, 256<<10)
	for {
		n, err := response.Body.Read(buffer)
		watch.Reset(exportPatience)
		if n > 0 {
			if _, err := into.Write(buffer[:n]); err != nil {
				return err
			}
			d.sum.Write(buffer[:n])
			d.got += int64(n)
			d.progress()
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the download broke off at %s: %w", bytesText(d.got), err)
		}
	}
}

func (d *download) ask(ctx context.Context, path string) (*http.Response, error) {
	address := d.client.base.JoinPath(path)
	address.RawQuery = d.query
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	if d.got > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.got))
		request.Header.Set("If-Range", d.etag)
	}
	// Not the client of the API, which bounds how long a whole answer may take.
	response, err := (&http.Client{CheckRedirect: d.client.http.CheckRedirect}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("no answer from %s: %w", d.client.base.Host, cause(err))
	}
	return response, nil
}

// begin looks at an answer's header.
func (d *download) begin(response *http.Response) error {
	switch {
	case response.StatusCode == http.StatusPartialContent && d.got > 0 && response.Header.Get("ETag") == d.etag:
		return nil
	case response.StatusCode == http.StatusOK && d.got > 0:
		return errClipChanged
	case response.StatusCode != http.StatusOK:
		answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		return refusal(response.StatusCode, answer)
	case response.ContentLength <= 0 || response.Header.Get("ETag") == "":
		return fmt.Errorf("%s did not answer like Drover", d.client.base.Host)
	}
	if d.file == "" {
		d.file = nameOf(response)
		if err := d.mayWrite(); err != nil {
			return err
		}
	}
	d.size, d.etag = response.ContentLength, response.Header.Get("ETag")
	d.from, d.to = response.Header.Get("Drover-Clip-From"), response.Header.Get("Drover-Clip-To")
	return nil
}

// nameOf is what the server calls a clip.
func nameOf(response *http.Response) string {
	if _, parameters, err := mime.ParseMediaType(response.Header.Get("Content-Disposition")); err == nil {
		// What a server says is a name, and no path.
		if name := filepath.Base(parameters["filename"]); filepath.Ext(name) == ".mp4" {
			return name
		}
	}
	return "clip.mp4"
}

func (d *download) progress() {
	if time.Since(d.told) < progressInterval && d.got < d.size {
		return
	}
	d.told = time.Now()
	fmt.Fprintf(d.report, "\r%s of %s (%d %%)", bytesText(d.got), bytesText(d.size), d.got*100/d.size)
	if d.got == d.size {
		fmt.Fprintln(d.report)
	}
}

// check holds what came against the server's checksum.
func (d *download) check(ctx context.Context) error {
	got := d.got
	d.got = 0 // the whole of it
	response, err := d.ask(ctx, d.path+".sha256")
	d.got = got
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 4096))
	if err != nil {
		return fmt.Errorf("read the checksum: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the checksum: %w", refusal(response.StatusCode, answer))
	}
	want, _, _ := bytes.Cut(answer, []byte(" "))
	if string(want) != hex.EncodeToString(d.sum.Sum(nil)) {
		return errors.New("the checksum is another: what was recorded may have changed meanwhile; begin anew")
	}
	return nil
}

func bytesText(n int64) string {
	const unit = 1000
	switch {
	case n < unit*unit:
		return fmt.Sprintf("%d kB", (n+unit-1)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MB", float64(n)/(unit*unit))
	default:
		return fmt.Sprintf("%.2f GB", float64(n)/(unit*unit*unit))
	}
}
