// Package disk writes the archive's fragments to one disk: in order, each by one
// write, within a budget of bytes that may wait for it. What a disk does to its
// writer, it does to that alone: nobody waits for it, and what it cannot take is
// dropped, whole GOPs at a time, with a cause.
package disk
