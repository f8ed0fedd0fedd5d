package rpc

import (
	"fmt"
	"math/bits"
	"sync"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/message"
)

// outgoing is a message as it is sent, in a buffer that comes back when gRPC has written
// it. Frames are copied into it and not lent: of a connection that breaks, gRPC leaves
// what it had not written yet to the garbage collector, which knows nothing of frames.
type outgoing struct {
	data  []byte
	slice [1]mem.Buffer
	pool  *sync.Pool
}

// Get implements mem.BufferPool, of which gRPC only needs Put here.
func (o *outgoing) Get(length int) *[]byte {
	data := make([]byte, length)
	return &data
}

// Put implements mem.BufferPool: the message has been written.
func (o *outgoing) Put(*[]byte) {
	o.slice[0] = nil
	o.pool.Put(o)
}

// The classes of buffers are powers of two, from leastBuffer on: gRPC hands smaller ones
// to the garbage collector.
const (
	leastBuffer = 2 << 10
	classes     = 15
)

// buffers keeps those that came back, by class.
type buffers [classes]sync.Pool

// take returns a message with room for size bytes.
func (b *buffers) take(size int) *outgoing {
	class := bits.Len(uint(max(size, leastBuffer)-1)) - bits.Len(uint(leastBuffer-1))
	if class >= classes {
		return &outgoing{data: make([]byte, 0, size), pool: new(sync.Pool)}
	}
	if o, ok := b[class].Get().(*outgoing); ok {
		o.data = o.data[:0]
		return o
	}
	return &outgoing{data: make([]byte, 0, leastBuffer<<class), pool: &b[class]}
}

// encode writes a message into a buffer.
func (b *buffers) encode(d *feed.Delivery) *outgoing {
	o := b.take(message.Size(d))
	o.data = message.Append(o.data, d)
	return o
}

// codec is protobuf, but for outgoing, which is written already, and for reports, which
// are read later.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(proto.Name)} }

// Marshal implements encoding.CodecV2.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	o, ok := v.(*outgoing)
	if !ok {
		return c.CodecV2.Marshal(v)
	}
	if len(o.data) == 0 {
		return nil, fmt.Errorf("an empty message")
	}
	o.slice[0] = mem.NewBuffer(&o.data, o)
	return o.slice[:], nil
}
