package session

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
)

// maxRedirects bounds how often a camera may send us elsewhere.
const maxRedirects = 3

// open connects and describes, following redirects.
func (s *Session) open(ctx context.Context, first target) error {
	to := first
	for hop := 0; ; hop++ {
		next, err := s.describe(ctx, to, first)
		if err != nil {
			return hopError(err, hop)
		}
		if next == nil {
			return nil
		}
		if hop == maxRedirects {
			return &Error{Step: StepDescribe, Kind: ErrRedirect, Err: errors.New("too many redirects")}
		}
		to = *next
	}
}

// hopError hides why a redirect could not be connected to: told apart, a
// closed port and a silent one would let a camera map our network.
func hopError(err error, hop int) error {
	var e *Error
	if hop > 0 && errors.As(err, &e) && e.Step == StepConnect && !errors.Is(err, context.Canceled) {
		return &Error{Step: StepConnect, Kind: ErrRedirect}
	}
	return err
}

// describe has one conversation up to the description. It returns where the
// camera sends us instead, if it does.
func (s *Session) describe(ctx context.Context, to, first target) (next *target, err error) {
	if err := s.greet(ctx, to, first); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil || next != nil {
			_ = s.talk.conn.Close()
		}
	}()
	reply, err := s.talk.do(ctx, "DESCRIBE", to.String(), header{"Accept", "application/sdp"})
	if err != nil {
		return nil, fail(ctx, StepDescribe, err)
	}
	switch reply.status {
	case 301, 302, 303, 305, 307, 308:
		elsewhere, err := to.redirect(reply.get("Location"))
		if err != nil {
			return nil, &Error{Step: StepDescribe, Status: reply.status, Kind: ErrRedirect, Err: err}
		}
		return &elsewhere, nil
	}
	if !reply.success() {
		return nil, s.refused(StepDescribe, reply, !first.sameServer(to))
	}
	return nil, s.understand(to, reply)
}

// maxGreetings bounds how often a tunnel is opened for whose POST the nonce was
// too old.
const maxGreetings = 3

// greet connects, and asks what the camera can do.
func (s *Session) greet(ctx context.Context, to, first target) error {
	s.first, s.httpLogins = first, nil // what another server said is not for this one
	for attempt := 1; ; attempt++ {
		if err := s.connect(ctx, to, first); err != nil {
			return err
		}
		err := s.askOptions(ctx, to)
		if err == nil {
			return nil
		}
		_ = s.talk.conn.Close()
		var e *Error
		if attempt == maxGreetings || !errors.As(err, &e) || e.post == nil || !e.post.worthAnother() {
			return err
		}
	}
}

// mayLogin reports whether the user's login is for a server.
func (s *Session) mayLogin(to target) bool { return s.first.sameServer(to) }

// connect begins a conversation with the server of a URL.
func (s *Session) connect(ctx context.Context, to, first target) error {
	dialCtx, cancel := context.WithTimeout(ctx, s.options.RequestTimeout)
	defer cancel()
	var conn net.Conn
	var peer netip.Addr
	var err error
	if s.options.Transport == Tunnel {
		conn, peer, err = s.openTunnel(dialCtx, to, to.String() != first.String())
	} else {
		conn, peer, err = s.options.dial(dialCtx, to, to.port())
	}
	if err != nil {
		if ctx.Err() == nil && dialCtx.Err() != nil && !isRefusal(err) {
			return &Error{Step: StepConnect, Kind: ErrTimeout}
		}
		return fail(ctx, StepConnect, err)
	}
	s.peer = peer.Unmap().WithZone("")
	s.talk = &conversation{
		conn:      conn,
		in:        newScanner(scanBufferBytes, s.plausible, s.certain),
		userAgent: s.options.UserAgent,
		timeout:   s.options.RequestTimeout,
		log:       s.options.Logger,
		abandoned: map[int]string{},
		lifetime:  defaultLifetime,
		early:     s.keepEarly,
	}
	if s.mayLogin(to) {
		s.talk.login = login{username: s.options.Username, password: s.options.Password}
	}
	return nil
}

// askOptions learns how to keep the session alive. A camera that does not
// know the request is no worse for it.
func (s *Session) askOptions(ctx context.Context, to target) error {
	reply, err := s.talk.do(ctx, "OPTIONS", to.String())
	if err != nil {
		return fail(ctx, StepOptions, err)
	}
	// A login refused here is not tried again: cameras lock after a few.
	if reply.status == 401 && !s.talk.login.none() {
		return s.refused(StepOptions, reply, false)
	}
	s.keep = "OPTIONS"
	for _, public := range reply.values("Public") {
		if strings.Contains(strings.ToUpper(public), "GET_PARAMETER") {
			s.keep = "GET_PARAMETER"
		}
	}
	return nil
}

// understand takes the description in.
func (s *Session) understand(to target, reply *message) error {
	d := parseSDP(reply.body)
	if len(d.medias) == 0 {
		return &Error{Step: StepDescribe, Kind: ErrNoMedia}
	}
	s.target, s.base = to, to
	for _, name := range [...]string{"Content-Base", "Content-Location"} {
		if base := reply.get(name); isBase(base) {
			s.base = to.resolve(base)
			break
		}
	}
	s.medias = d.medias
	s.control = s.base.resolve(d.control)
	return nil
}

// isBase reports whether a Content-Base is of use: a whole URL or a path.
func isBase(text string) bool {
	lower := strings.ToLower(text)
	return strings.HasPrefix(lower, "rtsp://") || strings.HasPrefix(lower, "rtsps://") || strings.HasPrefix(text, "/")
}

// refused makes an error of a reply, with a better hint where one is known.
func (s *Session) refused(step Step, reply *message, redirected bool) error {
	e := refusal(step, reply, s.options.Password.Reveal(), s.talk.lifetime, s.options.URL)
	if e.Kind == ErrAuth && s.talk.login.none() {
		e.detail = "the camera asks for a login: give user name and password"
		if redirected {
			e.detail = "the camera redirects to another server, which asks for a login: give the URL of that server"
		}
	}
	return e
}
