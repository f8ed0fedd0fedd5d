package depacket

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/bluenviron/mediacommon/v2/pkg/codecs/mpeg4audio"

	"github.com/drover-video/drover/core/flac"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/pcm"
)

// heard is an access unit that a test of audio wants.
type heard struct {
	payload []byte
	at      int64 // ticks
	lost    uint32
	age     int64
}

// checkSound takes packets apart and compares what comes out. Every discard must
// be among those wanted.
func checkSound(t *testing.T, open func(arena *media.Arena, sink Sink) Depacketizer, packets []step, want []heard, discards ...Reason) {
	t.Helper()
	withPool(t, func(arena *media.Arena) {
		got := &recorder{t: t}
		d := open(arena, got)
		for _, p := range packets {
			d.Packet(Packet{Timestamp: p.ts, Marker: p.marker, Payload: p.payload}, p.missing)
		}
		d.Close()
		defer got.release()
		if len(got.units) != len(want) {
			t.Fatalf("%d units, want %d", len(got.units), len(want))
		}
		for i, u := range got.units {
			w := want[i]
			if !bytes.Equal(u.Frame.Payload(), w.payload) || int64(u.Timestamp)+u.Offset != w.at || u.Age != w.age || u.Frame.Lost != w.lost || !u.Frame.Keyframe {
				t.Errorf("unit %d: %.40x (%d bytes) at %d, of age %d, after %d lost, want %.40x (%d) at %d, of age %d, after %d", i,
					u.Frame.Payload(), len(u.Frame.Payload()), int64(u.Timestamp)+u.Offset, u.Age, u.Frame.Lost, w.payload, len(w.payload), w.at, w.age, w.lost)
			}
		}
		var counts [Reasons]int
		for _, reason := range discards {
			counts[reason]++
		}
		if got.discards != counts {
			t.Errorf("discards by reason %v, want %v", got.discards, counts)
		}
	})
}

