//go:build linux && !race && !poison

package serve_test

import (
	"runtime"
	"testing"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/shm/serve"
)

func TestAFrameIsWrittenIntoMemoryWithoutAllocating(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes = 10_000
	path, _ := start(t, rig, serve.Options{})
	w := open(t, path, "door")
	pass := func() {
		n := door.Write()
		for {
			if item, ok := w.Read(); ok && item.Frame != nil && item.Frame.Slot.Sequence == n {
				return
			}
			runtime.Gosched()
		}
	}
	for range 500 {
		pass()
	}
	if n := testing.AllocsPerRun(500, pass); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}
