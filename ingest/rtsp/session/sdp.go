package session

import (
	"net/netip"
	"strconv"
	"strings"
)

// Bounds of a description.
const (
	maxMedias  = 16
	maxFormats = 32
)

// A description is what is needed of an SDP.
type description struct {
	control string // of the whole session
	medias  []Media
}

// parseSDP takes from an SDP what is needed and ignores everything else, so
// that a line that is wrong costs at most the media that it is about. It
// cannot fail: an SDP without a media has no medias.
func parseSDP(body []byte) description {
	var d description
	direction := ""
	var common multicastOffer // of the whole session
	var section *sdpMedia
	finish := func() {
		if section != nil {
			d.medias = append(d.medias, section.media(len(d.medias), direction, common))
			section = nil
		}
	}
	for line := range strings.Lines(string(body)) {
		line = strings.Trim(line, "\r\n\t \x00\ufeff")
		kind, value, found := strings.Cut(line, "=")
		if !found {
			continue
		}
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(kind) {
		case "m":
			finish()
			if len(d.medias) == maxMedias {
				return d
			}
			section = newSDPMedia(value)
		case "c":
			if section != nil {
				section.multicast.group = parseConnection(value)
			} else {
				common.group = parseConnection(value)
			}
		case "a":
			if section != nil {
				section.attribute(value)
				continue
			}
			name, value, _ := strings.Cut(value, ":")
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "control":
				d.control = strings.TrimSpace(value)
			case "source-filter":
				common.source = parseSourceFilter(value)
			case "sendrecv", "sendonly", "recvonly", "inactive":
				direction = name
			}
		}
	}
	finish()
	return d
}

// parseConnection reads "IN IP4 239.1.2.3/127" and returns the group. What is
// no group is of no use: where to talk to a camera is known.
func parseConnection(text string) netip.Addr {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return netip.Addr{}
	}
	host, _, _ := strings.Cut(fields[2], "/")
	if addr := parseAddr(host); addr.IsMulticast() {
		return addr
	}
	return netip.Addr{}
}

// parseSourceFilter reads "incl IN IP4 * 192.0.2.1" (RFC 4570). Of several
// sources the first is taken.
func parseSourceFilter(text string) netip.Addr {
	fields := strings.Fields(text)
	if len(fields) < 5 || !strings.EqualFold(fields[0], "incl") {
		return netip.Addr{}
	}
	return parseAddr(fields[4])
}

// sdpMedia gathers one m= section.
type sdpMedia struct {
	kind, protocol     string
	control, direction string
	multicast          multicastOffer
	numbers            []uint8 // payload types in the order of the m= line
	rtpmap             map[uint8]string
	fmtp               map[uint8]map[string]string
}

func newSDPMedia(line string) *sdpMedia {
	s := &sdpMedia{rtpmap: map[uint8]string{}, fmtp: map[uint8]map[string]string{}}
	fields := strings.Fields(line) // kind, port, protocol, formats
	if len(fields) > 0 {
		s.kind = strings.ToLower(fields[0])
	}
	if len(fields) > 1 {
		port, _, _ := strings.Cut(fields[1], "/")
		if n := positive(port); n <= 65535 {
			s.multicast.port = n
		}
	}
	if len(fields) > 2 {
		s.protocol = strings.ToUpper(fields[2])
		for _, field := range fields[3:] {
			if number, ok := payloadType(field); ok && len(s.numbers) < maxFormats && isRTP(s.protocol) {
				s.numbers = append(s.numbers, number)
			}
		}
	}
	return s
}

// isRTP leaves encrypted RTP out: its packets could not be read.
func isRTP(protocol string) bool {
	return strings.HasPrefix(protocol, "RTP/") && !strings.HasPrefix(protocol, "RTP/SAVP")
}

func payloadType(text string) (uint8, bool) {
	n, err := strconv.ParseUint(text, 10, 8)
	return uint8(n), err == nil && n < 128
}

func (s *sdpMedia) attribute(text string) {
	name, value, _ := strings.Cut(text, ":")
	value = strings.TrimSpace(value)
	switch name = strings.ToLower(strings.TrimSpace(name)); name {
	case "control":
		if s.control == "" {
			s.control = value
		}
	case "sendrecv", "sendonly", "recvonly", "inactive":
		s.direction = name
	case "source-filter":
		s.multicast.source = parseSourceFilter(value)
	case "rtpmap":
		number, rest, _ := strings.Cut(value, " ")
		if n, ok := payloadType(number); ok && len(s.rtpmap) < maxFormats {
			s.rtpmap[n] = strings.TrimSpace(rest)
		}
	case "fmtp":
		number, rest, _ := strings.Cut(value, " ")
		n, ok := payloadType(number)
		if !ok || (s.fmtp[n] == nil && len(s.fmtp) >= maxFormats) {
			return
		}
		if s.fmtp[n] == nil {
			s.fmtp[n] = map[string]string{}
		}
		addParameters(s.fmtp[n], rest)
	}
}

// addParameters reads "a=1; b=2". Values may hold "=" themselves (base64).
func addParameters(to map[string]string, text string) {
	for part := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		key = strings.ToLower(strings.TrimSpace(key))
		if key == "" || len(to) >= 64 {
			continue
		}
		to[key] = strings.Trim(strings.TrimSpace(value), `"`)
	}
}

