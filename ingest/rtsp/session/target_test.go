package session

import "testing"

func TestCaseControlURLIsResolved(t *testing.T) {
	for _, c := range []struct{ base, control, want string }{
		{"rtsp://h/live", "trackID=1", "rtsp://h/live/trackID=1"},
		{"rtsp://h/live/", "trackID=1", "rtsp://h/live/trackID=1"},
		{"rtsp://h", "trackID=1", "rtsp://h/trackID=1"},
		{"rtsp://h:8554/1?mode=Live/", "track1", "rtsp://h:8554/1?mode=Live/track1"},
		{"rtsp://h/1?mode=Live", "track1", "rtsp://h/1?mode=Live/track1"},
		{"rtsp://h/live/stream", "/live/track1", "rtsp://h/live/track1"},
		{"rtsp://h/live", "?ctype=video", "rtsp://h/live?ctype=video"},
		{"rtsp://h/live/", "?ctype=video", "rtsp://h/live/?ctype=video"},
		{"rtsp://h/live", "rtsp://h/other/track1", "rtsp://h/other/track1"},
		{"rtsp://h:8554/live", "rtsp://10.0.0.9/live/track1?a=b", "rtsp://h:8554/live/track1?a=b"},
		{"rtsp://h/live", "RTSP://u:p@10.0.0.9:99/track1", "rtsp://h/track1"},
		{"rtsp://h/live", "", "rtsp://h/live"},
		{"rtsp://h/live", "*", "rtsp://h/live"},
		{"rtsp://h/live", "track 1\"", "rtsp://h/live/track%201%22"},
		{"rtsps://h/live", "rtsp://h/track1", "rtsps://h/track1"},
		{"rtsp://[2001:db8::1]:554/live", "track1", "rtsp://[2001:db8::1]:554/live/track1"},
	} {
		base, err := parseTarget(c.base)
		if err != nil {
			t.Fatalf("%s: %v", c.base, err)
		}
		if got := base.resolve(c.control).String(); got != c.want {
			t.Errorf("%s with control %q: %s, want %s", c.base, c.control, got, c.want)
		}
	}
}

func TestAURLThatIsNoneIsRefused(t *testing.T) {
	for _, raw := range []string{
		"", "rtsp", "http://h/x", "rtsp://", "rtsp:///x", "rtsp://h:0/", "rtsp://h:99999/", "rtsp://h:x/", "rtsp://h:/",
		"rtsp://u:p@h/x", "rtsp://h\r\nX: y/", "rtsp://h\"/x", "rtsp://[::1/x", "file:///etc/passwd",
	} {
		if got, err := parseTarget(raw); err == nil {
			t.Errorf("%q was taken as %s", raw, got)
		}
	}
}

func TestPortsAreThoseOfTheScheme(t *testing.T) {
	for raw, want := range map[string]uint16{"rtsp://h/": 554, "rtsps://h": 322, "rtsp://h:88/x": 88, "rtsp://[::1]?x": 554} {
		got, err := parseTarget(raw)
		if err != nil || got.port() != want {
			t.Errorf("%s: port %d, %v; want %d", raw, got.port(), err, want)
		}
	}
}
