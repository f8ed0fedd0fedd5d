package media

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// blockClasses are the sizes of blocks in bytes. A track takes blocks that hold
// about a second of it, so that little is left over at a block's end.
var blockClasses = [...]int{16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}

// MaxFrameBytes is the largest frame that a pool has room for.
const MaxFrameBytes = 16 << 20

// idleBytes is how much memory of one class a pool keeps for the next taker
// before it gives blocks back to the system.
const idleBytes = 16 << 20

// A block is a piece of media memory that frames lie in, side by side. It goes
// back to its pool when its writer and all its frames have let go of it.
type block struct {
	pool  *Pool
	class int
	data  []byte
	refs  atomic.Int32
}

// Pool hands out memory for media in a few sizes and takes it back. The memory
// lies outside Go's heap where the system allows it, for a collector that lets
// its heap double would double the largest thing that Drover holds.
//
// All methods may be called from any goroutine.
type Pool struct {
	classes [len(blockClasses)]freeList
	used    atomic.Int64
	idle    atomic.Int64
	alive   atomic.Int64 // frames not yet released
	frames  sync.Pool    // of dead *Frame
}

type freeList struct {
	mu     sync.Mutex
	blocks []*block
}

// NewPool returns an empty pool.
func NewPool() *Pool {
	p := &Pool{}
	p.frames.New = func() any { return new(Frame) }
	return p
}

// PoolStats is what a pool holds.
type PoolStats struct {
	UsedBytes int64 // in blocks that a writer or a frame holds
	IdleBytes int64 // in blocks kept for the next taker
	Frames    int64 // frames not yet released by all who hold them
}

// Stats returns what the pool holds now.
func (p *Pool) Stats() PoolStats {
	return PoolStats{UsedBytes: p.used.Load(), IdleBytes: p.idle.Load(), Frames: p.alive.Load()}
}

// classFor returns the smallest class with room for n bytes.
func classFor(n int) int {
	for class, size := range blockClasses {
		if n <= size {
			return class
		}
	}
	return -1
}

// take returns a block of a class, with one reference for the caller.
func (p *Pool) take(class int) (*block, error) {
	size := int64(blockClasses[class])
	list := &p.classes[class]
	list.mu.Lock()
	var b *block
	if n := len(list.blocks); n > 0 {
		b = list.blocks[n-1]
		list.blocks[n-1] = nil
		list.blocks = list.blocks[:n-1]
	}
	list.mu.Unlock()
	if b == nil {
		data, err := allocate(int(size))
		if err != nil {
			return nil, fmt.Errorf("media memory of %d bytes: %w", size, err)
		}
		b = &block{pool: p, class: class, data: data}
	} else {
		p.idle.Add(-size)
		checkPoison(b.data)
	}
	p.used.Add(size)
	b.refs.Store(1)
	return b, nil
}

func (b *block) retain() { b.refs.Add(1) }

func (b *block) release() {
	switch refs := b.refs.Add(-1); {
	case refs > 0:
		return
	case refs < 0:
		panic("media: block released more often than held")
	}
	poison(b.data)
	b.pool.give(b)
}

func (p *Pool) give(b *block) {
	size := int64(len(b.data))
	p.used.Add(-size)
	list := &p.classes[b.class]
	list.mu.Lock()
	keep := int64(len(list.blocks)+1)*size <= idleBytes
	if keep {
		list.blocks = append(list.blocks, b)
		p.idle.Add(size)
	}
	list.mu.Unlock()
	if !keep {
		free(b.data)
		b.data = nil
	}
}
