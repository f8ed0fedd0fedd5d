package rtsptest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
)

const publicMethods = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN"

// NoAnswer in CameraConfig.Status leaves requests of a method unanswered.
const NoAnswer = -1

// handle answers one request.
func (c *conn) handle(request *Request) {
	camera := c.server.find(request.URL)
	if camera == nil {
		answer := &response{status: 404}
		if request.Method == "OPTIONS" {
			answer.status = 200
			answer.add("Public: %s", publicMethods)
		}
		c.reply(request, answer, false)
		return
	}
	c.attach(camera)
	camera.record(request, c.session != nil)
	config := camera.snapshot()
	switch config.Answer {
	case AnswerNever:
		return
	case AnswerNonsense:
		nonsense := []byte("\x00\xff\x16\x03 this is not what you came for\r\n\r\n\x80\x01")
		c.push(item{buffer: &nonsense})
		return
	}
	status := camera.forcedStatus(request.Method)
	switch {
	case status == NoAnswer:
	case status != 0:
		answer := &response{status: status}
		if status == 401 {
			answer.add("WWW-Authenticate: %s", config.challenge(c.nonce))
		}
		c.reply(request, answer, config.NoReason)
	case request.Method != "OPTIONS" && !config.authorized(request, c.nonce):
		answer := &response{status: 401}
		answer.add("WWW-Authenticate: %s", config.challenge(c.nonce))
		c.reply(request, answer, config.NoReason)
	default:
		c.dispatch(camera, &config, request)
	}
}

func (c *conn) dispatch(camera *Camera, config *CameraConfig, request *Request) {
	answer := &response{status: 200}
	if id := request.Header("Session"); id != "" {
		id, _, _ = strings.Cut(id, ";")
		if c.session == nil || c.session.id != strings.TrimSpace(id) {
			answer.status = 454
			c.reply(request, answer, config.NoReason)
			return
		}
	}
	switch request.Method {
	case "OPTIONS":
		answer.add("Public: %s", publicMethods)
	case "DESCRIBE":
		c.describe(camera, config, request, answer)
	case "SETUP":
		c.setup(camera, config, request, answer)
	case "PLAY":
		c.play(config, request, answer)
		return
	case "PAUSE":
		c.pause("pause")
	case "GET_PARAMETER", "SET_PARAMETER":
	case "TEARDOWN":
		c.endSession("teardown")
	default:
		answer.status = 501
	}
	if c.session != nil {
		answer.add("Session: %s", c.session.header(config))
	}
	c.reply(request, answer, config.NoReason)
}

// reply queues an answer. A client that has not read the queue's worth of
// answers will not miss this one.
func (c *conn) reply(request *Request, answer *response, noReason bool) {
	raw := answer.appendTo(nil, request.Header("CSeq"), noReason)
	if !c.push(item{buffer: &raw}) {
		_ = c.net.Close()
	}
}

func (c *conn) describe(camera *Camera, config *CameraConfig, request *Request, answer *response) {
	if config.Redirect != "" {
		answer.status = 302
		answer.add("Location: %s", config.Redirect)
		return
	}
	answer.add("Content-Base: %s/", strings.TrimRight(request.URL, "/"))
	answer.add("Content-Type: application/sdp")
	answer.body = config.sdp(camera.clip(), camera.groupPorts)
}

// setup begins a session with the first media, and adds others.
func (c *conn) setup(camera *Camera, config *CameraConfig, request *Request, answer *response) {
	kind, index, ok := mediaOf(config, request.URL)
	if !ok {
		answer.status = 404
		return
	}
	offer, ok := chooseTransport(request.Header("Transport"), func(t transport) bool { return config.allows(t, c.tunnelled) })
	if !ok || c.session != nil && c.session.udp != offer.udp {
		answer.status = 461
		return
	}
	if c.session != nil && (c.session.player != nil || c.session.camera != camera) {
		answer.status = 455
		return
	}
	if c.session == nil {
		if !camera.takeSlot() {
			answer.status = 453
			return
		}
		c.session = &session{
			id:     fmt.Sprintf("%08X", rand.Uint32()),
			camera: camera,
			udp:    offer.udp,
			setup:  map[mediaKind]*rtpStream{},
			remote: remotes{},
		}
	}
	stream := newRTPStream(config.clockHz(kind))
	c.session.setup[kind] = stream
	stream.channel = byte(2 * index)
	if offer.multicast {
		c.setupGroup(camera, config, stream, index, answer)
		return
	}
	if offer.udp {
		ip := c.net.RemoteAddr().(*net.TCPAddr).IP
		c.session.remote[stream.channel] = &net.UDPAddr{IP: ip, Port: offer.rtp}
		c.session.remote[stream.channel+1] = &net.UDPAddr{IP: ip, Port: offer.rtcp}
		port := c.server.udp.rtp.LocalAddr().(*net.UDPAddr).Port
		answer.add("Transport: RTP/AVP;unicast;client_port=%d-%d;server_port=%d-%d;ssrc=%08X",
			offer.rtp, offer.rtcp, port, port+1, stream.ssrc)
		return
	}
	if offer.explicit {
		stream.channel = byte(offer.rtp)
	}
	answer.add("Transport: RTP/AVP/TCP;unicast;interleaved=%d-%d;ssrc=%08X",
		stream.channel, stream.channel+1, stream.ssrc)
}

