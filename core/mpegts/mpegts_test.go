package mpegts

import (
	"bytes"
	"testing"
)

// A packet is a transport packet as an independent reading of the standard sees
// it.
type packet struct {
	pid     int
	start   bool
	cc      uint8
	flags   byte
	clock   int64 // -1: none
	payload []byte
}

func parsePackets(t *testing.T, ts []byte) []packet {
	t.Helper()
	if len(ts)%PacketSize != 0 {
		t.Fatalf("%d bytes are no whole packets", len(ts))
	}
	var all []packet
	for ; len(ts) > 0; ts = ts[PacketSize:] {
		if ts[0] != 0x47 {
			t.Fatalf("no sync byte: %x", ts[0])
		}
		p := packet{pid: int(ts[1]&0x1f)<<8 | int(ts[2]), start: ts[1]&0x40 != 0, cc: ts[3] & 15, clock: -1}
		body := ts[4:PacketSize]
		if ts[3]&0x20 != 0 {
			n := int(body[0])
			if n > 0 {
				p.flags = body[1]
			}
			stuffing := 2
			if p.flags&flagClock != 0 {
				p.clock = int64(body[2])<<25 | int64(body[3])<<17 | int64(body[4])<<9 | int64(body[5])<<1 | int64(body[6]>>7)
				stuffing += 6
			}
			for i := stuffing; i < 1+n; i++ {
				if body[i] != 0xff {
					t.Fatalf("stuffing of %x", body[i])
				}
			}
			body = body[1+n:]
		}
		if ts[3]&0x10 != 0 {
			p.payload = body
		}
		all = append(all, p)
	}
	return all
}

func checkCounters(t *testing.T, all []packet) {
	t.Helper()
	last := map[int]uint8{}
	for i, p := range all {
		if cc, ok := last[p.pid]; ok && p.cc != (cc+1)&15 {
			t.Fatalf("packet %d of pid %#x: counter %d after %d", i, p.pid, p.cc, cc)
		}
		last[p.pid] = p.cc
	}
}

func payloadOf(all []packet, pid int) []byte {
	var out []byte
	for _, p := range all {
		if p.pid == pid {
			out = append(out, p.payload...)
		}
	}
	return out
}

func readTime(b []byte) int64 {
	return int64(b[0]>>1&7)<<30 | int64(b[1])<<22 | int64(b[2]>>1)<<15 | int64(b[3])<<7 | int64(b[4]>>1)
}

func lengthPrefixed(nals ...[]byte) []byte {
	var out []byte
	for _, n := range nals {
		out = append(out, byte(len(n)>>24), byte(len(n)>>16), byte(len(n)>>8), byte(len(n)))
		out = append(out, n...)
	}
	return out
}

