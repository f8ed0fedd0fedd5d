// Package archivetest makes archives of real clips, for tests of who reads them: files
// as the recorder writes them, and their rows in an index.
package archivetest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// Noon is when recordings begin.
var Noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	pictureTicks = 3600 // of 90 kHz
	soundRate    = 16000
	soundTicks   = 1024
)

// An Archive is one stream's recordings.
type Archive struct {
	Dir    string
	Index  *index.Index
	Stream index.Stream
	Zero   time.Time // when takes begin that begin at once

	t testing.TB
}

// New makes an archive of camera door, source main, in a directory of the test's.
func New(t testing.TB) *Archive {
	t.Helper()
	return NewIn(t, t.TempDir(), Noon)
}

// NewIn makes such an archive in a directory, whose takes begin at a time.
func NewIn(t testing.TB, dir string, zero time.Time) *Archive {
	t.Helper()
	a := &Archive{t: t, Dir: dir, Zero: zero}
	a.Open()
	t.Cleanup(func() { a.Index.Close() })
	return a
}

// Open opens the index, which is closed, as when a server starts.
func (a *Archive) Open() {
	a.t.Helper()
	var err error
	if a.Index, err = index.Open(a.t.Context(), a.Dir); err != nil {
		a.t.Fatal(err)
	}
	if a.Stream, err = a.Index.Stream(a.t.Context(), "door", "main"); err != nil {
		a.t.Fatal(err)
	}
}

// LoadClip returns a clip of rtsptest.
func LoadClip(t testing.TB, name string) *rtsptest.Clip {
	t.Helper()
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

// A Take is a stretch of one epoch.
type Take struct {
	Clip  *rtsptest.Clip
	Epoch int64
	At    time.Duration // of its first picture, from the archive's zero
	Mute  bool          // it has no sound
	// Discontinuous: the next file begins with a discontinuity. So does the first.
	Discontinuous bool

	archive *Archive
	tick    int64 // pictures of the epoch so far
	sound   int64 // frames of sound of the epoch so far
	codec   sample.Picture
	aac     *fmp4.AAC
}

// Take begins a stretch of one epoch.
func (a *Archive) Take(clip *rtsptest.Clip, epoch int64, at time.Duration) *Take {
	a.t.Helper()
	params := &media.Params{Codec: media.Codec(clip.Codec)}
	switch sets := clip.Parameters; clip.Codec {
	case rtsptest.H264:
		params.SPS, params.PPS = sets[0], sets[1]
	default:
		params.VPS, params.SPS, params.PPS = sets[0], sets[1], sets[2]
	}
	codec, err := sample.NewPicture(params)
	if err != nil {
		a.t.Fatal(err)
	}
	aac, err := fmp4.NewAAC(clip.AACConfig)
	if err != nil {
		a.t.Fatal(err)
	}
	return &Take{Clip: clip, Epoch: epoch, At: at, Discontinuous: true, archive: a, codec: codec, aac: aac}
}

// Now is when the next picture of the take is shown.
func (k *Take) Now() time.Time {
	return k.archive.Zero.Add(k.At + time.Duration(k.tick)*40*time.Millisecond)
}

// Skip lets time pass within the epoch, of which nothing is recorded.
func (k *Take) Skip(pictures int64) {
	k.tick += pictures
	k.sound = k.tick * pictureTicks * soundRate / 90_000 / soundTicks
	k.Discontinuous = true
}

// Record writes one file of so many rounds of the take's clip.
func (k *Take) Record(rounds int) *index.File {
	k.archive.t.Helper()
	f := k.Begin()
	for range rounds {
		f.Round()
	}
	f.Finish()
	return f.File
}

// A File is one that is being written.
type File struct {
	*index.File
	Path string

	take *Take
	file *os.File
}

// Begin begins a file.
func (k *Take) Begin() *File {
	a := k.archive
	a.t.Helper()
	picture := k.codec.Picture()
	f := &index.File{Stream: a.Stream.ID, Run: 1, Epoch: k.Epoch, Start: k.Now(), Discontinuous: k.Discontinuous,
		Format: index.Format{Codecs: k.codec.CodecString(), Width: picture.Width, Height: picture.Height, FPS: 25}}
	tracks := []fmp4.Track{{ID: sample.VideoTrackID, Timescale: 90_000, Codec: k.codec}}
	if !k.Mute {
		f.Format.Codecs += "," + k.aac.CodecString()
		tracks = append(tracks, fmp4.Track{ID: sample.AudioTrackID, Timescale: soundRate, Codec: k.aac})
	}
	k.Discontinuous = false
	header := fmp4.AppendInit(nil, tracks)
	f.Init = int64(len(header))
	identity := layout.Identity{Camera: a.Stream.Camera, Source: a.Stream.Source, Run: 1, Epoch: k.Epoch, Start: f.Start}
	f.Header = f.Init + int64(len(layout.AppendIdentity(nil, identity)))
	f.Bytes = f.Header
	if err := a.Index.Begin(a.t.Context(), f); err != nil {
		a.t.Fatal(err)
	}
	identity.Number, identity.Sequence, identity.Discontinuity = f.Number, f.Sequence, f.Discontinuity
	path := filepath.Join(a.Dir, string(layout.AppendPath(nil, layout.Name{Camera: a.Stream.Camera, Source: a.Stream.Source, Start: f.Start, Number: f.Number})))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		a.t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { file.Close() })
	w := &File{File: f, Path: path, take: k, file: file}
	w.write(layout.AppendIdentity(header, identity))
	return w
}

