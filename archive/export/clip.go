package export

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sort"
	"strconv"
	"time"

	"github.com/drover-video/drover/core/fmp4"
)

// A piece is bytes of a recorded file, and where they stand in the clip's media.
type piece struct {
	file         int // of Clip.files
	offset, size int64
	at           int64
}

// appendPiece adds a piece, as part of the one before where they lie side by side.
func appendPiece(pieces []piece, p piece) []piece {
	if n := len(pieces); n > 0 {
		last := &pieces[n-1]
		if last.file == p.file && last.offset+last.size == p.offset {
			last.size += p.size
			return pieces
		}
	}
	return append(pieces, p)
}

// Clip is an MP4 that is ready to be sent.
type Clip struct {
	From, To time.Time // of its first picture, and the end of its last
	Gaps     int       // times without footage within
	Size     int64     // bytes
	ETag     string    // strong, with its quotation marks
	Name     string    // for a file

	head   []byte
	pieces []piece
	files  []recorded
	places *places
	done   func()
}

func (p *plan) clip(places *places) *Clip {
	c := &Clip{From: p.from, To: p.to, Gaps: p.gaps, places: places, pieces: p.pieces, files: p.files}
	if c.To.After(p.request.To) {
		c.To = p.request.To
	}
	p.movie.Created, p.movie.Title = p.from, p.stream.Camera
	p.movie.Comment = fmt.Sprintf("camera %s, source %s, recorded %s to %s, asked for %s to %s, gaps %d",
		p.stream.Camera, p.stream.Source, stamp(c.From), stamp(c.To), stamp(p.request.From), stamp(p.request.To), c.Gaps)
	c.head = fmp4.AppendMovie(nil, &p.movie, p.media)
	c.Size = int64(len(c.head)) + p.media
	sum := sha256.New()
	sum.Write(c.head)
	for _, f := range p.files {
		io.WriteString(sum, f.path) //nolint:errcheck // A hash takes everything.
	}
	c.ETag = `"` + hex.EncodeToString(sum.Sum(nil)[:12]) + `"`
	const compact = "20060102T150405Z"
	c.Name = p.stream.Camera + "-" + c.From.UTC().Format(compact) + "-" + c.To.UTC().Format(compact) + ".mp4"
	return c
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Close ends the clip. It is called once.
func (c *Clip) Close() { c.done() }

// ServeHTTP sends the clip, or the part of it that a Range asks for, and says when
// what it holds was recorded. Of headers it sets all but those that concern caches
// and who may read it.
func (c *Clip) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "video/mp4")
	h.Set("Content-Disposition", `attachment; filename="`+c.Name+`"`)
	h.Set("ETag", c.ETag)
	h.Set("Drover-Clip-From", stamp(c.From))
	h.Set("Drover-Clip-To", stamp(c.To))
	h.Set("Drover-Clip-Gaps", strconv.Itoa(c.Gaps))
	media := c.reader(r.Context())
	defer media.close()
	http.ServeContent(w, r, "", time.Time{}, media)
}

// Sum reads the whole clip and returns its SHA-256.
func (c *Clip) Sum(ctx context.Context) ([sha256.Size]byte, error) {
	media := c.reader(ctx)
	defer media.close()
	sum := sha256.New()
	if _, err := io.Copy(sum, media); err != nil {
		return [sha256.Size]byte{}, err
	}
	return [sha256.Size]byte(sum.Sum(nil)), nil
}

func (c *Clip) reader(ctx context.Context) *reader { return &reader{ctx: ctx, clip: c, open: -1} }

// A reader reads a clip from any place. It belongs to one goroutine and has one file
// open at a time.
type reader struct {
	ctx  context.Context
	clip *Clip
	at   int64
	file source
	open int // which of the clip's files
}

var errSeek = errors.New("seek before the beginning")

// Seek implements io.Seeker.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.clip.Size
	}
	if offset < 0 {
		return 0, errSeek
	}
	r.at = offset
	return offset, nil
}

// Read implements io.Reader.
func (r *reader) Read(into []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.at >= r.clip.Size {
		return 0, io.EOF
	}
	head := int64(len(r.clip.head))
	if r.at < head {
		n := copy(into, r.clip.head[r.at:])
		r.at += int64(n)
		return n, nil
	}
	at := r.at - head
	pieces := r.clip.pieces
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].at+pieces[i].size > at })
	p := &pieces[i]
	if err := r.use(p.file); err != nil {
		return 0, err
	}
	within := at - p.at
	n, err := r.file.ReadAt(into[:min(int64(len(into)), p.size-within)], p.offset+within)
	r.at += int64(n)
	if n > 0 {
		return n, nil
	}
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // the file is shorter than it was
	}
	return 0, err
}

// use opens a file, and closes the one before.
func (r *reader) use(file int) error {
	if r.open == file {
		return nil
	}
	r.close()
	opened, err := r.clip.places.open(r.ctx, r.clip.files[file])
	if err != nil {
		return err
	}
	r.file, r.open = opened, file
	return nil
}

func (r *reader) close() {
	if r.file != nil {
		_ = r.file.Close() // It was only read.
		r.file, r.open = nil, -1
	}
}
