package depacket

import (
	"bytes"
	"testing"

	"github.com/drover-video/drover/core/media"
)

var aacFMTP = map[string]string{"mode": "AAC-hbr", "config": "1408", "sizelength": "13", "indexlength": "3", "indexdeltalength": "3"}

func TestAACConfig(t *testing.T) {
	with := func(key, value string) map[string]string {
		fmtp := map[string]string{}
		for k, v := range aacFMTP {
			fmtp[k] = v
		}
		fmtp[key] = value
		return fmtp
	}
	cases := []struct {
		name string
		fmtp map[string]string
		ok   bool
	}{
		{"as usual", aacFMTP, true},
		{"sizes left to the mode", map[string]string{"mode": "aac-hbr", "config": "1408"}, true},
		{"no configuration", map[string]string{"mode": "AAC-hbr"}, false},
		{"three digits, the channels cut off", with("config", "140"), false},
		{"no hexadecimal", with("config", "xyz!"), false},
		{"too short", with("config", "1"), false},
		{"too long", with("config", string(bytes.Repeat([]byte("12"), 100))), false},
		{"a size of 99 bits", with("sizelength", "99"), false},
		{"a size of no number", with("sizelength", "a"), false},
		{"constant size", with("sizelength", "0"), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			config, err := ParseAACConfig(c.fmtp, 16000)
			if ok := err == nil; ok != c.ok {
				t.Fatalf("error %v, want ok %t", err, c.ok)
			}
			if err == nil && (config.Params.SampleRate != 16000 || config.Params.Channels != 1 || config.UnitTicks() != 1024) {
				t.Errorf("got %+v, %d ticks", config.Params, config.UnitTicks())
			}
		})
	}
}

// auHeaders makes an AU Header Section of sizes.
func auHeaders(sizes ...int) []byte {
	out := []byte{byte(len(sizes) * 16 >> 8), byte(len(sizes) * 16)}
	for _, size := range sizes {
		out = append(out, byte(size>>5), byte(size<<3))
	}
	return out
}

func TestAAC(t *testing.T) {
	config, err := ParseAACConfig(aacFMTP, 16000)
	if err != nil {
		t.Fatal(err)
	}
	a, b := bytes.Repeat([]byte{1}, 100), bytes.Repeat([]byte{2}, 300)
	type want struct {
		payload []byte
		offset  int64
		lost    uint32
	}
	cases := []struct {
		name    string
		packets []step
		want    []want
	}{
		{"one unit a packet", []step{{payload: join(auHeaders(100), a)}, {payload: join(auHeaders(300), b)}}, []want{{a, 0, 0}, {b, 0, 0}}},
		{"two units a packet", []step{{payload: join(auHeaders(100, 300), a, b)}}, []want{{a, 0, 0}, {b, 1024, 0}}},
		{"a unit in three packets", []step{{payload: join(auHeaders(300), b[:100])}, {payload: join(auHeaders(300), b[100:200])}, {payload: join(auHeaders(300), b[200:]), marker: true}},
			[]want{{b, 0, 0}}},
		{"a unit whose middle is missing", []step{{payload: join(auHeaders(300), b[:100])}, {payload: join(auHeaders(300), b[200:]), marker: true, missing: 1}, {ts: 9, payload: join(auHeaders(100), a)}},
			[]want{{a, 0, 0}}},
		{"loss is told", []step{{payload: join(auHeaders(100), a)}, {payload: join(auHeaders(100), a), missing: 3}}, []want{{a, 0, 0}, {a, 0, 3}}},
		{"headers longer than the packet", []step{{payload: []byte{0xff, 0xff, 1, 2, 3}}, {payload: join(auHeaders(100), a)}}, []want{{a, 0, 0}}},
		{"sizes beyond the packet", []step{{payload: join(auHeaders(100, 300), a, b[:10])}}, []want{{a, 0, 0}}},
		{"empty", []step{{}, {payload: []byte{0}}, {payload: []byte{0, 0}}}, nil},
		{"a unit of no bytes", []step{{payload: join(auHeaders(100), a)}, {payload: auHeaders(0)}, {payload: join(auHeaders(0, 300), b)}}, []want{{a, 0, 0}, {b, 1024, 2}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withPool(t, func(arena *media.Arena) {
				got := &recorder{t: t}
				d := NewAAC(arena, got, config)
				for _, p := range c.packets {
					d.Packet(Packet{Timestamp: p.ts, Marker: p.marker, Payload: p.payload}, p.missing)
				}
				d.Close()
				defer got.release()
				if len(got.units) != len(c.want) {
					t.Fatalf("%d units, want %d", len(got.units), len(c.want))
				}
				for i, u := range got.units {
					w := c.want[i]
					if !bytes.Equal(u.Frame.Payload(), w.payload) || u.Offset != w.offset || u.Frame.Lost != w.lost {
						t.Errorf("unit %d: %d bytes at %d after %d lost, want %d at %d after %d",
							i, len(u.Frame.Payload()), u.Offset, u.Frame.Lost, len(w.payload), w.offset, w.lost)
					}
				}
			})
		})
	}
}

func FuzzAAC(f *testing.F) {
	config, err := ParseAACConfig(aacFMTP, 16000)
	if err != nil {
		f.Fatal(err)
	}
	fuzz(f, func(arena *media.Arena, sink Sink) Depacketizer { return NewAAC(arena, sink, config) },
		func(t testing.TB, f *media.Frame) {
			if n := len(f.Payload()); n > maxAACBytes*8 {
				t.Fatalf("an access unit of %d bytes", n)
			}
		},
		join(auHeaders(4), []byte{1, 2, 3, 4}), join(auHeaders(2, 2), []byte{1, 2, 3, 4}))
}
