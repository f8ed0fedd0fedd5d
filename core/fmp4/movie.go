package fmp4

import (
	"encoding/binary"
	"time"
)

// Movie is an ordinary MP4, all of whose samples are known before its first byte is
// written.
type Movie struct {
	Tracks  []*MovieTrack
	Created time.Time // of the first picture; zero: not said
	Title   string
	Comment string
}

// MovieTrack is a track of a Movie.
type MovieTrack struct {
	Timescale     uint32
	Video         bool
	Width, Height uint32   // in 1/65536 pixels
	SampleEntries [][]byte // boxes

	// Delay is by how much the first sample is shown later than the movie begins, in
	// ticks; negative where that much of the track lies before it.
	Delay int64

	Samples SampleTable
	Chunks  []Chunk
}

// Chunk is samples of a track that lie side by side.
type Chunk struct {
	Offset  int64 // from the first byte of the media
	Samples uint32
	Entry   uint32 // which of SampleEntries, from 1
}

// SampleTable gathers what a movie says of its samples, as densely as the file does.
type SampleTable struct {
	durations []runLength
	offsets   []runLength // from decode to presentation, as int32
	sizes     []uint32
	sync      []uint32 // numbers from 1; of all, while all are
	ticks     uint64
	shifted   bool // an offset is not 0
}

type runLength struct{ count, value uint32 }

// Add adds a sample.
func (t *SampleTable) Add(s Sample) {
	t.sizes = append(t.sizes, s.Size)
	t.durations = addRun(t.durations, s.Duration)
	t.offsets = addRun(t.offsets, uint32(s.CTS))
	t.shifted = t.shifted || s.CTS != 0
	t.ticks += uint64(s.Duration)
	if s.Sync {
		t.sync = append(t.sync, uint32(len(t.sizes)))
	}
}

func addRun(runs []runLength, value uint32) []runLength {
	if n := len(runs); n > 0 && runs[n-1].value == value {
		runs[n-1].count++
		return runs
	}
	return append(runs, runLength{1, value})
}

// Stretch has the newest sample last so much longer.
func (t *SampleTable) Stretch(ticks uint32) {
	if len(t.sizes) == 0 || ticks == 0 {
		return
	}
	last := &t.durations[len(t.durations)-1]
	value := last.value + ticks
	if last.count--; last.count == 0 {
		t.durations = t.durations[:len(t.durations)-1]
	}
	t.durations = addRun(t.durations, value)
	t.ticks += uint64(ticks)
}

// Len returns how many samples there are.
func (t *SampleTable) Len() int { return len(t.sizes) }

// Ticks returns how long all samples are.
func (t *SampleTable) Ticks() uint64 { return t.ticks }

// movieTimescale is that of what a movie says of all its tracks.
const movieTimescale = 1000

// AppendMovie appends everything of a movie up to the first byte of its media, of
// which there are mediaBytes.
func AppendMovie(dst []byte, m *Movie, mediaBytes int64) []byte {
	begin := len(dst)
	dst, ftyp := startBox(dst, "ftyp")
	dst = append(dst, "isom"...)
	dst = appendU32(dst, 512)
	dst = append(dst, "isomiso2mp41"...)
	dst = endBox(dst, ftyp)

	dst, moov := startBox(dst, "moov")
	dst = appendWholeHeader(dst, m)
	var offsets []int // where the tables of chunks stand in dst
	for i, t := range m.Tracks {
		var at int
		dst, at = appendWholeTrack(dst, m, uint32(i+1), t)
		offsets = append(offsets, at)
	}
	dst = appendUserData(dst, m)
	dst = endBox(dst, moov)

	// With a size of 64 bits (ISO 14496-12 4.2), however much it is.
	dst = appendU32(dst, 1)
	dst = append(dst, "mdat"...)
	dst = appendU64(dst, uint64(mediaBytes)+16)
	media := uint64(len(dst) - begin)
	for i, t := range m.Tracks {
		table := dst[offsets[i]:]
		for j := range t.Chunks {
			binary.BigEndian.PutUint64(table[8*j:], media+uint64(t.Chunks[j].Offset))
		}
	}
	return dst
}

