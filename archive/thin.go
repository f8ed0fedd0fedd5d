package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/drover-video/drover/archive/disk"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/sample"
)

const (
	// thinInterval is how often there is a look for files to be thinned.
	thinInterval = 10 * time.Second

	// thinBytes is how many bytes a second thinning reads and writes: it is in no hurry,
	// and the disk has cameras to serve.
	thinBytes = 4 << 20
)

// A thinner makes files of keyframes alone of those that are old enough, by copying.
type thinner struct {
	k    *keeper
	from map[int64]index.Moment // by stream: up to where all was looked at
}

// run thins until ctx ends.
func (t *thinner) run(ctx context.Context) error {
	timer := time.NewTimer(thinInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		read, err := t.pass(ctx)
		if err != nil && ctx.Err() == nil {
			t.k.r.options.Log.Warn("old recordings could not be thinned", "err", err)
		}
		timer.Reset(thinInterval + time.Duration(float64(read)/thinBytes*float64(time.Second)))
	}
}

// pass thins what is old enough, at most one page of each stream, and returns how many
// bytes that was.
func (t *thinner) pass(ctx context.Context) (total int64, err error) {
	now := t.k.r.now()
	if t.k.r.watch.look(ctx, now) {
		return 0, nil
	}
	for _, s := range t.k.r.index.Streams() {
		t.k.r.mu.Lock()
		p := t.k.r.policies[s.Camera]
		t.k.r.mu.Unlock()
		if p == nil || p.record.Thin.After == 0 || p.record.Thin.Keep != camera.ThinKeyframes {
			continue
		}
		n, err := t.stream(ctx, s, now.Add(-p.record.Thin.After))
		total += n
		if err != nil || ctx.Err() != nil {
			return total, err
		}
	}
	return total, nil
}

func (t *thinner) stream(ctx context.Context, s index.Stream, before time.Time) (total int64, err error) {
	if t.from[s.ID].Start.After(before) {
		delete(t.from, s.ID) // the clock went back: what is recorded since begins before
	}
	page, err := t.k.r.index.Earliest(ctx, s.ID, t.from[s.ID], oldestAtOnce)
	if err != nil {
		return 0, err
	}
	for i := range page {
		f := &page[i]
		if !f.End().Before(before) {
			return total, nil
		}
		t.from[s.ID] = f.Moment()
		if f.Thinned || f.Format.Width == 0 {
			continue
		}
		n, err := t.file(ctx, s, f.Key())
		total += n
		if err != nil {
			return total, fmt.Errorf("%s: %w", pathOf(s, f), err)
		}
	}
	return total, nil
}

// file puts a file of keyframes in the place of a whole one, unless that is kept. Its
// path is a doomed one until the index has it.
func (t *thinner) file(ctx context.Context, s index.Stream, key index.Key) (int64, error) {
	t.k.deleting.Lock()
	defer t.k.deleting.Unlock()
	x, files := t.k.r.index, t.k.r.options.FS
	f, found, err := x.FileByNumber(ctx, key)
	if err != nil || !found {
		return 0, err
	}
	if kept, err := x.Kept(ctx, s.Camera, f.Start, f.End()); err != nil || kept {
		return 0, err
	}
	by := f
	by.Thinned = true
	path := pathOf(s, &by)
	if err := x.Promise(ctx, path); err != nil {
		return 0, err
	}
	if err := files.Remove(path); err != nil {
		return 0, err
	}
	if err := t.write(files, s, &f, &by, path); err != nil {
		return 0, errors.Join(err, t.k.r.unlinkDoomed(ctx))
	}
	old := index.Victim{File: f, Path: pathOf(s, &f)}
	if err := x.Replace(ctx, old, index.Victim{File: by, Path: path}); err != nil {
		return by.Bytes, err
	}
	return 2 * by.Bytes, t.k.r.unlinkDoomed(ctx)
}

// write writes the file of keyframes, and makes sure that it is on disk.
func (t *thinner) write(files disk.FS, s index.Stream, f, by *index.File, path string) (err error) {
	from, err := files.Open(pathOf(s, f))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := files.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	w := thinWriter{from: from, to: to, by: by, clock: layout.NewClock(f.Start)}
	if err := w.header(s, f); err != nil {
		return err
	}
	if err := w.fragments(f.Fragments); err != nil {
		return err
	}
	if err := to.Sync(); err != nil {
		return err
	}
	to.Forget(0, by.Bytes)
	return files.SyncDir(path)
}

// A thinWriter copies one file's keyframes.
type thinWriter struct {
	from, to disk.File
	by       *index.File
	clock    layout.Clock
	scale    int64 // ticks per second of the video
	number   uint32
}

