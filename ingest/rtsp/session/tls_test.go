package session

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
)

// overTLS wraps the scripted camera's end. The certificate is that of
// example.com, from the standard library's test server.
func overTLS(t *testing.T) (Options, *x509.CertPool) {
	server := httptest.NewTLSServer(nil)
	server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	options := script(t, func(p *peer) {
		p.conn = tls.Server(p.conn, &tls.Config{Certificates: server.TLS.Certificates})
		p.in = bufio.NewReader(p.conn)
		p.rest(videoSDP)
	})
	options.URL = "rtsps://127.0.0.1/live"
	return options, roots
}

func TestRTSPSChecksTheCertificate(t *testing.T) {
	options, roots := overTLS(t)
	if _, err := Open(t.Context(), options); !errors.Is(err, ErrCertificate) {
		t.Errorf("without its root: %v, want ErrCertificate", err)
	}
	options.TLSConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	s := play(t, options)
	if got, want := s.control.String(), "rtsps://127.0.0.1/live"; got != want {
		t.Errorf("played %s, want %s", got, want)
	}
	if options.TLSConfig.ServerName != "" {
		t.Error("the caller's TLS configuration was changed")
	}
}

func TestATLSHandshakeThatHangsIsATimeout(t *testing.T) {
	options := Options{URL: "rtsps://127.0.0.1/live", RequestTimeout: 1}
	client, server := net.Pipe()
	defer func() { _ = server.Close() }()
	options.DialContext = func(context.Context, string, string) (net.Conn, error) { return client, nil }
	if _, err := Open(t.Context(), options); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v, want ErrTimeout", err)
	}
	if _, err := client.Write(nil); err == nil {
		t.Error("the connection was left open")
	}
}

func TestAnUntrustedCertificateTellsItsFingerprint(t *testing.T) {
	options, _ := overTLS(t)
	_, err := Open(t.Context(), options)
	var e *Error
	if !errors.As(err, &e) || e.Kind != ErrCertificate {
		t.Fatalf("got %v, want ErrCertificate", err)
	}
	_, fingerprint, found := strings.Cut(e.Hint(), "fingerprint ")
	if !found {
		t.Fatalf("the hint is %q", e.Hint())
	}
	// What it tells is what is to be pinned.
	if options.TLSConfig, err = TLSConfig(TrustPin, fingerprint); err != nil {
		t.Fatal(err)
	}
	play(t, options)
}

func TestWhomToTrustIsTheUsersToSay(t *testing.T) {
	other := strings.Repeat("ab", 32)
	for _, c := range []struct {
		name        string
		trust       Trust
		fingerprint string
		want        error
	}{
		{"by default the system's", "", "", ErrCertificate},
		{"the system's", TrustSystem, "", ErrCertificate},
		{"another one's pin", TrustPin, other, ErrCertificate},
		{"anybody", TrustNone, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			options, _ := overTLS(t)
			var err error
			if options.TLSConfig, err = TLSConfig(c.trust, c.fingerprint); err != nil {
				t.Fatal(err)
			}
			s, err := Open(t.Context(), options)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err == nil {
				_ = s.Close()
			}
			var e *Error
			if c.trust == TrustPin && (!errors.As(err, &e) || !strings.Contains(e.Hint(), "not the pinned one")) {
				t.Errorf("the hint is %q", e.Hint())
			}
		})
	}
}

func TestATrustThatCannotBeIsAnError(t *testing.T) {
	for name, c := range map[string]struct {
		trust       Trust
		fingerprint string
	}{
		"no fingerprint":           {TrustPin, ""},
		"half a fingerprint":       {TrustPin, "abcd"},
		"no hexadecimal":           {TrustPin, strings.Repeat("xy", 32)},
		"a kind that there is not": {"maybe", ""},
	} {
		if _, err := TLSConfig(c.trust, c.fingerprint); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
