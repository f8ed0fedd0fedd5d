package home

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/drover-video/drover/archive/index"
)

// material is what an object is made of: open files, which can be read to the end even
// if they are deleted meanwhile, and what says what they are.
type material struct {
	stream   index.Stream
	files    []index.File
	open     []*os.File
	contents []byte
	size     int64
	checksum sum
}

// missingError tells of a file that is not on the disk, or is shorter than its row
// says.
type missingError struct{ file *index.File }

func (e *missingError) Error() string {
	return fmt.Sprintf("file %d of stream %d is not on the disk as the index says", e.file.Number, e.file.Stream)
}

// newMaterial opens files and reads them once, for their checksum; the kernel has them
// in memory then, when they are sent. It must be closed.
func newMaterial(ctx context.Context, root *os.Root, stream index.Stream, files []index.File) (*material, error) {
	m := &material{stream: stream, files: files}
	if err := m.fill(ctx, root); err != nil {
		m.close()
		return nil, err
	}
	return m, nil
}

func (m *material) fill(ctx context.Context, root *os.Root) error {
	for i := range m.files {
		if err := m.add(root, &m.files[i]); err != nil {
			return err
		}
	}
	var err error
	if m.contents, err = appendContents(nil, m.stream, m.files); err != nil {
		return err
	}
	m.size += int64(len(m.contents))
	hash := sha256.New()
	r := m.reader(ctx)
	if n, err := io.CopyBuffer(onlyWriter{hash}, r, make([]byte, pieceBytes)); err != nil {
		return err
	} else if n != m.size {
		return io.ErrUnexpectedEOF
	}
	hash.Sum(m.checksum[:0])
	return nil
}

// pieceBytes is how much is read of the disk at once.
const pieceBytes = 256 << 10

// onlyWriter hides what else a writer can do from io.Copy.
type onlyWriter struct{ io.Writer }

func (m *material) add(root *os.Root, f *index.File) error {
	file, err := root.Open(filePath(m.stream, f))
	if errors.Is(err, fs.ErrNotExist) {
		return &missingError{f}
	}
	if err != nil {
		return &localError{err}
	}
	m.open = append(m.open, file)
	info, err := file.Stat()
	if err != nil {
		return &localError{err}
	}
	if !info.Mode().IsRegular() || info.Size() < f.Bytes {
		return &missingError{f}
	}
	m.size += f.Bytes
	return nil
}

func (m *material) name() string { return objectName(m.stream, m.files, m.checksum) }

// object returns what the index keeps of it.
func (m *material) object() *index.Object {
	o := &index.Object{Stream: m.stream.ID, Name: m.name(), Bytes: m.size, From: m.files[0].Start, To: m.files[0].End()}
	offset := int64(0)
	for i := range m.files {
		f := &m.files[i]
		o.Parts = append(o.Parts, index.PartOf(f, offset))
		offset += f.Bytes
		if f.Start.Before(o.From) {
			o.From = f.Start
		}
		if f.End().After(o.To) {
			o.To = f.End()
		}
	}
	return o
}

// close lets go of the files, and of what the kernel keeps of them in memory: nobody
// is likely to ask for it soon.
func (m *material) close() {
	for _, file := range m.open {
		forget(file)
		_ = file.Close() // It was only read.
	}
}

// reader returns a reader of all of it.
func (m *material) reader(ctx context.Context) io.Reader { return &materialReader{m: m, ctx: ctx} }

type materialReader struct {
	m      *material
	ctx    context.Context
	part   int
	offset int64 // within the part
}

func (r *materialReader) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	for r.part < len(r.m.files) && r.offset == r.m.files[r.part].Bytes {
		r.part++
		r.offset = 0
	}
	if r.part == len(r.m.files) {
		n := copy(into, r.m.contents[r.offset:])
		r.offset += int64(n)
		if n == 0 && len(into) > 0 {
			return 0, io.EOF
		}
		return n, nil
	}
	left := r.m.files[r.part].Bytes - r.offset
	n, err := r.m.open[r.part].ReadAt(into[:min(int64(len(into)), left)], r.offset)
	r.offset += int64(n)
	if n > 0 {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // it became shorter
	}
	return 0, &localError{err}
}
