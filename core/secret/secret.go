// Package secret holds values that must never be printed: camera passwords,
// tokens, keys. Their String, log and JSON forms are redacted; the only way to
// the value is Reveal, which is easy to search for.
package secret

import "log/slog"

// Redacted is what a secret looks like wherever it is printed.
const Redacted = "[redacted]"

// String is a secret text. Its zero value is "no secret".
type String struct{ value string }

// New wraps a value.
func New(value string) String { return String{value} }

// Reveal returns the value, for the one place that sends it to its owner.
func (s String) Reveal() string { return s.value }

// IsZero reports whether there is no secret.
func (s String) IsZero() bool { return s.value == "" }

// String returns Redacted, or "" when there is no secret.
func (s String) String() string {
	if s.value == "" {
		return ""
	}
	return Redacted
}

// GoString keeps %#v from printing the value.
func (s String) GoString() string { return s.String() }

// LogValue keeps slog from printing the value.
func (s String) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText keeps encoders of JSON, YAML and the like from printing the value.
func (s String) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the value as it comes in.
func (s *String) UnmarshalText(text []byte) error {
	s.value = string(text)
	return nil
}
