package hls

import (
	"time"

	"github.com/drover-video/drover/core/media"
)

// A trouble watches whether anything becomes of the frames that come. It belongs to
// the muxer's goroutine.
type trouble struct {
	fed     uint64 // frames since something was made
	picture bool   // there was one of video among them
	since   time.Time
	dropped [dropReasons]uint64 // when something was last made
}

const (
	troubleAfter = 15 * time.Second // so long nothing may be made of what comes
	troubleEvery = 16               // frames from one look to the next
)

// feed takes note of a frame that has come.
func (p *pipeline) feed(f *media.Frame) {
	t := &p.fate
	if t.fed == 0 {
		t.since = p.config.Now()
	}
	t.fed++
	t.picture = t.picture || f.Track.Kind == media.KindVideo
	if t.fed%troubleEvery == 0 {
		p.assess()
	}
}

// made takes note that something has been made of what came.
func (p *pipeline) made() {
	p.fate = trouble{}
	for reason := range p.drops {
		p.fate.dropped[reason] = p.drops[reason].Load()
	}
	p.why.Store(nil)
}

// assess finds out why nothing is made. While a long GOP is under way nothing is
// dropped, and nothing is wrong.
func (p *pipeline) assess() {
	t := &p.fate
	if p.config.Now().Sub(t.since) < troubleAfter {
		return
	}
	most, worst := uint64(0), DropReason(0)
	for reason := range p.drops {
		if n := p.drops[reason].Load() - t.dropped[reason]; n > most {
			most, worst = n, DropReason(reason)
		}
	}
	if most == 0 {
		return
	}
	why := worst.why(t.picture)
	p.why.Store(&why)
}

// why says in words what keeps a source from being shown, for whoever has set the
// camera up.
func (r DropReason) why(picture bool) string {
	const nothing = "nothing can be shown live: "
	switch {
	case r == DropUnplayable:
		return nothing + "the camera sends MJPEG, which no player of HLS shows; set its stream to H.264"
	case r == DropOversize:
		return nothing + "no keyframe comes in two minutes, or in 64 MB; set the camera's keyframe interval to a few seconds"
	case r == DropShort, r == DropCrowded:
		return nothing + "the size or the codec parameters of the picture change all the time, or the stream breaks off within half a second"
	case r == DropParameters:
		return nothing + "the camera's codec parameters cannot be written; another profile of its encoder may help"
	case r == DropAwaitingKeyframe && !picture:
		return nothing + "sound comes, and no picture, though the camera offers one"
	case r == DropAwaitingKeyframe:
		return nothing + "no keyframe comes that is whole: packets are lost, or the camera sends none"
	default:
		return nothing + "what comes does not make sense (" + r.String() + ")"
	}
}

// Troubles says of which of a camera's sources nothing can be shown, though they
// send, and why. It is empty where all is well.
func (h *Hub) Troubles(camera string) map[string]string {
	c, ok := h.find(camera)
	if !ok {
		return nil
	}
	var all map[string]string
	for _, m := range *c.muxers.Load() {
		why := m.why.Load()
		if why == nil || m.derived {
			continue
		}
		if all == nil {
			all = map[string]string{}
		}
		all[m.source] = *why
	}
	return all
}
