// Package layout holds how the archive lies on disk: names of files, the boxes of
// Drover's own in them, and the table of fragments that the index keeps of each. It
// is described byte by byte in docs/format/archive.md.
//
// Whatever is read here may have been written by anybody, or be torn.
package layout
