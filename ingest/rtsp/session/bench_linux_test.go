package session

import (
	"net"
	"testing"

	"golang.org/x/net/ipv4"
)

// BenchmarkBatch is the reading of 32 datagrams, per datagram, by our call and by
// that of golang.org/x/net. Their sending is not timed.
func BenchmarkBatch(b *testing.B) {
	const count = 32
	for name, open := range map[string]func(conn *net.UDPConn) func() (int, error){
		"reader=own": func(conn *net.UDPConn) func() (int, error) {
			raw, err := conn.SyscallConn()
			if err != nil {
				b.Fatal(err)
			}
			all := newBatch(NewBuffers(count), count, datagramBytes)
			var n int
			var failed error
			read := func(fd uintptr) bool {
				n, failed = all.read(fd)
				for i := range n {
					if !all.from(i).IsLoopback() {
						b.Error("not from loopback")
					}
				}
				return n > 0 || failed != nil
			}
			return func() (int, error) {
				if err := raw.Read(read); err != nil {
					return 0, err
				}
				return n, failed
			}
		},
		"reader=xnet": func(conn *net.UDPConn) func() (int, error) {
			messages := make([]ipv4.Message, count)
			for i := range messages {
				messages[i].Buffers = [][]byte{make([]byte, datagramBytes)}
			}
			in := ipv4.NewPacketConn(conn)
			return func() (int, error) {
				n, err := in.ReadBatch(messages, 0)
				for i := range n {
					if !messages[i].Addr.(*net.UDPAddr).IP.IsLoopback() {
						b.Error("not from loopback")
					}
				}
				return n, err
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			sender, err := net.DialUDP("udp4", nil, conn.LocalAddr().(*net.UDPAddr))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = sender.Close() }()
			read, packet := open(conn), make([]byte, 1400)
			b.ReportAllocs()
			for done := 0; done < b.N; {
				b.StopTimer()
				for range count {
					if _, err := sender.Write(packet); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				for left := count; left > 0; {
					n, err := read()
					if err != nil {
						b.Fatal(err)
					}
					left -= n
					done += n
				}
			}
		})
	}
}
