package m3u8

import "strconv"

// Variant is one entry of a multivariant playlist.
type Variant struct {
	URI              string
	Bandwidth        int64 // bits per second, of the worst segment
	AverageBandwidth int64 // bits per second; 0: not said
	Codecs           string
	Width, Height    int     // pixels; 0: not said
	FrameRate        float64 // pictures per second; 0: not said
	Audio            string  // group of its sound; "": it has its own, or none
	Subtitles        string  // group of its text; "": none
}

// Audio is a rendition of sound that variants share.
type Audio struct {
	Group    string
	Name     string // for people
	Channels int    // 0: not said
	URI      string
}

// AppendAudio appends a rendition of sound, which is played where nobody has chosen
// another.
func AppendAudio(dst []byte, a *Audio) []byte {
	dst = append(dst, "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="...)
	dst = AppendQuoted(dst, a.Group)
	dst = append(dst, ",NAME="...)
	dst = AppendQuoted(dst, a.Name)
	dst = append(dst, ",DEFAULT=YES,AUTOSELECT=YES"...)
	if a.Channels > 0 {
		dst = append(dst, ",CHANNELS=\""...)
		dst = strconv.AppendInt(dst, int64(a.Channels), 10)
		dst = append(dst, '"')
	}
	dst = append(dst, ",URI="...)
	dst = AppendQuoted(dst, a.URI)
	return append(dst, '\n')
}

// AppendMultivariantHead appends the head of a multivariant playlist.
func AppendMultivariantHead(dst []byte, version int, independentSegments bool) []byte {
	dst = append(dst, "#EXTM3U\n#EXT-X-VERSION:"...)
	dst = strconv.AppendInt(dst, int64(version), 10)
	if independentSegments {
		dst = append(dst, "\n#EXT-X-INDEPENDENT-SEGMENTS"...)
	}
	return append(dst, '\n')
}

// AppendVariant appends an entry of a multivariant playlist.
func AppendVariant(dst []byte, v *Variant) []byte {
	dst = appendAttributes(append(dst, "#EXT-X-STREAM-INF:"...), v)
	if v.FrameRate > 0 {
		// 4.3.4.2: rounded to three decimals.
		dst = append(dst, ",FRAME-RATE="...)
		dst = strconv.AppendFloat(dst, v.FrameRate, 'f', 3, 64)
	}
	if v.Audio != "" {
		dst = append(dst, ",AUDIO="...)
		dst = AppendQuoted(dst, v.Audio)
	}
	if v.Subtitles != "" {
		dst = append(dst, ",SUBTITLES="...)
		dst = AppendQuoted(dst, v.Subtitles)
	}
	dst = append(dst, '\n')
	dst = append(dst, v.URI...)
	return append(dst, '\n')
}

// AppendIFrameVariant appends an entry that names a playlist of single pictures.
func AppendIFrameVariant(dst []byte, v *Variant) []byte {
	dst = appendAttributes(append(dst, "#EXT-X-I-FRAME-STREAM-INF:"...), v)
	dst = append(dst, ",URI="...)
	dst = AppendQuoted(dst, v.URI)
	return append(dst, '\n')
}

// appendAttributes appends what both kinds of entries say.
func appendAttributes(dst []byte, v *Variant) []byte {
	dst = append(dst, "BANDWIDTH="...)
	dst = strconv.AppendInt(dst, v.Bandwidth, 10)
	if v.AverageBandwidth > 0 {
		dst = append(dst, ",AVERAGE-BANDWIDTH="...)
		dst = strconv.AppendInt(dst, v.AverageBandwidth, 10)
	}
	if v.Codecs != "" {
		dst = append(dst, ",CODECS="...)
		dst = AppendQuoted(dst, v.Codecs)
	}
	if v.Width > 0 && v.Height > 0 {
		dst = append(dst, ",RESOLUTION="...)
		dst = strconv.AppendInt(dst, int64(v.Width), 10)
		dst = append(dst, 'x')
		dst = strconv.AppendInt(dst, int64(v.Height), 10)
	}
	return dst
}
