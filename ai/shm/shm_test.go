package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"
	"unsafe"
)

var small = Sizes{Tracks: 4, Slots: 8, Data: 4096}

func memory(t testing.TB) *Memory {
	t.Helper()
	return Format(asBytes(make([]uint64, small.Total()/8)), small)
}

// asBytes is memory aligned as a map is.
func asBytes(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), 8*len(words))
}

// put writes a frame of an entry.
func put(t testing.TB, m *Memory, entry int, number uint32, ordinal uint64, key bool, data []byte) uint64 {
	t.Helper()
	position, room, ok := m.Claim(len(data))
	if !ok {
		t.Fatalf("%d bytes do not fit", len(data))
	}
	copy(room[:len(data)], data)
	s := &Slot{Position: position, Size: uint32(len(data)), Entry: uint32(entry), Number: number, Ordinal: ordinal, Sequence: ordinal, Kind: KindFrame}
	if key {
		s.Flags = FlagKeyframe
	}
	return m.Publish(s)
}

func reader(m *Memory) *Reader {
	return NewReader(m, m.Written(), time.Duration(math.MaxInt64), time.Now)
}

func TestATrackAndASlotAreReadBack(t *testing.T) {
	m := memory(t)
	want := Track{
		Number: 7, Track: 1, Codec: 2, Format: 1, Width: 1920, Height: 1080, FPS: 12.5, SampleRate: 48000, Channels: 2,
		Camera: "door", Source: "sub", VPS: []byte{1}, SPS: []byte{2, 2}, PPS: []byte{3, 3, 3}, Audio: []byte{4},
	}
	if !m.SetTrack(3, &want) {
		t.Fatal("it does not fit")
	}
	if got, ok := m.readTrack(3, 7); !ok || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, c := range [][2]uint32{{3, 8}, {2, 7}, {2, 0}, {4, 7}, {math.MaxUint32, 7}} {
		if got, ok := m.readTrack(c[0], c[1]); ok {
			t.Errorf("entry %d, number %d: got %+v", c[0], c[1], got)
		}
	}
	if m.SetTrack(0, &Track{SPS: make([]byte, MaxSets+1)}) || m.SetTrack(0, &Track{Camera: string(make([]byte, MaxName+1))}) {
		t.Error("what is too long was taken")
	}
	slot := Slot{
		Position: 0, Size: 3, Entry: 3, Number: 7, Flags: FlagSenderReport, Sequence: 1 << 40, Epoch: 2, PTS: -5, DTS: -6,
		Wall: 1 << 50, Arrival: 1<<50 + 1, Ordinal: 9, Lost: 4, Kind: KindFrame,
	}
	if _, _, ok := m.Claim(3); !ok {
		t.Fatal("no room")
	}
	var got Slot
	if n := m.Publish(&slot); m.slot(n, &got) != there || got != slot {
		t.Errorf("got  %+v\nwant %+v", got, slot)
	}
}

func TestWhatWasOverwrittenIsSeenAtOnce(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1})
	var s Slot
	for n := uint64(0); n < 100; n++ {
		put(t, m, 0, 1, n+1, true, bytes.Repeat([]byte{byte(n)}, 700))
		for back := uint64(0); back <= n; back++ {
			outcome := m.slot(n-back, &s)
			if want := back < uint64(small.Slots); (outcome == there) != want {
				t.Fatalf("slot %d of %d: outcome %d", n-back, n, outcome)
			}
			if outcome != there {
				continue
			}
			data, ok := m.appendData([]byte("x"), &s)
			if back < 4 && !ok {
				t.Fatalf("the data of %d are gone at %d", n-back, n)
			}
			if ok && !bytes.Equal(data, append([]byte("x"), bytes.Repeat([]byte{byte(n - back)}, 700)...)) {
				t.Fatalf("other data for %d at %d", n-back, n)
			}
			if !ok && string(data) != "x" {
				t.Fatal("what was in the buffer is gone")
			}
		}
		if m.slot(n+1, &s) != notYet {
			t.Fatal("a slot was read that is still to come")
		}
	}
	if _, _, ok := m.Claim(small.Data/4 + 1); ok {
		t.Error("a frame may take more than a quarter")
	}
}

