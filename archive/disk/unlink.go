package disk

import (
	"errors"
	"io/fs"
	"path"
)

// Unlink removes files for good: a power cut does not bring them back. It returns
// those that are gone, and what kept others from it. What says that there are files
// is to be forgotten after that: without it, nobody would find them again.
func Unlink(files FS, paths ...string) (gone []string, err error) {
	for _, name := range paths {
		if removeErr := files.Remove(name); removeErr != nil {
			err = removeErr
			continue
		}
		gone = append(gone, name)
	}
	// By directory, as one that cannot be synced must not keep the others.
	synced := map[string]error{}
	kept := gone[:0]
	for _, name := range gone {
		if syncErr := syncName(files, name, synced); syncErr != nil {
			err = syncErr
			continue
		}
		kept = append(kept, name)
	}
	return kept, err
}

// syncName makes sure of a name in its directory, or, where that went with the file,
// of the directory's in the one above. synced is what was done before.
func syncName(files FS, name string, synced map[string]error) error {
	dir := path.Dir(name)
	err, done := synced[dir]
	if done {
		return err
	}
	if err = files.SyncDir(name); errors.Is(err, fs.ErrNotExist) && dir != "." {
		err = syncName(files, dir, synced)
	}
	synced[dir] = err
	return err
}
