package layout

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// A Name is what a file's path says of it.
type Name struct {
	Camera, Source string
	Start          time.Time // of the first picture, in milliseconds, UTC
	Number         int64     // of the file, in its stream
	Thinned        bool      // only keyframes are left: another file than the one of the same number before
}

// MaxNumber bounds the numbers of files and of their segments that an index takes from
// elsewhere: from a larger one, those that follow could not be counted on.
const MaxNumber = 1 << 62

// ErrName is returned for paths that are not those of a file of Drover's.
var ErrName = errors.New("no file of the archive is named so")

const (
	dayForm  = "2006-01-02"
	timeForm = "20060102T150405.000Z"
	suffix   = ".mp4"
	thinned  = "k"
	maxID    = 63
)

// AppendPath appends the path of a file below the archive's folder, with slashes.
func AppendPath(dst []byte, n Name) []byte {
	start := n.Start.UTC()
	dst = AppendDirectory(dst, n)
	dst = append(dst, '/')
	dst = start.AppendFormat(dst, timeForm)
	dst = append(dst, '-')
	dst = strconv.AppendInt(dst, n.Number, 10)
	if n.Thinned {
		dst = append(dst, thinned...)
	}
	return append(dst, suffix...)
}

// AppendDirectory appends the path of the folder that a file lies in.
func AppendDirectory(dst []byte, n Name) []byte {
	dst = append(dst, n.Camera...)
	dst = append(dst, '/')
	dst = append(dst, n.Source...)
	dst = append(dst, '/')
	return n.Start.UTC().AppendFormat(dst, dayForm)
}

// ParsePath reads what AppendPath writes, and nothing else: no path that leads
// elsewhere, and no second way to write the same.
func ParsePath(path string) (Name, error) {
	parts := strings.Split(path, "/")
	if len(parts) != 4 || !validID(parts[0]) || !validID(parts[1]) {
		return Name{}, ErrName
	}
	stem, ok := strings.CutSuffix(parts[3], suffix)
	stem, thin := strings.CutSuffix(stem, thinned)
	if !ok || len(stem) < len(timeForm)+2 {
		return Name{}, ErrName
	}
	start, err := time.Parse(timeForm, stem[:len(timeForm)])
	if err != nil {
		return Name{}, ErrName
	}
	number, err := strconv.ParseInt(stem[len(timeForm)+1:], 10, 64)
	if err != nil || number < 0 {
		return Name{}, ErrName
	}
	n := Name{Camera: parts[0], Source: parts[1], Start: start, Number: number, Thinned: thin}
	if string(AppendPath(nil, n)) != path {
		return Name{}, ErrName
	}
	return n, nil
}

// validID reports whether a name is a camera's id or a source's name. There is no
// dot in one.
func validID(id string) bool {
	if id == "" || len(id) > maxID || id[0] == '-' || id[0] == '_' {
		return false
	}
	for i := range len(id) {
		if c := id[i]; c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
