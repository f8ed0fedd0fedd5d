package wire

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// departures tells of clients that close their connection while they wait for an
// answer. One goroutine sees all of them leave: ten thousand that wait are
// ten thousand entries in the kernel, and cost nothing else, not even while they
// come and go between two answers.
type departures struct {
	file *os.File // of epoll
	raw  syscall.RawConn
	done sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns map[uint64]*Conn
	last  uint64 // the newest key of conns
}

// newDepartures begins to watch; stop ends it.
func newDepartures() (*departures, error) {
	descriptor, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("watch clients: %w", err)
	}
	// One that does not block is waited for by the runtime, as sockets are.
	if err := unix.SetNonblock(descriptor, true); err != nil {
		_ = unix.Close(descriptor)
		return nil, fmt.Errorf("watch clients: %w", err)
	}
	d := &departures{file: os.NewFile(uintptr(descriptor), "epoll"), conns: map[uint64]*Conn{}}
	if d.raw, err = d.file.SyscallConn(); err != nil {
		_ = d.file.Close()
		return nil, fmt.Errorf("watch clients: %w", err)
	}
	d.done.Go(d.run)
	return d, nil
}

func (d *departures) stop() {
	_ = d.file.Close() // the second time, it has been closed
	d.done.Wait()
}

// watch begins to watch a connection, which forget ends. That a client leaves is
// told to the connection, by left.
func (d *departures) watch(c *Conn) {
	d.mu.Lock()
	d.last++
	c.departure = d.last
	d.conns[c.departure] = c
	d.mu.Unlock()
	// Not the descriptor tells which it is: it is another's soon after it is closed.
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(c.departure), Pad: int32(c.departure >> 32)}
	// Where the system has no room for one more, that this client has left is seen
	// when it is answered.
	_ = c.raw.Control(func(socket uintptr) {
		_ = d.raw.Control(func(epoll uintptr) {
			_ = unix.EpollCtl(int(epoll), unix.EPOLL_CTL_ADD, int(socket), &event)
		})
	})
}

// forget is for a connection that is closed: the system watches it no more.
func (d *departures) forget(c *Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, c.departure)
}

// run tells connections that their clients have left, until stop.
func (d *departures) run() {
	var events [64]unix.EpollEvent
	for {
		n := 0
		err := d.raw.Read(func(epoll uintptr) (done bool) {
			var waitErr error
			n, waitErr = unix.EpollWait(int(epoll), events[:], 0)
			return n > 0 || waitErr != nil && !errors.Is(waitErr, unix.EINTR)
		})
		if err != nil {
			return // it is closed
		}
		for _, event := range events[:max(n, 0)] {
			key := uint64(uint32(event.Fd)) | uint64(uint32(event.Pad))<<32
			d.mu.Lock()
			c := d.conns[key]
			d.mu.Unlock()
			if c != nil {
				c.left()
			}
		}
	}
}
