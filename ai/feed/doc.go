// Package feed hands the frames of cameras to AI workers. Each worker has a subscription
// of its own for each camera, on the ring that all other outputs read; what it does with
// frames, and how slowly, is told to nobody but itself.
//
// A Hub knows which sources are pulled. A Subscription takes those that its Request
// names, as they come and go, and gives what it takes to a Sink: a Mailbox for those to
// whom frames are sent, or the slots of shared memory.
package feed
