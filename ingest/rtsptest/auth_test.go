package rtsptest

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

func TestCameraWantsTheRightPassword(t *testing.T) {
	const user, password = "operator", `p@s#/:?%^!"`
	server := Start(t,
		CameraConfig{Path: "basic", Auth: AuthBasic, User: user, Password: password},
		CameraConfig{Path: "digest", Auth: AuthDigest, User: user, Password: password})
	basic := func(password string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	c := dial(t, server.Camera("basic"))
	tests := []struct {
		header string
		want   int
	}{
		{"A: b", 401},
		{basic("wrong"), 401},
		{"Authorization: Digest " + basic(password)[21:], 401},
		{basic(password), 200},
	}
	for _, test := range tests {
		if r := c.ask("DESCRIBE", c.url, test.header); r.status != test.want {
			t.Errorf("%s: %d, want %d", test.header, r.status, test.want)
		}
	}
	if got := server.Camera("basic").Seen().Authorizations; len(got) != 3 || "Authorization: "+got[2] != basic(password) {
		t.Errorf("authorizations seen: %q", got)
	}

	c = dial(t, server.Camera("digest"))
	challenge := c.ask("DESCRIBE", c.url).headers.Get("WWW-Authenticate")
	_, nonce, _ := strings.Cut(challenge, `nonce="`)
	nonce = strings.TrimSuffix(nonce, `"`)
	digest := func(password, uri string) string {
		answer := hexMD5(hexMD5(user+":"+realm+":"+password) + ":" + nonce + ":" + hexMD5("DESCRIBE:"+uri))
		return fmt.Sprintf(`Authorization: Digest username="%s", realm="%s", nonce="%s", uri="%s", response="%s"`,
			user, realm, nonce, uri, answer)
	}
	tests = []struct {
		header string
		want   int
	}{
		{digest("wrong", c.url), 401},
		{digest(password, c.url+"/"), 401},
		{digest(password, c.url), 200},
	}
	for _, test := range tests {
		if r := c.ask("DESCRIBE", c.url, test.header); r.status != test.want {
			t.Errorf("%s: %d, want %d", test.header, r.status, test.want)
		}
	}
	if r := c.ask("OPTIONS", c.url); r.status != 200 {
		t.Errorf("OPTIONS without credentials: %d, want 200", r.status)
	}
}
