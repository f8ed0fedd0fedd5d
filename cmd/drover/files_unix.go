//go:build unix

package main

import "syscall"

// wantedFiles is what ten thousand viewers, the cameras and their memory files
// take, with room. A process without the right to ask for so many gets what the
// system allows it.
const wantedFiles = 1 << 20

// raiseFileLimit raises how many files and connections may be open at once as far
// as it goes, and returns how far that is.
func raiseFileLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // what systems begin with
	}
	// Their type differs from system to system.
	wanted := limit
	wanted.Cur, wanted.Max = wantedFiles, max(limit.Max, wantedFiles)
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &wanted) == nil {
		return wantedFiles
	}
	wanted.Cur, wanted.Max = min(limit.Max, wantedFiles), limit.Max
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &wanted) == nil {
		limit = wanted
	}
	return int(min(limit.Cur, wantedFiles))
}
