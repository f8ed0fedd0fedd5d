package footage_test

import (
	"testing"
	"time"

	"github.com/drover-video/drover/core/footage"
)

func TestATimeIsReadAsPeopleAndScriptsWriteIt(t *testing.T) {
	want := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for text, after := range map[string]time.Duration{
		"2026-12-01T10:00:00Z":                0,
		"2026-12-01T11:00:00+01:00":           0,
		"2026-12-01T11:00:00 01:00":           0, // a plus sign that was not encoded
		"2026-12-01T10:00:00.5Z":              time.Second / 2,
		"2026-12-01T10:00:00.123456789Z":      123_456 * time.Microsecond,
		"1796119200":                          0,
		"1796119200.25":                       time.Second / 4,
		"1796119200.123456789012":             123_456 * time.Microsecond,
		"1796119200125":                       125 * time.Millisecond,
		"0":                                   -want.Sub(time.Unix(0, 0)),
		"2026-12-01T09:00:00.000000000-00:00": -time.Hour,
	} {
		got, ok := footage.ParseTime(text)
		if !ok || !got.Equal(want.Add(after)) {
			t.Errorf("%q: got %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "now", "-1", "+1", "1e9", "1.", ".5", "1.5.5", "99999999999999999999", "2026-12-01", "2026-13-01T10:00:00Z",
		"1969-12-31T23:59:59Z", "../../etc/passwd", "2026-12-01T10:00:00", "999999999999", "٣", "1796119200125.5"} {
		if got, ok := footage.ParseTime(text); ok {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzTime(f *testing.F) {
	f.Add("2026-12-01T10:00:00.123Z")
	f.Add("1796119200.25")
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := footage.ParseTime(text)
		if !ok {
			return
		}
		if at.Unix() < 0 || at.Year() > 9999 || at.Nanosecond()%1000 != 0 {
			t.Fatalf("%q is %v", text, at)
		}
		if again, ok := footage.ParseTime(at.Format(time.RFC3339Nano)); !ok || !again.Equal(at) {
			t.Fatalf("%q is %v, which is %v", text, at, again)
		}
	})
}
