package rtsptest

import (
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"strings"
)

const realm = "Simulated camera"

// challenge is the value of WWW-Authenticate.
func (c *CameraConfig) challenge(nonce string) string {
	if c.Auth == AuthBasic {
		return fmt.Sprintf(`Basic realm="%s"`, realm)
	}
	return fmt.Sprintf(`Digest realm="%s", nonce="%s"`, realm, nonce)
}

// authorized answers whether a request may pass.
func (c *CameraConfig) authorized(request *Request, nonce string) bool {
	scheme, value, _ := strings.Cut(request.Header("Authorization"), " ")
	switch c.Auth {
	case AuthNone:
		return true
	case AuthBasic:
		want := base64.StdEncoding.EncodeToString([]byte(c.User + ":" + c.Password))
		return strings.EqualFold(scheme, "Basic") && value == want
	default:
		return strings.EqualFold(scheme, "Digest") && c.digestMatches(request, value, nonce)
	}
}

// digestMatches checks the answer of RFC 2069 2.1.2. The URI must be the one of
// the request line: cameras compare it.
func (c *CameraConfig) digestMatches(request *Request, value, nonce string) bool {
	field := parseAuthFields(value)
	secret := hexMD5(c.User + ":" + realm + ":" + c.Password)
	asked := hexMD5(request.Method + ":" + request.URL)
	return field["username"] == c.User && field["realm"] == realm &&
		field["nonce"] == nonce && field["uri"] == request.URL &&
		field["response"] == hexMD5(secret+":"+nonce+":"+asked)
}

func hexMD5(s string) string { return fmt.Sprintf("%x", md5.Sum([]byte(s))) }

// parseAuthFields reads `a="b", c=d`. Quoted values may hold commas and escapes.
func parseAuthFields(value string) map[string]string {
	fields := map[string]string{}
	for value != "" {
		name, rest, found := strings.Cut(value, "=")
		if !found {
			break
		}
		var field strings.Builder
		quoted, i := false, 0
	scan:
		for ; i < len(rest); i++ {
			switch {
			case rest[i] == '"':
				quoted = !quoted
			case quoted && rest[i] == '\\' && i+1 < len(rest):
				i++
				field.WriteByte(rest[i])
			case !quoted && rest[i] == ',':
				break scan
			default:
				field.WriteByte(rest[i])
			}
		}
		fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimRight(field.String(), " ")
		value = strings.TrimLeft(rest[i:], ", ")
	}
	return fields
}
