// Package archive records cameras: nothing that a camera's ring handed over is lost
// on the way to disk without being told, and nothing that happens to the disk reaches
// the live picture.
//
// A Recorder has a goroutine for each source, which makes fragments of the source's
// frames (cutter); one writer for the disk (archive/disk); and one that keeps the
// books: what is recorded when, what is missing and why (ledger), what is deleted.
// What lies on disk, and what always holds of it, is told in docs/format/archive.md.
package archive
