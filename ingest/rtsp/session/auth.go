package session

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/drover-video/drover/core/secret"
)

// A login answers the challenges of one server (RFC 7616 and 7617).
type login struct {
	username string
	password secret.String
	noBasic  bool // the password itself is not sent

	chosen   *challenge // nil before the first challenge
	accepted bool       // the server took an answer to chosen
	uses     uint32     // answers given to the nonce of chosen
}

// none reports whether there is nothing to log in with.
func (l *login) none() bool { return l.username == "" && l.password.IsZero() }

// renew takes the challenges of a 401 and reports whether it is worth trying
// again: once for a first challenge, and whenever a nonce that was good has
// become too old. Never else, since many cameras lock after a few failures.
func (l *login) renew(reply *message, answered bool) bool {
	best := strongest(parseChallenges(reply.values("WWW-Authenticate")))
	if best == nil || l.none() || (l.noBasic && best.scheme == "basic") {
		return false
	}
	stale := strings.EqualFold(best.params["stale"], "true")
	// Firmware that does not know "stale" just sends another nonce.
	aged := l.accepted && l.chosen != nil && best.params["nonce"] != l.chosen.params["nonce"]
	if answered && !stale && !aged {
		return false
	}
	l.chosen, l.accepted, l.uses = best, false, 0
	return true
}

// strongest picks the best challenge that can be answered.
func strongest(offered []challenge) *challenge {
	var best *challenge
	bestRank := 0
	for i := range offered {
		if r := rank(&offered[i]); r > bestRank {
			best, bestRank = &offered[i], r
		}
	}
	return best
}

func rank(c *challenge) int {
	switch c.scheme {
	case "basic":
		return 1
	case "digest":
		if _, ok := c.params["nonce"]; !ok {
			return 0
		}
		if _, ok := pickQOP(c.params["qop"]); !ok {
			return 0
		}
		switch name, _ := algorithm(c); name {
		case "MD5":
			return 2
		case "SHA-512-256":
			return 3
		case "SHA-256":
			return 4
		}
	}
	return 0
}

// algorithm returns the hash of a challenge and whether it is of the "-sess"
// kind. An unknown one has no name.
func algorithm(c *challenge) (name string, session bool) {
	name, session = strings.CutSuffix(strings.ToUpper(c.params["algorithm"]), "-SESS")
	switch name {
	case "":
		return "MD5", session
	case "MD5", "SHA-256", "SHA-512-256":
		return name, session
	case "SHA256":
		return "SHA-256", session
	}
	return "", false
}

func newHash(name string) hash.Hash {
	switch name {
	case "SHA-256":
		return sha256.New()
	case "SHA-512-256":
		return sha512.New512_256()
	}
	return md5.New()
}

// pickQOP chooses from the qualities of protection on offer; false when there
// are some and none is known.
func pickQOP(offered string) (string, bool) {
	integrity := false
	for _, qop := range strings.Split(offered, ",") {
		switch strings.ToLower(strings.TrimSpace(qop)) {
		case "auth":
			return "auth", true
		case "auth-int":
			integrity = true
		}
	}
	if integrity {
		return "auth-int", true
	}
	return "", strings.TrimSpace(offered) == ""
}

// authorization returns the value of the Authorization header, or "" as long
// as the server has not asked. The URI is the one in the request line.
func (l *login) authorization(method, uri string) string {
	if l.chosen == nil {
		return ""
	}
	if l.chosen.scheme == "basic" {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(l.username+":"+l.password.Reveal()))
	}
	l.uses++
	return l.digest(method, uri, newCnonce())
}

func newCnonce() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// digest is RFC 7616 3.4 for requests without a body.
func (l *login) digest(method, uri, cnonce string) string {
	c := l.chosen
	name, session := algorithm(c)
	sum := func(parts ...string) string {
		h := newHash(name)
		_, _ = h.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(h.Sum(nil))
	}
	realm, nonce := c.params["realm"], c.params["nonce"]
	qop, _ := pickQOP(c.params["qop"])
	count := fmt.Sprintf("%08x", l.uses)

	who := sum(l.username, realm, l.password.Reveal())
	if session {
		who = sum(who, nonce, cnonce)
	}
	what := sum(method, uri)
	if qop == "auth-int" {
		what = sum(method, uri, sum(""))
	}
	response := sum(who, nonce, what)
	if qop != "" {
		response = sum(who, nonce, count, cnonce, qop, what)
	}

	var b strings.Builder
	fmt.Fprintf(&b, "Digest username=%s, realm=%s, nonce=%s, uri=%s, response=%s",
		quote(l.username), quote(realm), quote(nonce), quote(uri), quote(response))
	if given := c.params["algorithm"]; given != "" {
		b.WriteString(", algorithm=" + clean(given))
	}
	if opaque, ok := c.params["opaque"]; ok {
		b.WriteString(", opaque=" + quote(opaque))
	}
	if qop != "" {
		b.WriteString(", qop=" + qop + ", nc=" + count)
	}
	if qop != "" || session {
		b.WriteString(", cnonce=" + quote(cnonce))
	}
	return b.String()
}

// quote makes a quoted-string.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean(text)) + `"`
}

// clean leaves out what could end a header line.
func clean(text string) string {
	return strings.NewReplacer("\r", "", "\n", "", "\x00", "").Replace(text)
}
