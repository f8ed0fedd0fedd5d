package camera

import (
	"errors"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/secret"
)

// FuzzNormalize takes whatever a user may say of a source: it is made into
// something that can be pulled and stays so, or refused without a word of the
// password.
func FuzzNormalize(f *testing.F) {
	for _, url := range []string{
		"rtsp://camera/stream", "rtsp://a:bSeCrEt@camera:554/x?y=z", "rtsp://a:b/SeCrEt@camera/", "rtsp://a:%zzSeCrEt@h/",
		"rtsps://[::1]:322/", "exec:SeCrEt", "rtsp://:SeCrEt@h", "rtsp://h:SeCrEt/", " rtsp://h\n", "",
	} {
		f.Add("door", url, "", "", "auto")
		f.Add("door", url, "u", "p@s#/:?%^!\"", "udp")
	}
	f.Fuzz(func(t *testing.T, id, url, username, password, transport string) {
		const mark = "SeCrEt"
		for _, text := range []string{id, username, transport} {
			if strings.Contains(text, mark) {
				return
			}
		}
		s := Spec{ID: id, Sources: []SourceSpec{{URL: url, Username: username, Password: secret.New(password), Transport: Transport(transport)}}}
		if err := s.Normalize(); err != nil {
			if field := (*FieldError)(nil); !errors.As(err, &field) || field.Field == "" || field.Reason == "" {
				t.Errorf("error %#v", err)
			}
			if strings.Contains(err.Error(), mark) {
				t.Errorf("the error shows it: %v", err)
			}
			return
		}
		got := s.Sources[0]
		if strings.Contains(got.URL, "#") || !strings.HasPrefix(got.URL, "rtsp://") && !strings.HasPrefix(got.URL, "rtsps://") {
			t.Errorf("URL %q", got.URL)
		}
		host, _, _ := strings.Cut(strings.SplitN(got.URL, "://", 2)[1], "/")
		if before, _, _ := strings.Cut(host, "?"); strings.Contains(before, "@") {
			t.Errorf("a login is left in the URL %q", got.URL)
		}
		again := s.clone()
		if err := again.Normalize(); err != nil || again.Sources[0] != got {
			t.Errorf("normalized again: %v, %+v instead of %+v", err, again.Sources[0], got)
		}
	})
}
