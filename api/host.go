package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// hostAdvice is for whoever runs the server.
const hostAdvice = "without a login, the API answers by localhost and this machine's own addresses only: " +
	"add the name that you ask by to http.allowed_hosts, or set auth.mode to none if everybody may see and change everything"

// allowsHost reports whether the API may be asked by a name. A page of another site
// can make its own name lead to this machine, and is of the same origin then: that
// it is on loopback does not keep the API from it.
func (o Options) allowsHost(host string) bool {
	if !o.CheckHosts {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || slices.Contains(o.AllowedHosts, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
