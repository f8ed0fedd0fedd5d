package config

import (
	"reflect"
	"testing"
)

func TestAllowedHostsAreNamesWithoutPorts(t *testing.T) {
	c := load(t, "http: {allowed_hosts: 'Cameras.example.org, nas,my_proxy, 192.168.1.2'}\n")
	if want := []string{"cameras.example.org", "nas", "my_proxy", "192.168.1.2"}; !reflect.DeepEqual(c.HTTP.AllowedHosts, want) {
		t.Errorf("got %q", c.HTTP.AllowedHosts)
	}
	for _, value := range []string{"a:80", "http://a", "*.a", "a,,b", "a b", ".a", "a.", "[::1]"} {
		var into []string
		if hosts(&into)(value) == nil {
			t.Errorf("%q is taken as %q", value, into)
		}
	}
}
