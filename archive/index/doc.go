// Package index knows what lies in the archive: files and the fragments in them, gaps
// and their causes, bookmarks. It is one SQLite file beside the media; its tables are
// described in docs/format/archive.md, with what always holds.
//
// The fragments of a file that is being written are in memory alone, and seen by
// readers as soon as they were written. Reads never wait for a write.
package index
