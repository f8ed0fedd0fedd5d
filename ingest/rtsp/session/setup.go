package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
)

// Setup asks the camera to send one of its medias. A media that fails leaves
// the others as they are. The error is an *Error.
func (s *Session) Setup(ctx context.Context, mediaIndex int) error {
	if mediaIndex < 0 || mediaIndex >= len(s.medias) {
		return &Error{Step: StepSetup, Err: fmt.Errorf("no media %d", mediaIndex)}
	}
	if IsTalkBack(s.medias, mediaIndex) {
		return &Error{Step: StepSetup, Err: errors.New("the media is talk-back")}
	}
	ctx, release, err := s.take(ctx, StepSetup)
	if err != nil {
		return err
	}
	defer release()
	for _, t := range s.tracks {
		if t.media == mediaIndex {
			return &Error{Step: StepSetup, Err: fmt.Errorf("media %d is set up already", mediaIndex)}
		}
	}
	t := &track{media: mediaIndex, receiver: receiver{clockRate: clockRate(s.medias[mediaIndex])}}
	switch s.options.Transport {
	case UDP:
		err = s.setupUDP(ctx, t)
	case Multicast:
		err = s.setupMulticast(ctx, t)
	default:
		err = s.setupTCP(ctx, t)
	}
	if err != nil {
		return fail(ctx, StepSetup, err)
	}
	if t.udp != nil {
		// Less than was asked for is mended by net.core.rmem_max.
		s.options.Logger.Debug("receive buffer", "media", mediaIndex, "asked_bytes", socketBytes, "granted_bytes", t.udp.granted)
	}
	s.delivery.Lock()
	s.tracks = append(s.tracks, t)
	s.delivery.Unlock()
	return nil
}

func clockRate(m Media) int {
	for _, f := range m.Formats {
		if f.ClockRate > 0 {
			return f.ClockRate
		}
	}
	return 90000
}

// setupTCP has a media interleaved with the conversation.
func (s *Session) setupTCP(ctx context.Context, t *track) error {
	first := 2 * len(s.tracks)
	reply, err := s.askSetup(ctx, t.media, fmt.Sprintf("RTP/AVP/TCP;unicast;interleaved=%d-%d", first, first+1))
	if err != nil {
		return err
	}
	said := parseTransport(reply.get("Transport"))
	if said.udp && !said.tcp && !said.hasChannels {
		return &Error{Step: StepSetup, Kind: ErrTransportRefused, Err: errors.New("it answered with UDP")}
	}
	channels := [2]int{first, first + 1}
	if said.hasChannels && said.interleaved[0] != said.interleaved[1] &&
		s.channels[said.interleaved[0]] == 0 && s.channels[said.interleaved[1]] == 0 {
		channels = said.interleaved
	}
	s.channels[channels[0]] = uint8(1 + 2*len(s.tracks))
	s.channels[channels[1]] = uint8(2 + 2*len(s.tracks))
	t.channel = byte(channels[1])
	return nil
}

// askSetup sends SETUP for one media.
func (s *Session) askSetup(ctx context.Context, media int, transport string) (*message, error) {
	uri := s.base.resolve(s.medias[media].Control).String()
	reply, err := s.talk.do(ctx, "SETUP", uri, header{"Transport", transport})
	if err != nil {
		return nil, err
	}
	if !reply.success() {
		return nil, s.refused(StepSetup, reply, false)
	}
	return reply, nil
}

// Play asks the camera to begin. The error is an *Error.
func (s *Session) Play(ctx context.Context) error {
	ctx, release, err := s.take(ctx, StepPlay)
	if err != nil {
		return err
	}
	defer release()
	if len(s.tracks) == 0 {
		return &Error{Step: StepPlay, Err: errors.New("no media is set up")}
	}
	s.punch()
	reply, err := s.talk.do(ctx, "PLAY", s.control.String(), header{"Range", "npt=0.000-"})
	if err != nil {
		return fail(ctx, StepPlay, err)
	}
	if !reply.success() {
		return s.refused(StepPlay, reply, false)
	}
	s.punch()
	s.talk.in.shrink(scanBufferBytes) // from what the description needed
	return nil
}

// maxEarlyBytes bounds what is kept of a stream that begins before the reply
// to PLAY: enough for a keyframe, which it would be a pity to lose.
const maxEarlyBytes = 512 << 10

// keepEarly stores a frame until Run.
func (s *Session) keepEarly(channel byte, payload []byte) {
	if s.channels[channel] == 0 {
		s.counters.unknownChannel.Add(1)
		return
	}
	if len(s.early)+4+len(payload) > maxEarlyBytes {
		s.counters.earlyDropped.Add(1)
		return
	}
	s.early = append(s.early, '$', channel)
	s.early = binary.BigEndian.AppendUint16(s.early, uint16(len(payload)))
	s.early = append(s.early, payload...)
}

// plausible tells a frame from garbage, for a scanner out of step.
func (s *Session) plausible(channel byte, start []byte) bool {
	slot := s.channels[channel]
	if slot == 0 || len(start) < 4 {
		return false
	}
	if slot%2 == 0 {
		return isRTCPPacket(start)
	}
	if !isRTPPacket(start) {
		return false
	}
	index := int(slot-1) / 2
	if index >= len(s.tracks) { // before its Setup has returned
		return true
	}
	r := &s.tracks[index].receiver
	return !r.known || binary.BigEndian.Uint32(start[8:]) == r.ssrc
}

// certain tells a frame of a source that was heard before.
func (s *Session) certain(channel byte, start []byte) bool {
	slot := s.channels[channel]
	index := int(slot-1) / 2
	if slot == 0 || index >= len(s.tracks) || len(start) < rtpHeaderBytes {
		return false
	}
	r := &s.tracks[index].receiver
	if slot%2 == 0 {
		return r.known && isRTCPPacket(start) && binary.BigEndian.Uint32(start[4:]) == r.ssrc
	}
	return r.known && isRTPPacket(start) && binary.BigEndian.Uint32(start[8:]) == r.ssrc
}