// epoch1904 is from 1904, where MP4 counts from, to 1970, in seconds.
const epoch1904 = 2_082_844_800

func movieTime(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.Unix()+epoch1904))
}

// shown is how long a track is shown, in the movie's time scale.
func (t *MovieTrack) shown() uint64 {
	ticks := int64(t.Samples.ticks) + min(0, t.Delay)
	return scale(uint64(max(0, ticks)), t.Timescale)
}

func scale(ticks uint64, timescale uint32) uint64 {
	rate := uint64(timescale)
	return ticks/rate*movieTimescale + ticks%rate*movieTimescale/rate
}

func appendWholeHeader(dst []byte, m *Movie) []byte {
	longest := uint64(0)
	for _, t := range m.Tracks {
		longest = max(longest, t.shown()+scale(uint64(max(0, t.Delay)), t.Timescale))
	}
	dst, mvhd := startFullBox(dst, "mvhd", 1, 0)
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU32(dst, movieTimescale)
	dst = appendU64(dst, longest)
	dst = appendU32(dst, 0x00010000) // rate
	dst = appendU16(dst, 0x0100)     // volume
	dst = appendZeros(dst, 10)
	dst = appendMatrix(dst)
	dst = appendZeros(dst, 24)
	dst = appendU32(dst, uint32(len(m.Tracks)+1))
	return endBox(dst, mvhd)
}

func appendWholeTrack(dst []byte, m *Movie, id uint32, t *MovieTrack) (out []byte, chunkOffsets int) {
	dst, trak := startBox(dst, "trak")
	dst, tkhd := startFullBox(dst, "tkhd", 1, 3) // enabled, in the movie
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU32(dst, id)
	dst = appendU32(dst, 0)
	dst = appendU64(dst, t.shown()+scale(uint64(max(0, t.Delay)), t.Timescale))
	dst = appendZeros(dst, 8+2)
	if t.Video {
		dst = appendU32(dst, 0) // alternate_group, volume
	} else {
		dst = appendU16(dst, 1)
		dst = appendU16(dst, 0x0100)
	}
	dst = appendU16(dst, 0)
	dst = appendMatrix(dst)
	dst = appendU32(dst, t.Width)
	dst = appendU32(dst, t.Height)
	dst = endBox(dst, tkhd)
	dst = appendEdits(dst, t)

	dst, mdia := startBox(dst, "mdia")
	dst, mdhd := startFullBox(dst, "mdhd", 1, 0)
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU64(dst, movieTime(m.Created))
	dst = appendU32(dst, t.Timescale)
	dst = appendU64(dst, t.Samples.ticks)
	dst = appendU16(dst, 0x55c4) // und
	dst = appendU16(dst, 0)
	dst = endBox(dst, mdhd)
	dst = appendHandler(dst, t.Video)
	dst, minf := startBox(dst, "minf")
	dst = appendMediaHeader(dst, t.Video)
	dst, chunkOffsets = appendSampleTable(dst, t)
	dst = endBox(dst, minf)
	dst = endBox(dst, mdia)
	return endBox(dst, trak), chunkOffsets
}

// appendEdits appends the edit list (ISO 14496-12 8.6.6) of a track whose first
// sample is not shown at the movie's first moment, or that is decoded before it is
// shown.
func appendEdits(dst []byte, t *MovieTrack) []byte {
	first := int64(0)
	if len(t.Samples.offsets) > 0 {
		first = int64(int32(t.Samples.offsets[0].value))
	}
	from := max(0, first-min(0, t.Delay))
	if from == 0 && t.Delay <= 0 {
		return dst
	}
	dst, edts := startBox(dst, "edts")
	dst, elst := startFullBox(dst, "elst", 1, 0)
	if t.Delay > 0 {
		dst = appendU32(dst, 2)
		dst = appendU64(dst, scale(uint64(t.Delay), t.Timescale))
		dst = appendU64(dst, ^uint64(0)) // -1: nothing is shown
		dst = appendU32(dst, 0x00010000)
	} else {
		dst = appendU32(dst, 1)
	}
	dst = appendU64(dst, t.shown())
	dst = appendU64(dst, uint64(from))
	dst = appendU32(dst, 0x00010000) // at normal speed
	dst = endBox(dst, elst)
	return endBox(dst, edts)
}

