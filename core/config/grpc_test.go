package config

import (
	"strings"
	"testing"
)

func TestTheTapOffLoopbackNeedsAuthNoneToo(t *testing.T) {
	for address, public := range map[string]bool{
		"127.0.0.1:9090": false, "localhost:80": false, "[::1]:80": false, "": false,
		":9090": true, "0.0.0.0:9090": true, "192.168.1.2:80": true, "example.com:80": true,
	} {
		_, _, err := Load(Source{Environ: []string{"DROVER_GRPC_ADDRESS=" + address}})
		if (err != nil) != public {
			t.Errorf("%q without auth.mode: %v", address, err)
		}
		if public && !(strings.Contains(err.Error(), "auth.mode") && strings.Contains(err.Error(), "grpc.address")) {
			t.Errorf("%s: the error does not say what to do: %v", address, err)
		}
		c, _, err := Load(Source{Environ: []string{"DROVER_GRPC_ADDRESS=" + address, "DROVER_AUTH_MODE=none"}})
		if err != nil || c.GRPC.Address != address {
			t.Errorf("%q with auth.mode none: %v", address, err)
		}
	}
}
