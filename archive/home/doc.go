// Package home keeps copies of finished files in a second home: a bucket of a store
// that speaks S3. It copies in the background, several files of a stream as one
// object, since stores bill requests; it lets go there what is too old or too much;
// and it reads from there what does not lie on the disk any more.
//
// In which order things are kept and done, such that no object is ever in the bucket
// of which the index does not know, is described in docs/format/archive.md. Neither
// the recorder nor viewers of the live picture ever wait for any of it.
package home
