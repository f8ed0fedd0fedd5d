// Package play serves what was recorded: playlists over the recorded files, their
// bytes, single pictures, and the timeline.
//
// # Nothing is copied or made anew
//
// A segment of a playlist is a range of bytes of a recorded file, which the kernel
// sends. Where segments begin, and how they are numbered, follows from the index
// alone (see archive/layout), so that every playlist says the same of a moment, to
// everybody and over restarts.
//
// # Playlists
//
// A closed range is of type VOD: holes are closed, with a discontinuity. An open one
// is of type EVENT and grows; without any range the playlist slides, and reaches from
// the newest complete segment back for the time of the time shift. Of these two, what
// is deleted behind a player's back is listed as EXT-X-GAP, so that numbers stay, and
// hls.js, which asks for delta updates, gets little more than what is new.
//
// A growing playlist is kept as a tape: the entries of each finished file as text and
// as a piece of a gzip stream, made once. A new version is these pieces side by side.
package play
