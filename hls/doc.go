// Package hls turns a source's frames into HLS (RFC 8216) for any number of
// viewers: fragmented MP4, and MPEG-TS for players that want it.
//
// A Muxer per source is the one subscriber of its ring. It cuts segments at
// keyframes, keeps the newest of them, and publishes everything a viewer can ask
// for as one immutable snapshot. Handler reads snapshots; a viewer costs nothing
// but its connection. The Muxer belongs to the camera and not to a connection to
// it: while the camera is away the last window stays served.
//
// # Memory
//
// A segment is a header of its own and references to the frames' own buffers,
// which the ring and other subscribers share. Frames are released when the
// segment has left the window and the last response that sends it is done.
//
// # The target duration
//
// RFC 8216 4.3.3.1 and 6.2.1 demand that EXT-X-TARGETDURATION covers every
// segment and never changes. Cameras that stretch their GOPs make that
// impossible for ever, so a playlist has a life. A life's target is chosen from
// the segment duration that is configured and the GOPs that the ring holds when
// it begins. A segment that is longer ends the life: the next playlist holds
// that segment alone, behind an EXT-X-DISCONTINUITY, with a target that covers
// it and a quarter more. The media sequence and the URL go on, so that players
// in mid-stream follow: they have played all there was, for no segment came for
// longer than the old target promised. A target never shrinks.
//
// # Holes
//
// After packet loss a source resumes on a keyframe of the same timeline. The
// picture before the hole is then shown until the keyframe: sound goes on,
// timestamps, EXTINF and PROGRAM-DATE-TIME stay true, and no player has to
// resynchronise. Where the hole is longer than a segment should be, or would
// make its segment longer than the target, or where Drover itself was too slow
// and lost sound as well, the segment ends with its last picture, and the next
// begins behind an EXT-X-DISCONTINUITY.
//
// # Numbers that never go back
//
// Names of segments hold the epoch, of which an EpochStore gives a higher one to
// each run. The media sequence of a run begins at a number made of its epoch,
// which grows faster than segments can; its discontinuity sequence at one that
// the store has kept for it. See sequence.go.
package hls
