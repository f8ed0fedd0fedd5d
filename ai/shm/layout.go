// Package shm is the tap in shared memory, as workers on the same machine read it:
// docs/format/tap.md says byte by byte what is where, and this package where it says it.
//
// There is one writer. A reader maps the memory without the right to write, copies what
// it finds, and looks afterwards whether that was overwritten meanwhile: it cannot keep
// the writer from anything.
package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"
)

// Version of the layout.
const Version = 1

// Magic begins the memory: "DROVTAP1", read as a little-endian number.
const Magic = 0x31504154564f5244

// Where things are. All numbers are little-endian, and those that change are aligned to
// their size.
const (
	HeaderBytes = 4096
	TrackBytes  = 4096
	SlotBytes   = 128

	headerMagic      = 0
	headerVersion    = 8
	headerTracks     = 16 // offset of the table of tracks
	headerTrackCount = 24
	headerSlots      = 32 // offset of the slots
	headerSlotCount  = 40
	headerData       = 48 // offset of the data
	headerDataBytes  = 56
	headerWritten    = 64 // slots written since the beginning
	headerClaimed    = 72 // bytes of data claimed since the beginning

	trackLock       = 0
	trackNumber     = 8
	trackTrack      = 12
	trackCodec      = 16
	trackFormat     = 20
	trackWidth      = 24
	trackHeight     = 28
	trackFPS        = 32
	trackSampleRate = 40
	trackChannels   = 44
	trackNewestKey  = 48
	trackLengths    = 56 // of camera and source in a byte each, of the four sets in two
	trackCamera     = 72
	trackSource     = 136
	trackSets       = 200

	slotLock     = 0
	slotPosition = 8
	slotSize     = 16
	slotEntry    = 20
	slotNumber   = 24
	slotFlags    = 28
	slotSequence = 32
	slotEpoch    = 40
	slotPTS      = 48
	slotDTS      = 56
	slotWall     = 64
	slotArrival  = 72
	slotOrdinal  = 80
	slotLost     = 88
	slotKind     = 92
)

// MaxName is how long a camera's or source's name may be, and MaxSets the parameter sets
// of a track together.
const (
	MaxName = 64
	MaxSets = TrackBytes - trackSets
)

// Kinds of slots.
const (
	KindFrame  = 1
	KindStatus = 2 // Number is a schema.State, and the data "camera\nsource\nreason"
)

// Flags of a frame.
const (
	FlagKeyframe     = 1 // decoding can begin here
	FlagSenderReport = 2 // Wall is by the camera's clock
)

// Sizes says how large the parts of a memory are.
type Sizes struct {
	Tracks int
	Slots  int // a power of two
	Data   int // bytes
}

// Total is how many bytes that is.
func (s Sizes) Total() int { return HeaderBytes + s.Tracks*TrackBytes + s.Slots*SlotBytes + s.Data }

// maxTotal is the largest memory that a reader maps.
const maxTotal = 1 << 36

// Slot is one, as it was written.
type Slot struct {
	Position uint64 // of its data, counted since the beginning
	Size     uint32
	Entry    uint32 // in the table of tracks
	Number   uint32 // of the configuration
	Flags    uint32
	Sequence uint64
	Epoch    uint64
	PTS, DTS int64 // ticks of 1/90000 s
	Wall     int64 // microseconds of Unix time
	Arrival  int64 // microseconds of Unix time
	Ordinal  uint64
	Lost     uint32
	Kind     uint32
}

// Track is an entry of the table of tracks.
type Track struct {
	Number               uint32 // of the configuration; 0: the entry is free
	Track                uint32
	Codec, Format        uint32
	Width, Height        uint32
	FPS                  float64
	SampleRate, Channels uint32
	Camera, Source       string
	VPS, SPS, PPS, Audio []byte
}

// Memory is a mapped memory.
type Memory struct {
	bytes []byte
	sizes Sizes
}

// ErrLayout is that a memory is not laid out as this version knows it.
var ErrLayout = errors.New("the shared memory is laid out in a way that this version does not know")

// Format writes the header into fresh memory, which has the size of sizes.
func Format(bytes []byte, sizes Sizes) *Memory {
	m := &Memory{bytes: bytes, sizes: sizes}
	binary.LittleEndian.PutUint32(bytes[headerVersion:], Version)
	for at, value := range map[int]int{
		headerTracks: HeaderBytes, headerTrackCount: sizes.Tracks,
		headerSlots: HeaderBytes + sizes.Tracks*TrackBytes, headerSlotCount: sizes.Slots,
		headerData: HeaderBytes + sizes.Tracks*TrackBytes + sizes.Slots*SlotBytes, headerDataBytes: sizes.Data,
	} {
		binary.LittleEndian.PutUint64(bytes[at:], uint64(value))
	}
	binary.LittleEndian.PutUint64(bytes[headerMagic:], Magic)
	return m
}

// View reads the header of memory that somebody else has written.
func View(bytes []byte) (*Memory, error) {
	if len(bytes) < HeaderBytes || binary.LittleEndian.Uint64(bytes[headerMagic:]) != Magic {
		return nil, fmt.Errorf("%w: it does not begin as it should", ErrLayout)
	}
	if v := binary.LittleEndian.Uint32(bytes[headerVersion:]); v != Version {
		return nil, fmt.Errorf("%w: version %d", ErrLayout, v)
	}
	field := func(at int) int {
		return int(min(binary.LittleEndian.Uint64(bytes[at:]), maxTotal))
	}
	sizes := Sizes{Tracks: field(headerTrackCount), Slots: field(headerSlotCount), Data: field(headerDataBytes)}
	if sizes.Tracks > 1<<20 || sizes.Slots > 1<<26 || sizes.Data < 1 || sizes.Slots < 1 || sizes.Slots&(sizes.Slots-1) != 0 ||
		sizes.Total() != len(bytes) || field(headerTracks) != HeaderBytes || field(headerSlots) != HeaderBytes+sizes.Tracks*TrackBytes ||
		field(headerData) != HeaderBytes+sizes.Tracks*TrackBytes+sizes.Slots*SlotBytes {
		return nil, fmt.Errorf("%w: its parts do not fit", ErrLayout)
	}
	return &Memory{bytes: bytes, sizes: sizes}, nil
}

// Sizes returns how large the parts are.
func (m *Memory) Sizes() Sizes { return m.sizes }

// counter is a number that changes while others read it.
func (m *Memory) counter(at int) *uint64 { return (*uint64)(unsafe.Pointer(&m.bytes[at])) }

func (m *Memory) track(i int) []byte {
	at := HeaderBytes + i*TrackBytes
	return m.bytes[at : at+TrackBytes]
}

func (m *Memory) slotAt(n uint64) int {
	return HeaderBytes + m.sizes.Tracks*TrackBytes + int(n&uint64(m.sizes.Slots-1))*SlotBytes
}

func (m *Memory) data() []byte { return m.bytes[len(m.bytes)-m.sizes.Data:] }

// Written is how many slots have been written since the beginning: the number of the
// next one.
func (m *Memory) Written() uint64 { return atomic.LoadUint64(m.counter(headerWritten)) }

// held reports whether what was written at a position is still there.
func (m *Memory) held(position uint64, of int) bool {
	return atomic.LoadUint64(m.counter(headerClaimed))-position <= uint64(of)
}

func getFloat(b []byte) float64    { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }
func putFloat(b []byte, v float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(v)) }
