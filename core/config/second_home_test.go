package config

import (
	"strings"
	"testing"
)

func TestASecondHomeThatCannotWorkIsRefused(t *testing.T) {
	const good = "archive:\n  second_home:\n    bucket: b\n    access_key: a\n    secret_key: hostile\n"
	if c := load(t, good+"    endpoint: http://127.0.0.1:9000\n    prefix: site/a/\n    max_age: 365d\n    bandwidth: 20Mbps\n"); c.Archive.SecondHome.SecretKey.Reveal() != "hostile" ||
		c.Archive.SecondHome.Bandwidth != 20e6 || strings.Contains(c.Archive.SecondHome.SecretKey.String(), "hostile") {
		t.Errorf("got %+v", c.Archive.SecondHome)
	}
	for name, test := range map[string]struct{ yaml, want string }{
		"without a bucket":                {"archive:\n  second_home:\n    secret_key: hostile\n", "needs archive.second_home.bucket"},
		"without a secret key":            {"archive:\n  second_home:\n    bucket: b\n    access_key: a\n", "needs archive.second_home.secret_key"},
		"without an access key":           {"archive:\n  second_home:\n    bucket: b\n    secret_key: hostile\n", "needs archive.second_home.access_key"},
		"a login in the URL":              {good + "    endpoint: https://x:hostile@store\n", "without a login"},
		"a URL of another kind":           {good + "    endpoint: s3://store\n", "https://"},
		"a prefix that leads elsewhere":   {good + "    prefix: a/../b/\n", "slash"},
		"a prefix without a slash":        {good + "    prefix: a\n", "slash"},
		"a bucket that is a path":         {strings.Replace(good, "bucket: b", "bucket: a/b", 1), "letters"},
		"redirects into objects of parts": {good + "    redirect: true\n", "object_minutes to be 1"},
		"a way to verify that is none":    {good + "    verify: hope\n", "sent"},
	} {
		t.Run(name, func(t *testing.T) {
			text := ""
			for _, p := range problemsOf(t, Source{File: writeFile(t, test.yaml)}) {
				text += p.Error() + "\n"
			}
			if !strings.Contains(text, test.want) || strings.Contains(text, "hostile") {
				t.Errorf("got %q, want something of %q", text, test.want)
			}
		})
	}
}
