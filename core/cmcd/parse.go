// Package cmcd reads what players say about playback in the event mode of Common
// Media Client Data, version 2 (CTA-5004-B), and keeps figures of it by camera.
// What players say comes from anybody: it is bounded, and believed within bounds.
package cmcd

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Bounds of a batch.
const (
	MaxBatchBytes = 32 << 10
	maxReports    = 128 // lines
	maxKeys       = 80  // in one report; the standard has about 60
	maxKeyBytes   = 64
	maxItems      = 16 // in one inner list
)

var errSyntax = errors.New("this is no dictionary of structured fields")

// A value is a bare item of a structured field (RFC 8941, 3.3), as far as CMCD needs
// to tell them apart.
type value struct {
	kind   valueKind
	number float64
	text   []byte // of a string, with escapes still in it, or of a token
}

type valueKind int

const (
	boolean valueKind = iota // number is 0 or 1
	number
	text
	token
)

// Parse reads a batch: a report on each line. A batch that is wrong anywhere is
// refused as a whole.
func Parse(batch []byte) ([]Report, error) {
	if len(batch) > MaxBatchBytes {
		return nil, fmt.Errorf("a batch has at most %d bytes", MaxBatchBytes)
	}
	var reports []Report
	for n := 1; len(batch) > 0; n++ {
		line, rest, _ := bytes.Cut(batch, []byte("\n"))
		batch = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			continue
		}
		if len(reports) == maxReports {
			return nil, fmt.Errorf("a batch has at most %d reports", maxReports)
		}
		r := newReport()
		if err := r.parse(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		reports = append(reports, r)
	}
	if len(reports) == 0 {
		return nil, errors.New("there is no report in it")
	}
	return reports, nil
}

// parse reads one dictionary (RFC 8941, 4.2.2) into the report.
func (r *Report) parse(line []byte) error {
	s := scanner{in: line}
	for keys := 0; ; keys++ {
		if keys == maxKeys {
			return fmt.Errorf("a report has at most %d keys", maxKeys)
		}
		key, ok := s.key()
		if !ok {
			return errSyntax
		}
		items, ok := s.member()
		if !ok {
			return errSyntax
		}
		if err := r.set(string(key), items); err != nil {
			return err
		}
		s.spaces()
		if len(s.in) == 0 {
			return r.check()
		}
		if !s.take(',') {
			return errSyntax
		}
		s.spaces()
	}
}

// A scanner reads structured fields from the front of its input.
type scanner struct{ in []byte }

func (s *scanner) take(c byte) bool {
	if len(s.in) == 0 || s.in[0] != c {
		return false
	}
	s.in = s.in[1:]
	return true
}

func (s *scanner) spaces() { s.in = bytes.TrimLeft(s.in, " \t") }

// span takes the longest run of bytes that are in a set.
func (s *scanner) span(in func(byte) bool) []byte {
	n := 0
	for n < len(s.in) && in(s.in[n]) {
		n++
	}
	run := s.in[:n]
	s.in = s.in[n:]
	return run
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return isLower(c|0x20) && c != 0x40 && c != 0x60 }

func (s *scanner) key() ([]byte, bool) {
	if len(s.in) == 0 || !isLower(s.in[0]) && s.in[0] != '*' {
		return nil, false
	}
	key := s.span(func(c byte) bool {
		return isLower(c) || isDigit(c) || c == '_' || c == '-' || c == '.' || c == '*'
	})
	return key, len(key) <= maxKeyBytes
}

// member reads what follows a key: nothing, which is true, an item, or a list of them.
func (s *scanner) member() ([]value, bool) {
	if !s.take('=') {
		return []value{{kind: boolean, number: 1}}, s.parameters()
	}
	if !s.take('(') {
		v, ok := s.item()
		return []value{v}, ok
	}
	var items []value
	for {
		s.spaces()
		if s.take(')') {
			return items, s.parameters()
		}
		if len(items) == maxItems {
			return nil, false
		}
		v, ok := s.item()
		if !ok || len(s.in) == 0 || s.in[0] != ' ' && s.in[0] != ')' {
			return nil, false
		}
		items = append(items, v)
	}
}

func (s *scanner) item() (value, bool) {
	v, ok := s.bare()
	return v, ok && s.parameters()
}

// parameters are read and mean nothing here.
func (s *scanner) parameters() bool {
	for s.take(';') {
		s.spaces()
		if _, ok := s.key(); !ok {
			return false
		}
		if s.take('=') {
			if _, ok := s.bare(); !ok {
				return false
			}
		}
	}
	return true
}

func (s *scanner) bare() (value, bool) {
	if len(s.in) == 0 {
		return value{}, false
	}
	switch c := s.in[0]; {
	case c == '"':
		return s.quoted()
	case c == '-' || isDigit(c):
		return s.number()
	case c == '?':
		s.in = s.in[1:]
		if s.take('1') {
			return value{kind: boolean, number: 1}, true
		}
		return value{kind: boolean}, s.take('0')
	case isAlpha(c) || c == '*':
		return value{kind: token, text: s.span(isToken)}, true
	default:
		return value{}, false
	}
}

func isToken(c byte) bool {
	return isAlpha(c) || isDigit(c) || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~:/"), c) >= 0
}

func (s *scanner) quoted() (value, bool) {
	for i := 1; i < len(s.in); i++ {
		switch c := s.in[i]; {
		case c == '\\':
			i++
			if i == len(s.in) || s.in[i] != '"' && s.in[i] != '\\' {
				return value{}, false
			}
		case c == '"':
			v := value{kind: text, text: s.in[1:i]}
			s.in = s.in[i+1:]
			return v, true
		case c < 0x20 || c >= 0x7f:
			return value{}, false
		}
	}
	return value{}, false
}

// number reads an integer of 15 digits at most, or a decimal of 12 and 3 (RFC 8941,
// 3.3.1 and 3.3.2). CMCD's own are in those bounds, and a float holds them exactly.
func (s *scanner) number() (value, bool) {
	negative := s.take('-')
	whole := s.span(isDigit)
	digits := string(whole)
	if s.take('.') {
		fraction := s.span(isDigit)
		if len(whole) > 12 || len(fraction) == 0 || len(fraction) > 3 {
			return value{}, false
		}
		digits += "." + string(fraction)
	}
	if len(whole) == 0 || len(whole) > 15 {
		return value{}, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return value{}, false
	}
	if negative {
		n = math.Copysign(n, -1)
	}
	return value{kind: number, number: n}, true
}
