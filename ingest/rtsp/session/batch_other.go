//go:build !linux

package session

import (
	"net"
	"net/netip"
)

// A batch is one datagram, where the system reads no more at once.
type batch struct {
	buffers *Buffers
	size    int
	slots   []*slot
	sender  netip.Addr
}

func newBatch(buffers *Buffers, _, size int) *batch {
	return &batch{buffers: buffers, size: size, slots: []*slot{buffers.slot(size)}}
}

// refill puts another slot in the place of one that was kept.
func (b *batch) refill(i int) { b.slots[i] = b.buffers.slot(b.size) }

// truncated reports whether a datagram may not have fit its slot.
func (b *batch) truncated(i int) bool { return b.size < maxDatagramBytes && b.slots[i].n == b.size }

// from returns the address that a datagram came from.
func (b *batch) from(int) netip.Addr { return b.sender }

// dropped is not told here.
func (b *batch) dropped(int) (uint32, bool) { return 0, false }

// receive hands the socket's datagrams to take, until take or the socket
// fails. large says whether the next slot must be a large one.
func receive(conn *net.UDPConn, buffers *Buffers, large *bool, take func(b *batch, n int) error) error {
	b := newBatch(buffers, 1, datagramBytes)
	for {
		if *large && b.size != maxDatagramBytes {
			b = newBatch(buffers, 1, maxDatagramBytes)
		}
		n, from, err := conn.ReadFromUDPAddrPort(b.slots[0].data)
		if err != nil {
			return err
		}
		b.slots[0].n, b.sender = n, from.Addr().Unmap().WithZone("")
		if err := take(b, 1); err != nil {
			return err
		}
	}
}