func (f *File) write(data []byte) {
	f.take.archive.t.Helper()
	if _, err := f.file.Write(data); err != nil {
		f.take.archive.t.Fatal(err)
	}
}

// Finish ends the file.
func (f *File) Finish() {
	a := f.take.archive
	a.t.Helper()
	if err := f.file.Close(); err != nil {
		a.t.Fatal(err)
	}
	if err := a.Index.Finish(a.t.Context(), f.Key()); err != nil {
		a.t.Fatal(err)
	}
}

// Round writes the whole clip, a fragment for each GOP.
func (f *File) Round() {
	f.take.archive.t.Helper()
	pictures := f.take.Clip.Pictures
	ahead := int64(0) // how much a picture is decoded before it is shown
	for i, p := range pictures {
		ahead = max(ahead, int64(i)*pictureTicks-p.PTS)
	}
	first := f.take.tick
	for from := 0; from < len(pictures); {
		to := from + 1
		for to < len(pictures) && !pictures[to].Keyframe {
			to++
		}
		f.fragment(pictures[from:to], first*pictureTicks+ahead)
		from = to
	}
}

// fragment appends a GOP and its sound. zero is when the clip's round begins.
func (f *File) fragment(pictures []rtsptest.Picture, zero int64) {
	k := f.take
	k.archive.t.Helper()
	start := k.Now()
	video := fmp4.Run{TrackID: sample.VideoTrackID, BaseTime: uint64(900_000 + k.tick*pictureTicks)}
	sound := fmp4.Run{TrackID: sample.AudioTrackID, BaseTime: uint64(10*soundRate + k.sound*soundTicks)}
	var samples, sounds []byte
	for _, p := range pictures {
		begin := len(samples)
		for _, nal := range p.NALUs {
			samples = append(binary.BigEndian.AppendUint32(samples, uint32(len(nal))), nal...)
		}
		video.Samples = append(video.Samples, fmp4.Sample{Duration: pictureTicks, Size: uint32(len(samples) - begin),
			CTS: int32(zero + p.PTS - k.tick*pictureTicks), Sync: p.Keyframe})
		k.tick++
		for !k.Mute && k.sound*soundTicks*90_000/soundRate <= k.tick*pictureTicks {
			frame := k.Clip.AAC[k.sound%int64(len(k.Clip.AAC))]
			sound.Samples = append(sound.Samples, fmp4.Sample{Duration: soundTicks, Size: uint32(len(frame)), Sync: true})
			sounds = append(sounds, frame...)
			k.sound++
		}
	}
	runs := []fmp4.Run{video, sound}
	body := append(append(fmp4.AppendFragment(nil, 1, runs), samples...), sounds...)
	mark := layout.Mark{Keyframe: true, Start: start, Duration: int64(len(pictures)) * pictureTicks, Bytes: uint32(len(body)),
		Head:   uint32(layout.MarkBytes+fmp4.FragmentSize(runs)) + video.Samples[0].Size,
		Frames: [2]uint32{uint32(len(video.Samples)), uint32(len(sound.Samples))}, CRC: layout.CRC(0, body)}
	f.write(append(layout.AppendMark(nil, mark), body...))
	fragment := layout.Fragment{Offset: f.Bytes, Bytes: int64(layout.MarkBytes + len(body)), Head: int64(mark.Head), Duration: mark.Duration, Keyframe: true}
	f.Bytes += fragment.Bytes
	if err := k.archive.Index.Append(f.Key(), fragment, [2]int64{int64(len(video.Samples)), int64(len(sound.Samples))}); err != nil {
		k.archive.t.Fatal(err)
	}
}
