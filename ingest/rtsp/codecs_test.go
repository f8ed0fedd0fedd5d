package rtsp

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/camera"
	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/pcm"
	"github.com/drover-video/drover/ingest/rtsptest"
)

// soundFile reads a round of a simulated camera's sound.
func soundFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(rtsptest.ClipDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// decodeFLAC has ffmpeg decode frames, as one file.
func decodeFLAC(t *testing.T, shots []shot) []int16 {
	t.Helper()
	info := shots[0].params.AudioConfig
	file := append([]byte("fLaC"), 0x80, 0, 0, byte(len(info)))
	file = append(file, info...)
	for _, s := range shots {
		file = append(file, s.payload...)
	}
	path := filepath.Join(t.TempDir(), "sound.flac")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), "ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", path, "-f", "s16le", "-")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("ffmpeg: %v\n%s", err, said.String())
	}
	samples := make([]int16, len(out)/2)
	for i := range samples {
		samples[i] = int16(binary.LittleEndian.Uint16(out[2*i:]))
	}
	return samples
}

func TestTelephoneSoundArrivesSampleForSample(t *testing.T) {
	t.Parallel()
	rows := []struct {
		config      rtsptest.CameraConfig
		codec, file string
		packetBytes int
		decode      func() func([]int16, []byte) []int16
		clock, rate int
	}{
		{rtsptest.CameraConfig{Path: "pcma", PCMA: true}, "PCMA", "tick.alaw", 160, always(pcm.AppendALaw), 8000, 8000},
		{rtsptest.CameraConfig{Path: "pcmu", Sound: rtsptest.PCMU}, "PCMU", "tick.ulaw", 160, always(pcm.AppendMuLaw), 8000, 8000},
		{rtsptest.CameraConfig{Path: "g722", Sound: rtsptest.G722}, "G722", "tick.g722", 160,
			func() func([]int16, []byte) []int16 { return new(pcm.G722).Append }, 8000, 16000},
		{rtsptest.CameraConfig{Path: "l16", Sound: rtsptest.L16}, "L16", "tick.l16", 640, always(pcm.AppendL16), 16000, 16000},
		{rtsptest.CameraConfig{Path: "udp", PCMA: true, Transport: rtsptest.TransportUDP}, "PCMA", "tick.alaw", 160, always(pcm.AppendALaw), 8000, 8000},
	}
	var cameras []rtsptest.CameraConfig
	for _, row := range rows {
		cameras = append(cameras, row.config)
	}
	server := rtsptest.Start(t, cameras...)
	r := pull(t, nil, specsOf(t, server)...)
	ref := loadReference(t, "h264")
	for _, row := range rows {
		t.Run(row.config.Path, func(t *testing.T) {
			shots := r.untilShots(t, row.config.Path, "two seconds of sound", func(shots []shot) bool { return len(sound(shots)) > 33 })
			ref.follow(t, pictures(shots))
			heard := sound(shots)
			for i, s := range heard {
				if s.params != heard[0].params || s.rate != row.clock || s.lost != 0 || !s.key {
					t.Fatalf("frame %d: %+v of clock %d, %d lost", i, s.params, s.rate, s.lost)
				}
				if i > 0 && !near(s.pts-heard[i-1].pts, int64(3*row.clock/50)) {
					t.Errorf("frame %d comes %d ticks after the one before", i, s.pts-heard[i-1].pts)
				}
			}
			if p := heard[0].params; p.Codec != media.CodecFLAC || p.SampleRate != row.rate || p.Channels != 1 {
				t.Errorf("params %+v", p)
			}
			if got := decodeFLAC(t, heard); !startsSomewhere(got, soundFile(t, row.file), row.packetBytes, row.decode) {
				t.Errorf("%d samples, and others than those that the camera sent", len(got))
			}
			tracks := r.status(t, row.config.Path).Tracks
			if len(tracks) != 2 {
				t.Fatalf("tracks %+v", tracks)
			}
			if a := tracks[1]; a.Codec != row.codec || a.DeliveredAs != "FLAC" || !a.Playable || a.MPEGTS || a.Reason != "" || a.SampleRate != row.rate {
				t.Errorf("track %+v", a)
			}
			if n := r.log.count(row.config.Path, "level=WARN"); n != 0 {
				t.Errorf("%d warnings:\n%s", n, r.log.of(row.config.Path, "WARN"))
			}
		})
	}
}

func always(decode func([]int16, []byte) []int16) func() func([]int16, []byte) []int16 {
	return func() func([]int16, []byte) []int16 { return decode }
}

