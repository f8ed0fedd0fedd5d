package config

import (
	"testing"
	"time"
)

func TestDurationsAreReadAndWrittenTheSameWay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "2s": 2 * time.Second, "1m30s": 90 * time.Second,
		"2m": 2 * time.Minute, "12h": 12 * time.Hour, "30d": 30 * day, "1d": day, "0s": 0,
	} {
		got, err := ParseDuration(text)
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
		if back := FormatDuration(want); back != text {
			t.Errorf("%v is written %s, want %s", want, back, text)
		}
	}
	for _, text := range []string{"", "5", "d", "-1d", "1e300d", "infd", "nand", "2 s", "two"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestSizesAreBytesOrHaveAUnit(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "1B": 1, "32MB": 32e6, "32 mb": 32e6, "1.5kB": 1500, "32KiB": 32 << 10, "1GiB": 1 << 30, "2TB": 2e12,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "MB", "-1", "1.5", "1e9", "0x10", "99999999TB", "12 parsecs", "1.2.3"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestBitratesAreBitsPerSecondOrHaveAUnit(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "64000": 64000, "64kbps": 64000, "2.5 Mbps": 2500000, "10Gbps": 1e10, "1.5bps": 2} {
		if got, err := ParseBitrate(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Mbps", "-1", "5MB", "99999999Gbps", "1.2.3"} {
		if got, err := ParseBitrate(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func TestACongestionControlIsAName(t *testing.T) {
	for text, want := range map[string]bool{"": true, "reno": true, "bbr": true, "dctcp": true, "no name": false, "a/b": false, "sixteen_letters_": false, "RENO": false} {
		var c Config
		for _, k := range c.keys() {
			if k.name == "http.congestion_control" && (k.set(text) == nil) != want {
				t.Errorf("%q: taken %v, want %v", text, !want, want)
			}
		}
	}
}

func TestTheLikeliestNameIsSuggested(t *testing.T) {
	var c Config
	names := keyNames(c.keys())
	for wrong, want := range map[string]string{
		"http.adress": "http.address", "http.addres": "http.address", "HTTP.Address": "http.address",
		"hls.widnow": "hls.window", "log.window": "hls.window", "ring.max_byte": "ring.max_bytes",
		"database.password": "", "x": "", "": "",
	} {
		if got := nearest(wrong, names); got != want {
			t.Errorf("%s: suggested %q, want %q", wrong, got, want)
		}
	}
}

func TestWhatIsKeptFreeIsBytesOrAShare(t *testing.T) {
	for text, want := range map[string]struct {
		bytes   int64
		percent float64
	}{"50GB": {50e9, 0}, "5%": {0, 5}, "0.5 %": {0, 0.5}, "90%": {0, 90}} {
		if bytes, percent, err := ParseShare(text); err != nil || bytes != want.bytes || percent != want.percent {
			t.Errorf("%s: got %d, %v, %v", text, bytes, percent, err)
		}
	}
	for _, text := range []string{"0", "-1", "0%", "91%", "NaN%", "five", "%", "5 percent"} {
		if _, _, err := ParseShare(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
