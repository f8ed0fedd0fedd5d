package media

import "golang.org/x/sys/unix"

// allocate returns zeroed memory outside Go's heap.
func allocate(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// free gives memory of allocate back to the system.
func free(data []byte) {
	if err := unix.Munmap(data); err != nil {
		panic("media: munmap: " + err.Error())
	}
}
