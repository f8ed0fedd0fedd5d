package ring

import "github.com/drover-video/drover/core/media"

// queue is a circular queue of frames that grows by doubling, and so allocates
// nothing once it has seen its stream for a while.
type queue struct {
	slots []*media.Frame // a power of two of them
	head  int
	count int
}

func (q *queue) len() int { return q.count }

func (q *queue) at(i int) *media.Frame { return q.slots[(q.head+i)&(len(q.slots)-1)] }

func (q *queue) push(f *media.Frame) {
	if q.count == len(q.slots) {
		q.grow()
	}
	q.slots[(q.head+q.count)&(len(q.slots)-1)] = f
	q.count++
}

func (q *queue) pop() *media.Frame {
	f := q.slots[q.head]
	q.slots[q.head] = nil
	q.head = (q.head + 1) & (len(q.slots) - 1)
	q.count--
	return f
}

func (q *queue) grow() {
	slots := make([]*media.Frame, max(256, 2*len(q.slots)))
	for i := range q.count {
		slots[i] = q.at(i)
	}
	q.slots, q.head = slots, 0
}
