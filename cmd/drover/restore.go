package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/drover-video/drover/archive/home"
	"github.com/drover-video/drover/archive/index"
)

func newRestore() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Puts what lies in the second home, and the index does not know, into the index",
		Long: "Puts what lies in the second home (archive.second_home), and the index does not\n" +
			"know, into the index: after drover archive repair, or on a new machine. Nothing is\n" +
			"downloaded but what objects say of themselves; it plays from there. The server has\n" +
			"to be stopped.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			if c.Archive.SecondHome.Bucket == "" {
				return errors.New("there is no second home: set archive.second_home.bucket, and what it needs")
			}
			return onArchive(cmd, func(ctx context.Context, dir string, out io.Writer) error {
				x, err := index.Open(ctx, dir)
				if err != nil {
					return err
				}
				defer x.Close()
				h, err := home.New(homeOptions(c, dir, x))
				if err != nil {
					return err
				}
				defer h.Close()
				return restore(ctx, h, dry, out)
			})
		},
	}
	addSomeConfigFlags(cmd, "archive.dir", "data.dir", "archive.second_home.endpoint", "archive.second_home.bucket", "archive.second_home.prefix")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only hold the bucket against the index, and change nothing")
	return cmd
}

// restore puts into the index what is in the bucket, and says what was found.
func restore(ctx context.Context, h *home.Home, dry bool, out io.Writer) error {
	look := h.Restore
	if dry {
		look = h.Verify
	}
	found, err := look(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d objects: %d known, %d of another size than is known, %d unknown and left alone; %d restored, with %d files; %d files left out, for others that were recorded since have their numbers; %d known ones are not there\n",
		found.Objects, found.Known, found.Other, found.Foreign, found.Adopted, found.Files, found.Taken, found.Missing)
	if err == nil && found.Other+found.Taken+found.Missing > 0 {
		err = errProblems
	}
	return err
}
