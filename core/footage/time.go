package footage

import (
	"strconv"
	"strings"
	"time"
)

const (
	maxTimeText = 40
	msDigits    = 13 // of Unix milliseconds from 2001 to 2286
	maxSeconds  = 253_402_300_799
)

// ParseTime reads a time as RFC 3339, as Unix seconds with or without a fraction, or
// as Unix milliseconds of 13 digits. It is cut to microseconds.
func ParseTime(text string) (time.Time, bool) {
	if len(text) > maxTimeText {
		return time.Time{}, false
	}
	if whole, fraction, dotted := strings.Cut(text, "."); isDigits(whole) && (!dotted || isDigits(fraction)) {
		return unixTime(whole, fraction, dotted)
	}
	// A plus sign that was not encoded has become a space.
	at, err := time.Parse(time.RFC3339Nano, strings.Replace(text, " ", "+", 1))
	if err != nil || at.Unix() < 0 || at.Unix() > maxSeconds {
		return time.Time{}, false
	}
	return at.UTC().Truncate(time.Microsecond), true
}

func unixTime(whole, fraction string, dotted bool) (time.Time, bool) {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if len(whole) == msDigits && !dotted {
		return time.UnixMilli(n).UTC(), true
	}
	if n > maxSeconds {
		return time.Time{}, false
	}
	micros, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	return time.Unix(n, micros*1000).UTC(), err == nil
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
