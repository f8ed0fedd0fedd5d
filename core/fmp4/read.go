package fmp4

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrDamaged is returned for bytes that are not what they should be.
var ErrDamaged = errors.New("damaged MP4")

// Limits of what is read: more is damage.
const (
	maxTracks  = 8
	maxSamples = 1 << 20 // of one fragment
)

// InitTrack is a track as an init segment describes it.
type InitTrack struct {
	ID          uint32
	Timescale   uint32
	Video       bool
	Width       uint32 // of the track header, in 1/65536 pixels
	Height      uint32
	SampleEntry []byte // the box, within what was read
}

// ReadInit reads an init segment (ftyp and moov) that may come from anywhere.
func ReadInit(b []byte) ([]InitTrack, error) {
	moov, err := child(b, "moov")
	if err != nil {
		return nil, err
	}
	var tracks []InitTrack
	for len(moov) > 0 {
		var kind string
		var trak []byte
		if kind, trak, moov, err = nextBox(moov); err != nil {
			return nil, err
		}
		if kind != "trak" {
			continue
		}
		if len(tracks) == maxTracks {
			return nil, fmt.Errorf("%w: too many tracks", ErrDamaged)
		}
		t, err := readTrack(trak)
		if err != nil {
			return nil, err
		}
		tracks = append(tracks, t)
	}
	if len(tracks) == 0 {
		return nil, fmt.Errorf("%w: no track", ErrDamaged)
	}
	return tracks, nil
}

func readTrack(trak []byte) (InitTrack, error) {
	var t InitTrack
	tkhd, err := child(trak, "tkhd")
	if err != nil {
		return t, err
	}
	mdhd, err := child(trak, "mdia", "mdhd")
	if err != nil {
		return t, err
	}
	hdlr, err := child(trak, "mdia", "hdlr")
	if err != nil {
		return t, err
	}
	stsd, err := child(trak, "mdia", "minf", "stbl", "stsd")
	if err != nil {
		return t, err
	}
	// Version 0 alone, which is what Drover writes (ISO 14496-12 8.3.2, 8.4.2).
	if len(tkhd) < 84 || len(mdhd) < 24 || len(hdlr) < 12 || len(stsd) < 16 || tkhd[0] != 0 || mdhd[0] != 0 {
		return t, fmt.Errorf("%w: a track's header", ErrDamaged)
	}
	t.ID = binary.BigEndian.Uint32(tkhd[12:])
	t.Width, t.Height = binary.BigEndian.Uint32(tkhd[76:]), binary.BigEndian.Uint32(tkhd[80:])
	t.Timescale = binary.BigEndian.Uint32(mdhd[12:])
	t.Video = string(hdlr[8:12]) == "vide"
	if t.Timescale == 0 || t.ID == 0 {
		return t, fmt.Errorf("%w: a track's time scale", ErrDamaged)
	}
	size := binary.BigEndian.Uint32(stsd[8:])
	if size < 16 || uint64(size) > uint64(len(stsd)-8) {
		return t, fmt.Errorf("%w: a track's sample entry", ErrDamaged)
	}
	t.SampleEntry = stsd[8 : 8+size]
	return t, nil
}

// FragmentRun is one track's samples in a fragment, and where they lie.
type FragmentRun struct {
	Run
	Offset int64 // of the first sample, from the moof's first byte; the others follow it
}

// MoofBytes returns how long the moof is that b begins with, of which no more than
// its first eight bytes need be there.
func MoofBytes(b []byte) (int64, error) {
	if len(b) < 8 || string(b[4:8]) != "moof" {
		return 0, fmt.Errorf("%w: no moof", ErrDamaged)
	}
	size := binary.BigEndian.Uint32(b)
	if size < 8 {
		return 0, fmt.Errorf("%w: a moof's size", ErrDamaged)
	}
	return int64(size), nil
}

