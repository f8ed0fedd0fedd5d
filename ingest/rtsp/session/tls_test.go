package session

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
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
