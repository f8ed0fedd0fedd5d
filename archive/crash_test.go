package archive

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// How the process that is killed is told what to do, and how often it is.
const (
	crashDirVariable    = "DROVER_TEST_CRASH_DIR"
	crashRoundsVariable = "DROVER_TEST_CRASH_ROUNDS"
	crashCameras        = 20
)

// recordForEver records twenty cameras until it is killed.
func recordForEver(dir string) error {
	recorder, err := Open(context.Background(), Options{Dir: dir})
	if err != nil {
		return err
	}
	pool := media.NewPool()
	began := time.Now()
	var cameras []*fakeCamera
	for i := range crashCameras {
		id := fmt.Sprintf("cam%d", i)
		frames := ring.New(ring.Limits{})
		recorder.SetSpec(camera.Spec{ID: id, Enabled: true, Sources: []camera.SourceSpec{{Name: "main"}}, Record: continuous})
		if err := recorder.Attach(id, "main", frames); err != nil {
			return err
		}
		recorder.StateChanged(camera.Change{Camera: id, Source: "main", State: camera.StateLive, At: began})
		c := &fakeCamera{pool: pool, out: frames.Write, params: h264Params(), sound: aacParams(), frameTicks: 3600, gop: 10 + i*3, bytes: 4000, epoch: 1}
		c.arenas = [2]*media.Arena{media.NewArena(pool, 64<<10), media.NewArena(pool, 16<<10)}
		c.tracks()
		c.drift = began.Sub(zero)
		cameras = append(cameras, c)
	}
	go func() {
		for range time.Tick(40 * time.Millisecond) {
			for _, c := range cameras {
				c.picture()
			}
		}
	}()
	return recorder.Run(context.Background())
}

func TestAKillAtAnyMomentLosesNothingButWhatWasInMemory(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv(crashRoundsVariable)); err == nil {
		rounds = n
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	before := &Report{}
	for round := range rounds {
		child := exec.Command(self, "-test.run=^$")
		child.Env = append(os.Environ(), crashDirVariable+"="+dir)
		child.Stderr = os.Stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lived := 1500*time.Millisecond + time.Duration(rand.Int64N(int64(3*time.Second)))
		time.Sleep(lived) // that is when the power goes; nothing is waited for
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // It was killed.

		began := time.Now()
		recorder, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			t.Fatalf("round %d: it does not start again: %v", round, err)
		}
		took := time.Since(began)
		recorder.writeDown(t.Context())
		if err := recorder.Close(); err != nil {
			t.Fatal(err)
		}
		report, err := Verify(t.Context(), dir, true)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		for _, p := range report.Problems {
			t.Errorf("round %d: %s: %s", round, p.Where, p.What)
		}
		if report.Unfinished > 0 {
			t.Errorf("round %d: %d files are unfinished", round, report.Unfinished)
		}
		// At 25 pictures a second, all but the open fragment of each camera, what was
		// in the round of the writer, and the start.
		least := int64((lived - 3500*time.Millisecond).Seconds() * 25 * crashCameras)
		if got := report.Frames[0] - before.Frames[0]; got < least {
			t.Errorf("round %d: %d pictures of %v are there, fewer than %d", round, got, lived, least)
		}
		if t.Failed() {
			return
		}
		t.Logf("round %d: killed after %v; put in order in %v; %d files, %d fragments, %d pictures", round, lived, took, report.Files, report.Fragments, report.Frames[0])
		before = report
	}
}
