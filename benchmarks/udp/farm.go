package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A farm is many cameras that play one clip by UDP. The packets are made once;
// what is sent is their payload as it is, behind a header of the camera's own, and
// a picture's packets go out in one system call, as a network card hands them over.
type farm struct {
	pictures [][][]byte // payloads of RTP
	sdp      string
	socket   *net.UDPConn

	mu      sync.Mutex
	players map[*player]bool
}

// A player is a camera that is being watched. The farm's pacer owns what it sends.
type player struct {
	phase    int
	to       *net.UDPAddr
	ssrc     uint32
	sequence uint16
	picture  int
	ticks    uint32
	headers  [][12]byte
	messages []ipv4.Message
}

const (
	payloadBytes = 1400
	// phases is how many parts of a picture's time the cameras are spread over.
	phases = 8
)

func newFarm(clip *rtsptest.Clip) (*farm, error) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	f := &farm{socket: socket, players: map[*player]bool{}}
	var sets []string
	for _, set := range clip.Parameters {
		sets = append(sets, base64.StdEncoding.EncodeToString(set))
	}
	f.sdp = "v=0\r\ns=farm\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n" +
		"a=fmtp:96 packetization-mode=1;sprop-parameter-sets=" + strings.Join(sets, ",") + "\r\na=control:trackID=0\r\n"
	for _, picture := range clip.Pictures {
		var payloads [][]byte
		for _, nalu := range picture.NALUs {
			payloads = appendPayloads(payloads, nalu)
		}
		f.pictures = append(f.pictures, payloads)
	}
	return f, nil
}

// appendPayloads appends a NAL unit, in fragments where it is large (RFC 6184 5.8).
func appendPayloads(dst [][]byte, nalu []byte) [][]byte {
	if len(nalu) <= payloadBytes {
		return append(dst, nalu)
	}
	head, body := nalu[0], nalu[1:]
	for first := true; len(body) > 0; first = false {
		n := min(len(body), payloadBytes-2)
		kind := head & 0x1f
		if first {
			kind |= 0x80
		}
		if n == len(body) {
			kind |= 0x40
		}
		dst = append(dst, append([]byte{head&0xe0 | 28, kind}, body[:n]...))
		body = body[n:]
	}
	return dst
}

// run serves until ctx ends.
func (f *farm) run(ctx context.Context, listener net.Listener) error {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	tasks.Go(func() { f.pace(ctx) })
	for number := uint32(0); ; number++ {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		tasks.Go(func() {
			undo := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer undo()
			f.talk(conn, number)
		})
	}
}

// talk has the conversation with one client.
func (f *farm) talk(conn net.Conn, number uint32) {
	defer func() { _ = conn.Close() }()
	p := &player{phase: int(number) % phases, ssrc: number + 1, picture: int(number) * 17 % len(f.pictures)}
	defer f.forget(p)
	in := textproto.NewReader(bufio.NewReader(conn))
	for {
		line, err := in.ReadLine()
		if err != nil {
			return
		}
		headers, err := in.ReadMIMEHeader()
		if err != nil {
			return
		}
		method, _, _ := strings.Cut(line, " ")
		more, body := "", ""
		switch method {
		case "DESCRIBE":
			body = f.sdp
			more = fmt.Sprintf("Content-Type: application/sdp\r\nContent-Length: %d\r\n", len(body))
		case "SETUP":
			_, ports, _ := strings.Cut(headers.Get("Transport"), "client_port=")
			first, _, _ := strings.Cut(ports, "-")
			port, err := strconv.Atoi(first)
			if err != nil {
				return // it is made for UDP
			}
			p.to = &net.UDPAddr{IP: conn.RemoteAddr().(*net.TCPAddr).IP, Port: port}
			more = "Transport: " + headers.Get("Transport") + "\r\n"
		case "PLAY":
			f.mu.Lock()
			f.players[p] = p.to != nil
			f.mu.Unlock()
		}
		if _, err := fmt.Fprintf(conn, "RTSP/1.0 200 OK\r\nCSeq: %s\r\nSession: %d\r\n%s\r\n%s", headers.Get("Cseq"), number+1, more, body); err != nil {
			return
		}
	}
}

func (f *farm) forget(p *player) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.players, p)
}

// pace has each camera send a picture in its part of every picture's time.
func (f *farm) pace(ctx context.Context) {
	const step = rtsptest.FrameDuration / phases
	out := ipv4.NewPacketConn(f.socket)
	begun := time.Now()
	for n := 0; ; n++ {
		if wait(ctx, time.Until(begun.Add(time.Duration(n)*step))) != nil {
			return
		}
		f.mu.Lock()
		for p, playing := range f.players {
			if playing && p.phase == n%phases {
				p.send(out, f.pictures)
			}
		}
		f.mu.Unlock()
	}
}

// send sends the next picture.
func (p *player) send(out *ipv4.PacketConn, pictures [][][]byte) {
	payloads := pictures[p.picture]
	p.picture = (p.picture + 1) % len(pictures)
	p.ticks += 3600
	p.messages = p.messages[:0]
	for len(p.headers) < len(payloads) {
		p.headers = append(p.headers, [12]byte{0x80})
	}
	for i, payload := range payloads {
		h := &p.headers[i]
		h[1] = 96
		if i == len(payloads)-1 {
			h[1] |= 0x80
		}
		binary.BigEndian.PutUint16(h[2:], p.sequence)
		binary.BigEndian.PutUint32(h[4:], p.ticks)
		binary.BigEndian.PutUint32(h[8:], p.ssrc)
		p.sequence++
		p.messages = append(p.messages, ipv4.Message{Buffers: [][]byte{h[:], payload}, Addr: p.to})
	}
	for rest := p.messages; len(rest) > 0; {
		n, err := out.WriteBatch(rest, 0)
		if err != nil {
			return // the client is gone, which its conversation tells
		}
		rest = rest[n:]
	}
}

// serveFarm is the process of the cameras. It says their URL up to the number, and
// ends with ctx.
func serveFarm(ctx context.Context, o options) error {
	clips, err := rtsptest.DefaultClipDir()
	if err != nil {
		return err
	}
	clip, err := rtsptest.LoadClip(clips, o.clip)
	if err != nil {
		return err
	}
	f, err := newFarm(clip)
	if err != nil {
		return err
	}
	defer func() { _ = f.socket.Close() }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("ready rtsp://%s/cam\n", listener.Addr())
	if err := f.run(ctx, listener); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
