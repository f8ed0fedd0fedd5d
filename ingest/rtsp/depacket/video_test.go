package depacket

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/drover-video/drover/core/media"
)

// step is a packet as a test writes it.
type step struct {
	ts      uint32
	payload []byte
	marker  bool
	missing int
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func sized(nal []byte) []byte { return join([]byte{byte(len(nal) >> 8), byte(len(nal))}, nal) }

func slice264(kind byte, first bool, fill byte, n int) []byte {
	b := bytes.Repeat([]byte{fill}, n)
	b[0] = 0x60 | kind
	b[1] = 0x41
	if first {
		b[1] = 0x88
	}
	return b
}

func fua(nal []byte, sizes ...int) [][]byte {
	var out [][]byte
	rest := nal[1:]
	for i, n := range sizes {
		header := nal[0] & 0x1f
		if i == 0 {
			header |= 0x80
		}
		if i == len(sizes)-1 {
			n = len(rest)
			header |= 0x40
		}
		out = append(out, join([]byte{nal[0]&0xe0 | 28, header}, rest[:n]))
		rest = rest[n:]
	}
	return out
}

func TestH264(t *testing.T) {
	var (
		sps, pps = spsNoReorder, ppsNoReorder
		idr      = slice264(5, true, 0xAA, 100)
		idrRest  = slice264(5, false, 0xAB, 100)
		p        = slice264(1, true, 0xBB, 50)
		pRest    = slice264(1, false, 0xBC, 50)
		sei      = []byte{6, 5, 1, 0x80}
		aud      = []byte{9, 0xf0}
		otherPPS = []byte{0x68, 0x5e, 0x0f, 0xcb} // of id 1
		code     = []byte{0, 0, 0, 1}
	)
	type want struct {
		nals [][]byte
		key  bool
		lost uint32
	}
	fu := fua(idr, 40, 30, 0)
	key := want{[][]byte{idr}, true, 0}
	delta := want{[][]byte{p}, false, 0}
	sets := []step{{ts: 1, payload: sps}, {ts: 1, payload: pps}}
	start := append(slices.Clone(sets), step{ts: 1, payload: idr, marker: true})
	cases := []struct {
		name     string
		steps    []step
		want     []want
		discards map[Reason]int
	}{
		{"single NAL units", append(start, step{ts: 2, payload: p, marker: true}), []want{key, delta}, nil},
		{"STAP-A", []step{{ts: 1, payload: join([]byte{24}, sized(sps), sized(pps), sized(sei), sized(idr)), marker: true}},
			[]want{{[][]byte{sei, idr}, true, 0}}, nil},
		{"STAP-B", []step{{ts: 1, payload: join([]byte{25, 0, 7}, sized(sps), sized(pps), sized(idr)), marker: true}}, []want{key}, nil},
		{"FU-A", append(slices.Clone(sets), step{ts: 1, payload: fu[0]}, step{ts: 1, payload: fu[1]}, step{ts: 1, payload: fu[2], marker: true}),
			[]want{key}, nil},
		{"FU-A that is start and end", append(slices.Clone(sets), step{ts: 1, payload: join([]byte{0x7c, 0xc5}, idr[1:]), marker: true}), []want{key}, nil},
		{"FU-A without its end", append(slices.Clone(sets), step{ts: 1, payload: fu[0]}, step{ts: 1, payload: fu[1]},
			step{ts: 1, payload: join([]byte{fu[2][0], fu[2][1] &^ 0x40}, fu[2][2:]), marker: true}), []want{key}, nil},
		{"FU-A middle without its start", append(start, step{ts: 2, payload: fu[1]}, step{ts: 2, payload: fu[2], marker: true},
			step{ts: 3, payload: idr, marker: true}), []want{key, {[][]byte{idr}, true, 2}}, map[Reason]int{ReasonFragment: 1, ReasonLoss: 1}},
		{"delimiters are left out", append(slices.Clone(sets), step{ts: 1, payload: aud}, step{ts: 1, payload: idr, marker: true}), []want{key}, nil},
		{"several slices", append(slices.Clone(sets), step{ts: 1, payload: idr}, step{ts: 1, payload: idrRest, marker: true},
			step{ts: 2, payload: p}, step{ts: 2, payload: pRest}, step{ts: 2, payload: pRest, marker: true}),
			[]want{{[][]byte{idr, idrRest}, true, 0}, {[][]byte{p, pRest, pRest}, false, 0}}, nil},
		{"no markers at all", append(slices.Clone(sets), step{ts: 1, payload: idr}, step{ts: 2, payload: p}, step{ts: 3, payload: p}),
			[]want{key, delta}, nil},
		{"a clock that stands still", append(slices.Clone(start), step{ts: 1, payload: p, marker: true}, step{ts: 1, payload: p, marker: true}),
			[]want{key, delta, delta}, nil},
		{"sets with a marker and time of their own", []step{{ts: 1, payload: sps, marker: true}, {ts: 2, payload: pps, marker: true}, {ts: 3, payload: idr, marker: true}},
			[]want{key}, nil},
		{"each slice marked", append(slices.Clone(sets),
			step{ts: 1, payload: idr, marker: true}, step{ts: 1, payload: idrRest, marker: true},
			step{ts: 2, payload: p, marker: true}, step{ts: 2, payload: pRest, marker: true},
			step{ts: 3, payload: idr, marker: true}, step{ts: 3, payload: idrRest, marker: true},
			step{ts: 4, payload: p, marker: true}, step{ts: 4, payload: pRest, marker: true}, step{ts: 5, payload: p}),
			[]want{key, {[][]byte{idr, idrRest}, true, 3}, {[][]byte{p, pRest}, false, 0}}, map[Reason]int{ReasonMarker: 1, ReasonLoss: 1, ReasonNoKeyframe: 1}},
		{"nothing before the first keyframe", append([]step{{ts: 0, payload: p, marker: true}}, start...), []want{key}, map[Reason]int{ReasonNoKeyframe: 1}},
		{"a keyframe without sets", []step{{ts: 0, payload: idr, marker: true}, {ts: 1, payload: sps}, {ts: 1, payload: pps}, {ts: 1, payload: idr, marker: true}},
			[]want{key}, map[Reason]int{ReasonNoParams: 1}},
		{"loss inside a picture", append(slices.Clone(start), step{ts: 2, payload: p}, step{ts: 2, payload: pRest, marker: true, missing: 2},
			step{ts: 3, payload: p, marker: true}, step{ts: 4, payload: idr, marker: true}, step{ts: 5, payload: p, marker: true}),
			[]want{key, {[][]byte{idr}, true, 4}, delta}, map[Reason]int{ReasonLoss: 1, ReasonNoKeyframe: 1}},
		{"loss inside a fragmented keyframe", append(slices.Clone(start), step{ts: 2, payload: fu[0]}, step{ts: 2, payload: fu[2], marker: true, missing: 1},
			step{ts: 3, payload: p, marker: true}, step{ts: 4, payload: idr, marker: true}),
			[]want{key, {[][]byte{idr}, true, 3}}, map[Reason]int{ReasonLoss: 1, ReasonNoKeyframe: 1}},
		{"loss between pictures, the next a whole keyframe", append(slices.Clone(start), step{ts: 4, payload: idr, marker: true, missing: 7}),
			[]want{key, {[][]byte{idr}, true, 7}}, nil},
		{"loss of a picture's beginning", append(slices.Clone(start), step{ts: 4, payload: idrRest, marker: true, missing: 1}, step{ts: 5, payload: idr, marker: true}),
			[]want{key, {[][]byte{idr}, true, 2}}, map[Reason]int{ReasonLoss: 1}},
		{"start codes inside a fragmented unit", []step{
			{ts: 1, payload: join([]byte{0x7c, 0x87}, sps[1:], code, pps, code, idr[:20])},
			{ts: 1, payload: join([]byte{0x7c, 0x47}, idr[20:]), marker: true}}, []want{key}, nil},
		{"a start code before the NAL unit", []step{{ts: 1, payload: join(code, sps)}, {ts: 1, payload: join(code[1:], pps)},
			{ts: 1, payload: join(code, idr), marker: true}}, []want{key}, nil},
		{"a second PPS stays in the picture", []step{{ts: 1, payload: sps}, {ts: 1, payload: pps}, {ts: 1, payload: otherPPS}, {ts: 1, payload: idr, marker: true}},
			[]want{{[][]byte{otherPPS, idr}, true, 0}}, nil},
		{"empty payloads", append([]step{{ts: 1}, {ts: 1, marker: true}}, start...), []want{key}, nil},
		{"cut STAP-A", append(slices.Clone(start), step{ts: 2, payload: []byte{24, 0, 9, 1}, marker: true}, step{ts: 3, payload: idr, marker: true}),
			[]want{key, {[][]byte{idr}, true, 2}}, map[Reason]int{ReasonMalformed: 1, ReasonLoss: 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withPool(t, func(arena *media.Arena) {
				got := &recorder{t: t}
				d := NewH264(arena, got, nil)
				for _, s := range c.steps {
					d.Packet(Packet{Timestamp: s.ts, Marker: s.marker, Payload: s.payload}, s.missing)
				}
				d.Close()
				defer got.release()
				if len(got.units) != len(c.want) {
					t.Fatalf("%d access units, want %d (discards %v)", len(got.units), len(c.want), got.discards)
				}
				for i, u := range got.units {
					w := c.want[i]
					if !slices.EqualFunc(nals(t, u.Frame), w.nals, bytes.Equal) {
						t.Errorf("unit %d holds %x, want %x", i, nals(t, u.Frame), w.nals)
					}
					if u.Frame.Keyframe != w.key || u.Frame.Lost != w.lost {
						t.Errorf("unit %d: keyframe %t after %d lost, want %t after %d", i, u.Frame.Keyframe, u.Frame.Lost, w.key, w.lost)
					}
					if p := u.Frame.Params; p == nil || p.Width != 640 || p.Height != 360 || p.FPS != 25 || p.Reorder != 0 {
						t.Errorf("unit %d has parameters %+v", i, p)
					}
				}
				for reason := range Reason(Reasons) {
					if got.discards[reason] != c.discards[reason] {
						t.Errorf("%d discards for %s, want %d", got.discards[reason], reason, c.discards[reason])
					}
				}
			})
		})
	}
}

func TestInBandParameterSetsWinAndRepeatsChangeNothing(t *testing.T) {
	withPool(t, func(arena *media.Arena) {
		got := &recorder{t: t}
		d := NewH264(arena, got, [][]byte{spsBFrames, ppsNoReorder})
		if p := d.Params(); p == nil || p.Width != 320 || p.Reorder != 2 {
			t.Errorf("parameters of the SDP: %+v", p)
		}
		idr := slice264(5, true, 0xAA, 100)
		send := func(ts uint32, payloads ...[]byte) {
			for i, payload := range payloads {
				d.Packet(Packet{Timestamp: ts, Marker: i == len(payloads)-1, Payload: payload}, 0)
			}
		}
		send(1, idr)
		send(2, spsNoReorder, ppsNoReorder, idr)
		send(3, spsNoReorder, ppsNoReorder, idr)
		send(4, spsNoReorder, join(ppsNoReorder, []byte{0x80}), idr)
		send(5, spsBFrames, ppsNoReorder, idr)
		d.Close()
		defer got.release()
		var widths []int
		changes := 0
		for i, u := range got.units {
			widths = append(widths, u.Frame.Params.Width)
			if i > 0 && u.Frame.Params != got.units[i-1].Frame.Params {
				changes++
			}
		}
		if want := []int{320, 640, 640, 640, 320}; !slices.Equal(widths, want) {
			t.Errorf("widths %d, want %d", widths, want)
		}
		if changes != 3 {
			t.Errorf("parameters changed %d times, want 3", changes)
		}
	})
}

func slice265(kind byte, first bool, fill byte, n int) []byte {
	b := bytes.Repeat([]byte{fill}, n)
	b[0], b[1], b[2] = kind<<1, 1, 0x41
	if first {
		b[2] = 0x88
	}
	return b
}

func TestH265(t *testing.T) {
	const idrKind, craKind, trailKind, raslKind = 19, 21, 1, 8
	idr, cra := slice265(idrKind, true, 0xAA, 90), slice265(craKind, true, 0xAC, 90)
	trail, rasl := slice265(trailKind, true, 0xBB, 60), slice265(raslKind, true, 0xCC, 60)
	ap := func(parts ...[]byte) []byte {
		out := []byte{48 << 1, 1}
		for _, part := range parts {
			out = append(out, sized(part)...)
		}
		return out
	}
	fu := func(nal []byte, from, to int, start, end bool) []byte {
		header := nal[0] >> 1 & 0x3f
		if start {
			header |= 0x80
		}
		if end {
			header |= 0x40
		}
		return join([]byte{nal[0]&0x81 | 49<<1, nal[1], header}, nal[from:to])
	}
	cases := []struct {
		name  string
		donl  bool
		steps []step
		want  [][]byte
	}{
		{"aggregated and single", false, []step{{ts: 1, payload: ap(vps265, sps265, pps265)}, {ts: 1, payload: idr, marker: true}, {ts: 2, payload: trail, marker: true}},
			[][]byte{idr, trail}},
		{"fragments", false, []step{{ts: 1, payload: ap(vps265, sps265, pps265)}, {ts: 1, payload: fu(idr, 2, 30, true, false)},
			{ts: 1, payload: fu(idr, 30, 60, false, false)}, {ts: 1, payload: fu(idr, 60, 90, false, true), marker: true}}, [][]byte{idr}},
		{"order numbers", true, []step{
			{ts: 1, payload: join([]byte{48 << 1, 1, 0, 5}, sized(vps265), []byte{0}, sized(sps265), []byte{0}, sized(pps265))},
			{ts: 1, payload: join([]byte{idr[0]&0x81 | 49<<1, 1, 0x80 | idrKind, 0, 9}, idr[2:50])},
			{ts: 1, payload: fu(idr, 50, 90, false, true), marker: true},
			{ts: 2, payload: join(trail[:2], []byte{0, 10}, trail[2:]), marker: true}}, [][]byte{idr, trail}},
		{"leading pictures of a first CRA are skipped, of a later one kept", false, []step{
			{ts: 1, payload: ap(vps265, sps265, pps265)}, {ts: 1, payload: cra, marker: true}, {ts: 2, payload: rasl, marker: true}, {ts: 3, payload: trail, marker: true},
			{ts: 4, payload: cra, marker: true}, {ts: 5, payload: rasl, marker: true}}, [][]byte{cra, trail, cra, rasl}},
		{"a layer above the base is left out", false, []step{{ts: 1, payload: ap(vps265, sps265, pps265)}, {ts: 1, payload: idr},
			{ts: 1, payload: join([]byte{trailKind << 1, 9}, trail[2:]), marker: true}}, [][]byte{idr}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withPool(t, func(arena *media.Arena) {
				got := &recorder{t: t}
				d := NewH265(arena, got, nil, c.donl)
				for _, s := range c.steps {
					d.Packet(Packet{Timestamp: s.ts, Marker: s.marker, Payload: s.payload}, s.missing)
				}
				d.Close()
				defer got.release()
				var units [][]byte
				for _, u := range got.units {
					units = append(units, nals(t, u.Frame)...)
					if p := u.Frame.Params; p.Width != 640 || p.Height != 360 || p.Reorder < 0 {
						t.Errorf("parameters %+v", p)
					}
				}
				if !slices.EqualFunc(units, c.want, bytes.Equal) {
					t.Errorf("got %x, want %x (discards %v)", units, c.want, got.discards)
				}
			})
		})
	}
}

