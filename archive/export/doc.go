// Package export makes one ordinary MP4 of any time of the archive: moov in front,
// cut at the keyframe before, its media copied from the recorded files as it is sent.
// Nothing of the media is held in memory; what is, is the table of samples, eight
// bytes or so for each.
package export
