package rpc

import (
	"context"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
)

// newest returns a frame of so many bytes, for a worker.
func newest(t *testing.T, bytes int) *feed.Delivery {
	t.Helper()
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = bytes
	door.Write()
	mailbox, err := rig.Hub.OpenMailbox(feed.Request{Cameras: []string{"door"}})
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
			return &d
		}
	}
}

func TestAMessageIsEncodedWithoutAllocating(t *testing.T) {
	d := newest(t, 10_000)
	var pool buffers
	codec := newCodec()
	if n := testing.AllocsPerRun(200, func() {
		slice, err := codec.Marshal(pool.encode(d))
		if err != nil {
			t.Fatal(err)
		}
		slice.Free()
	}); n >= 1 {
		t.Errorf("%v allocations a frame", n)
	}
}

func TestMessagesOfAllSizesAreEncodedWhole(t *testing.T) {
	var pool buffers
	codec := newCodec()
	for _, size := range []int{100, 1000, 2000, 4090, 5000, 100_000, 3 << 20} {
		d := newest(t, size)
		for range 3 { // in a new buffer, and in one that comes back
			slice, err := codec.Marshal(pool.encode(d))
			if err != nil {
				t.Fatal(err)
			}
			var m schema.Message
			if err := proto.Unmarshal(slice.Materialize(), &m); err != nil || aitest.Number(m.GetFrame().GetData()) != 1 || len(m.GetFrame().GetData()) != size {
				t.Errorf("a frame of %d bytes came out with %d: %v", size, len(m.GetFrame().GetData()), err)
			}
			slice.Free()
		}
	}
}
