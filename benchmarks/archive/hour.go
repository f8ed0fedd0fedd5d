package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/archive/play"
)

// Hour is what it takes to come to two seconds at the 59th minute of an hour.
type Hour struct {
	HourBytes int64     `json:"hour_bytes"`
	Sent      int64     `json:"sent_bytes"` // playlist, init and segments
	Read      int64     `json:"read_bytes"` // of recorded files
	Requests  int       `json:"requests"`
	Taken     Latencies `json:"taken"` // from the request for the playlist to the last byte
}

const (
	hourFiles  = 60
	hourGOPs   = 30      // of a file
	hourGOP    = 500_000 // bytes: 2 Mbit/s
	hourRounds = 50
)

// measureHour records an hour at 2 Mbit/s, of bytes that are no pictures, and reads two
// seconds of it over TCP as a player does.
func measureHour(ctx context.Context) (*Hour, error) {
	dir, err := os.MkdirTemp("", "drover-hour-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	x, err := index.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	hour := &Hour{}
	if hour.HourBytes, err = recordHour(ctx, x, dir); err != nil {
		return nil, err
	}
	handler, err := play.New(play.Options{Index: x, Dir: dir, Known: func(string) bool { return true }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer handler.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-ended
	}()
	var taken []time.Duration
	for range hourRounds {
		if err := forgetBelow(dir); err != nil {
			return nil, err
		}
		started := time.Now()
		hour.Sent, hour.Read, hour.Requests = 0, 0, 0
		if err := hour.watch(ctx, "http://"+listener.Addr().String()+"/archive/door/"); err != nil {
			return nil, err
		}
		taken = append(taken, time.Since(started))
	}
	hour.Taken = latenciesOf(taken)
	return hour, nil
}

// watch reads a playlist of two seconds and all that it names.
func (h *Hour) watch(ctx context.Context, base string) error {
	from := first.Add(59 * time.Minute)
	playlist, err := h.get(ctx, base+"index.m3u8?from="+from.Format(time.RFC3339)+"&to="+from.Add(2*time.Second).Format(time.RFC3339), "")
	if err != nil {
		return err
	}
	span := ""
	lines := bufio.NewScanner(strings.NewReader(string(playlist)))
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "#EXT-X-MAP:"):
			_, rest, _ := strings.Cut(line, `URI="`)
			uri, rest, _ := strings.Cut(rest, `",BYTERANGE="`)
			if err := h.media(ctx, base+uri, strings.TrimSuffix(rest, `"`)); err != nil {
				return err
			}
		case strings.HasPrefix(line, "#EXT-X-BYTERANGE:"):
			span = strings.TrimPrefix(line, "#EXT-X-BYTERANGE:")
		case line != "" && line[0] != '#':
			if err := h.media(ctx, base+line, span); err != nil {
				return err
			}
		}
	}
	if h.Read == 0 {
		return errors.New("the playlist names nothing")
	}
	return nil
}

func (h *Hour) media(ctx context.Context, url, span string) error {
	size, offset, _ := strings.Cut(span, "@")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return err
	}
	at, err := strconv.ParseInt(offset, 10, 64)
	if err != nil {
		return err
	}
	data, err := h.get(ctx, url, fmt.Sprintf("bytes=%d-%d", at, at+n-1))
	if err == nil && int64(len(data)) != n {
		err = fmt.Errorf("%s: %d of %d bytes", url, len(data), n)
	}
	h.Read += n
	return err
}

func (h *Hour) get(ctx context.Context, url, span string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if span != "" {
		request.Header.Set("Range", span)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %s", url, response.Status)
	}
	h.Sent += int64(len(data))
	h.Requests++
	return data, err
}

// recordHour writes an hour's files and rows.
func recordHour(ctx context.Context, x *index.Index, dir string) (total int64, err error) {
	stream, err := x.Stream(ctx, "door", "main")
	if err != nil {
		return 0, err
	}
	var files []index.File
	for n := range hourFiles {
		f := index.File{Stream: stream.ID, Number: int64(n + 1), Run: 1, Epoch: 1, Start: first.Add(time.Duration(n) * time.Minute),
			Sequence: uint64(n * hourGOPs), Format: index.Format{Codecs: "avc1.640028", Width: 1920, Height: 1080, FPS: 25}}
		// What is in a file is of no account here but for its size.
		data := append(box(nil, "ftyp", 24), box(nil, "moov", 1060)...)
		f.Init = int64(len(data))
		data = layout.AppendIdentity(data, layout.Identity{Camera: "door", Source: "main", Number: f.Number, Run: 1, Epoch: 1, Start: f.Start, Sequence: f.Sequence})
		f.Header = int64(len(data))
		for range hourGOPs {
			f.Fragments = append(f.Fragments, layout.Fragment{Offset: int64(len(data)), Bytes: hourGOP, Head: 60_000, Duration: 180_000, Keyframe: true})
			data = box(data, "mdat", hourGOP)
		}
		path := filepath.Join(dir, string(layout.AppendPath(nil, layout.Name{Camera: "door", Source: "main", Start: f.Start, Number: f.Number})))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return 0, err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return 0, err
		}
		total += int64(len(data))
		files = append(files, f)
	}
	return total, x.Restore(ctx, files...)
}

// box appends a box of so many bytes.
func box(dst []byte, kind string, size int) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	dst = append(dst, kind...)
	return append(dst, make([]byte, size-8)...)
}

// forgetBelow has the system give up what it holds of all files.
func forgetBelow(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		return forget(path)
	})
}
