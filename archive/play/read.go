package play

import "io"

// Read implements io.Reader, for whatever cannot be sent to by the kernel.
func (r *fileReader) Read(into []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.file.ReadAt(into[:min(int64(len(into)), r.left)], r.offset)
	r.advance(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF // the file is shorter than the index says
	}
	return n, err
}
