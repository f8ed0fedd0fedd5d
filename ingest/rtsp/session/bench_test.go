package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// A tally counts packets and ends a run when all have come.
type tally struct {
	packets, batches, want int
	enough                 context.CancelFunc
}

func (c *tally) RTP(int, []byte, time.Time) {
	if c.packets++; c.packets == c.want {
		c.enough()
	}
}
func (c *tally) RTCP(int, []byte, time.Time) {}
func (c *tally) BatchEnd()                   { c.batches++ }

// loopback returns the two ends of a TCP connection.
func loopback(b *testing.B) (client, server net.Conn) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	client, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	server, err = listener.Accept()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = client.Close(), server.Close() })
	return client, server
}

// burst is as much as a large picture in packets of an Ethernet's size.
func burst() (wire []byte, packets int) {
	var all strings.Builder
	for i := range uint16(46) {
		all.WriteString(frame(0, rtp('V', i, strings.Repeat("x", 1400))))
	}
	return []byte(all.String()), 46
}

// BenchmarkInterleavedRead is the whole of Run, per packet of 1.4 KB, from a
// camera on a loopback connection that sends as fast as it can, with read
// buffers of several sizes. It is what scanBufferBytes was chosen by.
func BenchmarkInterleavedRead(b *testing.B) {
	wire, each := burst()
	for _, size := range []int{4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("buffer=%dK", size>>10), func(b *testing.B) {
			client, server := loopback(b)
			s := &Session{options: Options{}.withDefaults(), medias: []Media{{Kind: "video"}}, turn: make(chan struct{}, 1)}
			s.turn <- struct{}{}
			s.closing, s.close = context.WithCancelCause(context.Background())
			s.tracks = []*track{{receiver: receiver{clockRate: 90000}}}
			s.channels[0], s.channels[1] = 1, 2
			s.talk = &conversation{conn: client, in: newScanner(size, s.plausible, s.certain), lifetime: time.Minute, abandoned: map[int]string{}}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					if _, err := server.Write(wire); err != nil {
						return
					}
				}
			}()
			ctx, cancel := context.WithCancel(b.Context())
			count := &tally{want: max(b.N, each), enough: cancel}
			b.ReportAllocs()
			b.SetBytes(int64(len(wire) / each))
			b.ResetTimer()
			if err := s.Run(ctx, count); !errors.Is(err, context.Canceled) {
				b.Error(err)
			}
			b.StopTimer()
			b.ReportMetric(float64(count.packets)/float64(count.batches), "packets/read")
			_ = server.Close()
			<-done
		})
	}
}

// BenchmarkScan is the cutting and counting alone, per packet.
func BenchmarkScan(b *testing.B) {
	wire, each := burst()
	s := &Session{medias: []Media{{Kind: "video"}}, tracks: []*track{{receiver: receiver{clockRate: 90000}}}}
	s.channels[0], s.channels[1] = 1, 2
	s.talk = &conversation{in: newScanner(len(wire), s.plausible, s.certain)}
	count := &tally{}
	now := time.Now()
	b.ReportAllocs()
	for i := 0; i < b.N; i += each {
		if _, err := s.talk.in.fill(bytes.NewReader(wire)); err != nil {
			b.Fatal(err)
		}
		if err := s.consume(count, now); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUDPRead is the whole of Run over UDP, per packet of 1.4 KB.
func BenchmarkUDPRead(b *testing.B) {
	client, server := loopback(b)
	pair, err := openPair(client.LocalAddr())
	if err != nil {
		b.Fatal(err)
	}
	defer pair.close()
	s := &Session{options: Options{Transport: UDP}.withDefaults(), medias: []Media{{Kind: "video"}}, turn: make(chan struct{}, 1)}
	s.turn <- struct{}{}
	s.closing, s.close = context.WithCancelCause(context.Background())
	s.talk = &conversation{conn: client, in: newScanner(scanBufferBytes, s.plausible, s.certain), lifetime: time.Minute, abandoned: map[int]string{}}
	pair.peer = client.LocalAddr().(*net.TCPAddr).AddrPort().Addr().Unmap()
	s.tracks = []*track{{receiver: receiver{clockRate: 90000}, udp: pair}}

	sender, err := net.Dial("udp", pair.rtp.LocalAddr().String())
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		packet := []byte(rtp('V', 1, strings.Repeat("x", 1400)))
		for {
			if _, err := sender.Write(packet); errors.Is(err, net.ErrClosed) {
				return
			}
		}
	}()
	ctx, cancel := context.WithCancel(b.Context())
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(ctx, &tally{want: b.N, enough: cancel}); !errors.Is(err, context.Canceled) {
		b.Error(err)
	}
	b.StopTimer()
	_ = sender.Close()
	_ = server.Close()
	<-done
}
