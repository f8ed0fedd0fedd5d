package rtsptest

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

const (
	// queueItems is how many pictures and answers may wait for a slow client.
	queueItems = 64
	// writeTime ends a client that reads nothing at all.
	writeTime = 30 * time.Second
)

// hangUp is how a connection is to end.
type hangUp int

const (
	hangUpNot hangUp = iota
	hangUpClose
	hangUpReset
)

// item is something to write, in the order of the queue.
type item struct {
	buffer *[]byte // nil for none; media buffers go back to the server's pool
	media  bool
	remote remotes // for media over UDP
	hangUp hangUp
}

// conn is a client's connection. One goroutine reads requests and owns all
// fields, another writes what is queued.
type conn struct {
	server *Server
	net    net.Conn
	queue  chan item
	done   chan struct{} // closed when the reader has ended

	watchers  sync.WaitGroup // of a tunnel
	tunnelled bool

	nonce   string
	camera  *Camera // the last one named
	session *session
}

// remotes are the addresses that a client wants datagrams at, by the channel
// that interleaved frames of the media would have.
type remotes map[byte]*net.UDPAddr

// session is what SETUP began.
type session struct {
	id     string
	camera *Camera
	udp    bool
	setup  map[mediaKind]*rtpStream
	remote remotes // for UDP
	player *player // while playing
}

func newConn(s *Server, c net.Conn) *conn {
	return &conn{
		server: s,
		net:    c,
		queue:  make(chan item, queueItems),
		done:   make(chan struct{}),
		nonce:  fmt.Sprintf("%016x", rand.Uint64()),
	}
}

// serve ends with the connection.
func (c *conn) serve() {
	writerDone := make(chan struct{})
	go func() {
		defer close(writerDone)
		c.write()
	}()
	in, ok := bufio.NewReaderSize(c.net, maxLineSize), true
	if isHTTP(in) {
		in, ok = c.serveHTTP(in)
	}
	for ok {
		request, err := readRequest(in)
		if err != nil {
			break
		}
		c.handle(request)
		if c.session != nil {
			c.armTimeout(c.session.camera.snapshot().SessionTimeout)
		}
	}
	c.endSession("gone")
	c.attach(nil)
	_ = c.net.Close()
	close(c.done)
	<-writerDone
	c.watchers.Wait()
}

// armTimeout ends the connection unless another request comes in time.
// Interleaved reports do not count.
func (c *conn) armTimeout(timeout time.Duration) {
	if timeout > 0 {
		_ = c.net.SetReadDeadline(time.Now().Add(timeout))
	}
}

// push queues an item, or says that the queue is full.
func (c *conn) push(it item) bool {
	select {
	case c.queue <- it:
		return true
	default:
		return false
	}
}

// hangUp ends the connection after what is queued.
func (c *conn) hangUp(how hangUp) {
	if !c.push(item{hangUp: how}) {
		c.end(how)
	}
}

func (c *conn) end(how hangUp) {
	inner := c.net
	if secured, ok := inner.(*tls.Conn); ok {
		inner = secured.NetConn()
	}
	if tcp, ok := inner.(*net.TCPConn); ok && how == hangUpReset {
		_ = tcp.SetLinger(0) // so that closing sends RST
	}
	_ = c.net.Close()
}

func (c *conn) write() {
	for {
		select {
		case it := <-c.queue:
			c.writeItem(it)
		case <-c.done:
			return
		}
	}
}

func (c *conn) writeItem(it item) {
	if it.hangUp != hangUpNot {
		c.end(it.hangUp)
	}
	if it.buffer == nil {
		return
	}
	if it.remote != nil {
		c.writeUDP(*it.buffer, it.remote)
	} else {
		_ = c.net.SetWriteDeadline(time.Now().Add(writeTime))
		if _, err := c.net.Write(*it.buffer); err != nil {
			_ = c.net.Close() // the reader sees it and cleans up
		}
	}
	if it.media {
		c.server.buffers.Put(it.buffer)
	}
}

// writeUDP sends each interleaved frame as a datagram.
func (c *conn) writeUDP(block []byte, remote remotes) {
	for len(block) > 0 {
		size := framingSize + int(binary.BigEndian.Uint16(block[2:]))
		socket := c.server.udp.rtp
		if block[1]%2 == 1 {
			socket = c.server.udp.rtcp
		}
		// What a client does not take is lost, as on any network.
		_, _ = socket.WriteToUDP(block[framingSize:size], remote[block[1]])
		block = block[size:]
	}
}

// attach counts the connection at the camera it names.
func (c *conn) attach(camera *Camera) {
	if c.camera == camera {
		return
	}
	if c.camera != nil {
		c.camera.connected(-1)
	}
	if c.camera = camera; camera != nil {
		camera.connected(1)
	}
}
