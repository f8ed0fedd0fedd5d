//go:build !unix

package main

// raiseFileLimit returns how many files and connections may be open at once: here
// the system sets no limit that could be raised.
func raiseFileLimit() int { return 1 << 20 }
