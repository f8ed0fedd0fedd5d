package camera

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TLSVerify says which certificates of a camera are taken.
type TLSVerify string

// The ways to verify.
const (
	TLSVerifySystem TLSVerify = "system" // by an authority that the system knows, for the host of the URL
	TLSVerifyPin    TLSVerify = "pin"    // the one of a fingerprint
	TLSVerifyNone   TLSVerify = "none"   // any: whoever is in between can read along
)

// TLSSpec says whom to trust at the other end of rtsps://.
type TLSSpec struct {
	Verify      TLSVerify
	Fingerprint string // SHA-256 of the certificate, 64 small hexadecimal digits; of TLSVerifyPin only
}

// normalize fills defaults in: who gives a fingerprint wants it checked.
func (t *TLSSpec) normalize(field func(string) string) error {
	if t.Verify == "" {
		t.Verify = TLSVerifySystem
		if t.Fingerprint != "" {
			t.Verify = TLSVerifyPin
		}
	}
	switch t.Verify {
	case TLSVerifySystem, TLSVerifyNone:
		if t.Fingerprint != "" {
			return fieldError(field("tls.fingerprint"), "is checked only when tls.verify is pin")
		}
		return nil
	case TLSVerifyPin:
	default:
		return fieldError(field("tls.verify"), "must be system, pin or none")
	}
	digits := strings.ToLower(strings.NewReplacer(":", "", " ", "", "-", "").Replace(t.Fingerprint))
	raw, err := hex.DecodeString(digits)
	if err != nil || len(raw) != sha256.Size {
		return fieldError(field("tls.fingerprint"), "must be the SHA-256 of the camera's certificate, 64 hexadecimal digits: drover probe shows it")
	}
	t.Fingerprint = digits
	return nil
}
