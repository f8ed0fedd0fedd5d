package api

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/core/config"
)

// An issuer signs certificates for tests.
type issuer struct {
	t           *testing.T
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	pool        *x509.CertPool
	serial      int64
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, key: newKey(t), pool: x509.NewCertPool()}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "root"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &i.key.PublicKey, i.key)
	if err != nil {
		t.Fatal(err)
	}
	if i.certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	i.pool.AddCert(i.certificate)
	return i
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sign returns a certificate for names.
func (i *issuer) sign(public any, names ...string) []byte {
	i.t.Helper()
	i.serial++
	template := &x509.Certificate{SerialNumber: big.NewInt(100 + i.serial), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(1000 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, i.certificate, public, i.key)
	if err != nil {
		i.t.Fatal(err)
	}
	return der
}

// write puts a new certificate and its key into files.
func (i *issuer) write(names config.TLS) {
	i.t.Helper()
	key := newKey(i.t)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		names.Cert: {Type: "CERTIFICATE", Bytes: i.sign(&key.PublicKey, "drover.test")},
		names.Key:  {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			i.t.Fatal(err)
		}
	}
}

func certificatePaths(t *testing.T) config.TLS {
	dir := t.TempDir()
	return config.TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
}

// secure returns a server's configuration with a certificate for drover.test, and a
// client's that trusts it.
func secure(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	i := newIssuer(t)
	names := certificatePaths(t)
	i.write(names)
	server, err := NewTLS(config.HTTP{TLS: names}, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return server, &tls.Config{RootCAs: i.pool, ServerName: "drover.test"}
}

// get asks once, by a client that speaks only the given protocols.
func (s *served) get(client *tls.Config, speak func(*http.Protocols)) (proto string, err error) {
	s.t.Helper()
	scheme := "http://"
	if client != nil {
		scheme = "https://"
	}
	transport := &http.Transport{TLSClientConfig: client.Clone(), Protocols: new(http.Protocols)}
	speak(transport.Protocols)
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport}).Get(scheme + s.address + "/")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("status %d", response.StatusCode)
	}
	return response.Proto, nil
}

func byHTTP1(p *http.Protocols) { p.SetHTTP1(true) }
func byHTTP2(p *http.Protocols) { p.SetHTTP2(true) }
func byH2C(p *http.Protocols)   { p.SetUnencryptedHTTP2(true) }

func TestEveryProtocolIsSpoken(t *testing.T) {
	fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	server, client := secure(t)
	plain, secured := serve(t, fine, nil), serveTLS(t, fine, server, nil)
	defer plain.end()
	defer secured.end()
	for name, test := range map[string]struct {
		on     *served
		client *tls.Config
		speak  func(*http.Protocols)
		want   string
	}{
		"HTTP/1.1":          {plain, nil, byHTTP1, "HTTP/1.1"},
		"h2c":               {plain, nil, byH2C, "HTTP/2.0"},
		"HTTPS by HTTP/1.1": {secured, client, byHTTP1, "HTTP/1.1"},
		"HTTPS by HTTP/2":   {secured, client, byHTTP2, "HTTP/2.0"},
	} {
		if got, err := test.on.get(test.client, test.speak); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
	if got, err := secured.get(nil, byHTTP1); err == nil {
		t.Errorf("plain HTTP where TLS is wanted: %s", got)
	}
}

func TestAnOldTLSIsNotSpoken(t *testing.T) {
	server, client := secure(t)
	s := serveTLS(t, http.NotFoundHandler(), server, nil)
	defer s.end()
	client.MinVersion, client.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if conn, err := tls.Dial("tcp", s.address, client); err == nil {
		t.Errorf("version %x", conn.ConnectionState().Version)
		_ = conn.Close()
	}
}

func TestAConnectionTooManyIsRefusedOverTLSToo(t *testing.T) {
	fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	server, client := secure(t)
	s := serveTLS(t, fine, server, func(l *config.HTTP) { forever(l); l.MaxConnections = 1 })
	defer s.end()
	first, err := tls.Dial("tcp", s.address, client)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	for _, speak := range []func(*http.Protocols){byHTTP1, func(p *http.Protocols) { byHTTP1(p); byHTTP2(p) }} {
		if _, err := s.get(client, speak); err == nil || err.Error() != "status 503" {
			t.Errorf("got %v", err)
		}
	}
}

func TestANewCertificateIsUsedWithoutARestart(t *testing.T) {
	i := newIssuer(t)
	names := certificatePaths(t)
	i.write(names)
	now := time.Unix(1000, 0)
	var log strings.Builder
	files, err := newCertificateFiles(names, func() time.Time { return now }, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	// Two writes within a tick of the disk's clock would look alike.
	written := time.Now()
	touch := func() {
		t.Helper()
		written = written.Add(time.Second)
		for _, name := range []string{names.Cert, names.Key} {
			if err := os.Chtimes(name, written, written); err != nil {
				t.Fatal(err)
			}
		}
	}
	serial := func() string {
		t.Helper()
		now = now.Add(certificateFilesAge)
		c, err := files.certificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf.SerialNumber.String()
	}
	first := serial()
	i.write(names)
	touch()
	second := serial()
	if second == first {
		t.Error("the old certificate is still used")
	}
	if err := os.WriteFile(names.Key, []byte("half a k"), 0o600); err != nil {
		t.Fatal(err)
	}
	touch()
	if got := serial(); got != second || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("with a broken key: %s, want %s, and a warning: %s", got, second, log.String())
	}
	if serial(); strings.Count(log.String(), "level=WARN") != 1 {
		t.Error("the same trouble is logged again")
	}
	if err := os.Remove(names.Cert); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != second {
		t.Errorf("without files: %s, want %s", got, second)
	}
	i.write(names)
	touch()
	if got := serial(); got == second {
		t.Error("a mended certificate is not used")
	}
	i.write(names)
	touch()
	now = now.Add(-certificateFilesAge)
	if got := serial(); got != fmt.Sprint(100+i.serial-1) {
		t.Errorf("the files are looked at more than once a second: %s", got)
	}
}

func TestACertificateThatIsNotThereIsSaidAtTheStart(t *testing.T) {
	names := certificatePaths(t)
	if _, err := NewTLS(config.HTTP{TLS: names}, "", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), names.Cert) {
		t.Errorf("got %v", err)
	}
	for _, name := range []string{names.Cert, names.Key} {
		if err := os.WriteFile(name, []byte("nothing of use"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewTLS(config.HTTP{TLS: names}, "", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "http.tls.cert") {
		t.Errorf("got %v", err)
	}
	if plain, err := NewTLS(config.HTTP{}, "", nil); plain != nil || err != nil {
		t.Errorf("without a certificate: %v, %v", plain, err)
	}
}
