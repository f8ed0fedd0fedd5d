//go:build !linux

package wire

import "errors"

// departures are not told of elsewhere, where nothing is answered ahead of
// net/http.
type departures struct{}

func newDepartures() (*departures, error) { return nil, errors.ErrUnsupported }

func (*departures) stop() {}

func (*departures) watch(*Conn) {}

func (*departures) forget(*Conn) {}
