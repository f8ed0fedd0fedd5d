package admission

import (
	"fmt"
	"testing"
	"time"
)

// A house has cameras whose demand a test sets.
type house struct {
	*Gate
	t       *testing.T
	clock   time.Time
	cameras map[string]Demand
}

func newHouse(t *testing.T, limits Limits) *house {
	h := &house{t: t, clock: time.Unix(1_700_000_000, 0), cameras: map[string]Demand{
		"door": {Bitrate: 1e6, Target: 2 * time.Second},
		"yard": {Bitrate: 4e6, Target: 6 * time.Second},
	}}
	h.Gate = New(limits, h, func() time.Time { return h.clock })
	return h
}

func (h *house) Demand(camera string) (Demand, bool) {
	d, ok := h.cameras[camera]
	return d, ok
}

func (h *house) SentBytes() (sum uint64) {
	for _, d := range h.cameras {
		sum += d.SentBytes
	}
	return sum
}

// sends lets time pass while bits are sent.
func (h *house) sends(camera string, bitsPerSecond uint64, seconds int) {
	for range 4 * seconds {
		d := h.cameras[camera]
		d.SentBytes += bitsPerSecond / 8 / 4
		h.cameras[camera] = d
		h.clock = h.clock.Add(time.Second / 4)
		h.Media("door") // somebody looks
	}
}

func (h *house) want(camera string, viewer int, want Reason) {
	h.t.Helper()
	if got := h.Playlist(camera, fmt.Sprint("10.0.0.", viewer), "agent"); got != want {
		h.t.Errorf("viewer %d of %s: %q, want %q", viewer, camera, got, want)
	}
}

func TestWithoutLimitsThereIsNoGate(t *testing.T) {
	h := newHouse(t, Limits{})
	if h.Gate != nil || h.Playlist("door", "", "") != "" || h.Media("door") != "" || h.Refused() != nil {
		t.Error("somebody stands at it")
	}
}

func TestAViewerTooManyIsRefusedUntilAnotherHasLeft(t *testing.T) {
	h := newHouse(t, Limits{Viewers: 3, CameraViewers: 2})
	h.want("door", 1, "")
	h.want("door", 2, "")
	h.want("door", 3, CameraViewers)
	h.want("yard", 1, "")
	h.want("yard", 2, Viewers)
	h.clock = h.clock.Add(leastPatience - time.Second)
	h.want("door", 1, "")
	h.want("door", 3, CameraViewers)
	h.clock = h.clock.Add(2 * time.Second) // 2 has left the door; the yard's viewers have longer
	h.want("door", 3, "")
	h.want("door", 2, CameraViewers)
	h.want("yard", 2, Viewers)
	h.clock = h.clock.Add(18 * time.Second)
	h.want("yard", 2, "")
	if got := h.Refused(); got[CameraViewers] != 3 || got[Viewers] != 2 || got[Bitrate] != 0 {
		t.Errorf("refused: %v", got)
	}
}

func TestWhatViewersWillTakeCountsBeforeTheyTakeIt(t *testing.T) {
	h := newHouse(t, Limits{Bitrate: 10e6, CameraBitrate: 5e6})
	for i := range 5 {
		h.want("door", i, "")
	}
	h.want("door", 5, CameraBitrate)
	h.want("yard", 1, "")
	h.want("yard", 2, CameraBitrate)
	h.want("door", 4, "")
	h.cameras["hall"] = Demand{Bitrate: 2e6}
	h.want("hall", 1, Bitrate)
}

func TestWhatIsSentCountsToo(t *testing.T) {
	h := newHouse(t, Limits{CameraBitrate: 8e6, Bitrate: 12e6})
	h.want("door", 1, "")
	h.sends("door", 6e6, 10)
	h.want("door", 1, "")
	h.want("door", 2, "")
	if got := h.Media("door"); got != "" {
		t.Errorf("within the budget: %q", got)
	}
	h.sends("door", 7.5e6, 10)
	h.want("door", 3, CameraBitrate)
	if got := h.Media("door"); got != "" {
		t.Errorf("still within the budget: %q", got)
	}
	h.sends("door", 11e6, 10)
	if got := h.Media("door"); got != CameraBitrate {
		t.Errorf("far above it: %q", got)
	}
	if got := h.Media("yard"); got != "" {
		t.Errorf("another camera: %q", got)
	}
	h.sends("yard", 16e6, 10)
	if got := h.Media("yard"); got != CameraBitrate {
		t.Errorf("another camera that does the same: %q", got)
	}
	if got := h.Media("door"); got != Bitrate {
		t.Errorf("above the budget of all: %q", got)
	}
	h.sends("door", 0, 20)
	if got := h.Media("door"); got != "" {
		t.Errorf("after a while: %q", got)
	}
	h.want("door", 9, "")
}

func TestACameraThatIsNotServedTakesNoRoom(t *testing.T) {
	h := newHouse(t, Limits{Viewers: 1, Bitrate: 1})
	for i := range 100 {
		h.want(fmt.Sprint("guess", i), 1, "")
	}
	if h.Media("guess1") != "" || len(h.rooms) != 0 {
		t.Errorf("%d rooms", len(h.rooms))
	}
}

func TestAnEmptyRoomGoes(t *testing.T) {
	h := newHouse(t, Limits{Viewers: 2})
	h.want("door", 1, "")
	h.want("yard", 1, "")
	delete(h.cameras, "yard")
	h.clock = h.clock.Add(time.Second)
	h.want("door", 2, "")
	h.clock = h.clock.Add(time.Hour)
	h.want("guess", 1, "")
	if len(h.rooms) != 0 || h.viewers != 0 {
		t.Errorf("%d rooms, %d viewers", len(h.rooms), h.viewers)
	}
}

func TestARateIsOfTheLastSeconds(t *testing.T) {
	var r rate
	now := time.Unix(1_700_000_000, 0)
	bytes := uint64(0)
	step := func(perSecond uint64, seconds int) int64 {
		for range seconds {
			now = now.Add(time.Second)
			bytes += perSecond
			r.add(bytes, now)
		}
		return r.bits
	}
	step(0, 1)
	if got := step(1000, 1); got != 2000 {
		t.Errorf("after the first second: %d", got)
	}
	if got := step(1000, 20); got != 8000 {
		t.Errorf("steady: %d", got)
	}
	if got := step(0, 9); got != 0 {
		t.Errorf("after a pause: %d", got)
	}
	bytes = 5 // another counter
	if got := step(0, 1); got != 0 {
		t.Errorf("a count that fell: %d", got)
	}
	now = now.Add(time.Hour)
	if got := step(1e9, 1); got != 0 {
		t.Errorf("after an hour: %d", got)
	}
}

func BenchmarkPlaylistOfOneWhoWatches(b *testing.B) {
	h := newHouse(nil, Limits{Viewers: 1e6, Bitrate: 1e12})
	for i := range 10000 {
		h.Playlist("door", fmt.Sprint(i), "agent")
	}
	b.ReportAllocs()
	for b.Loop() {
		if h.Playlist("door", "7", "agent") != "" {
			b.Fatal("refused")
		}
	}
}
