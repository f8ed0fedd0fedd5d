// Package fmp4 writes fragmented MP4 (ISO 14496-12 and -15) for HLS and the
// archive: init segments, and fragments of which only the headers are written
// here. The media bytes stay where they are: a fragment is the header that
// AppendFragment writes, followed by the samples' own buffers in the order in
// which they were named.
package fmp4
