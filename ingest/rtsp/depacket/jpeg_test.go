package depacket

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"testing"

	"github.com/drover-video/drover/core/media"
)

// photo is a picture with detail in all places. The library writes it as 4:2:0
// with the usual Huffman tables.
func photo(t testing.TB, width, height, quality int) []byte {
	t.Helper()
	img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
	for y := range height {
		for x := range width {
			img.Y[img.YOffset(x, y)] = byte(x*3 + y*5 + x*y/7)
			img.Cb[img.COffset(x, y)] = byte(x * 2)
			img.Cr[img.COffset(x, y)] = byte(255 - y)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// takenApart is a file without what RFC 2435 leaves out.
type takenApart struct {
	width, height int
	tables        []byte
	scan          []byte // without end marker
}

func takeApart(t testing.TB, file []byte) (p takenApart) {
	t.Helper()
	for at := 2; at+4 <= len(file); {
		kind, size := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		body := file[at+4 : at+2+size]
		switch kind {
		case 0xdb:
			for ; len(body) >= 65; body = body[65:] {
				p.tables = append(p.tables, body[1:65]...)
			}
		case 0xc0:
			p.height, p.width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
		case 0xda:
			p.scan = bytes.TrimSuffix(file[at+2+size:], []byte{0xff, 0xd9})
			return p
		}
		at += 2 + size
	}
	t.Fatal("no scan")
	return p
}

// fragmentsOf packs a picture, with tables if quality is 128 or more.
func (p takenApart) fragmentsOf(kind, quality byte, restart uint16, size int, ts uint32) []step {
	var steps []step
	for at := 0; at < len(p.scan); at += size {
		end := min(at+size, len(p.scan))
		head := []byte{0, byte(at >> 16), byte(at >> 8), byte(at), kind, quality, byte(p.width / 8), byte(p.height / 8)}
		if kind >= 64 {
			head = append(head, byte(restart>>8), byte(restart), 0xff, 0xff)
		}
		if at == 0 && quality >= 128 {
			head = append(head, 0, 0, byte(len(p.tables)>>8), byte(len(p.tables)))
			head = append(head, p.tables...)
		}
		steps = append(steps, step{ts: ts, payload: join(head, p.scan[at:end]), marker: end == len(p.scan)})
	}
	return steps
}

// takeJPEG returns the files that packets become.
func takeJPEG(t *testing.T, packets []step) (files [][]byte, units []Unit, discards [Reasons]int) {
	t.Helper()
	withPool(t, func(arena *media.Arena) {
		got := &recorder{t: t}
		d := NewJPEG(arena, got)
		for _, p := range packets {
			d.Packet(Packet{Timestamp: p.ts, Marker: p.marker, Payload: p.payload}, p.missing)
		}
		d.Close()
		for _, u := range got.units {
			files = append(files, bytes.Clone(u.Frame.Payload()))
			units = append(units, Unit{Timestamp: u.Timestamp, Frame: &media.Frame{Params: u.Frame.Params, Lost: u.Frame.Lost, Keyframe: u.Frame.Keyframe}})
		}
		discards = got.discards
		got.release()
	})
	return files, units, discards
}

func decodeJPEG(t *testing.T, file []byte) *image.YCbCr {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.YCbCr)
}

func samePicture(a, b *image.YCbCr) bool {
	return a.Rect == b.Rect && bytes.Equal(a.Y, b.Y) && bytes.Equal(a.Cb, b.Cb) && bytes.Equal(a.Cr, b.Cr)
}

func TestPicturesBecomeFilesThatDecodeToTheSame(t *testing.T) {
	for _, c := range []struct {
		name           string
		written, named int // quality
		size           int
		width, height  int
	}{
		{"tables made from a low quality", 20, 20, 500, 160, 96},
		{"tables made from a high quality", 90, 90, 500, 160, 96},
		{"tables sent", 75, 255, 500, 160, 96},
		{"in one packet", 75, 200, 60000, 160, 96},
		{"as wide as can be said", 50, 50, 1400, 2040, 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := photo(t, c.width, c.height, c.written)
			files, units, discards := takeJPEG(t, takeApart(t, file).fragmentsOf(1, byte(c.named), 0, c.size, 7))
			if len(files) != 1 || discards != [Reasons]int{} {
				t.Fatalf("%d pictures, discards %v", len(files), discards)
			}
			p := units[0].Frame.Params
			if p.Codec != media.CodecJPEG || p.Width != c.width || p.Height != c.height || units[0].Timestamp != 7 || !units[0].Frame.Keyframe {
				t.Errorf("params %+v at %d", p, units[0].Timestamp)
			}
			if !samePicture(decodeJPEG(t, files[0]), decodeJPEG(t, file)) {
				t.Error("another picture")
			}
		})
	}
}

// withRestarts makes a grey picture of 4:2:2 by hand, with a marker after each
// unit: an order that no library at hand writes.
func withRestarts() takenApart {
	p := takenApart{width: 64, height: 8, tables: bytes.Repeat([]byte{16}, 128)}
	for i := range 4 { // of 16 by 8 pixels: two of luma, one of each chroma, all flat
		// Category 0 is 00 in DC and 1010 is the end of block in luma; 00 and 00 in
		// chroma. Filled up with ones.
		p.scan = append(p.scan, 0b00101000, 0b10100000, 0b00001111)
		if i < 3 {
			p.scan = append(p.scan, 0xff, 0xd0+byte(i))
		}
	}
	return p
}

func TestRestartIntervalsAreKept(t *testing.T) {
	files, _, _ := takeJPEG(t, withRestarts().fragmentsOf(64, 255, 1, 7, 0))
	if len(files) != 1 {
		t.Fatalf("%d pictures", len(files))
	}
	img := decodeJPEG(t, files[0])
	if img.SubsampleRatio != image.YCbCrSubsampleRatio422 || img.YCbCrAt(40, 4) != (color.YCbCr{Y: 128, Cb: 128, Cr: 128}) {
		t.Errorf("ratio %v, pixel %v", img.SubsampleRatio, img.YCbCrAt(40, 4))
	}
}

func TestJPEG(t *testing.T) {
	one, two := takeApart(t, photo(t, 160, 96, 50)), takeApart(t, photo(t, 320, 96, 50))
	a := one.fragmentsOf(1, 50, 0, 600, 0)
	b := two.fragmentsOf(1, 255, 0, 600, 3600)
	if len(a) < 3 || len(b) < 3 {
		t.Fatalf("%d and %d fragments: too few for this test", len(a), len(b))
	}
	without := func(steps []step, i int) []step {
		steps = append(steps[:i:i], steps[i+1:]...)
		steps[i].missing = 1
		return steps
	}
	unmarked := func(steps []step) []step {
		steps = append([]step(nil), steps...)
		steps[len(steps)-1].marker = false
		return steps
	}
	bent := func(p step, at int, value byte) step {
		p.payload = bytes.Clone(p.payload)
		p.payload[at] = value
		return p
	}
	tablesFirst := append([]step{}, one.fragmentsOf(1, 130, 0, 600, 0)...)
	later := one.fragmentsOf(1, 130, 0, 600, 3600)
	later[0].payload = join(later[0].payload[:8], []byte{0, 0, 0, 0}, later[0].payload[8+4+128:])
	for _, c := range []struct {
		name     string
		packets  []step
		widths   []int
		lost     []uint32
		discards []Reason
	}{
		{"two pictures", slices.Concat(a, b), []int{160, 320}, []uint32{0, 0}, nil},
		{"the end not marked", slices.Concat(unmarked(a), b), []int{160, 320}, []uint32{0, 0}, nil},
		{"the middle missing", slices.Concat(b, without(a, 1), b), []int{320, 320}, []uint32{0, 2}, append([]Reason{ReasonLoss}, repeat(ReasonFragment, len(a)-3)...)},
		{"the start missing", slices.Concat(a, without(b, 0), a), []int{160, 160}, []uint32{0, 1}, repeat(ReasonFragment, len(b)-1)},
		{"the end missing", slices.Concat(a, a[:len(a)-1], []step{{ts: 3600, payload: b[0].payload, missing: 1}}, b[1:]), []int{160, 320}, []uint32{0, 2}, []Reason{ReasonLoss}},
		{"tables that were sent before", slices.Concat(tablesFirst, later), []int{160, 160}, []uint32{0, 0}, nil},
		{"tables that were never sent", later, nil, nil, append([]Reason{ReasonNoConfig}, repeat(ReasonFragment, len(later)-1)...)},
		{"short header", []step{{payload: a[0].payload[:7]}}, nil, nil, []Reason{ReasonMalformed}},
		{"short restart header", []step{{payload: []byte{0, 0, 0, 0, 64, 50, 20, 12, 0}}}, nil, nil, []Reason{ReasonMalformed}},
		{"short table header", []step{{payload: []byte{0, 0, 0, 0, 1, 255, 20, 12, 0}}}, nil, nil, []Reason{ReasonMalformed}},
		{"tables longer than the packet", []step{{payload: []byte{0, 0, 0, 0, 1, 255, 20, 12, 0, 0, 0, 128, 1}}}, nil, nil, []Reason{ReasonMalformed}},
		{"tables of 16 bits", []step{bent(b[0], 9, 1)}, nil, nil, []Reason{ReasonUnsupported}},
		{"a subsampling of another kind", []step{bent(a[0], 4, 2)}, nil, nil, []Reason{ReasonUnsupported}},
		{"a quality that is reserved", []step{bent(a[0], 5, 100)}, nil, nil, []Reason{ReasonUnsupported}},
		{"no width", []step{bent(a[0], 6, 0)}, nil, nil, []Reason{ReasonUnsupported}},
		{"empty", []step{{}, {marker: true}}, nil, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, units, discards := takeJPEG(t, c.packets)
			if len(files) != len(c.widths) {
				t.Fatalf("%d pictures, want %d; discards %v", len(files), len(c.widths), discards)
			}
			for i, file := range files {
				if img := decodeJPEG(t, file); img.Rect.Dx() != c.widths[i] || units[i].Frame.Lost != c.lost[i] {
					t.Errorf("picture %d: %d wide after %d lost, want %d after %d", i, img.Rect.Dx(), units[i].Frame.Lost, c.widths[i], c.lost[i])
				}
			}
			var want [Reasons]int
			for _, reason := range c.discards {
				want[reason]++
			}
			if discards != want {
				t.Errorf("discards by reason %v, want %v", discards, want)
			}
		})
	}
}

func repeat(reason Reason, n int) []Reason {
	return slices.Repeat([]Reason{reason}, n)
}

func FuzzJPEG(f *testing.F) {
	one := takeApart(f, photo(f, 32, 16, 20))
	fuzz(f, func(arena *media.Arena, sink Sink) Depacketizer { return NewJPEG(arena, sink) },
		func(t testing.TB, f *media.Frame) {
			b := f.Payload()
			if len(b) < 4 || b[0] != 0xff || b[1] != 0xd8 || b[len(b)-1] != 0xd9 || f.Params.Width == 0 || f.Params.Height == 0 {
				t.Fatalf("%d bytes, %+v", len(b), f.Params)
			}
		},
		one.fragmentsOf(1, 20, 0, 100, 0)[0].payload, withRestarts().fragmentsOf(64, 255, 1, 20, 0)[0].payload)
}
