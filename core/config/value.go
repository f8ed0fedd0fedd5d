package config

import (
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

func text(into *string) func(string) error {
	return func(value string) error {
		if value == "" {
			return fmt.Errorf("is empty: give a value or remove the line")
		}
		if strings.ContainsRune(value, 0) {
			return fmt.Errorf("has a NUL byte in it")
		}
		*into = value
		return nil
	}
}

// optional lets a value be empty, which is its default.
func optional(set func(string) error) func(string) error {
	return func(value string) error {
		if value == "" {
			return nil
		}
		return set(value)
	}
}

func oneOf(into *string, allowed ...string) func(string) error {
	return func(value string) error {
		for _, a := range allowed {
			if value == a {
				*into = value
				return nil
			}
		}
		names := make([]string, len(allowed))
		for i, a := range allowed {
			names[i] = a
			if a == "" {
				names[i] = `""`
			}
		}
		return fmt.Errorf("must be %s", strings.Join(names, ", "))
	}
}

// congestionControl takes what may be the name of one. Which there are, the system
// knows.
func congestionControl(into *string) func(string) error {
	return func(value string) error {
		if len(value) > 15 || strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return fmt.Errorf("must be a name like reno, cubic or bbr, or empty")
		}
		*into = value
		return nil
	}
}

func address(into *string) func(string) error {
	return func(value string) error {
		_, port, err := net.SplitHostPort(value)
		if err != nil {
			return fmt.Errorf("must be host:port, for example 127.0.0.1:8090 or :8090")
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
			return fmt.Errorf("must end in a port from 0 to 65535, for example 127.0.0.1:8090")
		}
		*into = value
		return nil
	}
}

func whole(into *int, least, most int) func(string) error {
	return func(value string) error {
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("must be a whole number from %d to %d", least, most)
		}
		if n < least || n > most {
			return fmt.Errorf("must be from %d to %d", least, most)
		}
		*into = n
		return nil
	}
}

func duration(into *time.Duration, least, most time.Duration) func(string) error {
	return func(value string) error {
		d, err := ParseDuration(value)
		if err != nil {
			return err
		}
		if d < least || d > most {
			return fmt.Errorf("must be from %s to %s", FormatDuration(least), FormatDuration(most))
		}
		*into = d
		return nil
	}
}

func size(into *int64, least, most int64) func(string) error {
	return func(value string) error {
		n, err := ParseSize(value)
		if err != nil {
			return err
		}
		if n < least || n > most {
			return fmt.Errorf("must be from %d to %d bytes", least, most)
		}
		*into = n
		return nil
	}
}

func share(into *string) func(string) error {
	return func(value string) error {
		if _, _, err := ParseShare(value); err != nil {
			return err
		}
		*into = value
		return nil
	}
}

// ParseShare reads a size, or a share of something: "50GB", "5%". One of what it
// returns is 0; both where the text is empty.
func ParseShare(text string) (bytes int64, percent float64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	if share, ok := strings.CutSuffix(text, "%"); ok {
		n, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(n > 0 && n <= 90) {
			return 0, 0, fmt.Errorf("must be more than 0%% and at most 90%%")
		}
		return 0, n, nil
	}
	n, err := ParseSize(text)
	if err != nil || n <= 0 {
		return 0, 0, fmt.Errorf("must be bytes or a share of the disk, for example 50GB or 5%%")
	}
	return n, 0, nil
}

func smallSize(into *int, least, most int64) func(string) error {
	return func(value string) error {
		var n int64
		if err := size(&n, least, most)(value); err != nil {
			return err
		}
		*into = int(n)
		return nil
	}
}

func boolean(into *bool) func(string) error {
	return func(value string) error {
		switch value {
		case "true":
			*into = true
		case "false":
			*into = false
		default:
			return fmt.Errorf("must be true or false")
		}
		return nil
	}
}

func bitrate(into *int64) func(string) error {
	return func(value string) error {
		n, err := ParseBitrate(value)
		if err != nil {
			return err
		}
		*into = n
		return nil
	}
}

// maxDomains is how many names one certificate may be for.
const maxDomains = 100

