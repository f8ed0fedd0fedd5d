package cmcd

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// State is what a player is doing (CTA-5004-B, sta).
type State byte

// The states.
const (
	Unknown     State = 0
	Starting    State = 's'
	Playing     State = 'p'
	Seeking     State = 'k'
	Rebuffering State = 'r'
	Paused      State = 'a'
	Waiting     State = 'w'
	Ended       State = 'e'
	Failed      State = 'f'
	Quit        State = 'q'
	Preloading  State = 'd'
)

const knownStates = "spkrawefqd"

// A Report is what matters here of one event. Numbers that were not given are -1.
type Report struct {
	Event      string    // e: "ps" for a change of state, "t" for time gone by, "e" for an error
	Session    string    // sid; "" if not given
	Number     int64     // sn: grows by one within a session
	Time       time.Time // ts: by the player's clock
	State      State
	StartDelay time.Duration // msd: from the wish to play to the first picture
	Latency    time.Duration // ltc: from the live edge, or from the camera, to the screen
	Bitrate    int64         // br: of what is played, in bits per second
	Errors     []string      // ec
}

// Bounds of what is believed.
const (
	maxSessionBytes = 64
	maxErrorBytes   = 40
	maxErrors       = 4
	maxStartDelay   = 5 * time.Minute
	maxLatency      = 24 * time.Hour
	maxBitrate      = 1e9
)

func newReport() Report { return Report{Number: -1, StartDelay: -1, Latency: -1, Bitrate: -1} }

// check holds that a report is one of the event mode.
func (r *Report) check() error {
	if r.Event == "" {
		return errors.New("a report of the event mode has the key e")
	}
	if r.Time.IsZero() {
		return errors.New("a report of the event mode has the key ts")
	}
	return nil
}

// set takes one member of the dictionary. Keys that mean nothing here are left out;
// those that do must be of the right kind.
func (r *Report) set(key string, items []value) error {
	switch key {
	case "e":
		return setToken(key, items, &r.Event)
	case "sid":
		return setText(key, items, &r.Session)
	case "sta":
		var state string
		if err := setToken(key, items, &state); err != nil {
			return err
		}
		// Another is of a later version.
		if len(state) == 1 && strings.Contains(knownStates, state) {
			r.State = State(state[0])
		}
		return nil
	case "ts":
		return setNumber(key, items, 1e15, func(n float64) { r.Time = time.UnixMilli(int64(n)) })
	case "sn":
		return setNumber(key, items, 1e15, func(n float64) { r.Number = int64(n) })
	case "msd":
		return setNumber(key, items, milliseconds(maxStartDelay), func(n float64) { r.StartDelay = duration(n) })
	case "ltc":
		return setNumber(key, items, milliseconds(maxLatency), func(n float64) { r.Latency = duration(n) })
	case "br": // kbit/s
		return setNumber(key, items, maxBitrate/1000, func(n float64) { r.Bitrate = int64(n * 1000) })
	case "ec":
		for _, v := range items[:min(len(items), maxErrors)] {
			if v.kind != text && v.kind != token {
				return fmt.Errorf("%s must have texts", key)
			}
			r.Errors = append(r.Errors, errorCode(v.text))
		}
		return nil
	default:
		return nil
	}
}

func milliseconds(d time.Duration) float64 { return float64(d / time.Millisecond) }

func duration(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// setNumber takes the first of the numbers. One beyond what is believed is left out:
// players have their moments.
func setNumber(key string, items []value, most float64, set func(float64)) error {
	if len(items) == 0 {
		return nil
	}
	if items[0].kind != number {
		return fmt.Errorf("%s must be a number", key)
	}
	if n := items[0].number; n >= 0 && n <= most {
		set(n)
	}
	return nil
}

func setToken(key string, items []value, into *string) error {
	if len(items) != 1 || items[0].kind != token || len(items[0].text) > 16 {
		return fmt.Errorf("%s must be a token", key)
	}
	*into = string(items[0].text)
	return nil
}

func setText(key string, items []value, into *string) error {
	if len(items) != 1 || items[0].kind != text || len(items[0].text) > maxSessionBytes {
		return fmt.Errorf("%s must be a text of at most %d characters", key, maxSessionBytes)
	}
	*into = string(items[0].text)
	return nil
}

// errorCode makes of a code one that can be shown anywhere.
func errorCode(code []byte) string {
	plain := make([]byte, 0, maxErrorBytes)
	for _, c := range code[:min(len(code), maxErrorBytes)] {
		if !isAlpha(c) && !isDigit(c) && c != '-' && c != '.' {
			c = '_'
		}
		plain = append(plain, c)
	}
	if len(plain) == 0 {
		return "none"
	}
	return string(plain)
}
