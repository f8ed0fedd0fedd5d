package rtsptest

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// mediaKind is one of the media that a camera can offer.
type mediaKind int

const (
	mediaVideo mediaKind = iota
	mediaAAC
	mediaALaw
	mediaSound // CameraConfig.Sound
)

// media lists what the camera offers, in the order of the session description.
func (c *CameraConfig) media() []mediaKind {
	media := []mediaKind{mediaVideo}
	if c.AAC {
		media = append(media, mediaAAC)
	}
	if c.PCMA {
		media = append(media, mediaALaw)
	}
	if c.Sound != NoSound {
		media = append(media, mediaSound)
	}
	return media
}

func (c *CameraConfig) clockHz(k mediaKind) int64 {
	switch k {
	case mediaSound:
		return c.Sound.clockHz()
	case mediaAAC:
		return aacClockHz
	case mediaALaw:
		return alawClockHz
	default:
		return videoClockHz
	}
}

// sdp describes what the camera offers (RFC 4566).
func (c *CameraConfig) sdp(clip *Clip, groupPorts []int) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\r\n", args...) }
	line("v=0")
	line("o=- 1 1 IN IP4 127.0.0.1")
	line("s=Simulated camera")
	var ports [4]int // 0 where SETUP tells
	if c.GroupInSDP {
		copy(ports[:], groupPorts)
		line("c=IN IP4 %s/1", c.Group)
	} else {
		line("c=IN IP4 0.0.0.0")
	}
	line("t=0 0")
	line("a=control:*")
	line("a=range:npt=now-")
	for i, kind := range c.media() {
		switch kind {
		case mediaVideo:
			line("m=video %d RTP/AVP %d", ports[i], clip.Codec.payloadType())
			line("a=rtpmap:%d %s/%d", clip.Codec.payloadType(), clip.Codec, videoClockHz)
			if format := c.videoFormat(clip); format != "" {
				line("a=fmtp:%d %s", videoPayloadType, format)
			}
			line("a=framerate:25")
		case mediaAAC:
			line("m=audio %d RTP/AVP %d", ports[i], aacPayloadType)
			line("a=rtpmap:%d MPEG4-GENERIC/%d/1", aacPayloadType, aacClockHz)
			line("a=fmtp:%d streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;config=%x",
				aacPayloadType, clip.AACConfig)
		case mediaALaw:
			line("m=audio %d RTP/AVP %d", ports[i], alawPayloadType)
			line("a=rtpmap:%d PCMA/%d", alawPayloadType, alawClockHz)
		case mediaSound:
			track := clip.sounds[c.Sound]
			line("m=audio %d RTP/AVP %d", ports[i], track.payloadType)
			line("a=rtpmap:%d %s", track.payloadType, track.rtpmap)
			if track.fmtp != "" {
				line("a=fmtp:%d %s", track.payloadType, track.fmtp)
			}
		}
		line("a=control:trackID=%d", i)
	}
	if c.RewriteSDP != nil {
		return c.RewriteSDP(b.String())
	}
	return b.String()
}

// videoFormat is the fmtp value of RFC 6184 8.1 and RFC 7798 7.1.
func (c *CameraConfig) videoFormat(clip *Clip) string {
	var names, coded []string
	for _, nalu := range clip.Parameters {
		coded = append(coded, base64.StdEncoding.EncodeToString(nalu))
	}
	switch {
	case clip.Codec == H264 && c.BareSDP:
		return "packetization-mode=1"
	case clip.Codec == H264:
		return fmt.Sprintf("packetization-mode=1;profile-level-id=%X;sprop-parameter-sets=%s",
			clip.Parameters[0][1:4], strings.Join(coded, ","))
	case c.BareSDP, clip.Codec == JPEG:
		return ""
	}
	for i, name := range []string{"sprop-vps", "sprop-sps", "sprop-pps"} {
		names = append(names, name+"="+coded[i])
	}
	return strings.Join(names, ";")
}
