// Package share makes and checks the tokens of links to a camera that may be
// given away. A token holds all that it allows, signed, so that it is checked
// without looking anything up; only those that were taken back are remembered.
package share

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"sync"
	"time"

	"github.com/drover-video/drover/core/viewer"
)

// ID names a share: 16 hexadecimal digits.
type ID string

func newID() ID {
	var random [idBytes]byte
	_, _ = rand.Read(random[:]) // It never fails: it ends the program instead.
	return ID(hex.EncodeToString(random[:]))
}

// Action is what a token allows.
type Action string

// The actions.
const (
	Watch   Action = "watch"   // see the live picture
	Archive Action = "archive" // see what was recorded, too
)

// Allows reports whether one action is allowed by another: its own, or what is less.
func (a Action) Allows(wanted Action) bool {
	return a != "" && (a == wanted || a == Archive && wanted == Watch)
}

// Claims is what a token says.
type Claims struct {
	ID         ID
	Camera     string
	Action     Action
	Expires    time.Time // whole seconds
	MaxViewers int       // at once; 0 for no limit
}

// What is wrong with a token.
var (
	ErrForged  = errors.New("this is no token of this server")
	ErrExpired = errors.New("the token has expired")
	ErrRevoked = errors.New("the token was taken back")
)

// Key signs tokens.
type Key [32]byte

// String keeps the key out of logs.
func (Key) String() string { return "[redacted]" }

// GoString keeps the key out of logs.
func (Key) GoString() string { return "[redacted]" }

// NewKey returns a random key.
func NewKey() Key {
	var key Key
	_, _ = rand.Read(key[:]) // It never fails: it ends the program instead.
	return key
}

// The bytes of a token, before base64url: version, action, ID, when it expires
// in Unix seconds (big endian), the limit of viewers as a varint, the camera's
// id, and of all that the first macBytes of its HMAC-SHA-256.
const (
	version       = 1
	actionWatch   = 1
	actionArchive = 2
	idBytes       = 8
	expiresBytes  = 5
	macBytes      = 16
	headBytes     = 2 + idBytes + expiresBytes

	// MaxTokenBytes is the length of the longest token.
	MaxTokenBytes = (headBytes + binary.MaxVarintLen32 + maxCameraBytes + macBytes + 2) / 3 * 4
	// maxCameraBytes is the length of the longest id of a camera.
	maxCameraBytes = 63

	// maxViewers is the highest limit: that of a set of viewers.
	maxViewers = viewer.MaxLimit
)

var encoding = base64.RawURLEncoding.Strict()

// A signer signs and reads tokens. All may call it.
type signer struct {
	macs sync.Pool // of hash.Hash, keyed
}

func newSigner(key Key) *signer {
	return &signer{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key[:]) }}}
}

// sign returns the token of claims.
func (s *signer) sign(c Claims) (string, error) {
	id, err := hex.DecodeString(string(c.ID))
	seconds := c.Expires.Unix()
	switch {
	case err != nil || len(id) != idBytes:
		return "", fmt.Errorf("sign a token: %q is no id of a share", c.ID)
	case actionByte(c.Action) == 0:
		return "", fmt.Errorf("sign a token: %q is no action", c.Action)
	case c.Camera == "" || len(c.Camera) > maxCameraBytes:
		return "", fmt.Errorf("sign a token: %q is no id of a camera", c.Camera)
	case seconds <= 0 || seconds >= 1<<(8*expiresBytes):
		return "", fmt.Errorf("sign a token: it cannot expire at %v", c.Expires)
	case c.MaxViewers < 0 || c.MaxViewers > maxViewers:
		return "", fmt.Errorf("sign a token: %d is no limit of viewers", c.MaxViewers)
	}
	token := append(make([]byte, 0, MaxTokenBytes), version, actionByte(c.Action))
	token = append(token, id...)
	var expires [8]byte
	binary.BigEndian.PutUint64(expires[:], uint64(seconds))
	token = append(token, expires[8-expiresBytes:]...)
	token = binary.AppendUvarint(token, uint64(c.MaxViewers))
	token = append(token, c.Camera...)
	token = s.appendMAC(token, token)
	return encoding.EncodeToString(token), nil
}

func actionByte(a Action) byte {
	switch a {
	case Watch:
		return actionWatch
	case Archive:
		return actionArchive
	default:
		return 0
	}
}

// actionOf returns "" for a byte that is none's.
func actionOf(b byte) Action {
	switch b {
	case actionWatch:
		return Watch
	case actionArchive:
		return Archive
	default:
		return ""
	}
}

func (s *signer) appendMAC(dst, of []byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	mac.Write(of)
	var sum [sha256.Size]byte
	return append(dst, mac.Sum(sum[:0])[:macBytes]...)
}

// read returns what a token says, or ErrForged. There is exactly one way to
// write a token: caches would keep others apart.
func (s *signer) read(token string) (Claims, error) {
	if len(token) > MaxTokenBytes {
		return Claims{}, ErrForged
	}
	var buffer [MaxTokenBytes]byte
	n, err := encoding.Decode(buffer[:], []byte(token))
	if err != nil || n < headBytes+macBytes || encoding.EncodedLen(n) != len(token) {
		return Claims{}, ErrForged
	}
	body, mac := buffer[:n-macBytes], buffer[n-macBytes:n]
	var sum [macBytes]byte
	if !hmac.Equal(mac, s.appendMAC(sum[:0], body)) || body[0] != version || actionOf(body[1]) == "" {
		return Claims{}, ErrForged
	}
	var expires [8]byte
	copy(expires[8-expiresBytes:], body[2+idBytes:])
	viewers, used := binary.Uvarint(body[headBytes:])
	if used <= 0 || viewers > maxViewers {
		return Claims{}, ErrForged
	}
	return Claims{
		ID:         ID(hex.EncodeToString(body[2 : 2+idBytes])),
		Camera:     string(body[headBytes+used:]),
		Action:     actionOf(body[1]),
		Expires:    time.Unix(int64(binary.BigEndian.Uint64(expires[:])), 0),
		MaxViewers: int(viewers),
	}, nil
}
