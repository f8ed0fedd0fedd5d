package fmp4

// Sample is what a fragment's header says of one sample.
type Sample struct {
	Duration uint32 // ticks until the next sample's decode time
	Size     uint32 // bytes
	CTS      int32  // ticks from decode to presentation; may be negative
	Sync     bool   // nothing before it is needed to decode it and what follows
}

// Run is one track's samples in a fragment.
type Run struct {
	TrackID  uint32
	BaseTime uint64 // decode time of the first sample, in ticks
	Samples  []Sample
}

// Bytes is the size of the run's media.
func (r *Run) Bytes() int64 {
	n := int64(0)
	for i := range r.Samples {
		n += int64(r.Samples[i].Size)
	}
	return n
}

// Flags of tfhd, trun and of a sample (ISO 14496-12 8.8.7, 8.8.8, 8.8.3.1).
const (
	tfhdDefaultDuration   = 0x000008
	tfhdDefaultFlags      = 0x000020
	tfhdDefaultBaseIsMoof = 0x020000

	trunDataOffset       = 0x000001
	trunFirstSampleFlags = 0x000004
	trunDuration         = 0x000100
	trunSize             = 0x000200
	trunFlags            = 0x000400
	trunCTS              = 0x000800

	sampleSync    = 0x02000000 // depends on no other
	sampleNonSync = 0x01010000 // depends on others, is no sync sample
)

// FragmentSize is how many bytes AppendFragment appends.
func FragmentSize(runs []Run) int {
	n := 8 + 16 + mdatHeader
	for i := range runs {
		if len(runs[i].Samples) > 0 {
			n += runSize(&runs[i], formOf(runs[i].Samples))
		}
	}
	return n
}

// AppendFragment appends a fragment's moof and the header of its mdat. The
// media must follow: all samples of the first run, then all of the second, and
// so on, less than 4 GiB in all. Runs without samples are left out.
func AppendFragment(dst []byte, sequence uint32, runs []Run) []byte {
	// Offsets count from the start of moof; the media starts behind mdat's header.
	offset := int64(FragmentSize(runs))
	media := int64(0)
	dst, moof := startBox(dst, "moof")
	dst, mfhd := startFullBox(dst, "mfhd", 0, 0)
	dst = appendU32(dst, sequence)
	dst = endBox(dst, mfhd)
	for i := range runs {
		if len(runs[i].Samples) == 0 {
			continue
		}
		dst = appendRun(dst, &runs[i], uint32(offset+media))
		media += runs[i].Bytes()
	}
	dst = endBox(dst, moof)
	dst = appendU32(dst, uint32(mdatHeader+media))
	return append(dst, "mdat"...)
}

const mdatHeader = 8

func runSize(run *Run, f form) int {
	n := 8 + 20 + 20 + 20 // traf, tfhd, tfdt and trun without their optional parts
	if !f.durations {
		n += 4
	}
	if f.firstSync {
		n += 4
	}
	entry := 4
	for _, written := range [...]bool{f.durations, f.flags, f.cts} {
		if written {
			entry += 4
		}
	}
	return n + entry*len(run.Samples)
}

// appendRun appends a traf whose media starts at offset.
func appendRun(dst []byte, run *Run, offset uint32) []byte {
	form := formOf(run.Samples)
	dst, traf := startBox(dst, "traf")

	tfhdBits := uint32(tfhdDefaultBaseIsMoof | tfhdDefaultFlags)
	if !form.durations {
		tfhdBits |= tfhdDefaultDuration
	}
	dst, tfhd := startFullBox(dst, "tfhd", 0, tfhdBits)
	dst = appendU32(dst, run.TrackID)
	if !form.durations {
		dst = appendU32(dst, run.Samples[0].Duration)
	}
	dst = appendU32(dst, flagsOf(run.Samples[len(run.Samples)-1].Sync))
	dst = endBox(dst, tfhd)

	dst, tfdt := startFullBox(dst, "tfdt", 1, 0)
	dst = appendU64(dst, run.BaseTime)
	dst = endBox(dst, tfdt)

	dst, trun := startFullBox(dst, "trun", 1, form.trunBits())
	dst = appendU32(dst, uint32(len(run.Samples)))
	dst = appendU32(dst, offset)
	if form.firstSync {
		dst = appendU32(dst, sampleSync)
	}
	for i := range run.Samples {
		s := &run.Samples[i]
		if form.durations {
			dst = appendU32(dst, s.Duration)
		}
		dst = appendU32(dst, s.Size)
		if form.flags {
			dst = appendU32(dst, flagsOf(s.Sync))
		}
		if form.cts {
			dst = appendU32(dst, uint32(s.CTS))
		}
	}
	dst = endBox(dst, trun)
	return endBox(dst, traf)
}

func flagsOf(sync bool) uint32 {
	if sync {
		return sampleSync
	}
	return sampleNonSync
}

// form is what differs between a run's samples and is therefore written for
// each of them.
type form struct {
	durations bool
	flags     bool
	firstSync bool // only the first sample differs in its flags, and is a sync sample
	cts       bool
}

func formOf(samples []Sample) form {
	var f form
	first, last := samples[0].Sync, samples[len(samples)-1].Sync
	for i := range samples {
		s := &samples[i]
		f.durations = f.durations || s.Duration != samples[0].Duration
		f.cts = f.cts || s.CTS != 0
		f.flags = f.flags || i > 0 && s.Sync != last
	}
	f.flags = f.flags || !first && last
	f.firstSync = first && !last && !f.flags
	return f
}

func (f form) trunBits() uint32 {
	bits := uint32(trunDataOffset | trunSize)
	if f.durations {
		bits |= trunDuration
	}
	if f.flags {
		bits |= trunFlags
	}
	if f.firstSync {
		bits |= trunFirstSampleFlags
	}
	if f.cts {
		bits |= trunCTS
	}
	return bits
}
