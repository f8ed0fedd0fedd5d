package cmcd

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"
)

// Bounds of a ledger.
const (
	// sessionPatience is how long a player counts after its last report. Players
	// report every half a minute, or as they are told.
	sessionPatience = 90 * time.Second
	maxSessions     = 10000 // of one camera; of others no delay and state is known
	maxCameras      = 20000
	maxCodes        = 16 // of one camera; others are counted as other
	otherCode       = "other"
	maxStall        = 10 * time.Minute
)

// StartBounds are the upper bounds of the classes that start delays are counted in.
func StartBounds() []time.Duration {
	return []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}
}

const startClasses = 7

// Figures are what players have said about one camera: counts are of all time since
// the server started, the rest is of the players there now.
type Figures struct {
	Reports uint64

	Starts       uint64
	StartTime    time.Duration                    // sum
	StartClasses [startClasses]uint64             // of Starts, those that took at most StartBounds
	Stalls       uint64                           // of a picture that had been playing
	StallTime    time.Duration                    // sum
	Errors       map[string]uint64                // by the players' codes
	Players      int                              // that report
	Playing      int                              // of them
	Stalled      int                              // of them
	Latencies    struct{ P50, P95 time.Duration } // 0 where nobody says
	Bitrate      int64                            // mean of what is played, bits per second; 0 where nobody says
}

// ErrorCount returns the sum of all errors.
func (f *Figures) ErrorCount() uint64 {
	sum := uint64(0)
	for _, n := range f.Errors {
		sum += n
	}
	return sum
}

// A Ledger keeps the figures of all cameras. All may call it.
type Ledger struct {
	now  func() time.Time
	seed maphash.Seed

	mu      sync.Mutex
	cameras map[string]*account
}

// NewLedger returns an empty ledger. now is its clock.
func NewLedger(now func() time.Time) *Ledger {
	return &Ledger{now: now, seed: maphash.MakeSeed(), cameras: map[string]*account{}}
}

// An account is one camera's figures.
type account struct {
	figures  Figures
	sessions map[uint64]*session
	swept    time.Time
}

// A session is one player from its start to its end.
type session struct {
	seen    time.Time // by the server's clock
	number  int64     // of its last report
	state   State
	since   time.Time // by the player's clock
	opened  time.Time // by the player's clock
	delay   time.Duration
	started bool
	latency time.Duration // -1: not said
	bitrate int64         // -1: not said
}

// Add notes reports of a camera, which is known to be one.
func (l *Ledger) Add(camera string, reports []Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.cameras[camera]
	if a == nil {
		if len(l.cameras) >= maxCameras {
			return
		}
		a = &account{sessions: map[uint64]*session{}, figures: Figures{Errors: map[string]uint64{}}}
		l.cameras[camera] = a
	}
	now := l.now()
	for i := range reports {
		a.add(&reports[i], maphash.String(l.seed, reports[i].Session), now)
	}
}

// Forget drops the figures of a camera that is gone.
func (l *Ledger) Forget(camera string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.cameras, camera)
}

func (a *account) add(r *Report, key uint64, now time.Time) {
	var s *session
	if r.Session != "" {
		if s = a.session(r, key, now); s != nil {
			if r.Number >= 0 && r.Number <= s.number {
				return // It was sent again, because the answer was lost.
			}
			s.number = max(s.number, r.Number)
			s.seen = now
		}
	}
	a.figures.Reports++
	if r.Event == "e" {
		for _, code := range r.Errors {
			a.count(code)
		}
		if len(r.Errors) == 0 {
			a.count("none")
		}
	}
	if s != nil {
		a.follow(s, r)
		if s.state == Quit || s.state == Ended {
			delete(a.sessions, key)
		}
	}
}

func (a *account) count(code string) {
	if _, known := a.figures.Errors[code]; !known && len(a.figures.Errors) >= maxCodes {
		code = otherCode
	}
	a.figures.Errors[code]++
}

// session returns the session of a report; nil where there are too many.
func (a *account) session(r *Report, key uint64, now time.Time) *session {
	if s := a.sessions[key]; s != nil {
		return s
	}
	if r.State == Quit || r.State == Ended {
		return nil // It is over already.
	}
	if len(a.sessions) >= maxSessions && now.Sub(a.swept) > time.Second {
		a.sweep(now)
	}
	if len(a.sessions) >= maxSessions {
		return nil
	}
	s := &session{number: -1, opened: r.Time, since: r.Time, delay: -1, latency: -1, bitrate: -1}
	a.sessions[key] = s
	return s
}

func (a *account) sweep(now time.Time) {
	a.swept = now
	maps.DeleteFunc(a.sessions, func(_ uint64, s *session) bool { return now.Sub(s.seen) > sessionPatience })
}

// follow brings a session up to date.
func (a *account) follow(s *session, r *Report) {
	if r.Latency >= 0 {
		s.latency = r.Latency
	}
	if r.Bitrate >= 0 {
		s.bitrate = r.Bitrate
	}
	if r.StartDelay >= 0 {
		s.delay = r.StartDelay
	}
	if r.State == Unknown || r.State == s.state {
		return
	}
	if s.state == Rebuffering && s.started {
		a.figures.StallTime += min(max(r.Time.Sub(s.since), 0), maxStall)
	}
	if r.State == Rebuffering && s.started {
		a.figures.Stalls++
	}
	if r.State == Playing && !s.started {
		s.started = true
		switch {
		case s.delay >= 0:
			a.start(s.delay)
		case s.state != Unknown:
			a.start(min(max(r.Time.Sub(s.opened), 0), maxStartDelay))
		default: // It plays for longer than it reports: when it began, it does not say.
		}
	}
	s.state, s.since = r.State, r.Time
}

func (a *account) start(delay time.Duration) {
	a.figures.Starts++
	a.figures.StartTime += delay
	for i, bound := range StartBounds() {
		if delay <= bound {
			a.figures.StartClasses[i]++
		}
	}
}

// Figures returns those of a camera.
func (l *Ledger) Figures(camera string) Figures {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.cameras[camera]
	if a == nil {
		return Figures{Errors: map[string]uint64{}}
	}
	a.sweep(l.now())
	f := a.figures
	f.Errors = maps.Clone(f.Errors)
	var latencies []time.Duration
	bitrates, sum := 0, int64(0)
	for _, s := range a.sessions {
		f.Players++
		switch s.state {
		case Playing:
			f.Playing++
		case Rebuffering:
			f.Stalled++
		}
		if s.latency >= 0 {
			latencies = append(latencies, s.latency)
		}
		if s.bitrate >= 0 {
			bitrates++
			sum += s.bitrate
		}
	}
	if len(latencies) > 0 {
		slices.SortFunc(latencies, func(a, b time.Duration) int { return cmp.Compare(a, b) })
		f.Latencies.P50 = latencies[(len(latencies)-1)/2]
		f.Latencies.P95 = latencies[(len(latencies)-1)*95/100]
	}
	if bitrates > 0 {
		f.Bitrate = sum / int64(bitrates)
	}
	return f
}
