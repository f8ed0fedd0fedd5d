package fmp4

// Track is a track of an init segment.
type Track struct {
	ID        uint32 // from 1
	Timescale uint32 // ticks per second of all its times
	Codec     Codec
}

// AppendInit appends an init segment (ftyp and moov) for the tracks.
func AppendInit(dst []byte, tracks []Track) []byte {
	dst, ftyp := startBox(dst, "ftyp")
	dst = append(dst, "iso6"...)
	dst = appendU32(dst, 1)
	dst = append(dst, "iso6cmfcmp41"...)
	dst = endBox(dst, ftyp)

	dst, moov := startBox(dst, "moov")
	dst = appendMovieHeader(dst, tracks)
	for i := range tracks {
		dst = appendTrack(dst, &tracks[i])
	}
	dst, mvex := startBox(dst, "mvex")
	for i := range tracks {
		var trex int
		dst, trex = startFullBox(dst, "trex", 0, 0)
		dst = appendU32(dst, tracks[i].ID)
		dst = appendU32(dst, 1) // the only sample description
		dst = appendZeros(dst, 12)
		dst = endBox(dst, trex)
	}
	dst = endBox(dst, mvex)
	return endBox(dst, moov)
}

func appendMovieHeader(dst []byte, tracks []Track) []byte {
	next := uint32(1)
	for i := range tracks {
		next = max(next, tracks[i].ID+1)
	}
	dst, mvhd := startFullBox(dst, "mvhd", 0, 0)
	dst = appendZeros(dst, 8)
	dst = appendU32(dst, 1000)
	dst = appendU32(dst, 0)          // duration: in the fragments
	dst = appendU32(dst, 0x00010000) // rate
	dst = appendU16(dst, 0x0100)     // volume
	dst = appendZeros(dst, 10)
	dst = appendMatrix(dst)
	dst = appendZeros(dst, 24)
	dst = appendU32(dst, next)
	return endBox(dst, mvhd)
}

func appendTrack(dst []byte, t *Track) []byte {
	pic, video := t.Codec.picture()
	dst, trak := startBox(dst, "trak")

	dst, tkhd := startFullBox(dst, "tkhd", 0, 3) // enabled, in the movie
	dst = appendZeros(dst, 8)
	dst = appendU32(dst, t.ID)
	dst = appendZeros(dst, 4+4+8+2) // reserved, duration, reserved, layer
	if video {
		dst = appendU32(dst, 0) // alternate_group, volume
	} else {
		dst = appendU16(dst, 1)
		dst = appendU16(dst, 0x0100)
	}
	dst = appendU16(dst, 0)
	dst = appendMatrix(dst)
	dst = appendU32(dst, uint32(min(pic.DisplayWidth(), maxPictureSide))<<16)
	dst = appendU32(dst, uint32(pic.Height)<<16)
	dst = endBox(dst, tkhd)

	dst, mdia := startBox(dst, "mdia")
	dst, mdhd := startFullBox(dst, "mdhd", 0, 0)
	dst = appendZeros(dst, 8)
	dst = appendU32(dst, t.Timescale)
	dst = appendU32(dst, 0)
	dst = appendU16(dst, 0x55c4) // und
	dst = appendU16(dst, 0)
	dst = endBox(dst, mdhd)

	dst = appendHandler(dst, video)
	dst = appendMediaInfo(dst, t, video)
	dst = endBox(dst, mdia)
	return endBox(dst, trak)
}

func appendMediaInfo(dst []byte, t *Track, video bool) []byte {
	dst, minf := startBox(dst, "minf")
	dst = appendMediaHeader(dst, video)
	var box int
	dst, stbl := startBox(dst, "stbl")
	dst, stsd := startFullBox(dst, "stsd", 0, 0)
	dst = appendU32(dst, 1)
	dst = t.Codec.appendSampleEntry(dst)
	dst = endBox(dst, stsd)
	for _, empty := range [...]string{"stts", "stsc", "stco"} {
		dst, box = startFullBox(dst, empty, 0, 0)
		dst = appendU32(dst, 0)
		dst = endBox(dst, box)
	}
	dst, box = startFullBox(dst, "stsz", 0, 0)
	dst = appendU64(dst, 0)
	dst = endBox(dst, box)
	dst = endBox(dst, stbl)
	return endBox(dst, minf)
}

func appendHandler(dst []byte, video bool) []byte {
	kind, name := "soun", "audio\x00"
	if video {
		kind, name = "vide", "video\x00"
	}
	dst, hdlr := startFullBox(dst, "hdlr", 0, 0)
	dst = appendU32(dst, 0)
	dst = append(dst, kind...)
	dst = appendZeros(dst, 12)
	dst = append(dst, name...)
	return endBox(dst, hdlr)
}

// appendMediaHeader appends what stands in minf before the sample table.
func appendMediaHeader(dst []byte, video bool) []byte {
	var box int
	if video {
		dst, box = startFullBox(dst, "vmhd", 0, 1)
		dst = appendZeros(dst, 8)
	} else {
		dst, box = startFullBox(dst, "smhd", 0, 0)
		dst = appendZeros(dst, 4)
	}
	dst = endBox(dst, box)

	dst, dinf := startBox(dst, "dinf")
	dst, dref := startFullBox(dst, "dref", 0, 0)
	dst = appendU32(dst, 1)
	dst, box = startFullBox(dst, "url ", 0, 1) // media in this file
	dst = endBox(dst, box)
	dst = endBox(dst, dref)
	return endBox(dst, dinf)
}
