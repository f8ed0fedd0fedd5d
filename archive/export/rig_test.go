package export_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/drover-video/drover/archive/export"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
	"github.com/drover-video/drover/core/fmp4"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/sample"
	"github.com/drover-video/drover/ingest/rtsptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	pictureTicks = 3600 // of 90 kHz
	soundRate    = 16000
	soundTicks   = 1024
)

// A rig is an archive of clips that a test has made.
type rig struct {
	t      *testing.T
	dir    string
	index  *index.Index
	stream index.Stream
	export *export.Exporter

	pictures int // recorded so far, of all files
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir()}
	var err error
	if r.index, err = index.Open(t.Context(), r.dir); err != nil {
		t.Fatal(err)
	}
	if r.stream, err = r.index.Stream(t.Context(), "door", "main"); err != nil {
		t.Fatal(err)
	}
	if r.export, err = export.New(r.index, r.dir, 2, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.export.Close(); r.index.Close() })
	return r
}

func loadClip(t *testing.T, name string) *rtsptest.Clip {
	t.Helper()
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

// A take is a stretch of one epoch.
type take struct {
	clip  *rtsptest.Clip
	epoch int64
	at    time.Duration // of its first picture, from noon
	tick  int64         // pictures of the epoch so far
	sound int64         // frames of sound of the epoch so far
	codec sample.Picture
	aac   *fmp4.AAC
}

func (r *rig) take(clip *rtsptest.Clip, epoch int64, at time.Duration) *take {
	r.t.Helper()
	params := &media.Params{Codec: media.Codec(clip.Codec)}
	switch sets := clip.Parameters; clip.Codec {
	case rtsptest.H264:
		params.SPS, params.PPS = sets[0], sets[1]
	default:
		params.VPS, params.SPS, params.PPS = sets[0], sets[1], sets[2]
	}
	codec, err := sample.NewPicture(params)
	if err != nil {
		r.t.Fatal(err)
	}
	aac, err := fmp4.NewAAC(clip.AACConfig)
	if err != nil {
		r.t.Fatal(err)
	}
	return &take{clip: clip, epoch: epoch, at: at, codec: codec, aac: aac}
}

// record writes one file of so many rounds of the take's clip.
func (r *rig) record(k *take, rounds int) *index.File {
	r.t.Helper()
	ahead := int64(0) // how much a picture is decoded before it is shown
	for i, p := range k.clip.Pictures {
		ahead = max(ahead, int64(i)*pictureTicks-p.PTS)
	}
	start := noon.Add(k.at + time.Duration(k.tick)*40*time.Millisecond)
	f := &index.File{Stream: r.stream.ID, Run: 1, Epoch: k.epoch, Start: start, Discontinuous: k.tick == 0,
		Format: index.Format{Codecs: k.codec.CodecString() + "," + k.aac.CodecString()}}
	init := fmp4.AppendInit(nil, []fmp4.Track{{ID: 1, Timescale: 90_000, Codec: k.codec}, {ID: 2, Timescale: soundRate, Codec: k.aac}})
	f.Init = int64(len(init))
	identity := layout.Identity{Camera: "door", Source: "main", Run: 1, Epoch: k.epoch, Start: start}
	f.Header = f.Init + int64(len(layout.AppendIdentity(nil, identity)))
	f.Bytes = f.Header
	if err := r.index.Begin(r.t.Context(), f); err != nil {
		r.t.Fatal(err)
	}
	identity.Number, identity.Sequence, identity.Discontinuity = f.Number, f.Sequence, f.Discontinuity
	bytes := layout.AppendIdentity(init, identity)
	for range rounds {
		first := k.tick
		for from := 0; from < len(k.clip.Pictures); {
			to := from + 1
			for to < len(k.clip.Pictures) && !k.clip.Pictures[to].Keyframe {
				to++
			}
			bytes = r.fragment(k, f, bytes, k.clip.Pictures[from:to], first, ahead)
			from = to
		}
	}
	path := filepath.Join(r.dir, string(layout.AppendPath(nil, layout.Name{Camera: "door", Source: "main", Start: start, Number: f.Number})))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := r.index.Finish(r.t.Context(), f.Key()); err != nil {
		r.t.Fatal(err)
	}
	return f
}

// fragment appends a GOP and its sound.
func (r *rig) fragment(k *take, f *index.File, dst []byte, pictures []rtsptest.Picture, first, ahead int64) []byte {
	r.t.Helper()
	video := fmp4.Run{TrackID: 1, BaseTime: uint64(900_000 + k.tick*pictureTicks)}
	sound := fmp4.Run{TrackID: 2, BaseTime: uint64(10*soundRate + k.sound*soundTicks)}
	var media, sounds []byte
	for _, p := range pictures {
		begin := len(media)
		for _, nal := range p.NALUs {
			media = append(binary.BigEndian.AppendUint32(media, uint32(len(nal))), nal...)
		}
		video.Samples = append(video.Samples, fmp4.Sample{Duration: pictureTicks, Size: uint32(len(media) - begin),
			CTS: int32(first*pictureTicks + p.PTS + ahead - k.tick*pictureTicks), Sync: p.Keyframe})
		k.tick++
		r.pictures++
		for k.sound*soundTicks*90_000/soundRate <= k.tick*pictureTicks {
			frame := k.clip.AAC[k.sound%int64(len(k.clip.AAC))]
			sound.Samples = append(sound.Samples, fmp4.Sample{Duration: soundTicks, Size: uint32(len(frame)), Sync: true})
			sounds = append(sounds, frame...)
			k.sound++
		}
	}
	body := append(append(fmp4.AppendFragment(nil, 1, []fmp4.Run{video, sound}), media...), sounds...)
	head := fmp4.FragmentSize([]fmp4.Run{video, sound})
	mark := layout.Mark{Keyframe: true, Start: f.Start, Duration: int64(len(pictures)) * pictureTicks, Bytes: uint32(len(body)),
		Head: uint32(layout.MarkBytes+head) + video.Samples[0].Size, Frames: [2]uint32{uint32(len(video.Samples)), uint32(len(sound.Samples))},
		CRC: layout.CRC(0, body)}
	fragment := layout.Fragment{Offset: int64(len(dst)), Bytes: int64(layout.MarkBytes + len(body)), Head: int64(mark.Head), Duration: mark.Duration, Keyframe: true}
	if err := r.index.Append(f.Key(), fragment, [2]int64{int64(len(video.Samples)), int64(len(sound.Samples))}); err != nil {
		r.t.Fatal(err)
	}
	return append(layout.AppendMark(dst, mark), body...)
}
