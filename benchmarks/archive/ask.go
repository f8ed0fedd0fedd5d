package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/footage"
)

// An asker asks questions of an index.
type asker struct {
	ctx     context.Context
	o       options
	index   *index.Index
	handler *play.Handler
	catalog *play.Catalog
	random  *rand.Rand
	now     time.Time
}

// ask asks all questions and takes what they took into the report.
func ask(ctx context.Context, o options, report *Report) error {
	if err := forget(o.dir); err != nil {
		return err
	}
	x, err := index.Open(ctx, o.dir)
	if err != nil {
		return err
	}
	defer x.Close()
	a := &asker{ctx: ctx, o: o, index: x, random: rand.New(rand.NewPCG(1, 2))}
	a.handler, err = play.New(play.Options{Index: x, Dir: o.dir, Known: func(string) bool { return true },
		Now: func() time.Time { return a.now }, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	if err != nil {
		return err
	}
	defer a.handler.Close()
	a.catalog = play.NewCatalog(x, nil, nil)
	report.IndexBytes, report.Files = sizeOf(o.dir), int64(o.cameras)*int64(o.days)*perDay+int64(o.year)*perDay
	report.BytesPerFile = float64(report.IndexBytes) / float64(report.Files)
	for _, q := range []struct {
		name string
		ask  func() error
	}{
		{"playlist of 10 minutes", a.tenMinutes},
		{"timeline of a day", a.day},
		{"timeline of a year", a.year},
		{"days of a year", a.days},
	} {
		cold, err := a.measure(q.ask, true)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		warm, err := a.measure(q.ask, false)
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		report.Questions = append(report.Questions, Question{Name: q.name, Cold: cold, Warm: warm})
	}
	report.TimeShift, err = a.timeShift()
	return err
}

// measure asks again and again. Cold: what the system has of the index in memory is
// given up first.
func (a *asker) measure(ask func() error, cold bool) (Latencies, error) {
	if cold {
		if err := forget(a.o.dir); err != nil {
			return Latencies{}, err
		}
	}
	taken := make([]time.Duration, a.o.requests)
	used := cpu()
	for i := range taken {
		if err := a.ctx.Err(); err != nil {
			return Latencies{}, err
		}
		started := time.Now()
		if err := ask(); err != nil {
			return Latencies{}, err
		}
		taken[i] = time.Since(started)
	}
	l := latenciesOf(taken)
	l.CPU = ms((cpu() - used) / time.Duration(max(1, len(taken))))
	return l, nil
}

// forget has the system give up what it holds of the files in a directory.
func forget(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		file, err := os.Open(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = errors.Join(unix.Fdatasync(int(file.Fd())), unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_DONTNEED))
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

func sizeOf(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, "archive.db"))
	if err != nil {
		return 0
	}
	return info.Size()
}

// anywhere returns a camera and a time of its recordings that lasts so long.
func (a *asker) anywhere(lasts time.Duration) (camera string, from time.Time) {
	total := time.Duration(a.o.days)*24*time.Hour - lasts
	return cameraID(a.random.IntN(a.o.cameras)), first.Add(time.Duration(a.random.Int64N(int64(max(total, 1))))).Truncate(time.Millisecond)
}

// get asks the handler, and returns the body.
func (a *asker) get(path string, headers ...string) (*httptest.ResponseRecorder, error) {
	request := httptest.NewRequestWithContext(a.ctx, http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.handler.ServeHTTP(w, request)
	if w.Code != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s", path, w.Code, w.Body)
	}
	return w, nil
}

func (a *asker) tenMinutes() error {
	camera, from := a.anywhere(10 * time.Minute)
	a.now = from.AddDate(1, 0, 0)
	w, err := a.get("/archive/" + camera + "/index.m3u8?from=" + from.Format(time.RFC3339Nano) + "&to=" + from.Add(10*time.Minute).Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	if n := strings.Count(w.Body.String(), "#EXTINF"); n < 280 || n > 302 {
		return fmt.Errorf("%d segments in ten minutes", n)
	}
	return nil
}

func (a *asker) timeline(camera string, from time.Time, lasts time.Duration) error {
	t, err := a.catalog.Timeline(a.ctx, footage.Query{Camera: camera, From: from, To: from.Add(lasts)}, lasts/1000)
	if err == nil && (len(t.Spans) == 0 || t.Bytes == 0) {
		err = fmt.Errorf("nothing in %v of %s from %v on", lasts, camera, from)
	}
	return err
}

func (a *asker) day() error {
	camera, from := a.anywhere(24 * time.Hour)
	return a.timeline(camera, from, 24*time.Hour)
}

func (a *asker) year() error {
	return a.timeline(yearCamera, first, time.Duration(a.o.year)*24*time.Hour)
}

func (a *asker) days() error {
	days, err := a.catalog.Days(a.ctx, footage.Query{Camera: yearCamera, From: first, To: first.AddDate(0, 0, a.o.year)}, time.UTC)
	if err == nil && len(days) < a.o.year {
		err = fmt.Errorf("%d days", len(days))
	}
	return err
}

// timeShift measures the playlist of a day that grows.
func (a *asker) timeShift() (shift TimeShift, err error) {
	stream, _ := a.index.Find(yearCamera, "main")
	usage, err := a.index.UsageOf(a.ctx, stream.ID)
	if err != nil {
		return shift, err
	}
	f := &index.File{Stream: stream.ID, Run: 1, Epoch: 1, Init: 1093, Header: 1179, Bytes: 1179, Start: usage.To, Format: index.Format{Codecs: "avc1.640028"}}
	if err := a.index.Begin(a.ctx, f); err != nil {
		return shift, err
	}
	grow := func() error {
		piece := layout.Fragment{Offset: f.Bytes, Bytes: 500_000, Head: 60_000, Duration: 180_000, Keyframe: true}
		f.Bytes += piece.Bytes
		a.now = a.now.Add(2 * time.Second)
		return a.index.Append(f.Key(), piece, [2]int64{50, 0})
	}
	a.now = usage.To
	if err := errors.Join(grow(), grow()); err != nil {
		return shift, err
	}
	const path = "/archive/" + yearCamera + "/index.m3u8"
	timed := func(into *float64, query string, headers ...string) (*httptest.ResponseRecorder, error) {
		started := time.Now()
		w, err := a.get(path+query, headers...)
		*into = ms(time.Since(started))
		return w, err
	}
	full, err := timed(&shift.FirstMS, "")
	if err != nil {
		return shift, err
	}
	shift.Bytes = full.Body.Len()
	packed, err := timed(&shift.FirstGzipMS, "", "Accept-Encoding", "gzip")
	if err != nil {
		return shift, err
	}
	shift.GzipBytes = packed.Body.Len()
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		return shift, err
	}
	if n, err := io.Copy(io.Discard, z); err != nil || int(n) != shift.Bytes {
		return shift, fmt.Errorf("%d of %d bytes behind gzip: %w", n, shift.Bytes, err)
	}
	var versions, again, polls []time.Duration
	for range 25 {
		if err := grow(); err != nil {
			return shift, err
		}
		started := time.Now()
		delta, err := a.get(path+"?_HLS_skip=YES", "Accept-Encoding", "gzip")
		if err != nil {
			return shift, err
		}
		versions = append(versions, time.Since(started))
		shift.DeltaGzipBytes = delta.Body.Len()
		started = time.Now()
		if _, err := a.get(path, "Accept-Encoding", "gzip"); err != nil {
			return shift, err
		}
		again = append(again, time.Since(started))
		for range 20 {
			started = time.Now()
			if _, err := a.get(path+"?_HLS_skip=YES", "Accept-Encoding", "gzip"); err != nil {
				return shift, err
			}
			polls = append(polls, time.Since(started))
		}
	}
	shift.NewVersionDelta, shift.NewVersionFull, shift.Poll = latenciesOf(versions), latenciesOf(again), latenciesOf(polls)
	return shift, a.index.Finish(a.ctx, f.Key())
}
