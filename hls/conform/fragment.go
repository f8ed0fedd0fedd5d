package conform

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A Track is what an init segment says of one.
type Track struct {
	ID        uint32
	Timescale uint32
	Video     bool
}

// A Fragment is one moof with its mdat.
type Fragment struct {
	Sequence uint32
	Runs     []Run
}

// A Run is one track's samples in a fragment.
type Run struct {
	Track    uint32
	Base     uint64 // decode time of the first sample
	Offset   int32  // from there to its presentation
	Duration uint64 // of all samples
	Samples  int
	Sync     bool // the first sample depends on no other
}

// A box is one of ISO 14496-12.
type box struct {
	kind string
	data []byte
	at   int // where the box begins
}

func boxes(data []byte) (all []box, err error) {
	for at := 0; at < len(data); {
		rest := data[at:]
		if len(rest) < 8 {
			return nil, errors.New("box: a header is cut off")
		}
		size := int(binary.BigEndian.Uint32(rest))
		if size < 8 || size > len(rest) {
			return nil, fmt.Errorf("box %q: size %d of %d bytes", rest[4:8], size, len(rest))
		}
		all = append(all, box{string(rest[4:8]), rest[8:size], at})
		at += size
	}
	return all, nil
}

// inside returns the first box on a path.
func inside(data []byte, path ...string) ([]byte, error) {
	for _, kind := range path {
		all, err := boxes(data)
		if err != nil {
			return nil, err
		}
		found := false
		for _, b := range all {
			if b.kind == kind {
				data, found = b.data, true
				break
			}
		}
		if !found {
			return nil, fmt.Errorf("box: there is no %s", kind)
		}
	}
	return data, nil
}

// A reader reads fields, and remembers that there were too few bytes.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.data) {
		r.short, r.data = true, nil
		return make([]byte, n)
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) u32() uint32 { return binary.BigEndian.Uint32(r.take(4)) }
func (r *reader) u64() uint64 { return binary.BigEndian.Uint64(r.take(8)) }

// fullBox returns version and flags.
func (r *reader) fullBox() (version, flags uint32) {
	v := r.u32()
	return v >> 24, v & 0xffffff
}

// ParseInit reads an init segment.
func ParseInit(data []byte) (tracks []Track, err error) {
	moov, err := inside(data, "moov")
	if err != nil {
		return nil, err
	}
	all, err := boxes(moov)
	if err != nil {
		return nil, err
	}
	for _, b := range all {
		if b.kind != "trak" {
			continue
		}
		tkhd, err1 := inside(b.data, "tkhd")
		mdhd, err2 := inside(b.data, "mdia", "mdhd")
		hdlr, err3 := inside(b.data, "mdia", "hdlr")
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, err
		}
		r := reader{data: tkhd}
		if version, _ := r.fullBox(); version == 0 {
			r.take(8)
		} else {
			r.take(16)
		}
		t := Track{ID: r.u32()}
		m := reader{data: mdhd}
		if version, _ := m.fullBox(); version == 0 {
			m.take(8)
		} else {
			m.take(16)
		}
		t.Timescale = m.u32()
		h := reader{data: hdlr}
		h.take(8)
		t.Video = string(h.take(4)) == "vide"
		if r.short || m.short || h.short || t.Timescale == 0 {
			return nil, errors.New("init: a track's header is cut off")
		}
		tracks = append(tracks, t)
	}
	if len(tracks) == 0 {
		return nil, errors.New("init: there is no track")
	}
	return tracks, nil
}

// ParseFragments reads a segment or part, and sees whether its media is where its
// headers say.
func ParseFragments(data []byte) (fragments []Fragment, err error) {
	all, err := boxes(data)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(all); i += 2 {
		if all[i].kind != "moof" || i+1 == len(all) || all[i+1].kind != "mdat" {
			return nil, fmt.Errorf("fragment %d: %s is not a moof with its mdat", i/2, all[i].kind)
		}
		f, err := parseFragment(all[i], all[i+1])
		if err != nil {
			return nil, fmt.Errorf("fragment %d: %w", i/2, err)
		}
		fragments = append(fragments, f)
	}
	return fragments, nil
}

func parseFragment(moof, mdat box) (f Fragment, err error) {
	all, err := boxes(moof.data)
	if err != nil {
		return f, err
	}
	media := mdat.at + 8 - moof.at // where the next run's media has to be
	for _, b := range all {
		switch b.kind {
		case "mfhd":
			r := reader{data: b.data}
			r.fullBox()
			f.Sequence = r.u32()
		case "traf":
			run, offset, size, err := parseRun(b.data)
			if err != nil {
				return f, err
			}
			if offset != media {
				return f, fmt.Errorf("the media of track %d is at %d, want %d", run.Track, offset, media)
			}
			media += size
			f.Runs = append(f.Runs, run)
		}
	}
	if len(f.Runs) == 0 {
		return f, errors.New("no track has samples")
	}
	if end := mdat.at + 8 + len(mdat.data) - moof.at; media != end {
		return f, fmt.Errorf("the samples end at %d, mdat at %d", media, end)
	}
	return f, nil
}

// maxSamples bounds a run.
const maxSamples = 1 << 20

// parseRun reads a traf with one trun.
func parseRun(traf []byte) (run Run, offset, size int, err error) {
	tfhd, err1 := inside(traf, "tfhd")
	tfdt, err2 := inside(traf, "tfdt")
	trun, err3 := inside(traf, "trun")
	if err := errors.Join(err1, err2, err3); err != nil {
		return run, 0, 0, err
	}
	head := reader{data: tfhd}
	_, bits := head.fullBox()
	run.Track = head.u32()
	for bit, n := range map[uint32]int{0x1: 8, 0x2: 4} {
		if bits&bit != 0 {
			head.take(n)
		}
	}
	var duration, defaultSize, flags uint32
	for _, field := range []struct {
		bit  uint32
		into *uint32
	}{{0x8, &duration}, {0x10, &defaultSize}, {0x20, &flags}} {
		if bits&field.bit != 0 {
			*field.into = head.u32()
		}
	}
	at := reader{data: tfdt}
	if version, _ := at.fullBox(); version == 0 {
		run.Base = uint64(at.u32())
	} else {
		run.Base = at.u64()
	}
	r := reader{data: trun}
	_, bits = r.fullBox()
	count := int(r.u32())
	if count > maxSamples {
		return run, 0, 0, fmt.Errorf("%d samples in a run", count)
	}
	if bits&0x1 != 0 {
		offset = int(int32(r.u32()))
	}
	first, firstGiven := uint32(0), bits&0x4 != 0
	if firstGiven {
		first = r.u32()
	}
	for i := range count {
		d, n, sample, offset := duration, defaultSize, flags, uint32(0)
		for _, field := range []struct {
			bit  uint32
			into *uint32
		}{{0x100, &d}, {0x200, &n}, {0x400, &sample}, {0x800, &offset}} {
			if bits&field.bit != 0 {
				*field.into = r.u32()
			}
		}
		if r.short {
			break
		}
		if i == 0 {
			if firstGiven {
				sample = first
			}
			run.Sync = sample&0x10000 == 0
			run.Offset = int32(offset)
		}
		run.Duration += uint64(d)
		size += int(n)
		run.Samples++
	}
	if head.short || at.short || r.short {
		return run, 0, 0, errors.New("a header is cut off")
	}
	if run.Samples == 0 {
		return run, 0, 0, fmt.Errorf("track %d has no samples", run.Track)
	}
	return run, offset, size, nil
}
