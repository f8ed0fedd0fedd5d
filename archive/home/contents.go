package home

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// The box at an object's end that says what is in it: an index that was lost is made
// of those.
const (
	contentsType    = "DroverList\x00\x01\x8e\x5a\x21\xc3"
	contentsVersion = 1
	contentsHeader  = 8 + 16
	contentsTrailer = 4 // the size of the box once more, to find its beginning from its end

	// maxContents bounds the box: a real one has some kilobytes.
	maxContents = 16 << 20
)

// errContents is returned for an object whose end says nothing of what is in it.
var errContents = errors.New("no object of the archive")

// contents is what the box says, in JSON.
type contents struct {
	Version int             `json:"version"`
	Camera  string          `json:"camera"`
	Source  string          `json:"source"`
	Files   []contentsEntry `json:"files"`
}

type contentsEntry struct {
	Number        int64    `json:"number"`
	Offset        int64    `json:"offset"` // of the file's first byte
	Bytes         int64    `json:"bytes"`
	Init          int64    `json:"init"`
	Header        int64    `json:"header"`
	Start         int64    `json:"start"` // Unix microseconds
	Span          int64    `json:"span"`  // microseconds
	Duration      int64    `json:"duration"`
	Run           int64    `json:"run"`
	Epoch         int64    `json:"epoch"`
	Sequence      uint64   `json:"sequence"`
	Discontinuity uint64   `json:"discontinuity"`
	Codecs        string   `json:"codecs"`
	Width         int      `json:"width"`
	Height        int      `json:"height"`
	FPS           float64  `json:"fps"`
	Frames        [2]int64 `json:"frames"`
	Thinned       bool     `json:"thinned,omitempty"`
	Fragments     []byte   `json:"fragments"` // the table of the index
}

// appendContents appends the box of an object of files, one behind another.
func appendContents(dst []byte, stream index.Stream, files []index.File) ([]byte, error) {
	list := contents{Version: contentsVersion, Camera: stream.Camera, Source: stream.Source}
	offset := int64(0)
	for i := range files {
		f := &files[i]
		list.Files = append(list.Files, contentsEntry{
			Number: f.Number, Offset: offset, Bytes: f.Bytes, Init: f.Init, Header: f.Header,
			Start: f.Start.UnixMicro(), Span: f.Span.Microseconds(), Duration: f.Duration, Run: f.Run, Epoch: f.Epoch,
			Sequence: f.Sequence, Discontinuity: f.Discontinuity,
			Codecs: f.Format.Codecs, Width: f.Format.Width, Height: f.Format.Height, FPS: f.Format.FPS,
			Frames: f.Frames, Thinned: f.Thinned, Fragments: layout.AppendTable(nil, f.Fragments),
		})
		offset += f.Bytes
	}
	body, err := json.Marshal(list)
	if err != nil {
		return dst, fmt.Errorf("say what is in an object: %w", err)
	}
	size := contentsHeader + len(body) + contentsTrailer
	if size > maxContents {
		return dst, errors.New("say what is in an object: too much")
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, "uuid"+contentsType...)
	dst = append(dst, body...)
	return binary.BigEndian.AppendUint32(dst, uint32(size)), nil
}

// contentsSize returns how long the box is that ends with an object's last bytes.
func contentsSize(end []byte) (int64, error) {
	if len(end) < contentsTrailer {
		return 0, errContents
	}
	size := int64(binary.BigEndian.Uint32(end[len(end)-contentsTrailer:]))
	if size < contentsHeader+contentsTrailer || size > maxContents {
		return 0, errContents
	}
	return size, nil
}

