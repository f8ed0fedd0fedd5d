// Package fmp4 writes fragmented MP4 (ISO 14496-12 and -15) for HLS and the
// archive: init segments, and fragments of which only the headers are written
// here. The media bytes stay where they are: a fragment is the header that
// AppendFragment writes, followed by the samples' own buffers in the order in
// which they were named.
//
// It also reads such headers back, for those who look into recorded files, and writes
// the head of an ordinary MP4 whose samples are all known.
package fmp4
