// Package schema is tap.proto in Go: what workers and the tap say to each other. All
// but this file is made by generate.sh.
package schema
