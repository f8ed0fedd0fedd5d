package export

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/drover-video/drover/archive/index"
)

// A SecondHome reads files that are not on the disk any more: n bytes from an offset
// on. The error is fs.ErrNotExist where it has no copy.
type SecondHome interface {
	Open(ctx context.Context, key index.Key, offset, n int64) (io.ReadCloser, error)
}

// A recorded file of a clip.
type recorded struct {
	path string
	key  index.Key
	size int64
}

// A source is a recorded file that is open, wherever it lies.
type source interface {
	io.ReaderAt
	io.Closer
}

// places is where recorded files are looked for.
type places struct {
	root *os.Root // the archive's directory: nothing outside of it can be opened
	away SecondHome
}

func (p *places) open(ctx context.Context, f recorded) (source, error) {
	file, err := p.root.Open(f.path)
	if err == nil {
		return file, nil
	}
	if p.away != nil && errors.Is(err, fs.ErrNotExist) {
		return &distant{ctx: ctx, away: p.away, file: f}, nil
	}
	return nil, err
}

const (
	// aheadBytes is how much is asked for at once of what is read on and on.
	aheadBytes = 4 << 20

	// skipBytes is how much is rather read over than not asked for.
	skipBytes = 64 << 10
)

// distant is a file in the second home. What is read here and there is asked for as it
// is, and what is read on and on in large pieces. It belongs to one goroutine.
type distant struct {
	ctx  context.Context
	away SecondHome
	file recorded

	body io.ReadCloser // nil while there is none
	at   int64         // where it, or the last one, stands
	end  int64         // of it
}

// ReadAt implements io.ReaderAt.
func (d *distant) ReadAt(into []byte, offset int64) (int, error) {
	read := 0
	for read < len(into) {
		if offset >= d.file.size {
			return read, io.EOF
		}
		if err := d.stand(offset, int64(len(into)-read)); err != nil {
			return read, err
		}
		n, err := io.ReadFull(d.body, into[read:min(int64(len(into)), int64(read)+d.end-d.at)])
		read += n
		offset += int64(n)
		if d.at += int64(n); err != nil {
			d.let()
			return read, err
		}
	}
	return read, nil
}

// stand makes body one that goes on at an offset, with n bytes or fewer.
func (d *distant) stand(offset, n int64) error {
	onward := offset >= d.at && offset-d.at <= skipBytes
	if d.body != nil && onward && offset < d.end {
		skipped, err := io.CopyN(io.Discard, d.body, offset-d.at)
		if d.at += skipped; err == nil {
			return nil
		}
	}
	d.let()
	if onward && d.at > 0 {
		n = max(n, aheadBytes)
	}
	n = min(n, d.file.size-offset)
	body, err := d.away.Open(d.ctx, d.file.key, offset, n)
	if err != nil {
		return err
	}
	d.body, d.at, d.end = body, offset, offset+n
	return nil
}

func (d *distant) let() {
	if d.body != nil {
		_ = d.body.Close() // It was only read.
		d.body = nil
	}
}

// Close implements io.Closer.
func (d *distant) Close() error {
	d.let()
	return nil
}
