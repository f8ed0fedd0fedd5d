package config

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Problem is one thing that is wrong, where, and what to do about it. It
// never holds a secret.
type Problem struct {
	Place  string // the file, or the variable or flag that was set
	Line   int    // of the file; 0 if there is none
	Key    string // "http.address", "cameras.door.url"; "" for the file as a whole
	Reason string
}

// Error implements error: drover.yaml:12: http.adress: there is no such key.
func (p Problem) Error() string {
	var text strings.Builder
	if p.Place != "" {
		text.WriteString(p.Place)
		if p.Line > 0 {
			text.WriteByte(':')
			text.WriteString(strconv.Itoa(p.Line))
		}
		text.WriteString(": ")
	}
	if p.Key != "" {
		text.WriteString(p.Key)
		text.WriteString(": ")
	}
	text.WriteString(p.Reason)
	return text.String()
}

// Problems is all that is wrong, one line each.
type Problems []Problem

// Error implements error.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// sort puts what is wrong in the file first, from top to bottom.
func (p Problems) sort(file string) {
	line := func(problem Problem) int {
		if problem.Place != file {
			return math.MaxInt
		}
		return problem.Line
	}
	slices.SortStableFunc(p, func(a, b Problem) int { return cmp.Compare(line(a), line(b)) })
}
