package feed

// queue is a circular queue that grows by doubling, and so allocates nothing once it has
// seen its stream for a while.
type queue[T any] struct {
	slots []T // a power of two of them
	head  int
	count int
}

func (q *queue[T]) len() int { return q.count }

func (q *queue[T]) at(i int) *T { return &q.slots[(q.head+i)&(len(q.slots)-1)] }

func (q *queue[T]) push(v T) {
	if q.count == len(q.slots) {
		slots := make([]T, max(16, 2*len(q.slots)))
		for i := range q.count {
			slots[i] = *q.at(i)
		}
		q.slots, q.head = slots, 0
	}
	q.slots[(q.head+q.count)&(len(q.slots)-1)] = v
	q.count++
}

func (q *queue[T]) pop() T {
	var none T
	v := *q.at(0)
	*q.at(0) = none
	q.head = (q.head + 1) & (len(q.slots) - 1)
	q.count--
	return v
}

// remove takes out those for which is returns true. The others keep their order.
func (q *queue[T]) remove(is func(T) bool) {
	for range q.count {
		if v := q.pop(); !is(v) {
			q.push(v)
		}
	}
}
