// Package hls turns a source's frames into HLS (RFC 8216) for any number of
// viewers: fragmented MP4, with parts for those who want low latency (RFC
// 8216bis), and MPEG-TS for players that want it.
//
// A Muxer per source is the one subscriber of its ring. It cuts segments at
// keyframes, keeps the newest of them, and publishes everything a viewer can ask
// for as one immutable snapshot. Handler reads snapshots; a viewer costs nothing
// but its connection. The Muxer belongs to the camera and not to a connection to
// it: while the camera is away the last window stays served.
//
// # Memory
//
// A segment is headers of its own and references to the frames' own buffers,
// which the ring and other subscribers share. Frames are released when the
// segment has left the window and the last response that sends it is done.
//
// # Parts and low latency
//
// A segment is fragments of about 200 ms side by side. They are the parts of
// low-latency HLS: sub-ranges of the segment, so that both have the same bytes.
// While nobody asks for live.m3u8 the fragments are made when their segment ends,
// and no playlist names them; the first request has them made from the open
// segment's frames at once, and half a minute after the last request that stops.
//
// A part is as many whole frames as come closest to the configured duration. The
// part target is chosen when it is first needed, from how the frames have come of
// late, such that each part but a segment's last is 85 to 100 % of it: where
// frames come unevenly, a part is more of them. A part is cut as soon as it is
// long enough, when the frame behind it comes, which tells how long it is.
//
// While parts are cut a picture is not stretched over a hole: no part could be so
// long. The segment ends, and the next begins behind an EXT-X-DISCONTINUITY. Nor
// can a segment of which parts are known be dropped for being short or too large:
// it ends with the parts it has.
//
// CAN-SKIP-UNTIL must be six target durations at least (4.4.3.8), which the window
// of five segments never reaches; delta updates are offered where the configured
// window is longer than that.
//
// # Variants
//
// A camera's sources are the variants of one multivariant playlist, on one timeline:
// media times are counted from one moment for all of them, by the time of day of
// each source's pictures. What breaks in one source begins a period of the camera's,
// whose number is the discontinuity sequence in all playlists; see periods. All have
// one target duration, for RFC 8216 6.2.4 wants it, and targets of parts of their
// own. In a playlist with parts the others are reported.
//
// A camera of one source has its sound in its segments, which costs a viewer fewer
// requests. Of a camera of more the sound has a playlist of its own, named _sound,
// and its picture is alone in fragmented MP4: the mixer hands on the sound of one
// source, of another where that is gone, or silence, as a source like any other. In
// MPEG-TS each source has its own sound in any case.
//
// # The target duration
//
// RFC 8216 4.3.3.1 and 6.2.1 demand that EXT-X-TARGETDURATION covers every
// segment and never changes. Cameras that stretch their GOPs make that
// impossible for ever, so a playlist has a life. A life's target is chosen from
// the segment duration that is configured and the GOPs that the ring holds when
// it begins. A segment that is longer ends the life: the next playlist holds
// that segment alone, with a target that covers it and a quarter more, and those
// of the camera's other sources do the same with their next. The media sequence and the URL go on, so that players
// in mid-stream follow: they have played all there was, for no segment came for
// longer than the old target promised. A target never shrinks.
//
// A playlist with parts has told of a segment before it is known to be too long,
// and of pictures before they became slow. Its life ends in mid-segment: what is
// listed goes on, the target duration doubles, or the part target becomes one
// that holds, and parts of an earlier target are no more listed as parts. Where
// no GOP was seen to its end yet, the target begins at twice the segment
// duration.
//
// # Waiting
//
// A request for a part that is hinted at, or a playlist that is to come, waits for
// the next snapshot: one channel, closed by the muxer. The muxer also keeps the
// time for all who wait, and wakes them when the camera goes away. A request for
// a camera that has no playlist yet waits in the Hub's lobby.
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
