package rtsp_test

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/ingest/rtsp"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// The stream of the benchmarks: about 2 Mbit/s at 25 pictures a second, if it
// were sent in time. A picture is eight packets, a keyframe 40.
const (
	benchPayload  = 1400
	benchPicture  = 8
	benchKeyframe = 40
	benchGOP      = 50
)

// benchGOPFrames returns a GOP as interleaved frames of H.264, to be stamped anew
// each round, and the parameter sets for the SDP.
func benchGOPFrames(tb testing.TB) (frames [][]byte, sets string) {
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(tb), "h264")
	if err != nil {
		tb.Fatal(err)
	}
	var coded []string
	for _, set := range clip.Parameters {
		coded = append(coded, base64.StdEncoding.EncodeToString(set))
	}
	for picture := range benchGOP {
		kind, packets := byte(1), benchPicture
		if picture == 0 {
			kind, packets = 5, benchKeyframe
		}
		for i := range packets {
			payload := make([]byte, benchPayload)
			payload[0], payload[1], payload[2] = 3<<5|28, kind, 0x9a // FU-A
			switch i {
			case 0:
				payload[1] |= 0x80
			case packets - 1:
				payload[1] |= 0x40
			}
			packet := rtsptest.RTP(96, i == packets-1, 0, 0, 0x1234, payload)
			frames = append(frames, append([]byte{'$', 0, byte(len(packet) >> 8), byte(len(packet))}, packet...))
		}
	}
	return frames, strings.Join(coded, ",")
}

// A stamper numbers the frames of a GOP, round after round.
type stamper struct {
	frames   [][]byte
	next     int
	sequence uint16
	ticks    uint32
}

func (s *stamper) frame() []byte {
	frame := s.frames[s.next]
	binary.BigEndian.PutUint16(frame[4+2:], s.sequence)
	binary.BigEndian.PutUint32(frame[4+4:], s.ticks)
	if frame[4+1]&0x80 != 0 {
		s.ticks += 3600
	}
	s.sequence++
	s.next = (s.next + 1) % len(s.frames)
	return frame
}

// benchCamera is a camera that sends as fast as it is read, up to a number of
// packets.
type benchCamera struct {
	frames  [][]byte
	sdp     string
	packets chan int      // how many to send more
	arrived func() uint64 // bytes of RTP that came, for who must not outrun a socket
}

func (c *benchCamera) talk(conn *rtsptest.ScriptConn) {
	send := conn.Write
	for {
		request, err := conn.ReadRequest()
		if err != nil {
			return
		}
		switch request.Method {
		case "DESCRIBE":
			err = conn.Reply(request, c.sdp)
		case "SETUP":
			offer := request.Header("Transport")
			if _, ports, udp := strings.Cut(offer, "client_port="); udp {
				socket := c.dial(ports)
				defer func() { _ = socket.Close() }()
				send = func(frame []byte) error { _, err := socket.Write(frame[4:]); return err }
			}
			err = conn.Reply(request, "", "Session: 77", "Transport: "+offer)
		case "PLAY":
			if err = conn.Reply(request, "", "Session: 77"); err == nil {
				c.play(conn, send)
				return
			}
		default:
			err = conn.Reply(request, "", "Session: 77")
		}
		if err != nil {
			return
		}
	}
}

func (c *benchCamera) dial(ports string) net.Conn {
	port, _, _ := strings.Cut(ports, "-")
	socket, err := net.Dial("udp", "127.0.0.1:"+port)
	if err != nil {
		panic(err)
	}
	return socket
}

