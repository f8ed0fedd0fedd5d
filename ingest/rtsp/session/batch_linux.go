package session

import (
	"encoding/binary"
	"net"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A batch is what one recvmmsg(2) reads. The call is made here and not by way
// of golang.org/x/net, whose ReadBatch makes two allocations for the address
// of each datagram.
type batch struct {
	buffers *Buffers
	size    int // of each slot
	slots   []*slot
	headers []messageHeader
	vectors []unix.Iovec
	names   [][unix.SizeofSockaddrInet6]byte
	control []byte // controlBytes for each
}

// messageHeader is struct mmsghdr.
type messageHeader struct {
	header unix.Msghdr
	bytes  uint32
}

// controlBytes holds one count of SO_RXQ_OVFL, with room for alignment.
const controlBytes = 32

func newBatch(buffers *Buffers, count, size int) *batch {
	b := &batch{
		buffers: buffers, size: size,
		slots:   make([]*slot, count),
		headers: make([]messageHeader, count),
		vectors: make([]unix.Iovec, count),
		names:   make([][unix.SizeofSockaddrInet6]byte, count),
		control: make([]byte, count*controlBytes),
	}
	for i := range count {
		h := &b.headers[i].header
		h.Name = &b.names[i][0]
		h.Iov = &b.vectors[i]
		h.SetIovlen(1)
		h.Control = &b.control[i*controlBytes]
		b.vectors[i].SetLen(size)
		b.refill(i)
	}
	return b
}

// refill puts another slot in the place of one that was kept.
func (b *batch) refill(i int) {
	b.slots[i] = b.buffers.slot(b.size)
	b.vectors[i].Base = &b.slots[i].data[0]
}

// read reads as many datagrams as there are, up to the size of the batch.
func (b *batch) read(fd uintptr) (int, error) {
	for i := range b.headers {
		h := &b.headers[i].header
		h.Namelen = unix.SizeofSockaddrInet6
		h.SetControllen(controlBytes)
	}
	for {
		n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, fd,
			uintptr(unsafe.Pointer(&b.headers[0])), uintptr(len(b.headers)), unix.MSG_DONTWAIT, 0, 0)
		switch errno {
		case 0:
			for i := range int(n) {
				b.slots[i].n = int(b.headers[i].bytes)
			}
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, nil
		default:
			return 0, errno
		}
	}
}

// truncated reports whether a datagram did not fit its slot.
func (b *batch) truncated(i int) bool { return b.headers[i].header.Flags&unix.MSG_TRUNC != 0 }

// from returns the address that a datagram came from.
func (b *batch) from(i int) netip.Addr {
	name := &b.names[i]
	switch binary.NativeEndian.Uint16(name[:]) {
	case unix.AF_INET:
		return netip.AddrFrom4([4]byte(name[4:8]))
	case unix.AF_INET6:
		return netip.AddrFrom16([16]byte(name[8:24])).Unmap()
	}
	return netip.Addr{}
}

// dropped returns how many datagrams the kernel had no room for since the
// socket was opened; it says so with a datagram, once there are any.
func (b *batch) dropped(i int) (uint32, bool) {
	h := &b.headers[i].header
	if int(h.Controllen) < unix.CmsgLen(4) {
		return 0, false
	}
	control := b.control[i*controlBytes:][:controlBytes]
	c := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	if c.Level != unix.SOL_SOCKET || c.Type != unix.SO_RXQ_OVFL || int(c.Len) < unix.CmsgLen(4) {
		return 0, false
	}
	return binary.NativeEndian.Uint32(control[unix.CmsgLen(0):]), true
}

// receive hands batches of a socket's datagrams to take, until take or the
// socket fails. large says whether the next slots must be large ones.
//
// It is all done within RawConn.Read where a wait in it loses no wake-up: the
// poller tells edges, so that a batch that came back with room in it has
// emptied the socket, and the next datagram will be told. That saves asking
// once more, which is a system call for each burst.
func receive(conn *net.UDPConn, buffers *Buffers, large *bool, take func(b *batch, n int) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var own *batch // of large slots
	var failed error
	readable := func(fd uintptr) bool {
		for {
			b := own
			switch {
			case b != nil:
			case *large:
				own = newBatch(buffers, largeBatch, maxDatagramBytes)
				b = own
			default:
				b = buffers.take()
			}
			n, err := b.read(fd)
			if err == nil && n > 0 {
				err = take(b, n)
			}
			emptied := n < len(b.slots)
			buffers.give(b)
			if err != nil {
				failed = err
				return true
			}
			if emptied {
				return false
			}
		}
	}
	if err := raw.Read(readable); err != nil {
		return err
	}
	return failed
}
