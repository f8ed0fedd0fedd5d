package rtsptest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// What all clips have in common, so that a camera can change from one to
// another and sound stays with the picture (see make-clips.sh).
const (
	FrameDuration = 40 * time.Millisecond // between pictures
	ClipDuration  = 8 * time.Second       // of one round
	ClipPictures  = 200                   // in one round
	GOPPictures   = 50                    // from keyframe to keyframe

	videoClockHz      = 90000
	ticksPerPicture   = 3600 // of videoClockHz
	aacClockHz        = 16000
	aacFrameSamples   = 1024
	aacFrames         = 125 // in one round
	alawClockHz       = 8000
	alawPacketSamples = 160
)

// Codec is the codec of a clip's pictures.
type Codec string

// The codecs of clips.
const (
	H264 Codec = "H264"
	H265 Codec = "H265"
	JPEG Codec = "JPEG"
)

// Clip is a stretch of video and sound that can be played round and round.
// It does not change once loaded.
type Clip struct {
	Name       string
	Codec      Codec
	Parameters [][]byte // VPS (H.265), SPS, PPS: NAL units without start code
	Pictures   []Picture
	AAC        [][]byte // raw AAC-LC frames of 1024 samples, 16 kHz mono
	AACConfig  []byte   // AudioSpecificConfig
	ALaw       []byte   // G.711 A-law, 8 kHz

	sounds map[Sound]soundtrack

	reorderTicks int64 // most that a PTS is ahead of the picture's place in decoding order
}

// Picture is an access unit of a clip.
type Picture struct {
	NALUs    [][]byte // without start codes, without parameter sets; of JPEG one file
	Keyframe bool
	PTS      int64 // from the start of the clip, in ticks of 90 kHz
}

// LoadClip reads a clip from a folder that MakeClips has filled.
func LoadClip(dir, name string) (*Clip, error) {
	clip := &Clip{Name: name, Codec: H264}
	stream, err := os.ReadFile(filepath.Join(dir, name+".h264"))
	if os.IsNotExist(err) {
		clip.Codec = H265
		stream, err = os.ReadFile(filepath.Join(dir, name+".h265"))
	}
	if os.IsNotExist(err) {
		clip.Codec = JPEG
		stream, err = os.ReadFile(filepath.Join(dir, name+".mjpeg"))
	}
	if err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	times, err := os.ReadFile(filepath.Join(dir, name+".csv"))
	if err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	if err := clip.setVideo(stream, string(times)); err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	adts, err := os.ReadFile(filepath.Join(dir, "tick.aac"))
	if err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	if clip.AACConfig, clip.AAC, err = splitADTS(adts); err != nil {
		return nil, fmt.Errorf("clip %s: tick.aac: %w", name, err)
	}
	// The first frame is the encoder's lead-in and sounds before time zero.
	if len(clip.AAC) < aacFrames+1 {
		return nil, fmt.Errorf("clip %s: tick.aac has %d frames, needs %d", name, len(clip.AAC), aacFrames+1)
	}
	clip.AAC = clip.AAC[1 : aacFrames+1]
	if clip.ALaw, err = os.ReadFile(filepath.Join(dir, "tick.alaw")); err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	if want := int(ClipDuration.Seconds()) * alawClockHz; len(clip.ALaw) != want {
		return nil, fmt.Errorf("clip %s: tick.alaw has %d bytes, needs %d", name, len(clip.ALaw), want)
	}
	if clip.sounds, err = loadSounds(dir, clip); err != nil {
		return nil, fmt.Errorf("clip %s: %w", name, err)
	}
	return clip, nil
}

func (c *Clip) setVideo(stream []byte, times string) error {
	if c.Codec == JPEG {
		c.Pictures = splitJPEG(stream)
	} else {
		c.Pictures = c.Codec.splitPictures(stream, &c.Parameters)
	}
	fields := strings.Fields(times)
	if len(c.Pictures) != ClipPictures || len(fields) != ClipPictures {
		return fmt.Errorf("%d pictures and %d times, needs %d of each", len(c.Pictures), len(fields), ClipPictures)
	}
	for i, field := range fields {
		pts, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return fmt.Errorf("time of picture %d: %w", i, err)
		}
		c.Pictures[i].PTS = pts
		c.reorderTicks = max(c.reorderTicks, pts-int64(i)*ticksPerPicture)
		if key := i%GOPPictures == 0 || c.Codec == JPEG; c.Pictures[i].Keyframe != key {
			return fmt.Errorf("picture %d: keyframe is %v, needs %v", i, c.Pictures[i].Keyframe, key)
		}
	}
	return nil
}

// splitPictures cuts an Annex B stream into pictures. The parameter sets go to
// parameters, each once.
func (c Codec) splitPictures(stream []byte, parameters *[][]byte) []Picture {
	var pictures []Picture
	var pending [][]byte // what comes before the first slice of a picture
	for _, nalu := range splitAnnexB(stream) {
		switch c.kindOf(nalu) {
		case naluParameters:
			if !contains(*parameters, nalu) {
				*parameters = append(*parameters, nalu)
			}
		case naluFirstSlice, naluKeyFirstSlice:
			pictures = append(pictures, Picture{
				NALUs:    append(pending, nalu),
				Keyframe: c.kindOf(nalu) == naluKeyFirstSlice,
			})
			pending = nil
		case naluNextSlice:
			if len(pictures) > 0 {
				last := &pictures[len(pictures)-1]
				last.NALUs = append(last.NALUs, nalu)
			}
		case naluOther:
			pending = append(pending, nalu)
		}
	}
	return pictures
}

func contains(list [][]byte, b []byte) bool {
	for _, have := range list {
		if bytes.Equal(have, b) {
			return true
		}
	}
	return false
}
