package depacket

import (
	"encoding/hex"
	"testing"

	"github.com/drover-video/drover/core/media"
)

// Parameter sets as x264 and x265 write them.
var (
	spsNoReorder = unhex("6764001eacb405017fcb80880000030008000003019078b175")
	ppsNoReorder = unhex("68ef0fcb")
	spsBFrames   = unhex("6764000dacd94141fb011000000300100000030320f1429960")
	vps265       = unhex("40010c01ffff01600000030090000003000003003f959409")
	sps265       = unhex("42010101600000030090000003000003003fa005020171f2e595952930bc05a02000000300200000030321")
	pps265       = unhex("4401c073c189")
)

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return b
}

// recorder keeps what a depacketizer brings.
type recorder struct {
	t        testing.TB
	units    []Unit
	discards [Reasons]int
}

func (r *recorder) Unit(u Unit)           { r.units = append(r.units, u) }
func (r *recorder) Discard(reason Reason) { r.discards[reason]++ }

func (r *recorder) release() {
	for _, u := range r.units {
		u.Frame.Release()
	}
	r.units = nil
}

// nals splits a frame's payload at its lengths.
func nals(t testing.TB, f *media.Frame) [][]byte {
	t.Helper()
	var out [][]byte
	for b := f.Payload(); len(b) > 0; {
		if len(b) < 4 {
			t.Fatalf("%d bytes after the last NAL unit", len(b))
		}
		n := int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3])
		b = b[4:]
		if n > len(b) {
			t.Fatalf("NAL unit of %d bytes, and %d are left", n, len(b))
		}
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

// withPool runs a test on an arena and checks that nothing is left of it.
func withPool(t testing.TB, run func(arena *media.Arena)) {
	t.Helper()
	pool := media.NewPool()
	run(media.NewArena(pool, 64<<10))
	if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
		t.Errorf("left in the pool: %+v", stats)
	}
}