// parseContents reads a box, the whole of it, of an object that has so many bytes.
// The files have no Stream yet.
func parseContents(box []byte, object int64) (index.Stream, []index.File, []index.Part, error) {
	fail := func() (index.Stream, []index.File, []index.Part, error) { return index.Stream{}, nil, nil, errContents }
	size, err := contentsSize(box)
	if err != nil || size != int64(len(box)) || int64(binary.BigEndian.Uint32(box)) != size || size > object || string(box[4:contentsHeader]) != "uuid"+contentsType {
		return fail()
	}
	var list contents
	if err := json.Unmarshal(box[contentsHeader:size-contentsTrailer], &list); err != nil || list.Version != contentsVersion || len(list.Files) == 0 || len(list.Files) > maxParts {
		return fail()
	}
	files, parts, offset := make([]index.File, len(list.Files)), make([]index.Part, len(list.Files)), int64(0)
	for i := range list.Files {
		e := &list.Files[i]
		if e.Offset != offset || e.Bytes <= 0 || e.Bytes > object-size-offset || i > 0 && e.Number <= list.Files[i-1].Number {
			return fail()
		}
		if files[i], err = e.file(); err != nil {
			return fail()
		}
		// A name that no path could have would be one of another Drover, or an attack.
		if _, err := layout.ParsePath(filePath(index.Stream{Camera: list.Camera, Source: list.Source}, &files[i])); err != nil {
			return fail()
		}
		parts[i] = index.PartOf(&files[i], e.Offset)
		offset += e.Bytes
	}
	if offset != object-size {
		return fail()
	}
	return index.Stream{Camera: list.Camera, Source: list.Source}, files, parts, nil
}

// errEntry is returned for an entry that is none.
var errEntry = errors.New("damaged entry")

func (e *contentsEntry) file() (index.File, error) {
	const maxCodecs = 256
	start := time.UnixMicro(e.Start).UTC()
	span := time.Duration(e.Span) * time.Microsecond
	if start.Year() < 1970 || start.Year() > 9999 || e.Span < 0 || e.Span > index.MaxFileSpan.Microseconds() || e.Duration < 0 ||
		e.Init <= 0 || e.Header < e.Init || e.Bytes <= e.Header || len(e.Codecs) > maxCodecs || e.Number < 0 || e.Number > layout.MaxNumber || e.Frames[0] < 0 || e.Frames[1] < 0 ||
		e.Width < 0 || e.Height < 0 || e.FPS < 0 || e.Sequence > layout.MaxNumber || e.Discontinuity > layout.MaxNumber {
		return index.File{}, errEntry
	}
	fragments, err := layout.ParseTable(nil, e.Fragments, e.Header)
	if err != nil || len(fragments) == 0 {
		return index.File{}, errEntry
	}
	last := &fragments[len(fragments)-1]
	if last.Offset+last.Bytes != e.Bytes {
		return index.File{}, errEntry
	}
	return index.File{
		Number: e.Number, Run: e.Run, Epoch: e.Epoch, Start: start, Span: span, Duration: e.Duration, Init: e.Init, Header: e.Header, Bytes: e.Bytes,
		Format: index.Format{Codecs: e.Codecs, Width: e.Width, Height: e.Height, FPS: e.FPS}, Frames: e.Frames, Thinned: e.Thinned,
		Sequence: e.Sequence, Discontinuity: e.Discontinuity, Fragments: fragments,
	}, nil
}

func filePath(s index.Stream, f *index.File) string {
	return string(layout.AppendPath(nil, layout.Name{Camera: s.Camera, Source: s.Source, Start: f.Start, Number: f.Number, Thinned: f.Thinned}))
}

// objectName returns the name of an object of files: that of the first of them, the
// number of the last, and the beginning of the checksum, so that no name ever stands
// for two contents and the same content has the same name.
func objectName(s index.Stream, files []index.File, checksum sum) string {
	name := []byte(filePath(s, &files[0]))
	name = append(name[:len(name)-len(".mp4")], '-')
	name = strconv.AppendInt(name, files[len(files)-1].Number, 10)
	return fmt.Sprintf("%s-%x.mp4", name, checksum[:8])
}
