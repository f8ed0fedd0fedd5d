//go:build linux || darwin

package sqlite

import "golang.org/x/sys/unix"

// freeBytes is how much room a folder's disk has for those who are not root.
func freeBytes(folder string) (free uint64, known bool) {
	var disk unix.Statfs_t
	if err := unix.Statfs(folder, &disk); err != nil {
		return 0, false
	}
	return uint64(disk.Bavail) * uint64(disk.Bsize), true
}
