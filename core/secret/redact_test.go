package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestRedactURLHidesLoginsAndKeepsTheRest(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"rtsp://10.0.0.1/live", "rtsp://10.0.0.1/live"},
		{"rtsp://10.0.0.1:554/live?channel=1&subtype=0", "rtsp://10.0.0.1:554/live?channel=1&subtype=0"},
		{"rtsp://u:SECRET@10.0.0.1/live", "rtsp://[redacted]@10.0.0.1/live"},
		{"rtsp://SECRET@10.0.0.1/live", "rtsp://[redacted]@10.0.0.1/live"},
		{"rtsp://u:SEC@RET@10.0.0.1/live", "rtsp://[redacted]@10.0.0.1/live"},
		{"rtsp://u:S/E?C#R@ET@10.0.0.1/live", "rtsp://[redacted]@10.0.0.1/live"},
		{"rtsp://u:%zzSECRET@10.0.0.1/live", "rtsp://[redacted]@10.0.0.1/live"},
		{"rtsp://h/x?user=SECRET&password=SECRET&channel=2", "rtsp://h/x?user=[redacted]&password=[redacted]&channel=2"},
		{"rtsp://h/x?PASSWORD=SECRET", "rtsp://h/x?PASSWORD=[redacted]"},
		{"rtsp://h/x?p%61ssword=SECRET", "rtsp://h/x?p%61ssword=[redacted]"},
		{"rtsp://h/x?pwd=SEC/RE?T;SECRET#SECRET", "rtsp://h/x?pwd=[redacted]"},
		{"rtsp://h/x?token=SECRET&auth=SECRET&key=SECRET&apikey=SECRET", "rtsp://h/x?token=[redacted]&auth=[redacted]&key=[redacted]&apikey=[redacted]"},
		{"rtsp://h/x?u=1&pw=SECRET&PW2=SECRET", "rtsp://h/x?u=1&pw=[redacted]&PW2=[redacted]"},
		{"rtsp://h/x?p=SECRET&profile=1&ptz=2&map=3", "rtsp://h/x?p=[redacted]&profile=1&ptz=2&map=3"},
		{"rtsp://h/P=SECRET&channel=1", "rtsp://h/P=[redacted]&channel=1"},
		{"rtsp://h/channel=1_p=SECRET", "rtsp://h/channel=1_p=[redacted]"},
		{"rtsp://h/x?password=", "rtsp://h/x?password="},
		{"rtsp://h/user=SECRET&password=SECRET&channel=1&stream=0.sdp?", "rtsp://h/user=[redacted]&password=[redacted]&channel=1&stream=0.sdp?"},
		{"rtsp://h/channel=1_password=SECRET_stream=0.sdp", "rtsp://h/channel=1_password=[redacted]"},
		{"/x?password=SECRET", "/x?password=[redacted]"},
		{"dial tcp: lookup rtsp://u:SECRET@nowhere: no such host", "dial tcp: lookup rtsp://[redacted]@nowhere: no such host"},
	} {
		if got := RedactURL(c.in); got != c.want {
			t.Errorf("RedactURL(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func FuzzRedactURLNeverShowsThePassword(f *testing.F) {
	f.Add("u", "p@s#/:?%^!\"", "h/x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, user, password, rest string) {
		const mark = "SeCrEt"
		if strings.Contains(rest, mark) || strings.Contains(user, mark) {
			return
		}
		if got := RedactURL("rtsp://" + user + ":" + password + mark + password + "@" + rest); strings.Contains(got, mark) {
			t.Errorf("shown in %q", got)
		}
	})
}

func TestHiddenReturnsWhatRedactURLHidesOfParameters(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"rtsp://h/x", nil},
		{"rtsp://h/x?channel=1&password=", nil},
		{"rtsp://h/x?user=a&password=S%20T&channel=1&p=c", []string{"a", "S%20T", "c"}},
		{"rtsp://h/user=a&password=SECRET&channel=1", []string{"a", "SECRET"}},
		{"rtsp://h/channel=1_password=SECRET_stream=0.sdp", []string{"SECRET_stream=0.sdp", "SECRET"}},
		{"rtsp://h/x?pw=S?T", []string{"S?T"}},
	} {
		if got := Hidden(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Hidden(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
