package session

import "strings"

// A challenge is one way to log in that a camera offers.
type challenge struct {
	scheme string            // lower case
	params map[string]string // keys in lower case
}

// maxChallenges bounds how many are looked at.
const maxChallenges = 16

// parseChallenges reads WWW-Authenticate headers. One header may hold several
// challenges, and parameters may be quoted or not (RFC 9110 11.6.1). What
// cannot be read is left out.
func parseChallenges(headers []string) []challenge {
	var out []challenge
	for _, text := range headers {
		for text != "" && len(out) <= maxChallenges {
			var name, value string
			text = strings.TrimLeft(text, " \t,")
			name, text = cutToken(text)
			if name == "" {
				if text != "" {
					text = text[1:] // what no token begins with
				}
				continue
			}
			rest := strings.TrimLeft(text, " \t")
			if !strings.HasPrefix(rest, "=") { // no parameter, so a scheme
				out = append(out, challenge{scheme: strings.ToLower(name), params: map[string]string{}})
				text = rest
				continue
			}
			value, text = cutValue(strings.TrimLeft(rest[1:], " \t"))
			if n := len(out); n > 0 {
				out[n-1].params[strings.ToLower(name)] = value
			}
		}
	}
	return out[:min(len(out), maxChallenges)]
}

func cutToken(text string) (token, rest string) {
	i := strings.IndexAny(text, " \t,=\"")
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i:]
}

func cutValue(text string) (value, rest string) {
	if !strings.HasPrefix(text, `"`) {
		i := strings.IndexAny(text, ", \t")
		if i < 0 {
			return text, ""
		}
		return text[:i], text[i:]
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:]
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