func (w *thinWriter) header(s index.Stream, f *index.File) error {
	init := make([]byte, f.Init)
	if _, err := w.from.ReadAt(init, 0); err != nil {
		return err
	}
	tracks, err := fmp4.ReadInit(init)
	if err != nil {
		return err
	}
	for i := range tracks {
		if tracks[i].ID == sample.VideoTrackID {
			w.scale = int64(tracks[i].Timescale)
		}
	}
	if w.scale == 0 {
		return fmt.Errorf("%w: no video", layout.ErrFile)
	}
	head, err := fmp4.AppendInitOfTrack(nil, init, sample.VideoTrackID)
	if err != nil {
		return err
	}
	by := w.by
	by.Init = int64(len(head))
	if by.Format, err = formatOf(head); err != nil {
		return err
	}
	head = layout.AppendIdentity(head, layout.Identity{
		Camera: s.Camera, Source: s.Source, Number: f.Number, Run: f.Run, Epoch: f.Epoch, Start: f.Start,
		Sequence: f.Sequence, Discontinuity: f.Discontinuity,
	})
	by.Header, by.Bytes = int64(len(head)), int64(len(head))
	by.Duration, by.Frames, by.Fragments = 0, [2]int64{}, nil
	_, err = w.to.WriteBuffers([][]byte{head}, 0)
	return err
}

// fragments copies the keyframes of each fragment that has some. They last until the
// next fragment that has.
func (w *thinWriter) fragments(all []layout.Fragment) error {
	times := layout.NewClock(w.by.Start)
	for i := 0; i < len(all); {
		f := &all[i]
		start := times.Next(f)
		ticks := f.Duration
		next := i + 1
		for ; next < len(all) && !all[next].Keyframe; next++ {
			times.Next(&all[next])
			ticks += all[next].Duration
		}
		if err := w.fragment(f, start, ticks); err != nil {
			return err
		}
		i = next
	}
	return nil
}

func (w *thinWriter) fragment(f *layout.Fragment, start time.Time, ticks int64) error {
	source := make([]byte, f.Bytes)
	if _, err := io.ReadFull(io.NewSectionReader(w.from, f.Offset, f.Bytes), source); err != nil {
		return err
	}
	run, media, err := keyframes(source, ticks*w.scale/layout.TicksPerSecond)
	if err != nil {
		return err
	}
	if len(run.Samples) == 0 {
		return fmt.Errorf("%w: no keyframe at %d", layout.ErrFile, f.Offset)
	}
	w.number++
	runs := []fmp4.Run{run}
	head := make([]byte, layout.MarkBytes, layout.MarkBytes+fmp4.FragmentSize(runs))
	head = fmp4.AppendFragment(head, w.number, runs)
	sum, size := layout.CRC(0, head[layout.MarkBytes:]), int64(len(head))
	for _, m := range media {
		sum = layout.CRC(sum, m)
		size += int64(len(m))
	}
	by := w.by
	entry := layout.Fragment{Offset: by.Bytes, Bytes: size, Head: int64(len(head) + len(media[0])), Duration: ticks, Keyframe: true, Hole: f.Hole}
	entry.Shift = w.clock.Shift(start)
	w.clock.Next(&entry)
	layout.AppendMark(head[:0], layout.Mark{
		Keyframe: true, Hole: f.Hole, Start: start, Duration: ticks, Bytes: uint32(size - layout.MarkBytes), Head: uint32(entry.Head),
		Frames: [2]uint32{uint32(len(run.Samples))}, CRC: sum,
	})
	if _, err := w.to.WriteBuffers(append([][]byte{head}, media...), by.Bytes); err != nil {
		return err
	}
	by.Bytes += size
	by.Duration += ticks
	by.Frames[0] += int64(len(run.Samples))
	by.Fragments = append(by.Fragments, entry)
	return nil
}

// keyframes returns the keyframes of a fragment, its mark included, of which the last
// lasts until the fragment has lasted so many ticks.
func keyframes(fragment []byte, ticks int64) (fmp4.Run, [][]byte, error) {
	var none fmp4.Run
	if len(fragment) < layout.MarkBytes+8 {
		return none, nil, layout.ErrFile
	}
	body := fragment[layout.MarkBytes:]
	n, err := fmp4.MoofBytes(body)
	if err != nil || n > int64(len(body)) {
		return none, nil, errors.Join(layout.ErrFile, err)
	}
	runs, _, err := fmp4.ReadMoof(body[:n], nil)
	if err != nil {
		return none, nil, err
	}
	kept := fmp4.Run{TrackID: sample.VideoTrackID}
	var media [][]byte
	for i := range runs {
		run := &runs[i]
		if run.TrackID != sample.VideoTrackID {
			continue
		}
		at, offset := int64(0), run.Offset
		kept.BaseTime = run.BaseTime
		var starts []int64
		for _, s := range run.Samples {
			end := offset + int64(s.Size)
			if offset < n || end > int64(len(body)) {
				return none, nil, layout.ErrFile
			}
			if s.Sync {
				kept.Samples, media, starts = append(kept.Samples, s), append(media, body[offset:end]), append(starts, at)
			}
			at, offset = at+int64(s.Duration), end
		}
		for j := range kept.Samples {
			until := max(ticks, at)
			if j+1 < len(starts) {
				until = starts[j+1]
			}
			kept.Samples[j].Duration = uint32(until - starts[j])
		}
		if len(starts) > 0 {
			kept.BaseTime += uint64(starts[0])
		}
	}
	return kept, media, nil
}
