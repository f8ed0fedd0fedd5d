// Package still makes a picture of a camera's newest keyframe without decoding it: an
// MP4 of one frame, which browsers paint, or the bytes that decoders are fed.
package still

import (
	"errors"
	"fmt"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
)

// ErrCodec is that frames of the camera's codec do not make an MP4.
var ErrCodec = errors.New("frames of this codec do not make an MP4")

// shown is for how long the one frame is shown.
const shown = 1 // second

// MP4 returns a frame, which must be a keyframe, as an ordinary MP4.
func MP4(f *media.Frame) ([]byte, error) {
	codec, err := sample.NewPicture(f.Params)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCodec, err)
	}
	payload := f.Payload()
	rate := uint32(f.Track.ClockRate)
	init, err := fmp4.ReadInit(fmp4.AppendInit(nil, []fmp4.Track{{ID: sample.VideoTrackID, Timescale: rate, Codec: codec}}))
	if err != nil || len(init) != 1 {
		return nil, fmt.Errorf("an init segment of our own: %w", err)
	}
	track := &fmp4.MovieTrack{
		Timescale: rate, Video: true, Width: init[0].Width, Height: init[0].Height,
		SampleEntries: [][]byte{init[0].SampleEntry}, Chunks: []fmp4.Chunk{{Samples: 1, Entry: 1}},
	}
	track.Samples.Add(fmp4.Sample{Duration: shown * rate, Size: uint32(len(payload)), Sync: true})
	movie := &fmp4.Movie{Tracks: []*fmp4.MovieTrack{track}, Created: f.Wall}
	head := fmp4.AppendMovie(make([]byte, 0, 2048+len(payload)), movie, int64(len(payload)))
	return append(head, payload...), nil
}

// AnnexB returns a frame as decoders are fed it, with its parameter sets.
func AnnexB(f *media.Frame) []byte {
	frame := feed.Frame{Frame: f, AnnexB: true}
	return frame.AppendData(make([]byte, 0, frame.DataSize()))
}
