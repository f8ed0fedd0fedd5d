package camera

import (
	"errors"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/secret"
)

func TestNormalize(t *testing.T) {
	one := func(url string) Spec { return Spec{ID: "door", Sources: []SourceSpec{{URL: url}}} }
	long := strings.Repeat("a", 3000)
	cases := []struct {
		name     string
		spec     Spec
		field    string // of the error; "" for none
		url      string
		username string
		password string
	}{
		{"plain", one("rtsp://camera/stream"), "", "rtsp://camera/stream", "", ""},
		{"login in the URL", one("rtsp://admin:secret@camera:554/stream?channel=1"), "", "rtsp://camera:554/stream?channel=1", "admin", "secret"},
		{"password percent-encoded", one("rtsp://admin:p%40s%23%2F%3A%3F%25@camera/stream"), "", "rtsp://camera/stream", "admin", "p@s#/:?%"},
		{"password with @ as it is", one("rtsp://admin:p@ss@camera/stream"), "", "rtsp://camera/stream", "admin", "p@ss"},
		{"password with # as it is", one("rtsp://admin:p#ss@camera/stream"), "url", "", "", ""},
		{"password with / as it is", one("rtsp://admin:p/ss@camera/stream"), "url", "", "", ""},
		{"password with @ and / as they are", one("rtsp://user:p@ss/word@camera/stream"), "url", "", "", ""},
		{"password with @ and ? as they are", one("rtsp://user:p@ss?word@camera/stream"), "url", "", "", ""},
		{"@ in the path, without a login", one("rtsp://camera/live@main"), "", "rtsp://camera/live@main", "", ""},
		{"port 0", one("rtsp://camera:0/"), "url", "", "", ""},
		{"port 99999", one("rtsp://camera:99999/"), "url", "", "", ""},
		{"port left out", one("rtsp://camera:/"), "url", "", "", ""},
		{"password with % as it is", one("rtsp://admin:p%ss@camera/stream"), "url", "", "", ""},
		{"fields win over the URL", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://a:b@camera/", Username: "u", Password: secret.New("p@s#/:?%^!\"")}}}, "", "rtsp://camera/", "u", "p@s#/:?%^!\""},
		{"secure", one("rtsps://camera/stream"), "", "rtsps://camera/stream", "", ""},
		{"spaces around", one("  rtsp://camera/stream\n"), "", "rtsp://camera/stream", "", ""},
		{"capitals", one("RTSP://Camera/Stream"), "", "rtsp://Camera/Stream", "", ""},
		{"IPv6", one("rtsp://[fe80::1]:554/s"), "", "rtsp://[fe80::1]:554/s", "", ""},
		{"no URL", one(""), "url", "", "", ""},
		{"no source", Spec{ID: "door"}, "url", "", "", ""},
		{"another scheme", one("http://camera/"), "url", "", "", ""},
		{"a command", one("exec:ffmpeg -i x"), "url", "", "", ""},
		{"a file", one("file:///etc/passwd"), "url", "", "", ""},
		{"no host", one("rtsp:///stream"), "url", "", "", ""},
		{"no scheme", one("camera/stream"), "url", "", "", ""},
		{"too long", one("rtsp://camera/" + long), "url", "", "", ""},
		{"bad transport", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/", Transport: "sctp"}}}, "transport", "", "", ""},
		{"bad trust", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsps://c/", TLS: TLSSpec{Verify: "maybe"}}}}, "tls.verify", "", "", ""},
		{"a pin without a fingerprint", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsps://c/", TLS: TLSSpec{Verify: TLSVerifyPin}}}}, "tls.fingerprint", "", "", ""},
		{"a fingerprint of another length", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsps://c/", TLS: TLSSpec{Fingerprint: "ab:cd"}}}}, "tls.fingerprint", "", "", ""},
		{"a fingerprint that is not checked", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsps://c/", TLS: TLSSpec{Verify: TLSVerifyNone, Fingerprint: fingerprint}}}}, "tls.fingerprint", "", "", ""},
		{"a pin in the second source", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/"}, {URL: "rtsps://c/", TLS: TLSSpec{Verify: TLSVerifyPin}}}}, "sources[1].tls.fingerprint", "", "", ""},
		{"line break in the password", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/", Password: secret.New("a\r\nb")}}}, "username", "", "", ""},
		{"a fallback", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/", FallbackURL: "http://c/"}}}, "fallback_url", "", "", ""},
		{"a login in the fallback", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/", FallbackURL: "rtsp://a:b@c/"}}}, "fallback_url", "", "", ""},
		{"two of a name", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/"}, {Name: "main", URL: "rtsp://c/"}}}, "sources[1].name", "", "", ""},
		{"a bad second source", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/"}, {URL: "x"}}}, "sources[1].url", "", "", ""},
		{"bad record mode", Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsp://c/"}}, Record: RecordSpec{Mode: "always"}}, "record.mode", "", "", ""},
		{"long name", Spec{ID: "door", Name: long, Sources: []SourceSpec{{URL: "rtsp://c/"}}}, "name", "", "", ""},
		{"long label", Spec{ID: "door", Labels: map[string]string{"a": long}, Sources: []SourceSpec{{URL: "rtsp://c/"}}}, "labels", "", "", ""},
	}
	for _, id := range []string{"", "-a", "A", "a/b", "..", "a b", "ä", "a\x00", strings.Repeat("a", 64)} {
		bad := one("rtsp://camera/")
		bad.ID = id
		cases = append(cases, struct {
			name     string
			spec     Spec
			field    string
			url      string
			username string
			password string
		}{"id " + id, bad, "id", "", "", ""})
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.spec.Normalize()
			if c.field == "" {
				if err != nil {
					t.Fatal(err)
				}
				s := c.spec.Sources[0]
				if s.URL != c.url || s.Username != c.username || s.Password.Reveal() != c.password {
					t.Errorf("got %q, %q, %q", s.URL, s.Username, s.Password.Reveal())
				}
				if s.Name != "main" || s.Transport != TransportAuto || c.spec.Record.Mode != RecordOff {
					t.Errorf("defaults: %+v", c.spec)
				}
				return
			}
			field := (*FieldError)(nil)
			if !errors.As(err, &field) || field.Field != c.field {
				t.Fatalf("error %v, want one about %s", err, c.field)
			}
			for _, part := range []string{"p#ss", "p/ss", "p%ss"} {
				if strings.Contains(err.Error(), part) {
					t.Errorf("the error shows the password: %v", err)
				}
			}
		})
	}
}

// fingerprint is one as openssl prints it.
const fingerprint = "AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89"

func TestAFingerprintIsPinnedHoweverItIsWritten(t *testing.T) {
	const want = "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
	for _, c := range []struct {
		in, want TLSSpec
	}{
		{TLSSpec{}, TLSSpec{Verify: TLSVerifySystem}},
		{TLSSpec{Verify: TLSVerifyNone}, TLSSpec{Verify: TLSVerifyNone}},
		{TLSSpec{Fingerprint: fingerprint}, TLSSpec{TLSVerifyPin, want}},
		{TLSSpec{TLSVerifyPin, strings.ReplaceAll(fingerprint, ":", " ")}, TLSSpec{TLSVerifyPin, want}},
		{TLSSpec{TLSVerifyPin, want}, TLSSpec{TLSVerifyPin, want}},
	} {
		spec := Spec{ID: "door", Sources: []SourceSpec{{URL: "rtsps://camera/", TLS: c.in}}}
		if err := spec.Normalize(); err != nil || spec.Sources[0].TLS != c.want {
			t.Errorf("%+v became %+v, %v", c.in, spec.Sources[0].TLS, err)
		}
	}
}
