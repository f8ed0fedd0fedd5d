package shm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/drover-video/drover/ai/schema"
)

// Conn is a reader of the memory that a server has handed over, and the socket that
// tells when that ends.
type Conn struct {
	*Reader
	mapped []byte
	from   uint64 // slot
	socket *net.UnixConn
	wake   *os.File // eventfd: the server adds to it what there is to read

	watched chan struct{} // whoever reads the socket has ended
	mu      sync.Mutex
	ended   error
}

// Refusal is the server's word that nothing comes, or nothing any more.
type Refusal struct{ Code, Message string }

// Error implements error.
func (r *Refusal) Error() string { return r.Message }

// defaultBehind is how old what is read may be where the request does not say it.
const defaultBehind = 2 * time.Second

// Open asks the server at a socket for frames. The caller closes the connection. The
// error is a *Refusal where the server said no.
func Open(ctx context.Context, path string, request *schema.WatchRequest) (*Conn, error) {
	text, err := protojson.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("shared memory: the request: %w", err)
	}
	dialled, err := new(net.Dialer).DialContext(ctx, "unixpacket", path)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	socket := dialled.(*net.UnixConn)
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c, err := shake(socket, text)
	if err != nil {
		socket.Close()
		return nil, err
	}
	behind := time.Duration(request.GetMaxBehindMs()) * time.Millisecond
	if behind <= 0 {
		behind = defaultBehind
	}
	memory, err := View(c.mapped)
	if err != nil {
		c.release()
		return nil, err
	}
	c.Reader = NewReader(memory, c.from, behind, time.Now)
	c.watched = make(chan struct{})
	if !stop() {
		c.release()
		return nil, ctx.Err()
	}
	go c.watch()
	return c, nil
}

// shake sends the request and takes what comes for it.
func shake(socket *net.UnixConn, request []byte) (*Conn, error) {
	if _, err := socket.Write(request); err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	packet, control := make([]byte, MaxPacket), make([]byte, unix.CmsgSpace(4*4))
	n, controlled, _, _, err := socket.ReadMsgUnix(packet, control)
	if err != nil {
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	descriptors := descriptors(control[:controlled])
	closeAll := func() {
		for _, d := range descriptors {
			_ = unix.Close(d)
		}
	}
	answer, err := parseAnswer(packet[:n])
	if err != nil {
		closeAll()
		return nil, err
	}
	if len(descriptors) != 2 || answer.Size < HeaderBytes || answer.Size > maxTotal {
		closeAll()
		return nil, ErrLayout
	}
	mapped, err := unix.Mmap(descriptors[0], 0, answer.Size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("shared memory: map: %w", err)
	}
	_ = unix.Close(descriptors[0]) // the map stays
	if err := unix.SetNonblock(descriptors[1], true); err != nil {
		_ = unix.Close(descriptors[1])
		_ = unix.Munmap(mapped)
		return nil, fmt.Errorf("shared memory: %w", err)
	}
	return &Conn{mapped: mapped, from: answer.Next, socket: socket, wake: os.NewFile(uintptr(descriptors[1]), "eventfd")}, nil
}

func parseAnswer(packet []byte) (Answer, error) {
	var answer Answer
	switch err := json.Unmarshal(packet, &answer); {
	case len(packet) == 0:
		return answer, fmt.Errorf("shared memory: %w", net.ErrClosed)
	case err != nil:
		return answer, fmt.Errorf("shared memory: the answer: %w", err)
	case answer.Error != "":
		return answer, &Refusal{Code: answer.Code, Message: answer.Error}
	case answer.Version != Version:
		return answer, fmt.Errorf("%w: version %d", ErrLayout, answer.Version)
	}
	return answer, nil
}

// descriptors are those that came with a packet.
func descriptors(control []byte) []int {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil
	}
	var all []int
	for _, message := range messages {
		if fds, err := unix.ParseUnixRights(&message); err == nil {
			all = append(all, fds...)
		}
	}
	return all
}

// watch waits for the end of the connection.
func (c *Conn) watch() {
	defer close(c.watched)
	packet := make([]byte, MaxPacket)
	n, err := c.socket.Read(packet)
	if err == nil {
		_, err = parseAnswer(packet[:n])
	}
	if err == nil {
		err = errors.New("shared memory: the server said something that this version does not know")
	}
	c.mu.Lock()
	c.ended = err
	c.mu.Unlock()
	_ = c.wake.SetReadDeadline(time.Unix(1, 0))
}

func (c *Conn) end() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// Next returns the next item, and waits for it. The error is that of ctx, a *Refusal
// when nothing comes any more, or that the server is gone.
func (c *Conn) Next(ctx context.Context) (Item, error) {
	if item, ok := c.Read(); ok {
		return item, nil
	}
	stop := context.AfterFunc(ctx, func() { _ = c.wake.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var count [8]byte
	for {
		// The server adds after it has written: what is read here once is looked for after.
		_, err := c.wake.Read(count[:])
		if item, ok := c.Read(); ok {
			return item, nil
		}
		switch ended := c.end(); {
		case ended != nil:
			return Item{}, ended
		case ctx.Err() != nil:
			return Item{}, ctx.Err()
		case err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.EAGAIN):
			return Item{}, fmt.Errorf("shared memory: %w", err)
		case err != nil: // an earlier Next was called off
			_ = c.wake.SetReadDeadline(time.Time{})
			// An end that came meanwhile, of either kind, is lost with the deadline.
			if ended := c.end(); ended != nil {
				return Item{}, ended
			}
			if ctx.Err() != nil {
				return Item{}, ctx.Err()
			}
		}
	}
}

// Close gives the memory back. Not while Next runs.
func (c *Conn) Close() error {
	c.socket.Close()
	<-c.watched
	c.unmap()
	return nil
}

func (c *Conn) release() {
	c.socket.Close()
	c.unmap()
}

func (c *Conn) unmap() {
	c.wake.Close()
	_ = unix.Munmap(c.mapped)
}
