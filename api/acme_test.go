package api

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/drover-video/drover/core/config"
)

// An authority is as much of an ACME server (RFC 8555) as one order takes. It proves
// a name by TLS-ALPN (RFC 8737), and finds all names at one address.
type authority struct {
	*issuer
	server  *httptest.Server
	address string // of the server that asks

	mu     sync.Mutex
	order  string // its status
	name   string
	issued []byte
	emails string
}

func newAuthority(t *testing.T) *authority {
	a := &authority{issuer: newIssuer(t)}
	a.server = httptest.NewTLSServer(http.HandlerFunc(a.answer))
	t.Cleanup(a.server.Close)
	return a
}

// payload reads what is inside a JSON web signature, which is not checked.
func payload(r *http.Request, into any) {
	var signed struct{ Payload string }
	if json.NewDecoder(r.Body).Decode(&signed) != nil {
		return
	}
	if text, err := base64.RawURLEncoding.DecodeString(signed.Payload); err == nil && len(text) > 0 {
		_ = json.Unmarshal(text, into)
	}
}

func (a *authority) answer(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	url := a.server.URL
	w.Header().Set("Replay-Nonce", "once")
	reply := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	order := func() map[string]any {
		return map[string]any{"status": a.order, "identifiers": []any{map[string]string{"type": "dns", "value": a.name}},
			"authorizations": []string{url + "/authz"}, "finalize": url + "/finalize", "certificate": url + "/cert"}
	}
	authorization := func() map[string]any {
		status := "pending"
		if a.order != "pending" {
			status = "valid"
		}
		return map[string]any{"status": status, "identifier": map[string]string{"type": "dns", "value": a.name},
			"challenges": []any{map[string]string{"type": "tls-alpn-01", "url": url + "/challenge", "token": "token", "status": status}}}
	}
	switch r.URL.Path {
	case "/directory":
		reply(200, map[string]string{"newNonce": url + "/nonce", "newAccount": url + "/account", "newOrder": url + "/order"})
	case "/nonce":
	case "/account":
		var account struct{ Contact []string }
		payload(r, &account)
		a.emails = strings.Join(account.Contact, " ")
		w.Header().Set("Location", url+"/account/1")
		reply(201, map[string]string{"status": "valid"})
	case "/order":
		var asked struct{ Identifiers []struct{ Value string } }
		payload(r, &asked)
		a.order, a.name = "pending", asked.Identifiers[0].Value
		w.Header().Set("Location", url+"/order/1")
		reply(201, order())
	case "/order/1":
		w.Header().Set("Location", url+"/order/1")
		reply(200, order())
	case "/authz":
		reply(200, authorization())
	case "/challenge":
		if err := a.challenge(); err != nil {
			a.t.Errorf("the challenge: %v", err)
		}
		a.order = "ready"
		reply(200, authorization()["challenges"].([]any)[0])
	case "/finalize":
		var finalize struct{ CSR string }
		payload(r, &finalize)
		der, _ := base64.RawURLEncoding.DecodeString(finalize.CSR)
		request, err := x509.ParseCertificateRequest(der)
		if err != nil {
			a.t.Errorf("the certificate request: %v", err)
			reply(400, map[string]string{})
			return
		}
		a.issued = a.sign(request.PublicKey, request.DNSNames...)
		a.order = "valid"
		w.Header().Set("Location", url+"/order/1")
		reply(200, order())
	case "/cert":
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: a.issued})
		_ = pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
	default:
		a.t.Errorf("the authority is asked for %s", r.URL.Path)
		reply(404, map[string]string{})
	}
}

// challenge connects as the authority does, and looks for the proof.
func (a *authority) challenge() error {
	conn, err := tls.Dial("tcp", a.address, &tls.Config{ServerName: a.name, NextProtos: []string{"acme-tls/1"}, InsecureSkipVerify: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	leaf := conn.ConnectionState().PeerCertificates[0]
	proof := slices.ContainsFunc(leaf.Extensions, func(e pkix.Extension) bool { return e.Id.String() == "1.3.6.1.5.5.7.1.31" && e.Critical })
	if !proof || conn.ConnectionState().NegotiatedProtocol != "acme-tls/1" || !slices.Equal(leaf.DNSNames, []string{a.name}) {
		a.t.Errorf("there is no proof in the certificate for %v", leaf.DNSNames)
	}
	return nil
}

func TestACertificateIsGotFromAnAuthorityAndKept(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir() + "/acme"
	c := config.ACME{Domains: []string{"cameras.example.org"}, Email: "me@example.org", Directory: a.server.URL + "/directory"}
	secure := newACME(c, dir, a.server.Client())
	fine := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	s := serveTLS(t, fine, secure, func(l *config.HTTP) {
		*l = config.HTTP{ReadHeaderTimeout: 60e9, MaxHeaderBytes: 4096, WriteTimeout: 60e9, ShutdownGrace: 60e9}
	})
	defer s.end()
	a.mu.Lock()
	a.address = s.address
	a.mu.Unlock()
	client := &tls.Config{RootCAs: a.pool, ServerName: "cameras.example.org"}
	for _, speak := range []func(*http.Protocols){byHTTP2, byHTTP1} {
		if _, err := s.get(client, speak); err != nil {
			t.Fatal(err)
		}
	}
	if a.serial != 1 || a.emails != "mailto:me@example.org" {
		t.Errorf("%d certificates were issued to %q", a.serial, a.emails)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("where the keys are: %v, %v", info, err)
	}
	// A server that starts anew uses what is kept, and asks nobody.
	again := serveTLS(t, fine, newACME(c, dir, &http.Client{Transport: noNetwork{t}}), func(l *config.HTTP) { l.ReadHeaderTimeout = 60e9 })
	defer again.end()
	if _, err := again.get(client, byHTTP2); err != nil {
		t.Error(err)
	}
	if _, err := again.get(&tls.Config{RootCAs: a.pool, ServerName: "other.example.org"}, byHTTP2); err == nil {
		t.Error("a name that was not asked for is served")
	}
}

// noNetwork fails a test that talks to somebody.
type noNetwork struct{ t *testing.T }

func (n noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s is asked", r.URL)
	return nil, http.ErrServerClosed
}
