// Package m3u8 writes HLS playlists (RFC 8216), append style: a playlist is a
// head, one entry per segment, and nothing else.
package m3u8
