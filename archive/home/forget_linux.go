package home

import (
	"os"

	"golang.org/x/sys/unix"
)

// forget tells the kernel that a file need not stay in memory.
func forget(file *os.File) {
	_ = unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED) // A hint.
}
