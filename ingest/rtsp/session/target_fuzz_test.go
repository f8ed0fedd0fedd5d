package session

import (
	"strings"
	"testing"
)

// FuzzTarget has a camera name other places, as its controls, bases and redirects
// do: they stay on its server, or are places of RTSP, and can be sent in a request
// line.
func FuzzTarget(f *testing.F) {
	for _, text := range []string{
		"", "*", "track1", "/live/track1", "?ctype=video", "rtsp://10.1.1.1:99/x/t1", "rtsps://h/x", "rtsp://u:p@h/x?y@z",
		"http://h/", "rtsp://[::1]:554/\"\\ \r\n", "rtsp://h:0/", "rtsp://", "://", "rtsp://h:80/x", "RTSP://H",
	} {
		f.Add("rtsp://camera/live?a=b", text)
		f.Add("rtsps://camera:322/live/", text)
	}
	f.Fuzz(func(t *testing.T, base, said string) {
		from, err := parseTarget(base)
		if err != nil {
			return
		}
		sendable := func(to target) {
			t.Helper()
			text := to.String()
			if strings.ContainsAny(text, " \r\n\t\x00\"\\") || strings.Contains(to.host, "@") {
				t.Errorf("%q cannot be sent", text)
			}
			if again, err := parseTarget(text); err != nil || again.host != to.host || again.port() != to.port() {
				t.Errorf("%q is not read as it was written: %v", text, err)
			}
		}
		sendable(from)
		resolved := from.resolve(said)
		sendable(resolved)
		if resolved.host != from.host || resolved.scheme != from.scheme {
			t.Errorf("%q leads from %s to %s", said, from, resolved)
		}
		next, err := from.redirect(said)
		if err != nil {
			return
		}
		sendable(next)
		if from.secure() && !next.secure() {
			t.Errorf("%q leads out of TLS", said)
		}
	})
}