// startsSomewhere reports whether samples are what a round of packets holds, from
// one of its packets on.
func startsSomewhere(got []int16, round []byte, packetBytes int, open func() func([]int16, []byte) []int16) bool {
	for start := 0; start < len(round); start += packetBytes {
		decode := open()
		at := start
		left := got
		for len(left) > 0 {
			samples := decode(nil, round[at:at+packetBytes])
			if len(left) < len(samples) || !slices.Equal(left[:len(samples)], samples) {
				break
			}
			left = left[len(samples):]
			at = (at + packetBytes) % len(round)
		}
		if len(left) == 0 {
			return true
		}
	}
	return false
}

func TestOpusAndLATMArriveBitExact(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "opus", Sound: rtsptest.Opus},
		rtsptest.CameraConfig{Path: "latm", Sound: rtsptest.LATM})
	r := pull(t, nil, specsOf(t, server)...)
	ref := loadReference(t, "h264")
	t.Run("opus", func(t *testing.T) {
		heard := sound(r.untilShots(t, "opus", "two seconds of sound", func(shots []shot) bool { return len(sound(shots)) > 100 }))
		round := soundFile(t, "tick.opus")[:400*160]
		all := strings.Repeat(string(round), 2)
		at := strings.Index(all, heard[0].payload)
		for i, s := range heard {
			if at < 0 || s.payload != all[(at+160*i)%len(round):][:160] {
				t.Fatalf("frame %d is not the camera's", i)
			}
			if s.params.Codec != media.CodecOpus || s.rate != 48000 || s.params.Channels != 2 {
				t.Fatalf("frame %d: %+v of clock %d", i, s.params, s.rate)
			}
		}
		if a := r.status(t, "opus").Tracks[1]; a.Codec != "Opus" || a.DeliveredAs != "" || !a.Playable || a.MPEGTS || a.SampleRate != 48000 {
			t.Errorf("track %+v", a)
		}
	})
	t.Run("latm", func(t *testing.T) {
		heard := sound(r.untilShots(t, "latm", "two seconds of sound", func(shots []shot) bool { return len(sound(shots)) > 32 }))
		ref.hear(t, heard)
		if a := r.status(t, "latm").Tracks[1]; a.Codec != "AAC" || a.DeliveredAs != "" || !a.Playable || !a.MPEGTS || a.SampleRate != 16000 {
			t.Errorf("track %+v", a)
		}
	})
}

func TestMJPEGArrivesForSnapshots(t *testing.T) {
	t.Parallel()
	server := rtsptest.Start(t,
		rtsptest.CameraConfig{Path: "mjpeg", Clip: "mjpeg", Sound: rtsptest.PCMU},
		rtsptest.CameraConfig{Path: "udp", Clip: "mjpeg", Transport: rtsptest.TransportUDP, PacketSize: 1000})
	r := pull(t, nil, specsOf(t, server)...)
	clip, err := rtsptest.LoadClip(rtsptest.ClipDir(t), "mjpeg")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"mjpeg", "udp"} {
		t.Run(path, func(t *testing.T) {
			seen := pictures(r.untilShots(t, path, "pictures", func(shots []shot) bool { return len(pictures(shots)) > 30 }))
			at := -1
			for i, s := range seen[:10] {
				got := decodeJPEG(t, []byte(s.payload))
				if at < 0 {
					at = slices.IndexFunc(clip.Pictures, func(p rtsptest.Picture) bool { return samePicture(got, decodeJPEG(t, p.NALUs[0])) })
				}
				if at < 0 || !samePicture(got, decodeJPEG(t, clip.Pictures[(at+i)%rtsptest.ClipPictures].NALUs[0])) {
					t.Fatalf("picture %d is not the one after those before", i)
				}
				if s.params.Codec != media.CodecJPEG || s.params.Width != 480 || s.params.Height != 272 || !s.key || s.lost != 0 || s.pts != s.dts {
					t.Errorf("picture %d: %+v at %d, %d", i, s.params, s.pts, s.dts)
				}
			}
			v := r.status(t, path).Tracks[0]
			if v.Codec != "MJPEG" || v.Playable || v.MPEGTS || v.Width != 480 || !strings.Contains(v.Reason, "snapshots") {
				t.Errorf("track %+v", v)
			}
			picture, err := r.registry.Picture(path)
			if err != nil || picture.At.IsZero() {
				t.Fatalf("snapshot: %v at %v", err, picture.At)
			}
			if size := decodeJPEG(t, picture.JPEG).Rect.Size(); size != image.Pt(480, 272) {
				t.Errorf("snapshot of %v", size)
			}
		})
	}
	if _, err := r.registry.Picture("nobody"); err != camera.ErrNotFound {
		t.Errorf("snapshot of no camera: %v", err)
	}
}

func decodeJPEG(t *testing.T, file []byte) *image.YCbCr {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return img.(*image.YCbCr)
}

func samePicture(a, b *image.YCbCr) bool {
	return a.Rect == b.Rect && bytes.Equal(a.Y, b.Y) && bytes.Equal(a.Cb, b.Cb) && bytes.Equal(a.Cr, b.Cr)
}
