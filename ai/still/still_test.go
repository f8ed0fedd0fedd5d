package still_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/Eyevinn/mp4ff/mp4"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/still"
	"github.com/drover-video/drover/core/media"
)

func newest(t testing.TB) *media.Frame {
	t.Helper()
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 20_000
	door.Write()
	f, err := rig.Hub.Newest("door", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	return f
}

func TestAKeyframeIsAnMP4OfOneSample(t *testing.T) {
	f := newest(t)
	data, err := still.MP4(f)
	if err != nil {
		t.Fatal(err)
	}
	file, err := mp4.DecodeFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	table := file.Moov.Trak.Mdia.Minf.Stbl
	if n := table.Stsz.GetNrSamples(); n != 1 || table.Stsz.GetSampleSize(1) != uint32(len(f.Payload())) {
		t.Fatalf("%d samples, the first of %d bytes", n, table.Stsz.GetSampleSize(1))
	}
	at := table.Co64.ChunkOffset[0]
	if !bytes.Equal(data[at:], f.Payload()) {
		t.Error("the sample is not the frame")
	}
	if e := table.Stsd.AvcX; e == nil || e.Width != 640 || e.Height != 360 {
		t.Errorf("got %+v", e)
	}
}

func TestAKeyframeInAnnexBBeginsWithItsParameterSets(t *testing.T) {
	f := newest(t)
	data := still.AnnexB(f)
	if !bytes.HasPrefix(data, append([]byte{0, 0, 0, 1}, f.Params.SPS...)) || !bytes.HasSuffix(data, f.Payload()[12:]) {
		t.Errorf("it begins with % x", data[:32])
	}
}

func TestACodecWithoutMP4IsSaid(t *testing.T) {
	for _, params := range []*media.Params{nil, {Codec: media.CodecJPEG}} {
		if _, err := still.MP4(&media.Frame{Track: &media.Track{Codec: media.CodecJPEG, ClockRate: 90000}, Params: params}); !errors.Is(err, still.ErrCodec) {
			t.Errorf("got %v", err)
		}
	}
}

func BenchmarkMP4(b *testing.B) {
	f := newest(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := still.MP4(f); err != nil {
			b.Fatal(err)
		}
	}
}