func (s *sdpMedia) media(index int, direction string, common multicastOffer) Media {
	s.mendNumbers()
	if !s.multicast.group.IsValid() {
		s.multicast.group = common.group
	}
	if !s.multicast.source.IsValid() {
		s.multicast.source = common.source
	}
	if s.direction != "" {
		direction = s.direction
	}
	m := Media{Index: index, Kind: s.kind, Protocol: s.protocol, Control: s.control, Direction: direction, multicast: s.multicast}
	for _, number := range s.numbers {
		m.Formats = append(m.Formats, s.format(number))
	}
	return m
}

// mendNumbers repairs sections whose lines name different payload types
// where only one reading is left: m=104 and rtpmap:104, but fmtp:97.
func (s *sdpMedia) mendNumbers() {
	if len(s.numbers) != 1 {
		s.mendOrphanFMTP()
		return
	}
	only := s.numbers[0]
	if name, ok := onlyValue(s.rtpmap); ok && s.rtpmap[only] == "" {
		if _, static := staticFormat(only); !static {
			s.rtpmap[only] = name
		}
	}
	if parameters, ok := onlyValue(s.fmtp); ok && s.fmtp[only] == nil {
		s.fmtp[only] = parameters
	}
}

// mendOrphanFMTP gives the only parameters to the only mapped format, when
// they are addressed to a number that has no mapping.
func (s *sdpMedia) mendOrphanFMTP() {
	if len(s.rtpmap) != 1 || len(s.fmtp) != 1 {
		return
	}
	for mapped := range s.rtpmap {
		for addressed, parameters := range s.fmtp {
			if _, static := staticFormat(addressed); !static && addressed != mapped {
				s.fmtp[mapped] = parameters
			}
		}
	}
}

func onlyValue[V any](m map[uint8]V) (V, bool) {
	var only V
	for _, v := range m {
		only = v
	}
	return only, len(m) == 1
}

func (s *sdpMedia) format(number uint8) Format {
	f, _ := staticFormat(number)
	f.PayloadType = number
	f.FMTP = s.fmtp[number]
	if f.FMTP == nil {
		f.FMTP = map[string]string{}
	}
	if text := s.rtpmap[number]; text != "" {
		f.setRTPMap(s.kind, text)
	}
	if f.Encoding == "" {
		f.guess()
	}
	return f
}

// setRTPMap reads "H264/90000" or "MPEG4-GENERIC/48000/2". A missing clock
// rate is what the kind of media usually has.
func (f *Format) setRTPMap(kind, text string) {
	parts := strings.Split(text, "/")
	encoding := strings.ToUpper(strings.TrimSpace(parts[0]))
	if encoding == "" {
		return
	}
	static := *f
	f.Encoding = encoding
	f.ClockRate, f.Channels = 0, 0
	if len(parts) > 1 {
		f.ClockRate = positive(parts[1])
	}
	if len(parts) > 2 {
		f.Channels = positive(parts[2])
	}
	switch {
	case f.ClockRate == 0 && static.Encoding == encoding:
		f.ClockRate = static.ClockRate
	case f.ClockRate == 0 && kind == "audio":
		f.ClockRate = 8000
	case f.ClockRate == 0:
		f.ClockRate = 90000
	}
	if kind == "audio" && f.Channels == 0 {
		f.Channels = 1
	}
}

func positive(text string) int {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// guess names a dynamic format without a mapping by its parameters.
func (f *Format) guess() {
	encoding := ""
	if _, ok := f.FMTP["packetization-mode"]; ok {
		encoding = "H264"
	}
	if _, ok := f.FMTP["sprop-parameter-sets"]; ok {
		encoding = "H264"
	}
	if _, ok := f.FMTP["sprop-vps"]; ok {
		encoding = "H265"
	}
	if encoding != "" {
		f.Encoding, f.ClockRate = encoding, 90000
	}
}

// staticFormat is RFC 3551 section 6, as far as cameras use it.
func staticFormat(number uint8) (Format, bool) {
	switch number {
	case 0:
		return Format{Encoding: "PCMU", ClockRate: 8000, Channels: 1}, true
	case 3:
		return Format{Encoding: "GSM", ClockRate: 8000, Channels: 1}, true
	case 4:
		return Format{Encoding: "G723", ClockRate: 8000, Channels: 1}, true
	case 8:
		return Format{Encoding: "PCMA", ClockRate: 8000, Channels: 1}, true
	case 9:
		return Format{Encoding: "G722", ClockRate: 8000, Channels: 1}, true
	case 10:
		return Format{Encoding: "L16", ClockRate: 44100, Channels: 2}, true
	case 11:
		return Format{Encoding: "L16", ClockRate: 44100, Channels: 1}, true
	case 14:
		return Format{Encoding: "MPA", ClockRate: 90000}, true
	case 18:
		return Format{Encoding: "G729", ClockRate: 8000, Channels: 1}, true
	case 26:
		return Format{Encoding: "JPEG", ClockRate: 90000}, true
	case 32:
		return Format{Encoding: "MPV", ClockRate: 90000}, true
	case 33:
		return Format{Encoding: "MP2T", ClockRate: 90000}, true
	case 34:
		return Format{Encoding: "H263", ClockRate: 90000}, true
	}
	return Format{}, false
}