// domains reads names with commas in between.
func domains(into *[]string) func(string) error {
	return func(value string) error {
		*into = nil
		if strings.TrimSpace(value) == "" {
			return nil
		}
		for _, name := range strings.Split(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if !isDomain(name) {
				return fmt.Errorf("must be names of hosts with commas in between, for example cameras.example.org, www.example.org")
			}
			*into = append(*into, name)
		}
		if len(*into) > maxDomains {
			return fmt.Errorf("has more than %d names", maxDomains)
		}
		return nil
	}
}

// maxHosts is how many names the API may be asked by.
const maxHosts = 100

// hosts reads names and addresses, without ports, with commas in between.
func hosts(into *[]string) func(string) error {
	return func(value string) error {
		*into = nil
		if strings.TrimSpace(value) == "" {
			return nil
		}
		for name := range strings.SplitSeq(value, ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			_, err := netip.ParseAddr(name)
			if err != nil && !isHost(name) {
				return fmt.Errorf("must be names or addresses without a port, with commas in between, for example cameras.example.org, nas")
			}
			*into = append(*into, name)
		}
		if len(*into) > maxHosts {
			return fmt.Errorf("has more than %d names", maxHosts)
		}
		return nil
	}
}

// isHost reports whether a name can be one that a proxy or a network of one's own
// gives to a host: laxer than the Internet's.
func isHost(name string) bool {
	ends := strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") || strings.Contains(name, "..")
	return name != "" && len(name) <= 253 && !ends &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isDomain reports whether a name can be that of a host on the Internet: no
// address, no wildcard, for which ACME asks another proof.
func isDomain(name string) bool {
	if len(name) > 253 || !strings.Contains(name, ".") {
		return false
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
				return false
			}
		}
	}
	return true
}

func httpsURL(into *string) func(string) error {
	return func(value string) error {
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return fmt.Errorf("must be an https:// URL")
		}
		*into = value
		return nil
	}
}

const day = 24 * time.Hour

// ParseDuration reads a time as Go writes it ("2s", "1h30m"), and whole or
// broken days besides ("30d"). It is the one way to write a time in the file
// and in the API.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err == nil && n >= 0 && n <= float64(math.MaxInt64/day)-1 {
			return time.Duration(n * float64(day)), nil
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		return d, nil
	}
	return 0, fmt.Errorf("must be a time with its unit, for example 500ms, 2s, 1m30s or 30d")
}

// FormatDuration writes what ParseDuration reads, as short as it can: "30d",
// "1m30s", "2s".
func FormatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// ParseBitrate reads bits per second, with or without a unit: "64000", "64kbps",
// "2.5Mbps", "10Gbps".
func ParseBitrate(text string) (int64, error) {
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	unit, known := map[string]float64{"": 1, "BPS": 1, "KBPS": 1e3, "MBPS": 1e6, "GBPS": 1e9}[strings.ToUpper(strings.TrimSpace(text[end:]))]
	n, err := strconv.ParseFloat(text[:end], 64)
	bits := n * unit
	if err != nil || !known || bits > 1<<53 {
		return 0, fmt.Errorf("must be bits per second, for example 500Mbps or 2Gbps")
	}
	return int64(math.Round(bits)), nil
}

// ParseSize reads bytes, with or without a unit: "4096", "32MB" (of a thousand
// thousand bytes), "32MiB" (of 1024 times 1024).
func ParseSize(text string) (int64, error) {
	end := 0
	for end < len(text) && (text[end] == '.' || text[end] >= '0' && text[end] <= '9') {
		end++
	}
	unit, known := map[string]float64{
		"": 1, "B": 1,
		"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	}[strings.ToUpper(strings.TrimSpace(text[end:]))]
	n, err := strconv.ParseFloat(text[:end], 64)
	bytes := n * unit
	if err != nil || !known || bytes != math.Trunc(bytes) || bytes > 1<<53 {
		return 0, fmt.Errorf("must be a number of bytes, or one with a unit, for example 32MB, 512MiB or 2TB")
	}
	return int64(bytes), nil
}