func TestASlotThatIsBeingWrittenIsNotRead(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1})
	n := put(t, m, 0, 1, 1, true, []byte("data"))
	*m.counter(m.slotAt(n)) = 2*(n+uint64(small.Slots)) + 1
	var s Slot
	if got := m.slot(n, &s); got != gone {
		t.Errorf("outcome %d of a slot that is overwritten just now", got)
	}
	if got := m.slot(n+uint64(small.Slots), &s); got != notYet {
		t.Errorf("outcome %d of a slot that is written just now", got)
	}
	*m.counter(HeaderBytes) = 3
	if _, ok := m.readTrack(0, 1); ok {
		t.Error("an entry was read while it is written")
	}
}

func TestAReaderBeginsOnTheNewestKeyframes(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1, Camera: "door"})
	m.SetTrack(1, &Track{Number: 2, Camera: "yard"})
	put(t, m, 0, 1, 1, true, []byte("door 1, key"))
	put(t, m, 0, 1, 2, true, []byte("door 2, key"))
	put(t, m, 1, 2, 1, false, []byte("yard 1"))
	put(t, m, 1, 2, 2, true, []byte("yard 2, key"))
	put(t, m, 0, 1, 3, false, []byte("door 3"))
	r := reader(m)
	for _, want := range []string{"door 2, key", "yard 2, key", "door 3"} {
		item, ok := r.Read()
		if !ok || string(item.Frame.Data) != want || item.Frame.Missed != 0 {
			t.Fatalf("got %+v, want %s", item.Frame, want)
		}
	}
	if item, ok := r.Read(); ok {
		t.Errorf("got %+v, want nothing", item)
	}
	put(t, m, 1, 2, 3, false, []byte("yard 3"))
	if item, ok := r.Read(); !ok || string(item.Frame.Data) != "yard 3" || item.Frame.Config.Camera != "yard" {
		t.Errorf("got %+v", item)
	}
}

func TestAReaderThatIsOvertakenGoesOnWithAKeyframeAndHearsWhatItMissed(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1})
	put(t, m, 0, 1, 1, true, []byte("1"))
	r := reader(m)
	if item, ok := r.Read(); !ok || item.Frame.Slot.Ordinal != 1 {
		t.Fatalf("got %+v", item)
	}
	for n := uint64(2); n < 40; n++ {
		put(t, m, 0, 1, n, n%3 == 1, []byte("x")) // 37 is the newest keyframe
	}
	item, ok := r.Read()
	if !ok || item.Frame.Slot.Ordinal != 37 || item.Frame.Missed != 35 || !item.Frame.Keyframe() {
		t.Fatalf("got %+v, %d missed", item.Frame.Slot, item.Frame.Missed)
	}
	if item, ok := r.Read(); !ok || item.Frame.Slot.Ordinal != 38 || item.Frame.Missed != 0 {
		t.Errorf("got %+v", item.Frame)
	}
}

func TestAReaderThatIsTooLateLeavesOutWhatIsOld(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1})
	now := time.Unix(1000, 0)
	r := NewReader(m, 0, time.Second, func() time.Time { return now })
	at := func(n uint64, key bool, arrival time.Time) {
		position, _, _ := m.Claim(1)
		s := &Slot{Position: position, Size: 1, Number: 1, Ordinal: n, Arrival: arrival.UnixMicro(), Kind: KindFrame}
		if key {
			s.Flags = FlagKeyframe
		}
		m.Publish(s)
	}
	at(1, true, now)
	at(2, false, now)
	at(3, true, now)
	now = now.Add(time.Minute)
	if item, ok := r.Read(); !ok || item.Frame.Slot.Ordinal != 3 {
		t.Fatalf("got %+v, want the newest keyframe, as old as it is", item.Frame)
	}
}

