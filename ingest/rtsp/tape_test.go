package rtsp

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
)

// A shot is a frame as a subscriber saw it.
type shot struct {
	seq, epoch uint64
	kind       media.Kind
	rate       int
	params     *media.Params
	pts, dts   int64
	key        bool
	lost       uint32
	wall       time.Time
	wallSource media.WallSource
	payload    string
}

// A tape reads a ring, keeps what came, and holds each frame against the rules
// that all frames keep.
type tape struct {
	sub  *ring.Subscriber
	done chan struct{}

	mu    sync.Mutex
	taken []shot

	// Owned by run, and by others when it has ended.
	problems []string
	last     shot
	lastOf   [2]shot // by kind
}

func (t *tape) run() {
	defer close(t.done)
	for item := range t.sub.C {
		t.take(item)
	}
}

// shots returns what came so far.
func (t *tape) shots() []shot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.taken)
}

func (t *tape) take(item ring.Item) {
	f := item.Frame
	defer f.Release()
	s := shot{
		seq: f.Seq, epoch: f.Epoch, kind: f.Track.Kind, rate: f.Track.ClockRate, params: f.Params,
		pts: f.PTS, dts: f.DTS, key: f.Keyframe, lost: f.Lost, wall: f.Wall, wallSource: f.WallSource, payload: string(f.Payload()),
	}
	t.judge(item, s)
	t.last, t.lastOf[s.kind] = s, s
	t.mu.Lock()
	t.taken = append(t.taken, s)
	t.mu.Unlock()
}

// judge holds a frame against the rules.
func (t *tape) judge(item ring.Item, s shot) {
	wrong := func(format string, args ...any) {
		if len(t.problems) < 20 {
			t.problems = append(t.problems, fmt.Sprintf("frame %d: ", s.seq)+fmt.Sprintf(format, args...))
		}
	}
	same := t.lastOf[s.kind]
	switch {
	case item.Missed != 0:
		wrong("%d frames missed by the tape", item.Missed)
	case s.params == nil:
		wrong("no parameters")
	case s.payload == "":
		wrong("no payload")
	case s.pts < s.dts:
		wrong("shown at %d, before it is decoded at %d", s.pts, s.dts)
	case s.wall.IsZero():
		wrong("no wall-clock time")
	}
	if t.last.seq != 0 && s.seq != t.last.seq+1 {
		wrong("comes after frame %d", t.last.seq)
	}
	if s.epoch < t.last.epoch || s.epoch == 0 {
		wrong("of epoch %d after %d", s.epoch, t.last.epoch)
	}
	if same.seq != 0 && s.dts <= same.dts {
		wrong("decoded at %d, the %s frame before at %d", s.dts, s.kind, same.dts)
	}
	if s.kind == media.KindVideo {
		if !s.key && s.params != same.params {
			wrong("new parameters without a keyframe")
		}
		if !s.key && s.lost != 0 {
			wrong("%d lost before a picture that is no keyframe", s.lost)
		}
		if !s.key && s.epoch != same.epoch {
			wrong("a new epoch without a keyframe")
		}
		if item.Frame.Entry != s.key {
			wrong("entry %v, keyframe %v", item.Frame.Entry, s.key)
		}
	}
}

// of returns the shots of a kind.
func of(kind media.Kind, shots []shot) []shot {
	var some []shot
	for _, s := range shots {
		if s.kind == kind {
			some = append(some, s)
		}
	}
	return some
}

func pictures(shots []shot) []shot { return of(media.KindVideo, shots) }
func sound(shots []shot) []shot    { return of(media.KindAudio, shots) }