// ReadMoof reads a fragment's header as AppendFragment writes it, which may come from
// anywhere: all of it, from moof's first byte. Samples are appended to room, which may
// be nil and should be given again.
func ReadMoof(moof []byte, room []Sample) (runs []FragmentRun, samples []Sample, err error) {
	kind, body, rest, err := nextBox(moof)
	if err != nil {
		return nil, room, err
	}
	if kind != "moof" || len(rest) > 0 {
		return nil, room, fmt.Errorf("%w: no moof", ErrDamaged)
	}
	samples = room[:0]
	var bounds [maxTracks + 1]int
	for len(body) > 0 {
		var traf []byte
		if kind, traf, body, err = nextBox(body); err != nil {
			return nil, samples, err
		}
		if kind != "traf" {
			continue
		}
		if len(runs) == maxTracks {
			return nil, samples, fmt.Errorf("%w: too many runs", ErrDamaged)
		}
		var run FragmentRun
		if run, samples, err = readRun(traf, samples); err != nil {
			return nil, samples, err
		}
		runs = append(runs, run)
		bounds[len(runs)] = len(samples)
	}
	for i := range runs {
		runs[i].Samples = samples[bounds[i]:bounds[i+1]:bounds[i+1]]
	}
	return runs, samples, nil
}

func readRun(traf []byte, samples []Sample) (FragmentRun, []Sample, error) {
	var run FragmentRun
	damaged := fmt.Errorf("%w: a run", ErrDamaged)
	tfhd, err := child(traf, "tfhd")
	if err != nil {
		return run, samples, err
	}
	tfdt, err := child(traf, "tfdt")
	if err != nil {
		return run, samples, err
	}
	trun, err := child(traf, "trun")
	if err != nil {
		return run, samples, err
	}
	if len(tfhd) < 8 || len(tfdt) < 12 || tfdt[0] != 1 || len(trun) < 12 {
		return run, samples, damaged
	}
	bits := binary.BigEndian.Uint32(tfhd) & 0xffffff
	run.TrackID = binary.BigEndian.Uint32(tfhd[4:])
	run.BaseTime = binary.BigEndian.Uint64(tfdt[4:])
	r := wordReader{rest: tfhd[8:]}
	var duration, flags uint32
	if bits&tfhdDefaultDuration != 0 {
		duration = r.next()
	}
	if bits&tfhdDefaultFlags != 0 {
		flags = r.next()
	}
	if r.bad || bits&^uint32(tfhdDefaultBaseIsMoof|tfhdDefaultDuration|tfhdDefaultFlags) != 0 {
		return run, samples, damaged
	}
	bits = binary.BigEndian.Uint32(trun) & 0xffffff
	const known = trunDataOffset | trunFirstSampleFlags | trunDuration | trunSize | trunFlags | trunCTS
	if bits&^uint32(known) != 0 || bits&trunDataOffset == 0 || bits&trunSize == 0 {
		return run, samples, damaged
	}
	count := binary.BigEndian.Uint32(trun[4:])
	r = wordReader{rest: trun[8:]}
	run.Offset = int64(int32(r.next()))
	first := flags
	if bits&trunFirstSampleFlags != 0 {
		first = r.next()
	}
	if count > maxSamples || int(count)*4 > len(r.rest) || run.Offset < 0 {
		return run, samples, damaged
	}
	for i := range count {
		s := Sample{Duration: duration}
		if bits&trunDuration != 0 {
			s.Duration = r.next()
		}
		s.Size = r.next()
		own := flags
		if i == 0 {
			own = first
		}
		if bits&trunFlags != 0 {
			own = r.next()
		}
		if bits&trunCTS != 0 {
			s.CTS = int32(r.next())
		}
		s.Sync = own&0x00010000 == 0 // sample_is_non_sync_sample, ISO 14496-12 8.8.3.1
		samples = append(samples, s)
	}
	if r.bad {
		return run, samples, damaged
	}
	return run, samples, nil
}

type wordReader struct {
	rest []byte
	bad  bool
}

func (r *wordReader) next() uint32 {
	if len(r.rest) < 4 {
		r.bad = true
		return 0
	}
	v := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

// nextBox splits the first box off. Sizes of 64 bits and "to the end" are not Drover's.
func nextBox(b []byte) (kind string, body, rest []byte, err error) {
	if len(b) < 8 {
		return "", nil, nil, fmt.Errorf("%w: torn", ErrDamaged)
	}
	size := binary.BigEndian.Uint32(b)
	if size < 8 || uint64(size) > uint64(len(b)) {
		return "", nil, nil, fmt.Errorf("%w: a box's size", ErrDamaged)
	}
	return string(b[4:8]), b[8:size], b[size:], nil
}

// child returns what is in the first box of a kind, down a path.
func child(b []byte, path ...string) ([]byte, error) {
	for _, want := range path {
		for {
			kind, body, rest, err := nextBox(b)
			if err != nil {
				return nil, fmt.Errorf("look for %s: %w", want, err)
			}
			if kind == want {
				b = body
				break
			}
			b = rest
		}
	}
	return b, nil
}