func TestBoundsCostTheFrameAndNotTheStream(t *testing.T) {
	idr := slice264(5, true, 0xAA, 100)
	for _, c := range []struct {
		name string
		send func(d *H264)
	}{
		{"too many NAL units", func(d *H264) {
			for range maxUnits + 10 {
				d.Packet(Packet{Timestamp: 2, Payload: []byte{6, 1, 1, 1}}, 0)
			}
		}},
		{"too many bytes", func(d *H264) {
			piece := make([]byte, 60000)
			d.Packet(Packet{Timestamp: 2, Payload: []byte{0x7c, 0x85, 0x88}}, 0)
			piece[0], piece[1] = 0x7c, 0x05
			for range media.MaxFrameBytes/len(piece) + 2 {
				d.Packet(Packet{Timestamp: 2, Payload: piece}, 0)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			withPool(t, func(arena *media.Arena) {
				got := &recorder{t: t}
				d := NewH264(arena, got, [][]byte{spsNoReorder, ppsNoReorder})
				d.Packet(Packet{Timestamp: 1, Payload: idr, Marker: true}, 0)
				c.send(d)
				d.Packet(Packet{Timestamp: 2, Payload: slice264(5, false, 1, 9), Marker: true}, 0)
				d.Packet(Packet{Timestamp: 3, Payload: idr, Marker: true}, 0)
				d.Close()
				defer got.release()
				if len(got.units) != 2 || got.discards[ReasonTooLarge] == 0 {
					t.Errorf("%d units, discards %v", len(got.units), got.discards)
				}
			})
		})
	}
}

func fuzz(f *testing.F, open func(arena *media.Arena, sink Sink) Depacketizer, check func(testing.TB, *media.Frame), seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(join([]byte{1, byte(len(seed))}, seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) { run(t, data, open, check) })
}

// run feeds packets to a depacketizer that are written one after the other: a
// byte of flags, one of length, the payload.
func run(t *testing.T, data []byte, open func(arena *media.Arena, sink Sink) Depacketizer, check func(testing.TB, *media.Frame)) {
	withPool(t, func(arena *media.Arena) {
		got := &recorder{t: t}
		d := open(arena, got)
		for len(data) >= 2 {
			flags, n := data[0], min(int(data[1]), len(data)-2)
			d.Packet(Packet{Timestamp: uint32(flags >> 4), Marker: flags&1 != 0, Payload: data[2 : 2+n]}, int(flags>>1&1))
			data = data[2+n:]
		}
		d.Close()
		for _, u := range got.units {
			if u.Frame.Params == nil {
				t.Fatal("a frame without parameters")
			}
			check(t, u.Frame)
		}
		got.release()
	})
}

func checkNALs(t testing.TB, f *media.Frame) { nals(t, f) }

func FuzzH264(f *testing.F) {
	fuzz(f, func(arena *media.Arena, sink Sink) Depacketizer {
		return NewH264(arena, sink, [][]byte{spsNoReorder, ppsNoReorder})
	}, checkNALs, slice264(5, true, 0xAA, 30), fua(slice264(5, true, 1, 30), 10, 0)[0], join([]byte{24}, sized(spsBFrames), sized(ppsNoReorder)))
}

func FuzzH265(f *testing.F) {
	fuzz(f, func(arena *media.Arena, sink Sink) Depacketizer {
		return NewH265(arena, sink, [][]byte{vps265, sps265, pps265}, false)
	}, checkNALs, slice265(19, true, 0xAA, 30), join([]byte{48 << 1, 1}, sized(sps265), sized(pps265)))
}

// BenchmarkH264 takes pictures of 10 kB apart: what a camera of 2 Mbit/s sends.
func BenchmarkH264(b *testing.B) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 256<<10)
	got := &countingSink{}
	d := NewH264(arena, got, [][]byte{spsNoReorder, ppsNoReorder})
	defer d.Close()
	key := fua(slice264(5, true, 0xAA, 10_000), 1400, 1400, 1400, 1400, 1400, 1400, 1400, 0)
	b.ReportAllocs()
	b.SetBytes(10_000)
	for ts := uint32(0); b.Loop(); ts += 3600 {
		for i, payload := range key {
			d.Packet(Packet{Timestamp: ts, Marker: i == len(key)-1, Payload: payload}, 0)
		}
	}
	if got.units == 0 {
		b.Fatal(fmt.Errorf("no access units"))
	}
}

type countingSink struct{ units int }

func (s *countingSink) Unit(u Unit) {
	s.units++
	u.Frame.Release()
}
func (s *countingSink) Discard(Reason) {}
