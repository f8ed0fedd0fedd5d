package archive

// makeRoom is told by the disk that something has to be deleted.
func (r *Recorder) makeRoom() {}
