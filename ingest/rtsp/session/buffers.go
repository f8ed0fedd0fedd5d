package session

import "sync"

const (
	// datagramBytes takes what fits an Ethernet. A camera that sends more, in
	// IP fragments, costs what one call read and then has larger slots.
	datagramBytes    = 2 << 10
	maxDatagramBytes = 64 << 10

	// DefaultBatch is how many datagrams one system call reads at most.
	DefaultBatch = 32

	// largeBatch is that of a camera whose datagrams fill large slots.
	largeBatch = 4
)

// Buffers are what datagrams are read into. All sessions of a process share
// them: a session that waits holds none, so that there are about as many as
// processors, and not as many as cameras.
type Buffers struct {
	batch   int
	batches sync.Pool // of *batch, with slots of datagramBytes
	slots   sync.Pool // of *slot, of datagramBytes
}

// NewBuffers returns buffers for batches of so many datagrams; 0 means
// DefaultBatch.
func NewBuffers(batch int) *Buffers {
	if batch <= 0 {
		batch = DefaultBatch
	}
	return &Buffers{batch: batch}
}

// A slot holds one datagram.
type slot struct {
	data []byte // all of it
	n    int    // bytes of the datagram
}

func (p *slot) bytes() []byte { return p.data[:p.n] }

// slot returns one with room for so many bytes.
func (b *Buffers) slot(size int) *slot {
	if size == datagramBytes {
		if p, ok := b.slots.Get().(*slot); ok {
			return p
		}
	}
	return &slot{data: make([]byte, size)}
}

// release takes a slot back. Large ones are rare, and left to the collector.
func (b *Buffers) release(p *slot) {
	if len(p.data) == datagramBytes {
		b.slots.Put(p)
	}
}

// take returns a batch of slots for ordinary datagrams.
func (b *Buffers) take() *batch {
	if all, ok := b.batches.Get().(*batch); ok {
		return all
	}
	return newBatch(b, b.batch, datagramBytes)
}

func (b *Buffers) give(all *batch) {
	if all.size == datagramBytes {
		b.batches.Put(all)
	}
}
