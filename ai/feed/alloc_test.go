//go:build !race && !poison

// Under poison no frame is used again, and the race detector keeps pools from being full.

package feed_test

import (
	"context"
	"testing"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
)

func TestAFrameOnItsWayFromRingToWorkerAllocatesNothing(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 10_000
	mailbox, err := rig.Hub.OpenMailbox(feed.Request{Cameras: []string{"door"}, AnnexB: true, MaxBehind: feed.DefaultMaxBehind})
	if err != nil {
		t.Fatal(err)
	}
	defer mailbox.Close()
	ctx, buffer := context.Background(), make([]byte, 0, 20_000)
	pass := func() {
		door.Write()
		for {
			d, err := mailbox.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if d.Frame.Frame != nil {
				buffer = d.Frame.AppendData(buffer[:0])
				d.Frame.Release()
				return
			}
		}
	}
	for range 500 { // rings and queues have the size that they keep
		pass()
	}
	if n := testing.AllocsPerRun(500, pass); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
