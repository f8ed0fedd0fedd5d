package play

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/drover-video/drover/core/footage"
)

// A query is what is asked of a path. Parameters that are not known change nothing:
// tokens and what players add.
type query struct {
	from, to, at time.Time // in microseconds; zero: not given
	source       string
	format       string
	gaps         string
	skip         bool // a delta update will do
}

// maxQuery bounds what is looked at.
const maxQuery = 4 << 10

// Errors of a query are for people.
var (
	errQuery    = errors.New("the query is too long, or cannot be read")
	errReversed = errors.New("to has to be later than from")
	errOnlyTo   = errors.New("to needs from")
)

func parseQuery(raw string) (query, error) {
	var q query
	if raw == "" {
		return q, nil
	}
	if len(raw) > maxQuery {
		return q, errQuery
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, errQuery
	}
	for _, p := range []struct {
		name string
		into *time.Time
	}{{"from", &q.from}, {"to", &q.to}, {"at", &q.at}} {
		if *p.into, err = timeOf(values, p.name); err != nil {
			return q, err
		}
	}
	if q.source, err = single(values, "source"); err != nil {
		return q, err
	}
	if q.source != "" && !validID(q.source) {
		return q, errors.New("source is the name of one of the camera's sources")
	}
	if q.format, err = single(values, "format"); err != nil {
		return q, err
	}
	if q.gaps, err = single(values, "gaps"); err != nil {
		return q, err
	}
	// v2 may skip date ranges as well: here they are always there.
	switch values.Get("_HLS_skip") {
	case "YES", "v2":
		q.skip = true
	}
	switch {
	case q.from.IsZero() && !q.to.IsZero():
		return q, errOnlyTo
	case !q.to.IsZero() && !q.to.After(q.from):
		return q, errReversed
	}
	return q, nil
}

func single(values url.Values, name string) (string, error) {
	if len(values[name]) > 1 {
		return "", fmt.Errorf("%s is given more than once", name)
	}
	return values.Get(name), nil
}

func timeOf(values url.Values, name string) (time.Time, error) {
	text, err := single(values, name)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	at, ok := footage.ParseTime(text)
	if !ok {
		return time.Time{}, fmt.Errorf("%s is a time: RFC 3339 (2026-12-01T10:00:00Z), or Unix seconds, or Unix milliseconds", name)
	}
	return at, nil
}
