package api

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/drover-video/drover/core/config"
)

// NewTLS returns how HTTPS is spoken; nil where HTTP is plain. dir is where what an
// ACME authority hands out is kept.
func NewTLS(c config.HTTP, dir string, log *slog.Logger) (*tls.Config, error) {
	switch {
	case len(c.ACME.Domains) > 0:
		return newACME(c.ACME, dir, nil), nil
	case c.TLS.Cert != "":
		files, err := newCertificateFiles(c.TLS, time.Now, log)
		if err != nil {
			return nil, err
		}
		return &tls.Config{GetCertificate: files.certificate}, nil
	default:
		return nil, nil
	}
}

// newACME returns a configuration that gets certificates as they are asked for, and
// renews them. client talks to the authority; nil for Go's default.
func newACME(c config.ACME, dir string, client *http.Client) *tls.Config {
	manager := &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(dir),
		HostPolicy: autocert.HostWhitelist(c.Domains...),
		Email:      c.Email,
		Client:     &acme.Client{DirectoryURL: c.Directory, HTTPClient: client, UserAgent: "Drover"},
	}
	return manager.TLSConfig()
}

// certificateFilesAge is how old the knowledge of files may be. They are looked at
// when somebody connects: nothing runs in between.
const certificateFilesAge = time.Second

// certificateFiles is a certificate in two files that may be replaced.
type certificateFiles struct {
	names config.TLS
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	looked  time.Time
	state   filesState // of the files when they were last read
	current *tls.Certificate
}

// filesState tells whether files are still those that were read.
type filesState [2]struct {
	modified time.Time
	size     int64
}

func newCertificateFiles(names config.TLS, now func() time.Time, log *slog.Logger) (*certificateFiles, error) {
	f := &certificateFiles{names: names, now: now, log: log, looked: now()}
	var err error
	if f.state, err = f.look(); err != nil {
		return nil, fmt.Errorf("the certificate (http.tls.cert, http.tls.key): %w", err)
	}
	certificate, err := tls.LoadX509KeyPair(names.Cert, names.Key)
	if err != nil {
		return nil, fmt.Errorf("the certificate (http.tls.cert, http.tls.key): %w", err)
	}
	f.current = &certificate
	return f, nil
}

func (f *certificateFiles) look() (state filesState, err error) {
	for i, name := range []string{f.names.Cert, f.names.Key} {
		info, err := os.Stat(name)
		if err != nil {
			return state, err
		}
		state[i].modified, state[i].size = info.ModTime(), info.Size()
	}
	return state, nil
}

// certificate implements tls.Config.GetCertificate. Files that cannot be used leave
// the certificate as it was.
func (f *certificateFiles) certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.looked) >= certificateFilesAge {
		f.looked = now
		f.refresh()
	}
	return f.current, nil
}

func (f *certificateFiles) refresh() {
	state, err := f.look()
	if err != nil || state == f.state {
		// Whoever replaces a file may have removed it first: it is looked for again.
		return
	}
	f.state = state
	certificate, err := tls.LoadX509KeyPair(f.names.Cert, f.names.Key)
	if err != nil {
		f.log.Warn("the new certificate cannot be used, and the old one stays", "file", f.names.Cert, "err", err)
		return
	}
	f.current = &certificate
	f.log.Info("the certificate was read again", "file", f.names.Cert)
}

// protocols are those that clients may speak.
func protocols(secure bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetHTTP2(secure)
	p.SetUnencryptedHTTP2(!secure)
	return p
}

// Bounds of one HTTP/2 connection.
const (
	maxStreams2       = 128      // at once
	maxReceived2      = 1 << 20  // bytes of bodies not read yet
	maxReceivedStream = 64 << 10 // of them, of one request
)

// http2Config bounds what one connection of many requests may cost. One that falls
// silent, in the middle of a header too, is asked whether it lives.
func http2Config(limits config.HTTP) *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams:          maxStreams2,
		MaxReceiveBufferPerConnection: maxReceived2,
		MaxReceiveBufferPerStream:     maxReceivedStream,
		SendPingTimeout:               limits.ReadHeaderTimeout,
		PingTimeout:                   limits.ReadHeaderTimeout,
		WriteByteTimeout:              limits.WriteTimeout,
	}
}
