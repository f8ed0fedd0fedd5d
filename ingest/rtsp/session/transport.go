package session

import (
	"net/netip"
	"strconv"
	"strings"
)

// A transportReply is what a camera said in the Transport header of its reply
// to SETUP. Whatever it left out or garbled is not set.
type transportReply struct {
	tcp         bool // RTP/AVP/TCP
	udp         bool // RTP/AVP or RTP/AVP/UDP
	interleaved [2]int
	hasChannels bool
	serverPorts [2]int // 0: not said
	source      netip.Addr

	// Of multicast.
	multicast   bool
	destination netip.Addr // the group
	ports       [2]int     // 0: not said
}

func parseTransport(text string) transportReply {
	var t transportReply
	text, _, _ = strings.Cut(text, ",") // one was asked for, so one is answered
	for part := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "rtp/avp/tcp":
			t.tcp = true
		case "rtp/avp", "rtp/avp/udp":
			t.udp = true
		case "interleaved":
			if pair, ok := parsePair(value, 255); ok {
				t.interleaved, t.hasChannels = pair, true
			}
		case "server_port":
			if pair, ok := parsePair(value, 65535); ok {
				t.serverPorts = pair
			}
		case "source":
			t.source = parseAddr(value)
		case "multicast":
			t.multicast = true
		case "destination":
			t.destination = parseAddr(value)
		case "port":
			if pair, ok := parsePair(value, 65535); ok {
				t.ports = pair
			}
		}
	}
	return t
}

// parseAddr returns no address for what is none, a name for example.
func parseAddr(text string) netip.Addr {
	addr, err := netip.ParseAddr(strings.Trim(text, `"[]`))
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// parsePair reads "4-5", or "4", which means the same.
func parsePair(text string, most int) ([2]int, bool) {
	first, second, paired := strings.Cut(text, "-")
	a, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || a < 0 || a > most {
		return [2]int{}, false
	}
	b := a + 1
	if paired {
		if b, err = strconv.Atoi(strings.TrimSpace(second)); err != nil || b < 0 {
			return [2]int{}, false
		}
	}
	if b > most {
		return [2]int{}, false
	}
	return [2]int{a, b}, true
}

// parseSessionHeader reads "id;timeout=60". The timeout is 0 when not said.
func parseSessionHeader(text string) (id string, timeoutSeconds int) {
	id, rest, _ := strings.Cut(text, ";")
	for part := range strings.SplitSeq(rest, ";") {
		key, value, _ := strings.Cut(part, "=")
		if strings.EqualFold(strings.TrimSpace(key), "timeout") {
			if n := positive(value); n <= maxSessionTimeoutSeconds {
				timeoutSeconds = n
			}
		}
	}
	return strings.TrimSpace(id), timeoutSeconds
}

const maxSessionTimeoutSeconds = 24 * 3600
