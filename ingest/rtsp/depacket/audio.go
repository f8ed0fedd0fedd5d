package depacket

import "github.com/drover-video/drover/core/media"

// sound is what the depacketizers of audio have in common: each access unit
// stands alone, so that a loss costs no more than what was lost.
type sound struct {
	arena     *media.Arena
	sink      Sink
	lost      uint32
	delivered bool
}

// Close implements Depacketizer.
func (d *sound) Close() { d.arena.Close() }

// miss is told how many packets are missing.
func (d *sound) miss(packets int) { d.lost += uint32(min(packets, 1<<16)) }

// spoil tells of an access unit that cannot be handed on.
func (d *sound) spoil(reason Reason) {
	d.lost++
	d.sink.Discard(reason)
}

// deliver adds data to the access unit begun in the arena and hands it on, as a
// unit whose times are given.
func (d *sound) deliver(params *media.Params, data []byte, u Unit) {
	if err := d.arena.Append(data); err != nil {
		d.spoil(ReasonTooLarge)
		return
	}
	if d.arena.Len() == 0 {
		d.spoil(ReasonMalformed) // a sample of no bytes is an error to players
		return
	}
	f, err := d.arena.Finish()
	if err != nil {
		d.spoil(ReasonTooLarge)
		return
	}
	f.Params, f.Keyframe = params, true
	if d.delivered {
		f.Lost = d.lost
	}
	d.lost, d.delivered = 0, true
	u.Frame = f
	d.sink.Unit(u)
}
