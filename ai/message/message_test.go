package message_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/message"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/media"
)

// check appends a delivery behind a prefix and reads it back.
func check(t *testing.T, d *feed.Delivery, want *schema.Message) {
	t.Helper()
	prefix := []byte("prefix")
	data := message.Append(bytes.Clone(prefix), d)
	if !bytes.HasPrefix(data, prefix) {
		t.Fatal("what was in the buffer is gone")
	}
	data = data[len(prefix):]
	if len(data) > message.Size(d) {
		t.Errorf("%d bytes, more than the %d that were said", len(data), message.Size(d))
	}
	var got schema.Message
	if err := proto.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, want) {
		t.Errorf("got  %v\nwant %v", &got, want)
	}
}

// frames writes some and returns the newest, as a worker gets it.
func newest(t *testing.T, change func(*aitest.Camera), request feed.Request) feed.Frame {
	t.Helper()
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	change(door)
	door.Write()
	mailbox, err := rig.Hub.OpenMailbox(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(mailbox.Close)
	for {
		d, err := mailbox.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if d.Frame.Frame != nil {
			t.Cleanup(d.Frame.Release)
			return d.Frame
		}
	}
}

func TestAFrameIsReadBackAsTheSchemaHasIt(t *testing.T) {
	f := newest(t, func(*aitest.Camera) {}, feed.Request{Cameras: []string{"door"}, AnnexB: true})
	f.Missed = 12345
	f.Arrival = time.UnixMicro(1_700_000_000_000_001)
	want := &schema.Frame{
		Camera: "door", Source: "main", Config: f.Config.Number, Sequence: 1, Epoch: 1, Keyframe: true,
		WallTimeUs: f.Wall.UnixMicro(), WallSource: schema.WallSource_WALL_SOURCE_SENDER_REPORT, Missed: 12345,
		ArrivalUs: 1_700_000_000_000_001, Data: f.AppendData(nil),
	}
	check(t, &feed.Delivery{Frame: f}, &schema.Message{Body: &schema.Message_Frame{Frame: want}})
}

func TestALargeFrameIsReadBackByteForByte(t *testing.T) {
	f := newest(t, func(c *aitest.Camera) { c.Bytes, c.Track.ID = 300_000, 3 }, feed.Request{Cameras: []string{"door"}})
	want := &schema.Frame{
		Camera: "door", Source: "main", Track: 3, Config: f.Config.Number, Sequence: 1, Epoch: 1, Keyframe: true,
		WallTimeUs: f.Wall.UnixMicro(), WallSource: schema.WallSource_WALL_SOURCE_SENDER_REPORT,
		ArrivalUs: f.Arrival.UnixMicro(), Data: f.Payload(),
	}
	check(t, &feed.Delivery{Frame: f}, &schema.Message{Body: &schema.Message_Frame{Frame: want}})
}

func TestAStatusIsReadBackAsTheSchemaHasIt(t *testing.T) {
	for state, want := range map[feed.State]schema.State{
		feed.StateWaiting: schema.State_STATE_WAITING, feed.StateWatching: schema.State_STATE_WATCHING, feed.StateRemoved: schema.State_STATE_REMOVED,
	} {
		check(t, &feed.Delivery{Status: feed.Status{Camera: "door", Source: "sub", State: state, Reason: "so"}},
			&schema.Message{Body: &schema.Message_Status{Status: &schema.Status{Camera: "door", Source: "sub", State: want, Reason: "so"}}})
	}
}

func TestAConfigurationIsReadBackAsTheSchemaHasIt(t *testing.T) {
	for codec, want := range map[media.Codec]schema.Codec{
		media.CodecH264: schema.Codec_CODEC_H264, media.CodecH265: schema.Codec_CODEC_H265, media.CodecJPEG: schema.Codec_CODEC_JPEG,
		media.CodecAAC: schema.Codec_CODEC_AAC, media.CodecOpus: schema.Codec_CODEC_OPUS, media.CodecFLAC: schema.Codec_CODEC_FLAC,
	} {
		config := &feed.Config{
			Camera: "door", Source: "sub", Number: 7, Track: &media.Track{ID: 2, Codec: codec},
			Params: &media.Params{VPS: []byte{1}, SPS: []byte{2, 3}, PPS: []byte{4}, AudioConfig: []byte{5}, Width: 640, Height: 360, FPS: 12.5, SampleRate: 16000, Channels: 2},
		}
		check(t, &feed.Delivery{Config: config}, &schema.Message{Body: &schema.Message_Config{Config: &schema.Config{
			Camera: "door", Source: "sub", Number: 7, Track: 2, Codec: want, Vps: []byte{1}, Sps: []byte{2, 3}, Pps: []byte{4}, AudioConfig: []byte{5},
			Width: 640, Height: 360, Fps: 12.5, SampleRate: 16000, Channels: 2, Format: schema.Format_FORMAT_LENGTH_PREFIXED,
		}}})
	}
	check(t, &feed.Delivery{Config: &feed.Config{Number: 1, Track: &media.Track{Codec: media.CodecJPEG}, AnnexB: true}},
		&schema.Message{Body: &schema.Message_Config{Config: &schema.Config{Number: 1, Codec: schema.Codec_CODEC_JPEG}}})
}

func TestTicksAreOfNinetyThousandASecond(t *testing.T) {
	for _, c := range []struct {
		rate     int
		at, want int64
	}{
		{90000, 1 << 62, 1 << 62}, {8000, 8000, 90000}, {48000, 1, 1}, {16000, -16000, -90000}, {44100, 44100 * 1_000_000_000, 90000 * 1_000_000_000},
	} {
		if got := message.Ticks(&media.Track{ClockRate: c.rate}, c.at); got != c.want {
			t.Errorf("%d of %d Hz is %d, want %d", c.at, c.rate, got, c.want)
		}
	}
}

func TestWritingAFrameAllocatesNothing(t *testing.T) {
	f := newest(t, func(c *aitest.Camera) { c.Bytes = 10_000 }, feed.Request{Cameras: []string{"door"}, AnnexB: true})
	d := &feed.Delivery{Frame: f}
	buffer := make([]byte, 0, message.Size(d))
	if n := testing.AllocsPerRun(100, func() { buffer = message.Append(buffer[:0], d) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