// ramp is bytes that count up.
func ramp(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

// frames encodes what packets of a PCM track hold, all by one encoder.
func frames(t *testing.T, c *PCMConfig, payloads ...[]byte) [][]byte {
	t.Helper()
	encoder, err := flac.NewEncoder(c.format)
	if err != nil {
		t.Fatal(err)
	}
	decode := c.decoder()
	var out [][]byte
	for _, payload := range payloads {
		out = append(out, encoder.AppendFrame(nil, decode(nil, payload)))
	}
	return out
}

func mustPCM(t testing.TB, encoding string, clockRate, channels int) *PCMConfig {
	t.Helper()
	c, err := NewPCMConfig(encoding, clockRate, channels)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPCMBecomesFLACOfItsOwnRate(t *testing.T) {
	for _, c := range []struct {
		name, encoding      string
		clockRate, channels int
		want                flac.Format
	}{
		{"A-law", "PCMA", 8000, 1, flac.Format{SampleRate: 8000, Channels: 1}},
		{"µ-law", "PCMU", 8000, 1, flac.Format{SampleRate: 8000, Channels: 1}},
		{"µ-law of 16 kHz, channels not said", "PCMU", 16000, 0, flac.Format{SampleRate: 16000, Channels: 1}},
		{"G.722 with the clock of RFC 3551", "G722", 8000, 1, flac.Format{SampleRate: 16000, Channels: 1}},
		{"G.722 with its own clock", "G722", 16000, 1, flac.Format{SampleRate: 16000, Channels: 1}},
		{"L16 mono", "L16", 8000, 1, flac.Format{SampleRate: 8000, Channels: 1}},
		{"L16 stereo", "L16", 44100, 2, flac.Format{SampleRate: 44100, Channels: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config := mustPCM(t, c.encoding, c.clockRate, c.channels)
			p := config.Params
			got, err := flac.ReadStreamInfo(p.AudioConfig)
			if err != nil || got != c.want || p.Codec != media.CodecFLAC || p.SampleRate != c.want.SampleRate || p.Channels != c.want.Channels {
				t.Errorf("params %+v, stream info %+v, %v; want %+v", p, got, err, c.want)
			}
		})
	}
	for name, err := range map[string]error{
		"six channels":     func() error { _, err := NewPCMConfig("L16", 48000, 6); return err }(),
		"no rate":          func() error { _, err := NewPCMConfig("PCMA", 0, 1); return err }(),
		"too high a rate":  func() error { _, err := NewPCMConfig("L16", 192000, 2); return err }(),
		"stereo G.722":     func() error { _, err := NewPCMConfig("G722", 8000, 2); return err }(),
		"G.722 of 11 kHz":  func() error { _, err := NewPCMConfig("G722", 11025, 1); return err }(),
		"something else":   func() error { _, err := NewPCMConfig("G726-32", 8000, 1); return err }(),
		"channels in tens": func() error { _, err := NewPCMConfig("PCMU", 8000, 70); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPCM(t *testing.T) {
	alaw, g722, l16 := mustPCM(t, "PCMA", 8000, 1), mustPCM(t, "G722", 8000, 1), mustPCM(t, "L16", 44100, 2)
	// Of 20 ms each: three of them are enough for a frame.
	a, b, c := ramp(160), ramp(320)[160:], ramp(480)[320:]
	long := ramp(5000)
	stereo := ramp(4 * 2205) // 50 ms
	for _, row := range []struct {
		name     string
		config   *PCMConfig
		packets  []step
		pieces   [][]byte // that become frames
		at, age  []int64
		lost     []uint32
		discards []Reason
	}{
		{"packets are gathered", alaw, []step{{payload: a}, {ts: 160, payload: b}, {ts: 320, payload: c}, {ts: 480, payload: a}},
			[][]byte{join(a, b, c)}, []int64{0}, []int64{320}, []uint32{0}, nil},
		{"a packet that is long enough", alaw, []step{{payload: long[:400]}, {ts: 400, payload: long[400:900]}},
			[][]byte{long[:400], long[400:900]}, []int64{0, 400}, []int64{0, 0}, []uint32{0, 0}, nil},
		{"what is before a loss comes out before it", alaw, []step{{payload: a}, {ts: 480, payload: long[:400], missing: 2}},
			[][]byte{a, long[:400]}, []int64{0, 480}, []int64{160, 0}, []uint32{0, 2}, nil},
		{"a step of the clock ends a frame", alaw, []step{{payload: a}, {ts: 9000, payload: long[:400]}},
			[][]byte{a, long[:400]}, []int64{0, 9000}, []int64{160, 0}, []uint32{0, 0}, nil},
		{"a step back, too", alaw, []step{{ts: 9000, payload: a}, {ts: 100, payload: long[:400]}},
			[][]byte{a, long[:400]}, []int64{9000, 100}, []int64{160, 0}, []uint32{0, 0}, nil},
		{"a clock that trembles does not", alaw, []step{{payload: a}, {ts: 200, payload: b}, {ts: 300, payload: c}, {ts: 495, payload: long[:400]}},
			[][]byte{join(a, b, c), long[:400]}, []int64{0, 495}, []int64{300, 0}, []uint32{0, 0}, nil},
		{"a packet longer than a block", alaw, []step{{payload: long}}, [][]byte{long[:4096], long[4096:]}, []int64{0, 4096}, []int64{0, 0}, []uint32{0, 0}, nil},
		{"a packet that would make a block too long", alaw, []step{{payload: a}, {ts: 160, payload: long[:4000]}},
			[][]byte{a, long[:4000]}, []int64{0, 160}, []int64{0, 0}, []uint32{0, 0}, nil},
		{"G.722 remembers", g722, []step{{payload: long[:400]}, {ts: 400, payload: long[:400]}},
			[][]byte{long[:400], long[:400]}, []int64{0, 400}, []int64{0, 0}, []uint32{0, 0}, nil},
		{"G.722 is gathered", g722, []step{{payload: a}, {ts: 160, payload: b}, {ts: 320, payload: c}},
			[][]byte{join(a, b, c)}, []int64{0}, []int64{320}, []uint32{0}, nil},
		{"a long packet of G.722", g722, []step{{payload: long}}, [][]byte{long[:2048], long[2048:4096], long[4096:]}, []int64{0, 2048, 4096}, []int64{0, 0, 0}, []uint32{0, 0, 0}, nil},
		{"stereo", l16, []step{{payload: stereo}}, [][]byte{stereo}, []int64{0}, []int64{0}, []uint32{0}, nil},
		{"half a sample at the end", l16, []step{{payload: join(stereo, stereo[:3])}}, [][]byte{stereo}, []int64{0}, []int64{0}, []uint32{0}, []Reason{ReasonMalformed}},
		{"less than a sample", l16, []step{{payload: stereo[:3]}, {payload: stereo}}, [][]byte{stereo}, []int64{0}, []int64{0}, []uint32{0}, []Reason{ReasonMalformed}},
		{"empty", alaw, []step{{}, {payload: long[:400]}}, [][]byte{long[:400]}, []int64{0}, []int64{0}, []uint32{0}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var want []heard
			for i, frame := range frames(t, row.config, row.pieces...) {
				want = append(want, heard{frame, row.at[i], row.lost[i], row.age[i]})
			}
			checkSound(t, func(arena *media.Arena, sink Sink) Depacketizer { return NewPCM(arena, sink, row.config) },
				row.packets, want, row.discards...)
		})
	}
}

func TestALawIsTranscodedWithoutAllocation(t *testing.T) {
	pool := media.NewPool()
	arena := media.NewArena(pool, 16<<10)
	d := NewPCM(arena, &countingSink{}, mustPCM(t, "PCMA", 8000, 1))
	defer d.Close()
	packet := Packet{Payload: ramp(160)}
	if n := testing.AllocsPerRun(1000, func() { d.Packet(packet, 0); packet.Timestamp += 160 }); n >= 1 {
		t.Errorf("%.1f allocations per packet", n)
	}
}

func TestOpus(t *testing.T) {
	params := NewOpusParams()
	celt, silk := join([]byte{31 << 3}, ramp(80)), join([]byte{1 << 3}, ramp(30))
	for _, c := range []struct {
		name     string
		packets  []step
		want     []heard
		discards []Reason
	}{
		{"packets as they are", []step{{payload: celt}, {payload: silk}}, []heard{{celt, 0, 0, 0}, {silk, 0, 0, 0}}, nil},
		{"loss is told", []step{{payload: celt}, {payload: silk, missing: 2}}, []heard{{celt, 0, 0, 0}, {silk, 0, 2, 0}}, nil},
		{"silence that is not sent", []step{{payload: celt}, {}, {payload: celt}}, []heard{{celt, 0, 0, 0}, {celt, 0, 0, 0}}, nil},
		{"not a packet", []step{{payload: celt}, {payload: []byte{3}}, {payload: celt}}, []heard{{celt, 0, 0, 0}, {celt, 0, 1, 0}}, []Reason{ReasonMalformed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checkSound(t, func(arena *media.Arena, sink Sink) Depacketizer { return NewOpus(arena, sink, params) },
				c.packets, c.want, c.discards...)
		})
	}
}

// latmElement writes an AudioMuxElement with a library's writer. Config, if it
// is not nil, is written into it.
func latmElement(t testing.TB, inBand bool, config *mpeg4audio.StreamMuxConfig, write bool, units ...[]byte) []byte {
	t.Helper()
	e := mpeg4audio.AudioMuxElement{MuxConfigPresent: inBand, UseSameStreamMux: !write, StreamMuxConfig: config}
	for _, unit := range units {
		e.Payloads = append(e.Payloads, [][][]byte{{unit}})
	}
	b, err := e.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func latmMuxOf(t testing.TB, subFrames int, config string) *mpeg4audio.StreamMuxConfig {
	t.Helper()
	var audio mpeg4audio.AudioSpecificConfig
	if err := audio.Unmarshal(unhex(config)); err != nil {
		t.Fatal(err)
	}
	return &mpeg4audio.StreamMuxConfig{
		NumSubFrames: uint(subFrames - 1),
		Programs: []*mpeg4audio.StreamMuxConfigProgram{{Layers: []*mpeg4audio.StreamMuxConfigLayer{
			{AudioSpecificConfig: &audio, LatmBufferFullness: 255},
		}}},
	}
}

func latmHex(t testing.TB, mux *mpeg4audio.StreamMuxConfig) string {
	t.Helper()
	b, err := mux.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(b)
}

func TestLATMConfig(t *testing.T) {
	good := latmHex(t, latmMuxOf(t, 1, "1408"))
	for _, c := range []struct {
		name string
		fmtp map[string]string
		ok   bool
		want string // AudioSpecificConfig; "" for none yet
	}{
		{"as usual", map[string]string{"cpresent": "0", "config": good}, true, "1408"},
		{"in the stream too", map[string]string{"config": good}, true, "1408"},
		{"in the stream only", map[string]string{"cpresent": "1"}, true, ""},
		{"nothing said", map[string]string{}, true, ""},
		{"zeros at its end cut off", map[string]string{"cpresent": "0", "config": good[:len(good)-3]}, true, "1408"},
		{"SBR signalled", map[string]string{"cpresent": "0", "config": latmHex(t, latmMuxOf(t, 1, "2b118800"))}, true, "2b118800"},
		{"neither here nor there", map[string]string{"cpresent": "0"}, false, ""},
		{"no hexadecimal", map[string]string{"cpresent": "0", "config": "xyz!"}, false, ""},
		{"too long", map[string]string{"cpresent": "0", "config": strings.Repeat("40", 70)}, false, ""},
		{"two programs", map[string]string{"cpresent": "0", "config": "4010" + good[4:]}, false, ""},
		{"AAC main", map[string]string{"cpresent": "0", "config": "40000" + "c" + good[6:]}, false, ""},
		{"garbage, and the stream may bring another", map[string]string{"config": "ffffff"}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := ParseLATMConfig(c.fmtp, 16000)
			if ok := err == nil; ok != c.ok {
				t.Fatalf("error %v, want ok %t", err, c.ok)
			}
			if err != nil {
				return
			}
			p := config.Params()
			if (p == nil) != (c.want == "") || p != nil && hex.EncodeToString(p.AudioConfig) != c.want {
				t.Errorf("params %+v, want config %q", p, c.want)
			}
		})
	}
}

func TestLATM(t *testing.T) {
	a, b, long := ramp(100), ramp(30), ramp(700)
	single, double := latmMuxOf(t, 1, "1408"), latmMuxOf(t, 2, "1408")
	outOfBand := func(mux *mpeg4audio.StreamMuxConfig) map[string]string {
		return map[string]string{"cpresent": "0", "config": latmHex(t, mux)}
	}
	inBand := map[string]string{"cpresent": "1"}
	ea, eb := latmElement(t, false, single, false, a), latmElement(t, false, single, false, b)
	elong := latmElement(t, false, single, false, long)
	withConfig, same := latmElement(t, true, single, true, a), latmElement(t, true, single, false, b)
	for _, c := range []struct {
		name     string
		fmtp     map[string]string
		packets  []step
		want     []heard
		discards []Reason
	}{
		{"one unit a packet", outOfBand(single), []step{{payload: ea, marker: true}, {ts: 1024, payload: eb, marker: true}}, []heard{{a, 0, 0, 0}, {b, 1024, 0, 0}}, nil},
		{"two units a packet", outOfBand(double), []step{{payload: latmElement(t, false, double, false, a, b), marker: true}}, []heard{{a, 0, 0, 0}, {b, 1024, 0, 0}}, nil},
		{"a unit of more than 255 bytes", outOfBand(single), []step{{payload: elong, marker: true}}, []heard{{long, 0, 0, 0}}, nil},
		{"a unit in three packets", outOfBand(single), []step{{payload: elong[:300]}, {payload: elong[300:600]}, {payload: elong[600:], marker: true}}, []heard{{long, 0, 0, 0}}, nil},
		{"nothing marked", outOfBand(single), []step{{payload: ea}, {ts: 1024, payload: eb}, {ts: 2048, payload: ea, marker: true}}, []heard{{a, 0, 0, 0}, {b, 1024, 0, 0}, {a, 2048, 0, 0}}, nil},
		{"the middle missing", outOfBand(single), []step{{payload: elong[:300]}, {payload: elong[600:], missing: 1, marker: true}, {ts: 1024, payload: ea, marker: true}},
			[]heard{{a, 1024, 0, 0}}, []Reason{ReasonLoss}},
		{"loss is told", outOfBand(single), []step{{payload: ea, marker: true}, {ts: 4096, payload: eb, marker: true, missing: 3}}, []heard{{a, 0, 0, 0}, {b, 4096, 3, 0}}, nil},
		{"configuration in the stream", inBand, []step{{payload: withConfig, marker: true}, {ts: 1024, payload: same, marker: true}}, []heard{{a, 0, 0, 0}, {b, 1024, 0, 0}}, nil},
		{"not yet in the stream", inBand, []step{{payload: same, marker: true}, {ts: 1024, payload: withConfig, marker: true}}, []heard{{a, 1024, 0, 0}}, []Reason{ReasonNoConfig}},
		{"longer than the packet", outOfBand(single), []step{{payload: ea[:50], marker: true}, {ts: 1024, payload: eb, marker: true}}, []heard{{b, 1024, 0, 0}}, []Reason{ReasonMalformed}},
		{"a length that never ends", outOfBand(single), []step{{payload: bytes.Repeat([]byte{255}, 300), marker: true}, {ts: 1024, payload: eb, marker: true}}, []heard{{b, 1024, 0, 0}}, []Reason{ReasonMalformed}},
		{"empty", outOfBand(single), []step{{marker: true}, {payload: []byte{0}, marker: true}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, err := ParseLATMConfig(c.fmtp, 16000)
			if err != nil {
				t.Fatal(err)
			}
			checkSound(t, func(arena *media.Arena, sink Sink) Depacketizer { return NewLATM(arena, sink, config) },
				c.packets, c.want, c.discards...)
		})
	}
}

func TestTheSameLATMConfigurationAgainIsNoChange(t *testing.T) {
	mono, stereo := latmMuxOf(t, 1, "1408"), latmMuxOf(t, 1, "1410")
	config, err := ParseLATMConfig(map[string]string{}, 16000)
	if err != nil {
		t.Fatal(err)
	}
	withPool(t, func(arena *media.Arena) {
		got := &recorder{t: t}
		d := NewLATM(arena, got, config)
		for _, mux := range []*mpeg4audio.StreamMuxConfig{mono, mono, stereo, stereo} {
			d.Packet(Packet{Marker: true, Payload: latmElement(t, true, mux, true, ramp(20))}, 0)
		}
		d.Close()
		defer got.release()
		if len(got.units) != 4 {
			t.Fatalf("%d units", len(got.units))
		}
		p := make([]*media.Params, 4)
		for i, u := range got.units {
			p[i] = u.Frame.Params
		}
		if p[0] != p[1] || p[1] == p[2] || p[2] != p[3] || p[0].Channels != 1 || p[2].Channels != 2 {
			t.Errorf("params %v", p)
		}
	})
}

// TestLATMOfASecondVersionIsRead has audioMuxVersion 1, which no writer at hand
// makes, by hand.
func TestLATMOfASecondVersionIsRead(t *testing.T) {
	var w bits
	w.put(1, 1)     // audioMuxVersion
	w.put(0, 1)     // audioMuxVersionA
	w.put(0, 2)     // taraBufferFullness in one byte
	w.put(255, 8)   //
	w.put(1, 1)     // allStreamsSameTimeFraming
	w.put(0, 6+4+3) // one subframe, program and layer
	w.put(0, 2)     // length of the configuration in one byte
	w.put(20, 8)    // four bits of fill after it
	w.put(0x1408, 16)
	w.put(0, 4)
	w.put(0, 3)   // frameLengthType
	w.put(255, 8) // latmBufferFullness
	w.put(1, 1)   // otherDataPresent
	w.put(0, 2)
	w.put(16, 8)
	w.put(1, 1) // crcCheckPresent
	w.put(9, 8)
	r := latmReader{data: w.bytes}
	mux, err := readLATMMux(&r, 16000)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(mux.params.AudioConfig); got != "1408" || r.pos != w.n {
		t.Errorf("config %s, read %d bits of %d", got, r.pos, w.n)
	}
}

// bits writes numbers of a few bits.
type bits struct {
	bytes []byte
	n     int
}

func (w *bits) put(v uint32, n int) {
	for i := n - 1; i >= 0; i-- {
		if w.n%8 == 0 {
			w.bytes = append(w.bytes, 0)
		}
		w.bytes[w.n/8] |= byte(v>>i&1) << (7 - w.n%8)
		w.n++
	}
}

func FuzzLATM(f *testing.F) {
	mux := latmMuxOf(f, 2, "1408")
	outOfBand, err := ParseLATMConfig(map[string]string{"cpresent": "0", "config": latmHex(f, mux)}, 16000)
	if err != nil {
		f.Fatal(err)
	}
	inBand, err := ParseLATMConfig(map[string]string{}, 16000)
	if err != nil {
		f.Fatal(err)
	}
	for _, config := range []*LATMConfig{outOfBand, inBand} {
		f.Add(config == inBand, join([]byte{1, 60}, latmElement(f, config.inBand, mux, true, ramp(20), ramp(10))))
	}
	f.Fuzz(func(t *testing.T, in bool, data []byte) {
		config := outOfBand
		if in {
			config = inBand
		}
		run(t, data, func(arena *media.Arena, sink Sink) Depacketizer { return NewLATM(arena, sink, config) },
			func(t testing.TB, f *media.Frame) {
				if n := len(f.Payload()); n == 0 || n > maxAACBytes*8 || f.Params.SampleRate <= 0 {
					t.Fatalf("an access unit of %d bytes, %+v", n, f.Params)
				}
			})
	})
}

func FuzzLATMConfig(f *testing.F) {
	f.Add(unhex(latmHex(f, latmMuxOf(f, 1, "1408"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := latmReader{data: data}
		if mux, err := readLATMMux(&r, 16000); err == nil && (mux.params == nil || mux.unitTicks < 0 || r.pos > 8*len(data)) {
			t.Fatalf("%+v at %d", mux, r.pos)
		}
	})
}

func FuzzPCM(f *testing.F) {
	f.Add(byte(0), join([]byte{1, 100}, ramp(100)))
	configs := []*PCMConfig{mustPCM(f, "PCMA", 8000, 1), mustPCM(f, "G722", 8000, 1), mustPCM(f, "L16", 44100, 2), mustPCM(f, "PCMU", 16000, 2)}
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		config := configs[int(which)%len(configs)]
		run(t, data, func(arena *media.Arena, sink Sink) Depacketizer { return NewPCM(arena, sink, config) },
			func(t testing.TB, f *media.Frame) {
				if n := flac.BlockSamples(f.Payload()); n < 1 || n > flac.MaxBlock {
					t.Fatalf("a frame of %d samples", n)
				}
			})
	})
}

func FuzzOpus(f *testing.F) {
	params := NewOpusParams()
	fuzz(f, func(arena *media.Arena, sink Sink) Depacketizer { return NewOpus(arena, sink, params) },
		func(testing.TB, *media.Frame) {}, []byte{31<<3 | 3, 3, 1, 2, 3})
}

// BenchmarkALaw takes a second of A-law apart and makes FLAC of it, in packets of
// 20 ms. A minute of a camera costs 60 times what it reports.
func BenchmarkALaw(b *testing.B) {
	benchmarkPCM(b, mustPCM(b, "PCMA", 8000, 1))
}

// BenchmarkG722 is BenchmarkALaw for G.722.
func BenchmarkG722(b *testing.B) {
	benchmarkPCM(b, mustPCM(b, "G722", 8000, 1))
}

func benchmarkPCM(b *testing.B, config *PCMConfig) {
	pool := media.NewPool()
	d := NewPCM(media.NewArena(pool, 16<<10), &countingSink{}, config)
	defer d.Close()
	payload := make([]byte, 160)
	state := 0.0
	for i := range payload { // quiet speech, more or less
		state = state*0.9 + float64((i*7919)%31-15)
		payload[i] = 0xd5 ^ byte(int(state)&0x1f)
	}
	if samples := pcm.AppendALaw(nil, payload); len(samples) != 160 {
		b.Fatal(len(samples))
	}
	b.ReportAllocs()
	packet := Packet{Payload: payload}
	for b.Loop() {
		for range 50 {
			d.Packet(packet, 0)
			packet.Timestamp += 160
		}
	}
}
