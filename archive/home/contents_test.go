package home

import (
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/layout"
)

func someFiles(n int) []index.File {
	files := make([]index.File, n)
	for i := range files {
		files[i] = index.File{
			Number: int64(7 + 2*i), Run: 3, Epoch: 1, Start: time.Date(2026, 11, 30, 12, i, 0, 250_000_000, time.UTC), Span: 4 * time.Second, Duration: 360_000,
			Init: 800, Header: 900, Bytes: 2900, Format: index.Format{Codecs: "avc1.640028,mp4a.40.2", Width: 1920, Height: 1080, FPS: 25},
			Frames: [2]int64{100, 188}, Sequence: uint64(i), Fragments: []layout.Fragment{
				{Offset: 900, Bytes: 1000, Head: 300, Duration: 180_000, Keyframe: true},
				{Offset: 1900, Bytes: 1000, Head: 300, Duration: 180_000, Shift: 40, Keyframe: true, Hole: true},
			},
		}
	}
	return files
}

var door = index.Stream{Camera: "door", Source: "main"}

func TestWhatIsInAnObjectIsReadAsItWasWritten(t *testing.T) {
	files := someFiles(3)
	box, err := appendContents([]byte("before"), door, files)
	if err != nil || string(box[:6]) != "before" {
		t.Fatalf("%q, %v", box[:6], err)
	}
	box = box[6:]
	size, err := contentsSize(box[len(box)-10:])
	if err != nil || size != int64(len(box)) {
		t.Fatalf("size %d, %v, want %d", size, err, len(box))
	}
	stream, got, parts, err := parseContents(box, 3*2900+size)
	if err != nil || stream != door || !reflect.DeepEqual(got, files) {
		t.Errorf("%+v, %+v, %v", stream, got, err)
	}
	if want := []index.Part{index.PartOf(&files[0], 0), index.PartOf(&files[1], 2900), index.PartOf(&files[2], 5800)}; !reflect.DeepEqual(parts, want) {
		t.Errorf("parts %+v, want %+v", parts, want)
	}
}

func TestAnObjectThatSaysWhatCannotBeIsNone(t *testing.T) {
	for name, change := range map[string]func(*index.Stream, []index.File){
		"a camera that leads elsewhere":      func(s *index.Stream, _ []index.File) { s.Camera = "../../etc" },
		"a file longer than the object":      func(_ *index.Stream, f []index.File) { f[0].Bytes = 1 << 40 },
		"a file of nothing":                  func(_ *index.Stream, f []index.File) { f[0].Bytes = 0 },
		"numbers that go back":               func(_ *index.Stream, f []index.File) { f[1].Number = 3 },
		"a number below zero":                func(_ *index.Stream, f []index.File) { f[0].Number = -5 },
		"a time span of a year":              func(_ *index.Stream, f []index.File) { f[0].Span = 9000 * time.Hour },
		"fragments that end before the file": func(_ *index.Stream, f []index.File) { f[0].Fragments = f[0].Fragments[:1] },
		"no fragments":                       func(_ *index.Stream, f []index.File) { f[0].Fragments = nil },
		"a header of less than nothing":      func(_ *index.Stream, f []index.File) { f[0].Init = -1 },
		"sound of less than nothing":         func(_ *index.Stream, f []index.File) { f[0].Frames[1] = -1 },
		"a time before all times":            func(_ *index.Stream, f []index.File) { f[0].Start = time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC) },
		"a number that cannot go on":         func(_ *index.Stream, f []index.File) { f[1].Number = math.MaxInt64 - 1 },
		"a picture within its mark":          func(_ *index.Stream, f []index.File) { f[0].Fragments[0].Head = 10 },
		"a sequence that cannot go on":       func(_ *index.Stream, f []index.File) { f[0].Sequence = 1<<64 - 1 },
	} {
		t.Run(name, func(t *testing.T) {
			stream, files := door, someFiles(2)
			object := int64(2 * 2900)
			change(&stream, files)
			box, err := appendContents(nil, stream, files)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := parseContents(box, object+int64(len(box))); err != errContents {
				t.Errorf("%v, want errContents", err)
			}
		})
	}
}

func FuzzContentsAreReadOrRefused(f *testing.F) {
	box, err := appendContents(nil, door, someFiles(2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(box, int64(len(box)+2*2900))
	f.Add([]byte("uuid"), int64(4))
	f.Fuzz(func(t *testing.T, box []byte, object int64) {
		if len(box) >= 8 { // so that what is within is reached
			binary.BigEndian.PutUint32(box, uint32(len(box)))
			binary.BigEndian.PutUint32(box[len(box)-4:], uint32(len(box)))
		}
		_, files, parts, err := parseContents(box, object)
		if err != nil {
			return
		}
		at := int64(0)
		for i := range files {
			if parts[i].Offset != at || parts[i].Number != files[i].Number || files[i].Bytes <= 0 {
				t.Fatalf("part %d: %+v of %+v", i, parts[i], files[i])
			}
			at += files[i].Bytes
		}
		if at+int64(len(box)) != object {
			t.Fatalf("%d bytes of files and %d of contents in %d", at, len(box), object)
		}
	})
}

func TestNoNameStandsForTwoContents(t *testing.T) {
	files := someFiles(2)
	first := objectName(door, files, sum{1, 2, 3})
	if first != "door/main/2026-11-30/20261130T120000.250Z-7-9-0102030000000000.mp4" {
		t.Errorf("name %s", first)
	}
	if first == objectName(door, files, sum{1, 2, 4}) {
		t.Error("two contents have one name")
	}
}