func mustADTS(t testing.TB, config ...byte) ADTS {
	t.Helper()
	a, err := NewADTS(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestPacketCountsAreExactForEverySize(t *testing.T) {
	video := &Program{Video: true, Audio: true, ADTS: mustADTS(t, 0x12, 0x10)}
	sound := &Program{Audio: true, ADTS: video.ADTS}
	for n := range 800 {
		data := bytes.Repeat([]byte{0xab}, n)
		for _, key := range []bool{false, true} {
			for _, pts := range []int64{0, 3600} {
				p := &Picture{PTS: pts, Keyframe: key, SPS: data[:n/3], PPS: data[:n/7], Data: lengthPrefixed(data)}
				said, written := Counters{Video: 9}, Counters{Video: 9}
				out := AppendPicture([]byte("prefix"), p, &written)
				if got := p.Skip(&said); got*PacketSize != len(out)-len("prefix") || said != written {
					t.Fatalf("picture of %d bytes: %d packets said, %d bytes written; counters %v, %v", n, got, len(out)-6, said, written)
				}
				if !bytes.HasPrefix(out, []byte("prefix")) {
					t.Fatal("prefix overwritten")
				}
				parsePackets(t, out[len("prefix"):])
			}
		}
		for _, p := range []*Program{video, sound} {
			s := &Sound{PTS: 5, Frames: [][]byte{data, data[:n/2], data[:n/3]}}
			said, written := Counters{Audio: 15}, Counters{Audio: 15}
			out := AppendSound([]byte("prefix"), p, s, &written)
			if got := SkipSound(p, 3, n+n/2+n/3, &said); got*PacketSize != len(out)-len("prefix") || said != written {
				t.Fatalf("sound of %d bytes: %d packets said, %d bytes written", n, got, len(out)-6)
			}
			parsePackets(t, out[len("prefix"):])
		}
	}
}

func TestPictureBecomesAnAccessUnitWithItsParameterSets(t *testing.T) {
	slice1, slice2 := bytes.Repeat([]byte{0x65}, 500), bytes.Repeat([]byte{0x66}, 3)
	p := &Picture{PTS: 1<<33 - 900000 + 7200, DTS: 1<<33 - 900000 + 3600, Keyframe: true, Discontinuity: true,
		SPS: []byte{0x67, 1, 2}, PPS: []byte{0x68, 3}, Data: lengthPrefixed(slice1, slice2)}
	var cc Counters
	out := parsePackets(t, AppendPicture(nil, p, &cc))
	checkCounters(t, out)
	first := out[0]
	if !first.start || first.flags != flagDiscontinuity|flagRandomAccess|flagClock {
		t.Errorf("first packet: start %v, flags %x", first.start, first.flags)
	}
	if want := int64(1<<33 + 3600 - clockDelay); first.clock != want {
		t.Errorf("clock %d, want %d", first.clock, want)
	}
	pes := payloadOf(out, pidVideo)
	if !bytes.HasPrefix(pes, []byte{0, 0, 1, 0xe0, 0, 0, 0x84, 0xc0, 10}) {
		t.Fatalf("PES header % x", pes[:9])
	}
	if pts, dts := readTime(pes[9:]), readTime(pes[14:]); pts != 7200 || dts != 3600 {
		t.Errorf("times beyond 33 bits: %d and %d, want 7200 and 3600", pts, dts)
	}
	want := []byte(accessUnitDelimiter)
	for _, nal := range [][]byte{p.SPS, p.PPS, slice1, slice2} {
		want = append(append(want, 0, 0, 0, 1), nal...)
	}
	if got := pes[19:]; !bytes.Equal(got, want) {
		t.Errorf("access unit\n% x, want\n% x", got[:40], want[:40])
	}
}

func TestPictureWithoutReorderingHasNoDecodeTime(t *testing.T) {
	var cc Counters
	pes := payloadOf(parsePackets(t, AppendPicture(nil, &Picture{PTS: 9, DTS: 9, Data: lengthPrefixed([]byte{0x41})}, &cc)), pidVideo)
	if pes[7] != 0x80 || readTime(pes[9:]) != 9+clockOffset {
		t.Fatalf("PES header % x", pes[:14])
	}
}

func TestPictureWithFalseLengthsKeepsToItsPacketCount(t *testing.T) {
	for _, data := range [][]byte{{1}, {0, 0, 0}, {0, 0, 0, 9}, {0xff, 0xff, 0xff, 0xff, 1, 2}, {0, 0, 0, 0}, {0, 0, 0, 1, 5, 7, 7}} {
		p := &Picture{Data: data}
		var cc Counters
		if got, want := len(AppendPicture(nil, p, &cc)), p.Skip(&Counters{})*PacketSize; got != want {
			t.Errorf("% x: %d bytes, want %d", data, got, want)
		}
	}
}

func TestSoundIsAPesPacketOfADTSFrames(t *testing.T) {
	p := &Program{Audio: true, ADTS: mustADTS(t, 0x12, 0x10)}
	frames := [][]byte{bytes.Repeat([]byte{1}, 300), bytes.Repeat([]byte{2}, 40)}
	var cc Counters
	out := parsePackets(t, AppendSound(nil, p, &Sound{PTS: 90000, Frames: frames, Discontinuity: true}, &cc))
	if out[0].clock != 90000+clockOffset-clockDelay || out[0].flags&flagDiscontinuity == 0 {
		t.Errorf("audio alone must carry the clock: %+v", out[0])
	}
	pes := payloadOf(out, pidAudio)
	if n := int(pes[4])<<8 | int(pes[5]); n != len(pes)-6 {
		t.Errorf("PES length %d, want %d", n, len(pes)-6)
	}
	at := 14
	for i, f := range frames {
		h := pes[at:]
		if h[0] != 0xff || h[1] != 0xf1 || h[2]>>6 != 1 || h[2]>>2&15 != 4 || h[2]&1<<2|h[3]>>6 != 2 {
			t.Fatalf("frame %d: ADTS header % x", i, h[:7])
		}
		n := int(h[3]&3)<<11 | int(h[4])<<3 | int(h[5]>>5)
		if !bytes.Equal(h[7:n], f) {
			t.Fatalf("frame %d: other media", i)
		}
		at += n
	}
	if at != len(pes) {
		t.Errorf("%d bytes left over", len(pes)-at)
	}
}

func TestTablesNameTheStreamsAndCheckTheirSums(t *testing.T) {
	for _, c := range []struct {
		program Program
		pcr     int
		streams []byte
	}{
		{Program{Video: true}, pidVideo, []byte{0x1b, 0xe1, 0, 0xf0, 0}},
		{Program{Audio: true}, pidAudio, []byte{0x0f, 0xe1, 1, 0xf0, 0}},
		{Program{Video: true, Audio: true}, pidVideo, []byte{0x1b, 0xe1, 0, 0xf0, 0, 0x0f, 0xe1, 1, 0xf0, 0}},
	} {
		var cc Counters
		ts := AppendTables(nil, &c.program, &cc)
		ts = AppendTables(ts, &c.program, &cc)
		all := parsePackets(t, ts)
		checkCounters(t, all)
		if len(all) != 4 || all[0].pid != 0 || all[1].pid != pidPMT {
			t.Fatalf("packets %+v", all)
		}
		for i, p := range all[:2] {
			section := p.payload[1:]
			section = section[:3+int(section[1]&15)<<8+int(section[2])]
			if crc32(section) != 0 {
				t.Errorf("table %d: checksum is wrong", i)
			}
			if i == 1 {
				if pcr := int(section[8]&0x1f)<<8 | int(section[9]); pcr != c.pcr {
					t.Errorf("clock on %#x, want %#x", pcr, c.pcr)
				}
				if got := section[12 : len(section)-4]; !bytes.Equal(got, c.streams) {
					t.Errorf("streams % x, want % x", got, c.streams)
				}
			}
		}
	}
}

func TestConfigThatADTSCannotSayIsAnError(t *testing.T) {
	for name, config := range map[string][]byte{
		"empty":           nil,
		"channels in PCE": {0x12, 0x00},
		"odd sample rate": {0x17, 0x80, 0x3e, 0x81, 0x10},
	} {
		if _, err := NewADTS(config); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func benchmarkGOP() (*Program, *Picture, *Sound) {
	p := &Program{Video: true, Audio: true, ADTS: ADTS{profile: 1, rate: 4, channels: 2}}
	return p, &Picture{PTS: 1, Keyframe: true, SPS: make([]byte, 20), PPS: make([]byte, 4), Data: lengthPrefixed(make([]byte, 8000))},
		&Sound{Frames: [][]byte{make([]byte, 300), make([]byte, 300)}}
}

func TestWritingAllocatesNothing(t *testing.T) {
	program, picture, sound := benchmarkGOP()
	var cc Counters
	dst := make([]byte, 0, 1<<16)
	if n := testing.AllocsPerRun(100, func() {
		dst = AppendTables(dst[:0], program, &cc)
		dst = AppendPicture(dst, picture, &cc)
		dst = AppendSound(dst, program, sound, &cc)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkPicture(b *testing.B) {
	_, picture, _ := benchmarkGOP()
	var cc Counters
	dst := make([]byte, 0, 1<<16)
	b.SetBytes(int64(len(picture.Data)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendPicture(dst[:0], picture, &cc)
	}
}
