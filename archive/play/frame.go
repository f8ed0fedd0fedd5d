package play

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
)

// frameTime is the header that says when the picture of an answer was taken.
const frameTime = "Drover-Frame-Time"

const (
	// nearEnough is how long after the last footage its last picture still stands for
	// a time.
	nearEnough = time.Minute

	maxInit    = 1 << 20
	maxPicture = 16 << 20
)

// frame answers with the keyframe at or before a time.
func (p *reply) frame(stream index.Stream, q *query) *problem {
	switch {
	case q.at.IsZero():
		return badRange(errors.New("say which time, by at"))
	case q.format == "jpeg":
		return noJPEG()
	case q.format != "" && q.format != "mp4":
		return badRange(errors.New("format is mp4 or jpeg"))
	}
	f, found, err := p.options.Index.FileAt(p.ctx(), stream.ID, q.at)
	if err != nil {
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	if !found || q.at.Sub(f.End()) > nearEnough || !p.played(&f) {
		return noRecording("There is no picture of that time.")
	}
	key, at := keyframeAt(&f, q.at)
	if key == nil || key.Head > maxPicture || f.Init < 0 || f.Init > maxInit {
		return noRecording("There is no picture of that time.")
	}
	picture, err := p.picture(stream, &f, key)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return gone()
	case errors.Is(err, errNoVideo):
		return noRecording("There is sound alone of that time.")
	case err != nil && f.Places&index.Here == 0:
		return p.notReached(stream.Camera, err)
	case err != nil:
		return p.failed(p.r.Context(), stream.Camera, err)
	}
	p.header["Content-Type"] = p.headers.mp4
	p.header["Accept-Ranges"] = p.headers.acceptRanges
	p.header[frameTime] = []string{at.UTC().Format("2006-01-02T15:04:05.000000Z")}
	p.header["Cache-Control"] = []string{movingCache}
	// Behind the last footage a later picture may yet be written, however late: by a
	// disk that hangs, say.
	if p.options.Now().Sub(q.at) > settledAfter && q.at.Before(f.End()) {
		p.header["Cache-Control"] = []string{bytesCache}
	}
	p.bytes(picture, `"frame-`+strconv.FormatInt(f.Number, 36)+"-"+strconv.FormatInt(key.Offset, 36)+`"`)
	return nil
}

// keyframeAt returns the last fragment with a keyframe at or before a time, and when
// that is.
func keyframeAt(f *index.File, at time.Time) (key *layout.Fragment, shown time.Time) {
	clock := layout.NewClock(f.Start)
	for i := range f.Fragments {
		fragment := &f.Fragments[i]
		starts := clock.Next(fragment)
		if fragment.Head == 0 {
			continue
		}
		if key != nil && starts.After(at) {
			break
		}
		key, shown = fragment, starts
	}
	return key, shown
}

var errNoVideo = errors.New("no video")

// picture makes a file of one picture, of what lies in a recorded one.
func (p *reply) picture(stream index.Stream, f *index.File, key *layout.Fragment) ([]byte, error) {
	path := string(layout.AppendPath(nil, nameOf(stream, f)))
	file, err := p.openSource(path, f)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	init, head := make([]byte, f.Init), make([]byte, key.Head)
	if _, err := file.ReadAt(init, 0); err != nil {
		return nil, fmt.Errorf("read the header of %s: %w", path, whole(err))
	}
	if _, err := file.ReadAt(head, key.Offset); err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", path, key.Offset, whole(err))
	}
	picture, err := onePicture(init, head[layout.MarkBytes:])
	if err != nil {
		return nil, fmt.Errorf("read %s at %d: %w", path, key.Offset, err)
	}
	return picture, nil
}

func whole(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// onePicture makes an MP4 of the first picture of a fragment, of which fragment is
// what is up to its end, and init what the file begins with.
func onePicture(init, fragment []byte) ([]byte, error) {
	size, err := fmp4.MoofBytes(fragment)
	if err != nil {
		return nil, err
	}
	if size > int64(len(fragment)) {
		return nil, fmp4.ErrDamaged
	}
	runs, _, err := fmp4.ReadMoof(fragment[:size], nil)
	if err != nil {
		return nil, err
	}
	tracks, err := fmp4.ReadInit(init)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 || len(runs[0].Samples) == 0 {
		return nil, fmp4.ErrDamaged
	}
	run := &runs[0]
	for _, t := range tracks {
		if t.ID == run.TrackID && !t.Video {
			return nil, errNoVideo
		}
	}
	first := run.Samples[0]
	if run.Offset+int64(first.Size) > int64(len(fragment)) {
		return nil, fmp4.ErrDamaged
	}
	out, err := fmp4.AppendInitOfTrack(make([]byte, 0, len(init)+200+int(first.Size)), init, run.TrackID)
	if err != nil {
		return nil, err
	}
	first.CTS = 0
	out = fmp4.AppendFragment(out, 1, []fmp4.Run{{TrackID: run.TrackID, Samples: []fmp4.Sample{first}}})
	return append(out, fragment[run.Offset:run.Offset+int64(first.Size)]...), nil
}
