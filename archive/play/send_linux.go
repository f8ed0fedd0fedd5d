package play

import "golang.org/x/sys/unix"

// SendTo implements wire.Sendable.
func (r *fileReader) SendTo(socket int, limit int64) (int, error) {
	n, err := unix.Sendfile(socket, int(r.file.Fd()), &r.offset, int(min(r.left, limit)))
	n = max(n, 0)
	r.left -= int64(n) // the kernel moves the offset on
	return n, err
}
