package export

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
)

// A plan is a clip while it is put together.
type plan struct {
	request Request
	stream  index.Stream
	movie   fmp4.Movie
	tracks  map[bool]*track // by whether it is video
	pieces  []piece
	media   int64         // bytes so far
	span    time.Duration // from the first file's beginning to the last one's end
	files   []recorded

	begun      bool
	from, to   time.Time // as it came out
	group      group
	gaps       int
	room       []fmp4.Sample
	header     []byte
	continuing index.File // the file before
}

// A track of the clip while it grows.
type track struct {
	*fmp4.MovieTrack
	begun bool
	next  int64 // ticks from the clip's beginning at which the next sample belongs
	last  int   // which of SampleEntries was used last, from 1
}

// A group is files whose timestamps relate: what moves them into the clip's time.
type group struct {
	base      int64 // decode time, in ticks of baseScale, of what is shown first
	baseScale int64
	start     time.Duration // from the clip's beginning
}

func (e *Exporter) plan(ctx context.Context, stream index.Stream, r Request) (*Clip, error) {
	files, err := e.index.Files(ctx, stream.ID, r.From, r.To)
	if err != nil {
		return nil, err
	}
	p := &plan{request: r, stream: stream, tracks: make(map[bool]*track)}
	if len(files) > 0 {
		p.span = min(files[len(files)-1].End().Sub(files[0].Start), MaxDuration+2*index.MaxFileSpan)
	}
	for i := range files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.addFile(ctx, &e.places, &files[i]); err != nil {
			return nil, fmt.Errorf("file %d of %s: %w", files[i].Number, stream.Camera, err)
		}
	}
	if len(p.pieces) == 0 {
		return nil, ErrNothing
	}
	return p.clip(&e.places), nil
}

const maxInit = 1 << 20

// addFile adds the part of a file that is asked for.
func (p *plan) addFile(ctx context.Context, places *places, f *index.File) error {
	first, end := p.wanted(f)
	if first == end {
		return nil
	}
	path := string(layout.AppendPath(nil, layout.Name{Camera: p.stream.Camera, Source: p.stream.Source, Start: f.Start, Number: f.Number, Thinned: f.Thinned}))
	recorded := recorded{path, f.Key(), f.Bytes}
	file, err := places.open(ctx, recorded)
	if err != nil {
		return err
	}
	defer file.Close()
	if f.Init < 0 || f.Init > maxInit {
		return fmp4.ErrDamaged
	}
	header := make([]byte, f.Init)
	if _, err := file.ReadAt(header, 0); err != nil {
		return fmt.Errorf("read the header: %w", err)
	}
	tracks, err := fmp4.ReadInit(header)
	if err != nil {
		return err
	}
	p.files = append(p.files, recorded)
	clock := layout.NewClock(f.Start)
	for i := range f.Fragments[:end] {
		at := clock.Next(&f.Fragments[i])
		if i < first {
			continue
		}
		runs, err := p.readFragment(file, &f.Fragments[i])
		if err != nil {
			return err
		}
		if i == first {
			p.begin(f, tracks, runs, at)
		}
		p.addFragment(&f.Fragments[i], tracks, runs, at)
		p.to = at.Add(layout.Time(f.Fragments[i].Duration))
	}
	p.continuing = *f
	return nil
}

// wanted returns which fragments of a file are asked for: from the keyframe before
// the beginning to the one that the end lies in.
func (p *plan) wanted(f *index.File) (first, end int) {
	clock := layout.NewClock(f.Start)
	for i := range f.Fragments {
		at := clock.Next(&f.Fragments[i])
		if !at.Before(p.request.To) {
			break
		}
		if f.Fragments[i].Keyframe && (!at.After(p.request.From) || first == 0 && i == 0) {
			first = i
		}
		end = i + 1
	}
	if end > 0 && !f.End().After(p.request.From) {
		return 0, 0
	}
	return first, end
}

// guess is how much of a fragment is read at once: nearly all headers are shorter.
const guess = 4096

