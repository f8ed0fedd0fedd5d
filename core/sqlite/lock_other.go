//go:build !unix

package sqlite

import "os"

// lock only makes the file: two servers on one directory are not kept apart here.
func lock(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600) }
