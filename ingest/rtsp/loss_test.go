package rtsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// afterLoss returns how many pictures came after the first that tells of a loss.
func afterLoss(shots []shot) int {
	seen := pictures(shots)
	for i, s := range seen {
		if s.lost > 0 {
			return len(seen) - i
		}
	}
	return 0
}

func TestAfterALostPacketNothingIsHandedOnBeforeTheNextKeyframe(t *testing.T) {
	t.Parallel()
	// Packets of 400 bytes: parameter sets are 0 and 1, the keyframe's slices
	// follow, and its GOP has some hundreds in all. H.265 has one set more.
	type row struct {
		clip   string
		packet int
		whole  bool // what is lost is before the picture, so that nothing of it is missing
	}
	var rows []row
	for _, clip := range []string{"h264", "h264-bframes", "h264-slices", "h265", "h265-bframes"} {
		for _, packet := range []int{0, 1, 5, 12, 60, 151} {
			rows = append(rows, row{clip, packet, packet == 0})
		}
	}
	var cameras []rtsptest.CameraConfig
	name := func(r row) string { return fmt.Sprintf("%s-%d", r.clip, r.packet) }
	for _, row := range rows {
		cameras = append(cameras, rtsptest.CameraConfig{
			Path: name(row), Clip: row.clip, AAC: true, PacketSize: 400, Start: rtsptest.StartNext,
			Faults: []rtsptest.Fault{{Do: rtsptest.DropPacket(row.packet)}},
		})
	}
	// The fault is armed before the first keyframe, whose loss only delays the
	// start: so it is done again while the stream runs.
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server, over(camera.TransportTCP))...)
	for _, row := range rows {
		r.untilShots(t, name(row), "pictures", func(shots []shot) bool { return len(pictures(shots)) > 0 })
		do(t, server.Camera(name(row)), rtsptest.DropPacket(row.packet))
	}
	for _, row := range rows {
		t.Run(name(row), func(t *testing.T) {
			ref := loadReference(t, row.clip)
			seen := pictures(r.untilShots(t, name(row), "the keyframe after the loss", func(shots []shot) bool {
				return afterLoss(shots) > 3
			}))
			places := ref.follow(t, seen)
			for i, s := range seen {
				if i == 0 || s.lost == 0 {
					continue
				}
				gap := (places[i] - places[i-1] + rtsptest.ClipPictures) % rtsptest.ClipPictures
				if !s.key || (gap == 1) != row.whole {
					t.Errorf("after the loss: keyframe %v, %d pictures on, want the picture itself touched: %v", s.key, gap, !row.whole)
				}
				// A lost packet, and the pictures that were no use without it.
				if most := uint32(rtsptest.GOPPictures + 2); s.lost > most || int(s.lost) < gap-1 {
					t.Errorf("%d said to be lost before a keyframe %d pictures on", s.lost, gap)
				}
			}
			ref.hear(t, sound(r.tape(name(row)).shots()))
			if s := r.status(t, name(row)); s.LostPackets < 1 || s.LostPackets > 2 || s.Reconnects != 0 || s.State != camera.StateLive {
				t.Errorf("status %+v", s)
			}
		})
	}
}

func TestWithPacketsLostAtRandomEveryFrameHandedOnIsBitExact(t *testing.T) {
	t.Parallel()
	clips := []string{"h264", "h264-bframes", "h264-slices", "h265", "h265-bframes"}
	var cameras []rtsptest.CameraConfig
	for _, clip := range clips {
		for _, transport := range []rtsptest.Transport{rtsptest.TransportTCP, rtsptest.TransportUDP} {
			cameras = append(cameras, rtsptest.CameraConfig{
				Path: clip + "-" + string(transport), Clip: clip, AAC: true, PacketSize: 400, Transport: transport,
				Faults: []rtsptest.Fault{{Do: rtsptest.DropPercent(0.5)}},
			})
		}
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	for _, c := range cameras {
		t.Run(c.Path, func(t *testing.T) {
			ref := loadReference(t, c.Clip)
			shots := r.untilShots(t, c.Path, "pictures after a few losses", func(shots []shot) bool {
				told := 0
				for _, s := range shots {
					if s.lost > 0 {
						told++
					}
				}
				return told >= 2
			})
			ref.follow(t, pictures(shots))
			ref.hear(t, sound(shots))
			if s := r.status(t, c.Path); s.LostPackets < 2 || s.Reconnects != 0 || string(s.Transport) != string(c.Transport) {
				t.Errorf("status %+v", s)
			}
			if n := r.discarded(c.Path, "awaiting_keyframe") + r.discarded(c.Path, "loss"); n == 0 {
				t.Error("nothing was counted as discarded")
			}
			if text := r.log.of(c.Path, "level=WARN"); strings.Contains(text, "lost") {
				t.Errorf("loss of packets is in the log: %s", text)
			}
		})
	}
}
