package archive

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/fmp4"
)

var errFormat = errors.New("damaged description of a track")

// formatOf reads what playlists say of a file from its ftyp and moov. What is damaged
// is an error.
func formatOf(init []byte) (index.Format, error) {
	tracks, err := fmp4.ReadInit(init)
	if err != nil {
		return index.Format{}, err
	}
	var format index.Format
	for _, t := range tracks {
		codec, err := codecOf(t.SampleEntry)
		if err != nil {
			return index.Format{}, err
		}
		if format.Codecs != "" {
			format.Codecs += ","
		}
		format.Codecs += codec.CodecString()
		if picture, ok := codec.(interface{ Picture() fmp4.Picture }); ok {
			p := picture.Picture()
			format.Width, format.Height, format.FPS = p.DisplayWidth(), p.Height, p.FPS
		}
	}
	return format, nil
}

// Bytes of a sample entry before the boxes in it (ISO 14496-12 12.1.3, 12.2.3).
const (
	visualEntry = 86
	audioEntry  = 36
)

// codecOf reads a sample entry as core/fmp4 writes them.
func codecOf(entry []byte) (fmp4.Codec, error) {
	if len(entry) < 8 {
		return nil, errFormat
	}
	switch kind := string(entry[4:8]); kind {
	case "avc1":
		config, err := boxIn(entry, visualEntry, "avcC")
		if err != nil {
			return nil, err
		}
		return avcCodec(config)
	case "hvc1", "hev1":
		config, err := boxIn(entry, visualEntry, "hvcC")
		if err != nil {
			return nil, err
		}
		return hevcCodec(config)
	case "mp4a":
		config, err := boxIn(entry, audioEntry, "esds")
		if err != nil {
			return nil, err
		}
		return aacCodec(config)
	case "fLaC":
		config, err := boxIn(entry, audioEntry, "dfLa")
		if err != nil || len(config) < 8 {
			return nil, errFormat
		}
		return fmp4.NewFLAC(config[8:])
	case "Opus":
		config, err := boxIn(entry, audioEntry, "dOps")
		if err != nil || len(config) < 2 {
			return nil, errFormat
		}
		return fmp4.NewOpus(int(config[1]))
	default:
		return nil, fmt.Errorf("%w: sample entry %q", errFormat, kind)
	}
}

// boxIn returns the body of a box within an entry, behind its fixed part.
func boxIn(entry []byte, from int, kind string) ([]byte, error) {
	for rest := entry[min(from, len(entry)):]; len(rest) >= 8; {
		size := binary.BigEndian.Uint32(rest)
		if size < 8 || int64(size) > int64(len(rest)) {
			break
		}
		if string(rest[4:8]) == kind {
			return rest[8:size], nil
		}
		rest = rest[size:]
	}
	return nil, fmt.Errorf("%w: no %s", errFormat, kind)
}

// avcCodec reads an AVCDecoderConfigurationRecord (ISO 14496-15 5.3.3.1) of one set each.
func avcCodec(b []byte) (fmp4.Codec, error) {
	if len(b) < 6 {
		return nil, errFormat
	}
	sps, rest, ok := counted(b[6:])
	if !ok || len(rest) < 1 {
		return nil, errFormat
	}
	pps, _, ok := counted(rest[1:])
	if !ok {
		return nil, errFormat
	}
	return fmp4.NewH264(sps, pps)
}

// hevcCodec reads an HEVCDecoderConfigurationRecord (ISO 14496-15 8.3.3.1).
func hevcCodec(b []byte) (fmp4.Codec, error) {
	const arraysAt, vps, sps, pps = 23, 32, 33, 34
	if len(b) < arraysAt {
		return nil, errFormat
	}
	sets := map[byte][]byte{}
	rest := b[arraysAt:]
	for range b[arraysAt-1] {
		if len(rest) < 3 {
			return nil, errFormat
		}
		kind, n := rest[0]&0x3f, binary.BigEndian.Uint16(rest[1:])
		rest = rest[3:]
		for range n {
			set, after, ok := counted(rest)
			if !ok {
				return nil, errFormat
			}
			sets[kind], rest = set, after
		}
	}
	return fmp4.NewH265(sets[vps], sets[sps], sets[pps])
}

// counted reads bytes behind their number in two.
func counted(b []byte) (data, rest []byte, ok bool) {
	if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
		return nil, nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	return b[2 : 2+n], b[2+n:], true
}

// aacCodec reads an esds (ISO 14496-14 5.6): the AudioSpecificConfig is within the
// descriptor of tag 5, within that of tag 4, within that of tag 3.
func aacCodec(b []byte) (fmp4.Codec, error) {
	if len(b) < 4 {
		return nil, errFormat
	}
	rest := b[4:]
	for _, step := range [...]struct {
		tag  byte
		skip int // bytes of its own before what it holds
	}{{3, 3}, {4, 13}, {5, 0}} {
		body, ok := descriptor(rest, step.tag)
		if !ok || len(body) < step.skip {
			return nil, errFormat
		}
		rest = body[step.skip:]
	}
	return fmp4.NewAAC(rest)
}

func descriptor(b []byte, tag byte) ([]byte, bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, false
	}
	size, i := 0, 1
	for ; i < len(b) && i <= 4; i++ {
		size = size<<7 | int(b[i]&0x7f)
		if b[i]&0x80 == 0 {
			i++
			break
		}
	}
	if len(b)-i < size {
		return nil, false
	}
	return b[i : i+size], true
}
