package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/drover-video/drover/archive"
	"github.com/drover-video/drover/core/sqlite"
)

func newArchive() *cobra.Command {
	return group(&cobra.Command{
		Use:   "archive",
		Short: "Looks after recordings while the server is stopped; export fetches them from one that runs",
	}, newVerify(), newRepair(), newRestore(), newExport())
}

// errProblems is for an exit code that a script can see.
var errProblems = errors.New("the archive is not what it should be")

func newVerify() *cobra.Command {
	var sums bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Holds the recordings and their index against each other",
		Long: "Holds the recordings and their index against each other, and against what always\n" +
			"holds of an archive. Nothing is changed. The server has to be stopped.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onArchive(cmd, func(ctx context.Context, dir string, out io.Writer) error {
				report, err := archive.Verify(ctx, dir, sums)
				if err != nil {
					return err
				}
				return tellReport(out, report)
			})
		},
	}
	addSomeConfigFlags(cmd, "archive.dir", "data.dir")
	cmd.Flags().BoolVar(&sums, "checksums", false, "read all media and hold it against its checksums")
	return cmd
}

func tellReport(out io.Writer, r *archive.Report) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintf(out, "%s: %s\n", p.Where, p.What); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%s, %s, %s, %s, %s\n",
		counted(r.Streams, "source"), counted(r.Files, "file"), counted(r.Fragments, "fragment"), counted(r.Bytes, "byte"), counted(len(r.Problems), "problem"))
	if err == nil && r.Unfinished+r.Doomed > 0 {
		_, err = fmt.Fprintf(out, "%d files were being written and %d deleted when Drover ended: it puts them in order when it starts\n", r.Unfinished, r.Doomed)
	}
	switch {
	case err != nil:
		return err
	case r.Cut:
		return fmt.Errorf("%w: there are more problems than these", errProblems)
	case len(r.Problems) > 0:
		return errProblems
	}
	return nil
}

func newRepair() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Makes the index of the recordings anew, when it was lost or is damaged",
		Long: "Makes the index of the recordings anew, of the files alone. An index that is there\n" +
			"is put aside. Bookmarks, and why footage is missing where it is, are lost with it.\n" +
			"The server has to be stopped.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onArchive(cmd, func(ctx context.Context, dir string, out io.Writer) error {
				done, err := archive.Repair(ctx, dir, time.Now())
				if err != nil {
					return err
				}
				for _, path := range done.Left {
					if _, err := fmt.Fprintf(out, "%s: left alone, for it is no recording\n", path); err != nil {
						return err
					}
				}
				if done.Old != "" {
					if _, err := fmt.Fprintf(out, "the index that was there is now %s\n", done.Old); err != nil {
						return err
					}
				}
				_, err = fmt.Fprintf(out, "%d files, %d fragments, %d bytes; %d torn ends cut off\n", done.Files, done.Fragments, done.Bytes, done.Torn)
				return err
			})
		},
	}
	addSomeConfigFlags(cmd, "archive.dir", "data.dir")
	return cmd
}

// onArchive does something on the configured archive, and says what to do where it
// cannot be opened.
func onArchive(cmd *cobra.Command, do func(ctx context.Context, dir string, out io.Writer) error) error {
	c, err := loadConfig(cmd)
	if err != nil {
		return err
	}
	dir := archiveDir(c)
	err = do(cmd.Context(), dir, cmd.OutOrStdout())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no archive in %s: say where it is by --archive.dir, --data.dir or --config", dir)
	case errors.Is(err, sqlite.ErrInUse):
		return fmt.Errorf("the archive in %s is in use: stop the Drover that works on it first", dir)
	}
	return err
}