// setupGroup has a media sent to the camera's multicast group.
func (c *conn) setupGroup(camera *Camera, config *CameraConfig, stream *rtpStream, index int, answer *response) {
	ip, port := net.ParseIP(config.Group), camera.groupPorts[index]
	c.session.remote[stream.channel] = &net.UDPAddr{IP: ip, Port: port}
	c.session.remote[stream.channel+1] = &net.UDPAddr{IP: ip, Port: port + 1}
	where := fmt.Sprintf(";destination=%s;port=%d-%d;ttl=1", config.Group, port, port+1)
	if config.GroupInSDP {
		where = ""
	}
	answer.add("Transport: RTP/AVP;multicast%s;ssrc=%08X", where, stream.ssrc)
}

// mediaOf finds the media of a control URL, wherever the client put the query.
func mediaOf(config *CameraConfig, url string) (kind mediaKind, index int, ok bool) {
	_, digits, found := strings.Cut(url, "trackID=")
	digits, _, _ = strings.Cut(digits, "?")
	index, err := strconv.Atoi(digits)
	media := config.media()
	if !found || err != nil || index < 0 || index >= len(media) {
		return 0, 0, false
	}
	return media[index], index, true
}

// play answers, and lets media follow.
func (c *conn) play(config *CameraConfig, request *Request, answer *response) {
	session := c.session
	if session == nil {
		answer.status = 454
		c.reply(request, answer, config.NoReason)
		return
	}
	answer.add("Session: %s", session.header(config))
	if session.player != nil {
		c.reply(request, answer, config.NoReason)
		return
	}
	session.player = &player{
		conn:   c,
		camera: session.camera,
		video:  session.setup[mediaVideo],
		aac:    session.setup[mediaAAC],
		alaw:   session.setup[mediaALaw],
		sound:  session.setup[mediaSound],
	}
	if session.udp {
		session.player.remote = maps.Clone(session.remote)
		session.player.udpLost = config.UDPLost
	}
	session.camera.join(session.player, func(m *moment) {
		answer.add("Range: npt=0.000-")
		answer.add("RTP-Info: %s", session.rtpInfo(config, request.URL, m))
		c.reply(request, answer, config.NoReason)
	})
}

func (c *conn) pause(why string) {
	if c.session != nil && c.session.player != nil {
		c.session.camera.leave(c.session.player, why)
		c.session.player = nil
	}
}

func (c *conn) endSession(why string) {
	c.pause(why)
	if c.session != nil {
		c.session.camera.freeSlot(why == "teardown")
		c.session = nil
	}
}

func (s *session) header(config *CameraConfig) string {
	if config.SessionTimeout <= 0 {
		return s.id
	}
	return fmt.Sprintf("%s;timeout=%d", s.id, int(config.SessionTimeout.Seconds()))
}

// rtpInfo tells the first packet of each media (RFC 2326 12.33). Who waits for
// a keyframe cannot be told its time.
func (s *session) rtpInfo(config *CameraConfig, url string, m *moment) string {
	var infos []string
	for i, kind := range config.media() {
		stream := s.setup[kind]
		if stream == nil {
			continue
		}
		info := fmt.Sprintf("url=%s/trackID=%d;seq=%d", strings.TrimRight(url, "/"), i, stream.seq)
		if !s.player.waitKey || m.reel.clip.Pictures[m.picture].Keyframe {
			info += fmt.Sprintf(";rtptime=%d", stream.base+uint32(m.clipTicks(stream.clockHz)))
		}
		infos = append(infos, info)
	}
	return strings.Join(infos, ",")
}
