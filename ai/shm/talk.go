package shm

// What is said over the socket, before and after there is memory: one packet each.

// MaxPacket is how large a packet may be.
const MaxPacket = 128 << 10

// Answer is what the server says to a request, which is a schema.WatchRequest in
// protobuf's JSON. With it come two descriptors, of the memory and of the eventfd. Later
// it is said once more, with an error, if nothing comes any more.
type Answer struct {
	Version int    `json:"version"`
	Size    int    `json:"size,omitempty"` // of the memory
	Next    uint64 `json:"next,omitempty"` // slot from which on the state of every camera is told once more
	Code    string `json:"code,omitempty"` // of the error, as gRPC names it: "not_found", …
	Error   string `json:"error,omitempty"`
}