func (p *plan) readFragment(file io.ReaderAt, f *layout.Fragment) ([]fmp4.FragmentRun, error) {
	n := min(guess, f.Bytes-layout.MarkBytes)
	if n < 16 {
		return nil, fmp4.ErrDamaged
	}
	p.header = grow(p.header, n)
	if _, err := file.ReadAt(p.header, f.Offset+layout.MarkBytes); err != nil {
		return nil, fmt.Errorf("read a fragment's header: %w", err)
	}
	size, err := fmp4.MoofBytes(p.header)
	if err != nil {
		return nil, err
	}
	if size > f.Bytes-layout.MarkBytes {
		return nil, fmp4.ErrDamaged
	}
	if size > n {
		p.header = grow(p.header, size)
		if _, err := file.ReadAt(p.header, f.Offset+layout.MarkBytes); err != nil {
			return nil, fmt.Errorf("read a fragment's header: %w", err)
		}
	}
	runs, room, err := fmp4.ReadMoof(p.header[:size], p.room)
	p.room = room
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if runs[i].Offset+runs[i].Bytes() > f.Bytes-layout.MarkBytes {
			return nil, fmp4.ErrDamaged
		}
	}
	return runs, nil
}

func grow(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// begin finds where a file's media belongs in the clip.
func (p *plan) begin(f *index.File, tracks []fmp4.InitTrack, runs []fmp4.FragmentRun, at time.Time) {
	before := &p.continuing
	goesOn := p.begun && f.Run == before.Run && f.Epoch == before.Epoch && f.Number == before.Number+1 && f.Discontinuity == before.Discontinuity
	if goesOn {
		return
	}
	start := time.Duration(0)
	if p.begun {
		start = p.end()
		if gap := at.Sub(p.to); gap > 0 {
			p.gaps++
			if p.request.Gaps == KeepGaps {
				start = max(start, at.Sub(p.from))
			}
		}
	} else {
		p.begun, p.from = true, at
	}
	p.group = group{start: start, baseScale: 1}
	if len(runs) > 0 && len(runs[0].Samples) > 0 {
		if t, ok := trackOf(tracks, runs[0].TrackID); ok {
			p.group.base = int64(runs[0].BaseTime) + int64(runs[0].Samples[0].CTS)
			p.group.baseScale = int64(t.Timescale)
		}
	}
}

func trackOf(tracks []fmp4.InitTrack, id uint32) (*fmp4.InitTrack, bool) {
	for i := range tracks {
		if tracks[i].ID == id {
			return &tracks[i], true
		}
	}
	return nil, false
}

// end is how long the clip is so far: its pictures, which are not held up where sound
// went on for a moment longer.
func (p *plan) end() time.Duration {
	for _, video := range [...]bool{true, false} {
		if t, ok := p.tracks[video]; ok && t.begun {
			return toDuration(t.next, int64(t.Timescale))
		}
	}
	return 0
}

// addFragment adds those samples of a fragment that come before the end.
func (p *plan) addFragment(f *layout.Fragment, tracks []fmp4.InitTrack, runs []fmp4.FragmentRun, at time.Time) {
	if len(runs) == 0 || len(runs[0].Samples) == 0 {
		return
	}
	leading, ok := trackOf(tracks, runs[0].TrackID)
	if !ok {
		return
	}
	// Media time, in the leading track's ticks, at which the clip ends.
	shown := int64(runs[0].BaseTime) + int64(runs[0].Samples[0].CTS)
	limit := shown + toTicks(p.request.To.Sub(at), int64(leading.Timescale))
	for i := range runs {
		in, ok := trackOf(tracks, runs[i].TrackID)
		if !ok {
			continue
		}
		p.addRun(f, &runs[i], in, rescale(limit, int64(leading.Timescale), int64(in.Timescale)))
	}
}

func (p *plan) addRun(f *layout.Fragment, run *fmp4.FragmentRun, in *fmp4.InitTrack, limit int64) {
	t := p.track(in)
	from, to := int64(in.Timescale), int64(t.Timescale)
	// Where a tick of the run's track belongs in the clip's.
	base := rescale(p.group.base, p.group.baseScale, from)
	origin := toTicks(p.group.start, to)
	decode := int64(run.BaseTime)
	offset, chunk := run.Offset, fmp4.Chunk{Entry: uint32(t.entry(in))}
	begin, size := offset, int64(0)
	samples := run.Samples[:wantedSamples(run, limit, in.Video)]
	for i := range samples {
		s := samples[i]
		place := origin + rescale(decode-base, from, to)
		until := origin + rescale(decode+int64(s.Duration)-base, from, to)
		decode += int64(s.Duration)
		offset += int64(s.Size)
		if t.begun && until <= t.next && !in.Video {
			// Sound that overlaps what is there already, where files do not go on from
			// each other.
			begin = offset
			continue
		}
		if !t.begun {
			t.begun, t.next, t.Delay = true, place, place+rescale(int64(s.CTS), from, to)
		}
		if place > t.next {
			t.Samples.Stretch(uint32(min(place-t.next, maxStretch)))
			t.next = place
		}
		s.Duration = uint32(max(0, until-t.next))
		s.CTS = int32(rescale(int64(s.CTS), from, to))
		t.next = max(t.next, until)
		t.Samples.Add(s)
		chunk.Samples++
		size += int64(s.Size)
	}
	if chunk.Samples == 0 {
		return
	}
	chunk.Offset = p.media
	t.Chunks = append(t.Chunks, chunk)
	p.pieces = appendPiece(p.pieces, piece{file: len(p.files) - 1, offset: f.Offset + layout.MarkBytes + begin, size: size, at: p.media})
	p.media += size
}

// wantedSamples returns how many of a run's samples are decoded up to the last that is
// shown before limit. A fragment of video that was chosen has one at least.
func wantedSamples(run *fmp4.FragmentRun, limit int64, video bool) int {
	wanted, decode := 0, int64(run.BaseTime)
	if video {
		wanted = min(1, len(run.Samples))
	}
	for i := range run.Samples {
		if decode+int64(run.Samples[i].CTS) < limit {
			wanted = i + 1
		}
		decode += int64(run.Samples[i].Duration)
	}
	return wanted
}

// track returns the clip's track of a kind, made after the first such in the files.
func (p *plan) track(in *fmp4.InitTrack) *track {
	t, ok := p.tracks[in.Video]
	if !ok {
		t = &track{MovieTrack: &fmp4.MovieTrack{Timescale: p.timescale(in), Video: in.Video, Width: in.Width, Height: in.Height}}
		p.tracks[in.Video] = t
		p.movie.Tracks = append(p.movie.Tracks, t.MovieTrack)
	}
	return t
}

// maxStretch is the most that one sample may last, in ticks: readers take the 32 bits of
// its duration for signed ones.
const maxStretch = 1<<31 - 1

// timescale returns that of a clip's track: the files' own, or a whole fraction of it
// where the clip is so long that one sample, which stands still over a gap, could last
// for more ticks than fit.
func (p *plan) timescale(in *fmp4.InitTrack) uint32 {
	ticks := toTicks(p.span, int64(in.Timescale))
	return max(1, in.Timescale/uint32(1+max(0, ticks)/maxStretch))
}

// entry returns the number of a file's sample entry among the track's.
func (t *track) entry(in *fmp4.InitTrack) int {
	if t.last > 0 && bytes.Equal(t.SampleEntries[t.last-1], in.SampleEntry) {
		return t.last
	}
	for i, entry := range t.SampleEntries {
		if bytes.Equal(entry, in.SampleEntry) {
			t.last = i + 1
			return t.last
		}
	}
	t.SampleEntries = append(t.SampleEntries, in.SampleEntry)
	t.last = len(t.SampleEntries)
	return t.last
}

// rescale converts ticks of one scale to another, rounding down.
func rescale(ticks, from, to int64) int64 {
	if from == to {
		return ticks
	}
	whole, rest := ticks/from, ticks%from
	if rest < 0 {
		whole, rest = whole-1, rest+from
	}
	return whole*to + rest*to/from
}

func toTicks(d time.Duration, scale int64) int64 { return rescale(int64(d), int64(time.Second), scale) }

func toDuration(ticks, scale int64) time.Duration {
	return time.Duration(rescale(ticks, scale, int64(time.Second)))
}