func (c *benchCamera) play(conn *rtsptest.ScriptConn, send func(frame []byte) error) {
	gone := make(chan struct{})
	var answering sync.WaitGroup
	defer answering.Wait()
	answering.Go(func() {
		defer close(gone)
		conn.Answer()
	})
	s := stamper{frames: c.frames}
	sent, arrived := uint64(0), uint64(0)
	for {
		var n int
		select {
		case n = <-c.packets:
		case <-gone:
			return
		}
		for range n {
			frame := s.frame()
			if send(frame) != nil {
				return
			}
			sent += uint64(len(frame) - 4)
			// Some pictures ahead, which the smallest receive buffer has room for.
			for sent > arrived+80*benchPayload {
				if arrived = c.arrived(); sent > arrived+80*benchPayload {
					time.Sleep(20 * time.Microsecond)
				}
			}
		}
	}
}

type noCameras struct{}

func (noCameras) Cameras(context.Context) ([]camera.Spec, error)  { return nil, nil }
func (noCameras) AddCamera(context.Context, camera.Spec) error    { return errors.ErrUnsupported }
func (noCameras) UpdateCamera(context.Context, camera.Spec) error { return errors.ErrUnsupported }
func (noCameras) RemoveCamera(context.Context, string) error      { return errors.ErrUnsupported }

// benchmarkPull is the whole way of a packet, from the socket to frames in the
// ring, and the sending of it on the same machine.
func benchmarkPull(b *testing.B, transport camera.Transport, batch int) {
	frames, sets := benchGOPFrames(b)
	source := &benchCamera{frames: frames, packets: make(chan int)}
	source.sdp = "v=0\r\ns=x\r\nm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n" +
		"a=fmtp:96 packetization-mode=1;sprop-parameter-sets=" + sets + "\r\na=control:trackID=0\r\n"
	spec := camera.Spec{ID: "door", Enabled: true, Sources: []camera.SourceSpec{{
		URL: "rtsp://" + rtsptest.Script(b, source.talk) + "/x", Transport: transport,
	}}}
	if err := spec.Normalize(); err != nil {
		b.Fatal(err)
	}
	registry, err := camera.NewRegistry(b.Context(), camera.Options{
		Open: rtsp.Open(rtsp.Options{Batch: batch}), Store: noCameras{}, Pool: media.NewPool(),
	}, []camera.Spec{spec})
	if err != nil {
		b.Fatal(err)
	}
	counters := func() camera.SourceCounters {
		if all := registry.Counters("door"); len(all) == 1 {
			return all[0]
		}
		return camera.SourceCounters{}
	}
	source.arrived = func() uint64 { return counters().BytesIn }
	if transport == camera.TransportTCP {
		source.arrived = func() uint64 { return 1 << 62 } // TCP waits by itself
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- registry.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}()
	deliver := func(packets int) {
		want := counters().BytesIn + uint64(packets*(benchPayload+12))
		source.packets <- packets
		for deadline := time.Now().Add(time.Minute); counters().BytesIn < want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				b.Fatalf("waited in vain for %d bytes: %+v", want, counters())
			}
		}
	}
	deliver(10 * len(frames)) // until all that is pooled is there
	before := counters()
	var start, end runtime.MemStats
	b.SetBytes(benchPayload)
	b.ReportAllocs()
	runtime.ReadMemStats(&start)
	b.ResetTimer()
	deliver(b.N)
	b.StopTimer()
	runtime.ReadMemStats(&end)
	// Those of the sender's looking at the counters are among them.
	b.ReportMetric(float64(end.Mallocs-start.Mallocs)/float64(b.N), "mallocs/packet")
	after := counters()
	b.ReportMetric(float64(b.N)/float64(max(after.Frames-before.Frames, 1)), "packets/frame")
	if lost := after.LostPackets - before.LostPackets; lost > 0 {
		b.Logf("%d of %d packets were lost", lost, b.N)
	}
}

func BenchmarkPullTCP(b *testing.B) { benchmarkPull(b, camera.TransportTCP, 0) }

func BenchmarkPullUDP(b *testing.B) {
	for _, batch := range []int{1, 32} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) { benchmarkPull(b, camera.TransportUDP, batch) })
	}
}
