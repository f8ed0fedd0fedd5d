package feed

// A Sink is what a subscription's frames go to. Its methods are called from the
// goroutines of the subscription's streams, those of one stream one after another, and
// must not wait for a worker: they may copy, and keep, and drop.
type Sink interface {
	// Status tells of a camera. It is called before the first frame of a stream, and
	// after the last.
	Status(Status)
	// Take takes a frame over, with its reference.
	Take(*Stream, Frame)
	// Forget tells that a stream has ended. No frame of it comes any more.
	Forget(*Stream)
	// Finish tells that nothing comes any more: ErrRemoved or ErrClosed.
	Finish(error)
}
