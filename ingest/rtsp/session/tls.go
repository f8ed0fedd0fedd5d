package session

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
)

// Trust says which certificates of a camera are taken.
type Trust string

// The kinds of trust.
const (
	TrustSystem Trust = "system" // those of an authority that the system knows, for the host of the URL
	TrustPin    Trust = "pin"    // the one of a fingerprint
	TrustNone   Trust = "none"   // any: whoever is in between can read along
)

// errPin is why a pinned certificate was refused.
var errPin = errors.New("it has another fingerprint than the one that is pinned")

// A certificateError is a certificate that was not taken, with what a person
// needs to decide about it.
type certificateError struct {
	fingerprint string
	err         error
}

func (e *certificateError) Error() string { return e.err.Error() }
func (e *certificateError) Unwrap() error { return e.err }

// hint says what to do, as Error.Hint does.
func (e *certificateError) hint() string {
	if errors.Is(e.err, errPin) {
		return "the camera's certificate is not the pinned one: if it was renewed, pin its SHA-256 fingerprint " + colons(e.fingerprint)
	}
	return "the camera's certificate is not trusted: if it is the camera's own, pin its SHA-256 fingerprint " + colons(e.fingerprint)
}

// TLSConfig returns the configuration for a kind of trust. The fingerprint, for
// TrustPin, is the SHA-256 of the certificate in hexadecimal.
func TLSConfig(trust Trust, fingerprint string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if trust == TrustSystem || trust == "" {
		return config, nil
	}
	config.InsecureSkipVerify = true // for TrustPin it is verified below
	config.CipherSuites = cameraSuites()
	switch trust {
	case TrustNone:
	case TrustPin:
		pinned, err := parseFingerprint(fingerprint)
		if err != nil {
			return nil, err
		}
		config.VerifyConnection = func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errPin
			}
			if got := certificateFingerprint(state.PeerCertificates[0]); got != pinned {
				return &certificateError{fingerprint: got, err: errPin}
			}
			return nil
		}
	default:
		return nil, errors.New("no such kind of trust")
	}
	return config, nil
}

// cameraSuites are Go's own and those without forward secrecy, which are all
// that the firmware of many cameras knows. Who checks certificates by hand
// already knows what his camera is.
func cameraSuites() []uint16 {
	var suites []uint16
	for _, suite := range tls.CipherSuites() {
		suites = append(suites, suite.ID)
	}
	return append(suites, tls.TLS_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_RSA_WITH_AES_256_GCM_SHA384,
		tls.TLS_RSA_WITH_AES_128_CBC_SHA, tls.TLS_RSA_WITH_AES_256_CBC_SHA)
}

// parseFingerprint takes the SHA-256 of a certificate in hexadecimal, with or
// without colons or blanks, and returns it in small letters without them.
func parseFingerprint(text string) (string, error) {
	text = strings.ToLower(strings.NewReplacer(":", "", " ", "", "-", "").Replace(text))
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != sha256.Size {
		return "", errors.New("a fingerprint is a SHA-256: 64 hexadecimal digits")
	}
	return text, nil
}

func certificateFingerprint(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}

// handshakeError adds to the error of a handshake which certificate it is about.
func handshakeError(err error) error {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) && len(untrusted.UnverifiedCertificates) > 0 {
		return &certificateError{fingerprint: certificateFingerprint(untrusted.UnverifiedCertificates[0]), err: untrusted.Err}
	}
	return err
}

// colons writes a fingerprint as browsers show it.
func colons(fingerprint string) string {
	var b bytes.Buffer
	for i := 0; i < len(fingerprint); i += 2 {
		if i > 0 {
			b.WriteByte(':')
		}
		b.WriteString(strings.ToUpper(fingerprint[i : i+2]))
	}
	return b.String()
}
