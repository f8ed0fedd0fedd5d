package session

import "maps"

// A Media is one stream that the camera offers: an m= section of its SDP.
type Media struct {
	Index     int      // place in Session.Medias, and the name of the media everywhere else
	Kind      string   // "video", "audio", "application", or what the camera made up
	Protocol  string   // "RTP/AVP"
	Control   string   // as in the SDP, not resolved
	Formats   []Format // in the camera's order of preference; may be empty
	Direction string   // "", "sendrecv", "sendonly", "recvonly", "inactive"

	multicast multicastOffer
}

// A Format is one way in which a media may be coded.
type Format struct {
	PayloadType uint8
	Encoding    string            // upper case rtpmap name; "" when nothing tells
	ClockRate   int               // Hz
	Channels    int               // audio only
	FMTP        map[string]string // keys in lower case; never nil
}

// clone keeps a caller's changes out of the session.
func (m Media) clone() Media {
	formats := make([]Format, len(m.Formats))
	for i, f := range m.Formats {
		f.FMTP = maps.Clone(f.FMTP)
		formats[i] = f
	}
	m.Formats = formats
	return m
}

// IsTalkBack reports whether medias[index] is the camera's loudspeaker, which
// must not be set up: some firmware then sends nothing at all.
//
// "sendonly" means opposite things. With ONVIF it is seen from the client and
// marks the loudspeaker; elsewhere it is seen from the camera and marks what
// it sends. Video is never for the camera to show, so a sendonly video, or
// nothing but sendonly, tells the second reading.
func IsTalkBack(medias []Media, index int) bool {
	if index < 0 || index >= len(medias) {
		return false
	}
	if m := medias[index]; m.Direction != "sendonly" || m.Kind == "video" {
		return false
	}
	other := false
	for _, m := range medias {
		if m.Direction == "sendonly" && m.Kind == "video" {
			return false
		}
		other = other || m.Direction != "sendonly"
	}
	return other
}

// Playable returns the medias that may be set up: video, audio and
// application sections over RTP that are not talk-back. Whether their
// formats are of use is the caller's to judge.
func Playable(medias []Media) []Media {
	var out []Media
	for i, m := range medias {
		switch m.Kind {
		case "video", "audio", "application":
			if isRTP(m.Protocol) && !IsTalkBack(medias, i) {
				out = append(out, m)
			}
		}
	}
	return out
}
