package hls

import "strconv"

// An object is a body with the headers that never change, as slices that are set
// in a response's header as they are.
type object struct {
	body
	etag   []string
	length []string

	promotion *promotion // nil: it is never promoted
}

// newObject makes an object whose ETag is its name: names never stand for two
// contents.
func newObject(b body, name string) object {
	return object{body: b, etag: []string{`"` + name + `"`}, length: []string{strconv.FormatInt(b.size, 10)}}
}