func TestFramesOfAnEntryThatIsAnothersByNowAreLeftOut(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1, Camera: "door"})
	r := reader(m)
	put(t, m, 0, 1, 1, true, []byte("door"))
	m.SetTrack(0, &Track{Number: 2, Camera: "yard"})
	put(t, m, 0, 2, 1, true, []byte("yard"))
	if item, ok := r.Read(); !ok || string(item.Frame.Data) != "yard" || item.Frame.Config.Camera != "yard" {
		t.Errorf("got %+v", item.Frame)
	}
}

func TestAStatusIsReadInItsPlace(t *testing.T) {
	m := memory(t)
	r := reader(m)
	text := "door\nmain\nfor a reason"
	position, room, _ := m.Claim(len(text))
	copy(room[:len(text)], text)
	m.Publish(&Slot{Position: position, Size: uint32(len(text)), Number: 2, Kind: KindStatus})
	item, ok := r.Read()
	if !ok || item.Status.GetCamera() != "door" || item.Status.GetSource() != "main" || item.Status.GetState() != 2 || item.Status.GetReason() != "for a reason" {
		t.Errorf("got %+v", item)
	}
}

func TestMemoryThatIsLaidOutOtherwiseIsRefused(t *testing.T) {
	good := memory(t).bytes
	if _, err := View(good); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([]byte) []byte{
		"empty":             func([]byte) []byte { return nil },
		"cut off":           func(b []byte) []byte { return b[:len(b)-8] },
		"other magic":       func(b []byte) []byte { b[0]++; return b },
		"a later version":   func(b []byte) []byte { b[headerVersion]++; return b },
		"too many slots":    func(b []byte) []byte { binary.LittleEndian.PutUint64(b[headerSlotCount:], 16); return b },
		"no power of two":   func(b []byte) []byte { binary.LittleEndian.PutUint64(b[headerSlotCount:], 7); return b },
		"a huge table":      func(b []byte) []byte { binary.LittleEndian.PutUint64(b[headerTrackCount:], math.MaxUint64); return b },
		"data elsewhere":    func(b []byte) []byte { b[headerData]++; return b },
		"no data":           func(b []byte) []byte { binary.LittleEndian.PutUint64(b[headerDataBytes:], 0); return b },
		"the slots further": func(b []byte) []byte { b[headerSlots+2]++; return b },
	} {
		if _, err := View(change(bytes.Clone(good))); !errors.Is(err, ErrLayout) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// FuzzReader reads memory that a writer went astray in: whatever is there, a reader ends
// and stays inside.
func FuzzReader(f *testing.F) {
	m := memory(f)
	m.SetTrack(0, &Track{Number: 1, Camera: "door", SPS: []byte{1, 2, 3}})
	put(f, m, 0, 1, 1, true, []byte("data"))
	f.Add(uint16(0), uint16(70), uint64(3))
	f.Add(uint16(headerClaimed/8), uint16((HeaderBytes+trackLengths)/8), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, at, also uint16, value uint64) {
		copied := make([]uint64, small.Total()/8)
		b := asBytes(copied)
		copy(b, m.bytes)
		copied[int(at)%len(copied)] = value
		copied[int(also)%len(copied)] ^= value
		view, err := View(b)
		if err != nil {
			return
		}
		r := reader(view)
		for range 100 {
			if item, ok := r.Read(); ok && item.Frame != nil && len(item.Frame.Data) > small.Data {
				t.Errorf("%d bytes out of %d", len(item.Frame.Data), small.Data)
			}
		}
	})
}

func TestWritingAndReadingAFrameAllocateNothing(t *testing.T) {
	m := memory(t)
	m.SetTrack(0, &Track{Number: 1})
	r := reader(m)
	data, n := make([]byte, 500), uint64(0)
	if allocations := testing.AllocsPerRun(100, func() {
		n++
		put(t, m, 0, 1, n, true, data)
		if _, ok := r.Read(); !ok {
			t.Fatal("nothing to read")
		}
	}); allocations != 0 {
		t.Errorf("%v allocations a frame", allocations)
	}
}
