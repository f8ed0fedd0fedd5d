package main

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

// first is when all recordings begin.
var first = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)

const (
	yearCamera = "year"
	perDay     = 24 * 60 // files
)

func cameraID(n int) string { return fmt.Sprintf("cam-%05d", n) }

// fill makes the index where it is missing.
func fill(ctx context.Context, o options, report *Report) error {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return err
	}
	started := time.Now()
	x, err := index.Open(ctx, o.dir)
	if err != nil {
		return err
	}
	if len(x.Streams()) == o.cameras+1 {
		return x.Close()
	}
	if len(x.Streams()) > 0 {
		_ = x.Close()
		return fmt.Errorf("the index in %s is another: remove it", o.dir)
	}
	for n := range o.cameras {
		if _, err := x.Stream(ctx, cameraID(n), "main"); err != nil {
			_ = x.Close()
			return err
		}
	}
	year, err := x.Stream(ctx, yearCamera, "main")
	if err == nil {
		err = record(ctx, x, year.ID, o.year)
	}
	pattern, found := x.Find(cameraID(0), "main")
	if err == nil && found {
		err = record(ctx, x, pattern.ID, o.days)
	}
	if err != nil {
		_ = x.Close()
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	report.RestoredPerSecond = float64((o.year+o.days)*perDay) / time.Since(started).Seconds()
	err = multiply(ctx, filepath.Join(o.dir, "archive.db"))
	report.FillSeconds = time.Since(started).Seconds()
	return err
}

// record puts days of a camera of about 2 Mbit/s into the index: GOPs of two seconds.
// Once an hour the camera is away for half a minute.
func record(ctx context.Context, x *index.Index, streamID int64, days int) error {
	random := rand.New(rand.NewPCG(uint64(streamID), 1))
	files := make([]index.File, 0, perDay)
	number, sequence := int64(0), uint64(0)
	for day := range days {
		files = files[:0]
		for minute := range perDay {
			gops := 30
			if minute%60 == 59 {
				gops = 15
			}
			number++
			f := index.File{Stream: streamID, Number: number, Run: 1, Epoch: int64(day*24 + minute/60), Init: 1093, Header: 1179,
				Start: first.AddDate(0, 0, day).Add(time.Duration(minute)*time.Minute + time.Duration(random.IntN(40_000))*time.Microsecond), Sequence: sequence,
				Discontinuity: uint64(day*24 + minute/60), Format: index.Format{Codecs: "avc1.640028,mp4a.40.2", Width: 1920, Height: 1080, FPS: 25}}
			for range gops {
				f.Fragments = append(f.Fragments, layout.Fragment{Bytes: 450_000 + random.Int64N(100_000), Head: 50_000 + random.Int64N(20_000), Duration: 180_000, Keyframe: true})
			}
			sequence += uint64(gops)
			files = append(files, f)
		}
		if err := x.Restore(ctx, files...); err != nil {
			return err
		}
		var gaps []index.Gap
		for i := 59; i < len(files); i += 60 {
			from := files[i].Start.Add(30 * time.Second)
			gaps = append(gaps, index.Gap{Stream: streamID, From: from, To: from.Add(30 * time.Second), Cause: index.CauseNetwork, Detail: "connection refused"})
		}
		if err := x.AddGaps(ctx, gaps...); err != nil {
			return err
		}
	}
	return nil
}

// multiply gives all cameras but the last what the first has, within the database: to
// write each row would take many times as long, and would be the same.
func multiply(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-400000)&_pragma=temp_store(MEMORY)")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var pattern int64
	if err := db.QueryRowContext(ctx, "SELECT id FROM streams WHERE camera = ?", cameraID(0)).Scan(&pattern); err != nil {
		return err
	}
	rows, err := db.QueryContext(ctx, "SELECT id FROM streams WHERE camera <> ? AND camera <> ? ORDER BY id", cameraID(0), yearCamera)
	if err != nil {
		return err
	}
	var others []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		others = append(others, id)
	}
	if err := rows.Close(); err != nil {
		return err
	}
	for _, id := range others {
		for _, statement := range []string{
			`INSERT INTO files SELECT ?2, number, state, places, thinned, start + ?2 * 1000, span, duration, init, header, bytes, run, epoch,
				sequence, discontinuity, format, frames, other_frames, fragments FROM files WHERE stream = ?1 ORDER BY number`,
			`INSERT INTO hours SELECT ?2, hour, bytes, covered FROM hours WHERE stream = ?1 ORDER BY hour`,
			`INSERT INTO gaps (stream, start, end, cause, detail) SELECT ?2, start + ?2 * 1000, end + ?2 * 1000, cause, detail FROM gaps WHERE stream = ?1 ORDER BY end`,
			`UPDATE streams SET (next_number, next_sequence, next_discontinuity) =
				(SELECT next_number, next_sequence, next_discontinuity FROM streams WHERE id = ?1) WHERE id = ?2`,
		} {
			if _, err := db.ExecContext(ctx, statement, pattern, id); err != nil {
				return fmt.Errorf("multiply the rows: %w", err)
			}
		}
	}
	return nil
}
