// Package message writes what workers are sent as schema.Message says it, by appending
// to a buffer: a frame's bytes are copied once, from where it lies into what is sent.
package message

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/schema"
	"github.com/drover-video/drover/core/media"
)

// Numbers of fields, as tap.proto has them. A test holds them against it.
const (
	fieldStatus = 1
	fieldConfig = 2
	fieldFrame  = 3

	statusCamera = 1
	statusSource = 2
	statusState  = 3
	statusReason = 4

	configCamera      = 1
	configSource      = 2
	configTrack       = 3
	configNumber      = 4
	configCodec       = 5
	configVPS         = 6
	configSPS         = 7
	configPPS         = 8
	configAudioConfig = 9
	configWidth       = 10
	configHeight      = 11
	configFPS         = 12
	configSampleRate  = 13
	configChannels    = 14
	configFormat      = 15

	frameCamera     = 1
	frameSource     = 2
	frameTrack      = 3
	frameConfig     = 4
	frameSequence   = 5
	frameEpoch      = 6
	frameKeyframe   = 7
	framePTS        = 8
	frameDTS        = 9
	frameWall       = 10
	frameWallSource = 11
	frameMissed     = 12
	frameLost       = 13
	frameArrival    = 14
	frameData       = 15
)

// Size is how many bytes Append appends, at most.
func Size(d *feed.Delivery) int {
	switch {
	case d.Frame.Frame != nil:
		return maxFrameHead + len(d.Frame.Camera) + len(d.Frame.Source) + d.Frame.DataSize()
	case d.Config != nil:
		c := d.Config
		size := maxConfig + len(c.Camera) + len(c.Source)
		if p := c.Params; p != nil {
			size += len(p.VPS) + len(p.SPS) + len(p.PPS) + len(p.AudioConfig)
		}
		return size
	default:
		return maxStatus + len(d.Status.Camera) + len(d.Status.Source) + len(d.Status.Reason)
	}
}

// What the fields of fixed length take at most, their tags and lengths included.
const (
	maxVarint    = 1 + 10 // and its tag
	maxFrameHead = 16 * maxVarint
	maxConfig    = 17 * maxVarint
	maxStatus    = 5 * maxVarint
)

// Append appends what a worker is to be told, as a schema.Message.
func Append(dst []byte, d *feed.Delivery) []byte {
	switch {
	case d.Frame.Frame != nil:
		return appendFrame(dst, &d.Frame)
	case d.Config != nil:
		return appendMessage(dst, fieldConfig, func(dst []byte) []byte { return appendConfig(dst, d.Config) })
	default:
		return appendMessage(dst, fieldStatus, func(dst []byte) []byte { return appendStatus(dst, &d.Status) })
	}
}

// lengthBytes is how many bytes a length takes where it is written before it is known:
// a varint may be longer than it needs to be.
const lengthBytes = 4

// beginLength leaves room for a length behind a field's tag, and endLength fills it in.
func beginLength(dst []byte, field protowire.Number) []byte {
	dst = protowire.AppendTag(dst, field, protowire.BytesType)
	return append(dst, 0, 0, 0, 0)
}

func endLength(dst []byte, from int) {
	size := uint(len(dst) - from)
	for i := range lengthBytes {
		dst[from-lengthBytes+i] = byte(size>>(7*i))&0x7f | 0x80
	}
	dst[from-1] &= 0x7f
}

func appendMessage(dst []byte, field protowire.Number, body func([]byte) []byte) []byte {
	dst = beginLength(dst, field)
	from := len(dst)
	dst = body(dst)
	endLength(dst, from)
	return dst
}