func appendSampleTable(dst []byte, t *MovieTrack) (out []byte, chunkOffsets int) {
	s := &t.Samples
	dst, stbl := startBox(dst, "stbl")
	dst, stsd := startFullBox(dst, "stsd", 0, 0)
	dst = appendU32(dst, uint32(len(t.SampleEntries)))
	for _, entry := range t.SampleEntries {
		dst = append(dst, entry...)
	}
	dst = endBox(dst, stsd)
	dst = appendRuns(dst, "stts", 0, s.durations)
	if s.shifted {
		dst = appendRuns(dst, "ctts", 1, s.offsets)
	}
	var box int
	if len(s.sync) < len(s.sizes) {
		dst, box = startFullBox(dst, "stss", 0, 0)
		dst = appendWords(appendU32(dst, uint32(len(s.sync))), s.sync)
		dst = endBox(dst, box)
	}
	dst, box = startFullBox(dst, "stsz", 0, 0)
	dst = appendU32(dst, 0) // each its own
	dst = appendWords(appendU32(dst, uint32(len(s.sizes))), s.sizes)
	dst = endBox(dst, box)

	dst, box = startFullBox(dst, "stsc", 0, 0)
	count := len(dst)
	dst = appendU32(dst, 0)
	entries := uint32(0)
	for i, c := range t.Chunks {
		if i > 0 && c.Samples == t.Chunks[i-1].Samples && c.Entry == t.Chunks[i-1].Entry {
			continue
		}
		dst = appendU32(dst, uint32(i+1))
		dst = appendU32(dst, c.Samples)
		dst = appendU32(dst, c.Entry)
		entries++
	}
	binary.BigEndian.PutUint32(dst[count:], entries)
	dst = endBox(dst, box)

	dst, box = startFullBox(dst, "co64", 0, 0)
	dst = appendU32(dst, uint32(len(t.Chunks)))
	chunkOffsets = len(dst)
	dst = appendZeros(dst, 8*len(t.Chunks))
	dst = endBox(dst, box)
	return endBox(dst, stbl), chunkOffsets
}

func appendRuns(dst []byte, kind string, version byte, runs []runLength) []byte {
	dst, box := startFullBox(dst, kind, version, 0)
	dst = appendU32(dst, uint32(len(runs)))
	for _, r := range runs {
		dst = appendU32(dst, r.count)
		dst = appendU32(dst, r.value)
	}
	return endBox(dst, box)
}

func appendWords(dst []byte, words []uint32) []byte {
	for _, w := range words {
		dst = appendU32(dst, w)
	}
	return dst
}

// appendUserData appends the texts that players show, as iTunes writes them, which
// is what ffmpeg, VLC and file managers read.
func appendUserData(dst []byte, m *Movie) []byte {
	date := ""
	if !m.Created.IsZero() {
		date = m.Created.UTC().Format("2006-01-02T15:04:05.000Z")
	}
	dst, udta := startBox(dst, "udta")
	dst, meta := startFullBox(dst, "meta", 0, 0)
	dst, hdlr := startFullBox(dst, "hdlr", 0, 0)
	dst = appendU32(dst, 0)
	dst = append(dst, "mdirappl"...)
	dst = appendZeros(dst, 9)
	dst = endBox(dst, hdlr)
	dst, ilst := startBox(dst, "ilst")
	for _, item := range [...]struct{ kind, text string }{{"\xa9nam", m.Title}, {"\xa9day", date}, {"\xa9cmt", m.Comment}, {"\xa9too", "Drover"}} {
		if item.text == "" {
			continue
		}
		var box, data int
		dst, box = startBox(dst, item.kind)
		dst, data = startFullBox(dst, "data", 0, 1) // UTF-8
		dst = appendU32(dst, 0)
		dst = append(dst, item.text...)
		dst = endBox(dst, data)
		dst = endBox(dst, box)
	}
	dst = endBox(dst, ilst)
	dst = endBox(dst, meta)
	return endBox(dst, udta)
}
