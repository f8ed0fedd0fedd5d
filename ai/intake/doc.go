// Package intake takes what AI workers report: it checks it, finds the time of the
// frame, has rules make events of it, keeps both, and tells those who listen.
//
// Who reports never waits for the disk, for a listener or for the archive: what is
// taken is in memory, within bounds, and Run does the rest.
package intake