func appendFrame(dst []byte, f *feed.Frame) []byte {
	dst = beginLength(dst, fieldFrame)
	from := len(dst)
	dst = appendString(dst, frameCamera, f.Camera)
	dst = appendString(dst, frameSource, f.Source)
	dst = appendNumber(dst, frameTrack, uint64(f.Track.ID))
	dst = appendNumber(dst, frameConfig, uint64(f.Config.Number))
	dst = appendNumber(dst, frameSequence, f.Seq)
	dst = appendNumber(dst, frameEpoch, f.Epoch)
	if f.Keyframe {
		dst = appendNumber(dst, frameKeyframe, 1)
	}
	dst = appendNumber(dst, framePTS, uint64(Ticks(f.Track, f.PTS)))
	dst = appendNumber(dst, frameDTS, uint64(Ticks(f.Track, f.DTS)))
	dst = appendNumber(dst, frameWall, uint64(f.Wall.UnixMicro()))
	dst = appendNumber(dst, frameWallSource, uint64(WallSource(f.WallSource)))
	dst = appendNumber(dst, frameMissed, f.Missed)
	dst = appendNumber(dst, frameLost, uint64(f.Lost))
	dst = appendNumber(dst, frameArrival, uint64(f.Arrival.UnixMicro()))
	dst = beginLength(dst, frameData)
	data := len(dst)
	dst = f.AppendData(dst)
	endLength(dst, data)
	endLength(dst, from)
	return dst
}

func appendStatus(dst []byte, s *feed.Status) []byte {
	dst = appendString(dst, statusCamera, s.Camera)
	dst = appendString(dst, statusSource, s.Source)
	dst = appendNumber(dst, statusState, uint64(State(s.State)))
	return appendString(dst, statusReason, s.Reason)
}

func appendConfig(dst []byte, c *feed.Config) []byte {
	dst = appendString(dst, configCamera, c.Camera)
	dst = appendString(dst, configSource, c.Source)
	dst = appendNumber(dst, configTrack, uint64(c.Track.ID))
	dst = appendNumber(dst, configNumber, uint64(c.Number))
	dst = appendNumber(dst, configCodec, uint64(Codec(c.Track.Codec)))
	if p := c.Params; p != nil {
		dst = appendBytes(dst, configVPS, p.VPS)
		dst = appendBytes(dst, configSPS, p.SPS)
		dst = appendBytes(dst, configPPS, p.PPS)
		dst = appendBytes(dst, configAudioConfig, p.AudioConfig)
		dst = appendNumber(dst, configWidth, uint64(p.Width))
		dst = appendNumber(dst, configHeight, uint64(p.Height))
		dst = appendDouble(dst, configFPS, p.FPS)
		dst = appendNumber(dst, configSampleRate, uint64(p.SampleRate))
		dst = appendNumber(dst, configChannels, uint64(p.Channels))
	}
	return appendNumber(dst, configFormat, uint64(Format(c.AnnexB)))
}

// Ticks is a track's time in ticks of 1/90000 s.
func Ticks(t *media.Track, at int64) int64 {
	rate := int64(t.ClockRate)
	if rate == 90000 {
		return at
	}
	return at/rate*90000 + at%rate*90000/rate
}

// State is a state in the schema's words.
func State(s feed.State) schema.State {
	switch s {
	case feed.StateWaiting:
		return schema.State_STATE_WAITING
	case feed.StateWatching:
		return schema.State_STATE_WATCHING
	case feed.StateRemoved:
		return schema.State_STATE_REMOVED
	default:
		return schema.State_STATE_UNSPECIFIED
	}
}

// WallSource is where a time comes from in the schema's words.
func WallSource(w media.WallSource) schema.WallSource {
	if w == media.WallSender {
		return schema.WallSource_WALL_SOURCE_SENDER_REPORT
	}
	return schema.WallSource_WALL_SOURCE_ARRIVAL
}

// Format is how NAL units are delimited in the schema's words.
func Format(annexB bool) schema.Format {
	if annexB {
		return schema.Format_FORMAT_ANNEX_B
	}
	return schema.Format_FORMAT_LENGTH_PREFIXED
}

// Codec is a codec in the schema's words.
func Codec(c media.Codec) schema.Codec {
	switch c {
	case media.CodecH264:
		return schema.Codec_CODEC_H264
	case media.CodecH265:
		return schema.Codec_CODEC_H265
	case media.CodecJPEG:
		return schema.Codec_CODEC_JPEG
	case media.CodecAAC:
		return schema.Codec_CODEC_AAC
	case media.CodecOpus:
		return schema.Codec_CODEC_OPUS
	case media.CodecFLAC:
		return schema.Codec_CODEC_FLAC
	default:
		return schema.Codec_CODEC_UNSPECIFIED
	}
}
