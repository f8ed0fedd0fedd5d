package hls

import (
	"sync/atomic"

	"github.com/drover-video/drover/core/memfile"
)

const (
	// promoteAt is the request for an object that makes it a file in memory. To
	// write one costs about as much as is saved by three deliveries from it: what
	// one viewer fetches, or two, stays as it is.
	promoteAt = 3

	// minPromoted is the smallest object for which the kernel's way is the cheaper.
	minPromoted = 16 << 10
)

// A promotion is an object's way into a memory file, by which the kernel sends it
// for half of what copying costs. It is made when the object turns out to be one
// that many ask for, and goes with the segment.
type promotion struct {
	files *memfile.Budget
	held  *atomic.Int64 // of the muxer
	asked atomic.Uint32
	file  atomic.Pointer[memfile.File]
}

// newPromotion returns nil for what is never promoted.
func newPromotion(files *memfile.Budget, held *atomic.Int64, size int64) *promotion {
	if files == nil || size < minPromoted {
		return nil
	}
	return &promotion{files: files, held: held}
}

// ask notes a request for b and returns its file, if it has one. Of all who ask
// at once, one makes the file, and the others do not wait for it. The caller
// holds a reference to the segment for as long as it uses the file.
func (p *promotion) ask(b *body) *memfile.File {
	if p == nil {
		return nil
	}
	if file := p.file.Load(); file != nil {
		return file
	}
	if p.asked.Add(1) != promoteAt {
		return nil
	}
	file, err := p.files.New(b.slices, b.size)
	if err != nil {
		return nil // no room, or no such files here: the bytes are sent as they are
	}
	p.held.Add(file.Size())
	p.file.Store(file)
	return file
}

// size is what the file holds in memory.
func (p *promotion) size() int64 {
	if p == nil {
		return 0
	}
	if file := p.file.Load(); file != nil {
		return file.Size()
	}
	return 0
}

// end gives the file up. Nobody holds the segment any more.
func (p *promotion) end() {
	if p == nil {
		return
	}
	if file := p.file.Swap(nil); file != nil {
		file.Close()
	}
}
