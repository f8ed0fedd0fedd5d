package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// group makes cmd one that only holds others. Alone it shows what they are; a word that
// is none of them is an error, which a script can see, where cobra shows its help.
func group(cmd *cobra.Command, members ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.FParseErrWhitelist.UnknownFlags = true // they are of the command that was meant
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		near := cmd.SuggestionsFor(args[0])
		if len(near) == 0 {
			for _, m := range members {
				near = append(near, m.Name())
			}
		}
		return fmt.Errorf("there is no %s %s: did you mean %s %s?", cmd.CommandPath(), args[0], cmd.CommandPath(), strings.Join(near, ", or "))
	}
	cmd.AddCommand(members...)
	return cmd
}

// wants takes exactly so many arguments as the command's Use names, and says their
// names where there are more or fewer.
func wants(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	if len(args) == len(names) {
		return nil
	}
	return fmt.Errorf("%s wants %s, and %d were given: see %s --help", cmd.CommandPath(), strings.Join(names, " and "), len(args), cmd.CommandPath())
}

// counted is a number of things, in words: "1 camera", "2 cameras".
func counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
