package rtsp

import (
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A feeder makes RTP packets of a clip, for peers.
type feeder struct {
	clip     *rtsptest.Clip
	next     int // picture of the clip, counting rounds on
	sequence uint16
	base     uint32 // RTP timestamp of the clip's beginning
	size     int    // most bytes of a NAL unit in one packet

	frames        int // of sound
	soundSequence uint16
}

func newFeeder(clip *rtsptest.Clip) *feeder {
	return &feeder{clip: clip, sequence: 100, base: 1000, size: 1200}
}

// timestamp is that of the next picture.
func (f *feeder) timestamp() uint32 {
	round, place := f.next/len(f.clip.Pictures), f.next%len(f.clip.Pictures)
	return f.base + uint32(int64(round)*roundTicks+f.clip.Pictures[place].PTS)
}

// atKeyframe reports whether the next picture is one.
func (f *feeder) atKeyframe() bool { return f.clip.Pictures[f.next%len(f.clip.Pictures)].Keyframe }

// nals returns the next picture's NAL units.
func (f *feeder) nals() [][]byte { return f.clip.Pictures[f.next%len(f.clip.Pictures)].NALUs }

// sets returns the packets of the clip's parameter sets, of the next picture's
// time.
func (f *feeder) sets() [][]byte {
	var packets [][]byte
	for _, set := range f.clip.Parameters {
		packets = append(packets, f.packet(false, set))
	}
	return packets
}

// picture returns the packets of the next picture, without parameter sets, and
// goes on to the one after it.
func (f *feeder) picture() [][]byte {
	var packets [][]byte
	nals := f.nals()
	for i, nal := range nals {
		packets = append(packets, f.nal(nal, i == len(nals)-1)...)
	}
	f.next++
	return packets
}

// unit is picture, with the parameter sets before a keyframe.
func (f *feeder) unit() [][]byte {
	if f.atKeyframe() {
		return append(f.sets(), f.picture()...)
	}
	return f.picture()
}

// nal returns the packets of a NAL unit: one, or fragments (RFC 6184 5.8, RFC
// 7798 4.4.3).
func (f *feeder) nal(nal []byte, last bool) [][]byte {
	if len(nal) <= f.size {
		return [][]byte{f.packet(last, nal)}
	}
	header, kind, body := []byte{nal[0]&0xe0 | 28}, nal[0]&0x1f, nal[1:]
	if f.clip.Codec == rtsptest.H265 {
		header, kind, body = []byte{nal[0]&0x81 | 49<<1, nal[1]}, nal[0]>>1&0x3f, nal[2:]
	}
	var packets [][]byte
	for first := true; len(body) > 0; first = false {
		n := min(len(body), f.size)
		flags := kind
		if first {
			flags |= 0x80
		}
		if n == len(body) {
			flags |= 0x40
		}
		payload := append(append(append([]byte(nil), header...), flags), body[:n]...)
		packets = append(packets, f.packet(last && n == len(body), payload))
		body = body[n:]
	}
	return packets
}

// packet returns a packet of the next picture's time.
func (f *feeder) packet(marker bool, payload []byte) []byte {
	f.sequence++
	return rtsptest.RTP(96, marker, f.sequence-1, f.timestamp(), 0x1234, payload)
}

// sound returns the packet of the clip's next AAC frame (RFC 3640, AAC-hbr).
func (f *feeder) sound() []byte {
	frame := f.clip.AAC[f.frames%len(f.clip.AAC)]
	payload := append([]byte{0, 16, byte(len(frame) >> 5), byte(len(frame) << 3)}, frame...)
	packet := rtsptest.RTP(97, true, f.soundSequence, uint32(f.frames*1024), 0x5678, payload)
	f.frames++
	f.soundSequence++
	return packet
}

// stream sends picture after picture, parameter sets before each keyframe, until
// the client is gone.
func (f *feeder) stream(s *playing) {
	for s.send(f.unit()...) && s.pause() {
	}
}

// streamBoth is stream with sound: 25 pictures for 15.625 frames of AAC.
func (f *feeder) streamBoth(s *playing) {
	for s.send(f.unit()...) {
		for f.frames*1000 < f.next*625 {
			if !s.sendOn(1, f.sound()) {
				return
			}
		}
		if !s.pause() {
			return
		}
	}
}

// h264SDP describes one H.264 track without parameter sets; the lines are added
// to it.
func h264SDP(lines ...string) string { return videoSDP("H264", lines...) }

func videoSDP(codec string, lines ...string) string {
	return "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\na=control:*\r\n" +
		"m=video 0 RTP/AVP 96\r\na=rtpmap:96 " + codec + "/90000\r\na=control:trackID=0\r\n" + sdpLines(lines...)
}

func sdpLines(lines ...string) string {
	text := ""
	for _, line := range lines {
		text += line + "\r\n"
	}
	return text
}

// aacLines is a track of the clips' sound.
func aacLines() []string {
	return []string{
		"m=audio 0 RTP/AVP 97", "a=rtpmap:97 MPEG4-GENERIC/16000/1",
		"a=fmtp:97 streamtype=5;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=1408",
		"a=control:trackID=1",
	}
}

func loadClip(t testing.TB, name string) *rtsptest.Clip {
	t.Helper()
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return clip
}

// goTo makes another picture the next, a picture's time after the last.
func (f *feeder) goTo(clip *rtsptest.Clip, picture int) {
	at := f.timestamp()
	f.clip, f.next = clip, picture
	f.base += at - f.timestamp()
}

// run returns the packets of so many units, each for itself.
func (f *feeder) run(units int) [][][]byte {
	var all [][][]byte
	for range units {
		all = append(all, f.unit())
	}
	return all
}

// sendAll sends units at the pace of pictures.
func (s *playing) sendAll(units [][][]byte) bool {
	for _, packets := range units {
		if !s.send(packets...) || !s.pause() {
			return false
		}
	}
	return true
}
