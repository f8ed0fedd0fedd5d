package session

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A tunnel carries a conversation within HTTP, as QuickTime began it: what the
// camera says is the endless answer to a GET, and what we say is the body of a
// POST, in base64. A cookie tells the camera that the two belong together.
//
// It is a net.Conn for the one goroutine that has the conversation; Close may
// be called by any.
type tunnel struct {
	down net.Conn // answers the GET
	rest []byte   // of the answer, that came with its head
	line []byte   // what is written, in base64

	// post opens the upward connection anew.
	post func(ctx context.Context) (net.Conn, error)
	// refusal makes an error of an answer to the POST.
	refusal func(reply *message) error

	watchers sync.WaitGroup

	mu      sync.Mutex // of what is below
	up      net.Conn
	upEnded bool // the camera closed it
	refused error
	closed  bool
}

// reopenTimeout bounds the opening of another upward connection, for which the
// reading waits.
const reopenTimeout = writeTimeout

// openTunnel connects to a camera by way of HTTP. Which port is not in the URL:
// cameras that have RTSP at its usual port have HTTP at its own. So both are
// tried. After a redirect only the one that it names is: a camera may not send
// us to other services.
func (s *Session) openTunnel(ctx context.Context, to target, redirected bool) (net.Conn, netip.Addr, error) {
	ports := []uint16{to.port()}
	if !redirected && (to.port() == 554 || to.port() == 322) {
		ports = []uint16{80, to.port()}
		if to.secure() {
			ports[0] = 443
		}
	}
	var telling error
	for i, port := range ports {
		conn, peer, err := s.openTunnelAt(ctx, to, port, len(ports)-i)
		if err == nil {
			return conn, peer, nil
		}
		// That nothing listens tells less than what somebody says.
		if telling == nil || (isRefusal(err) && !isRefusal(telling)) {
			telling = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, netip.Addr{}, telling
}

// openTunnelAt opens both connections, within one of several shares of the time.
func (s *Session) openTunnelAt(ctx context.Context, to target, port uint16, shares int) (net.Conn, netip.Addr, error) {
	if deadline, ok := ctx.Deadline(); ok && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(shares))
		defer cancel()
	}
	login := s.tunnelLogin(to, port)
	request := httpRequest{target: to, port: port, cookie: newCookie(), userAgent: s.options.UserAgent, login: login}
	down, peer, rest, err := s.get(ctx, &request)
	if err != nil {
		return nil, netip.Addr{}, err
	}
	t := &tunnel{down: down, rest: rest}
	answered := false
	t.post = func(ctx context.Context) (net.Conn, error) {
		conn, err := s.options.dialAddr(ctx, to, netip.AddrPortFrom(peer, port), 1)
		if err != nil {
			return nil, err
		}
		undo := interrupt(ctx, conn)
		defer undo()
		answered = login.chosen != nil
		if _, err := conn.Write(request.post(nil)); err != nil {
			_ = conn.Close()
			return nil, err
		}
		return conn, nil
	}
	t.refusal = func(reply *message) error {
		e := s.refusedTunnel(reply, &request)
		e.post = &postRefusal{reply: reply, login: login, answered: answered}
		return e
	}
	if err := t.open(ctx); err != nil {
		_ = t.Close()
		return nil, netip.Addr{}, err
	}
	return t, peer, nil
}

// get sends the GET, again with a login where it is asked for one, and returns
// the connection that it is answered on, with what came behind the answer's head.
func (s *Session) get(ctx context.Context, request *httpRequest) (net.Conn, netip.Addr, []byte, error) {
	for attempt := 1; ; attempt++ {
		conn, peer, err := s.options.dial(ctx, request.target, request.port)
		if err != nil {
			return nil, netip.Addr{}, nil, err
		}
		answered := request.login.chosen != nil
		reply, rest, err := exchange(ctx, conn, request.get(nil))
		if err == nil && reply.opensTunnel() {
			request.login.accepted = answered
			return conn, peer, rest, nil
		}
		_ = conn.Close()
		if err != nil {
			return nil, netip.Addr{}, nil, err
		}
		if reply.status == 401 && attempt < 3 && request.login.renew(reply, answered) {
			continue
		}
		return nil, netip.Addr{}, nil, s.refusedTunnel(reply, request)
	}
}

// tunnelLogin returns the login for the HTTP of a camera, which remembers what
// it was challenged with. A port that the user did not name is not told the
// password as it is: something else may live there.
func (s *Session) tunnelLogin(to target, port uint16) *login {
	l := s.httpLogins[port]
	if l == nil {
		l = &login{noBasic: port != to.port() && !to.secure()}
		if s.mayLogin(to) {
			l.username, l.password = s.options.Username, s.options.Password
		}
		if s.httpLogins == nil {
			s.httpLogins = map[uint16]*login{}
		}
		s.httpLogins[port] = l
	}
	return l
}

// refusedTunnel makes an error of an answer that is no tunnel.
func (s *Session) refusedTunnel(reply *message, request *httpRequest) *Error {
	e := refusal(StepConnect, reply, s.options.Password.Reveal(), 0, s.options.URL)
	switch {
	case e.Kind == ErrSessionLimit:
	case e.Kind != ErrAuth:
		e.Kind, e.Err = ErrTransportRefused, fmt.Errorf("port %d offers no RTSP over HTTP", request.port)
	case request.login.none():
		e.detail = "the camera asks for a login: give user name and password"
	case request.login.noBasic && request.login.chosen == nil:
		e.detail = fmt.Sprintf("the camera asks for the password in clear at port %d: give that port in the URL to send it there", request.port)
	}
	return e
}

// A postRefusal is about the answer of a camera that does not take a POST.
type postRefusal struct {
	reply    *message
	login    *login
	answered bool // the POST had a login
}

// worthAnother reports whether another POST may be taken: its nonce was too old.
func (r *postRefusal) worthAnother() bool {
	return r.reply.status == 401 && r.login.renew(r.reply, r.answered)
}

// open opens the upward connection.
func (t *tunnel) open(ctx context.Context) error {
	conn, err := t.post(ctx)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		_ = conn.Close()
		return net.ErrClosed
	}
	if t.up != nil {
		_ = t.up.Close()
	}
	t.up, t.upEnded = conn, false
	t.watchers.Go(func() { t.watch(conn) })
	return nil
}

// watch reads what the camera says to a POST: nothing, as a rule, or that it
// does not take it, which ends the tunnel.
func (t *tunnel) watch(up net.Conn) {
	reply, _, err := readHTTPHead(up)
	t.mu.Lock()
	if err == nil && reply.status >= 300 {
		t.refused = t.refusal(reply)
		_ = t.down.SetReadDeadline(time.Unix(1, 0))
	}
	t.mu.Unlock()
	for rest := make([]byte, 512); err == nil; {
		_, err = up.Read(rest)
	}
	t.mu.Lock()
	t.upEnded = t.upEnded || t.up == up
	t.mu.Unlock()
}

// Read implements net.Conn.
func (t *tunnel) Read(b []byte) (int, error) {
	if len(t.rest) > 0 {
		n := copy(b, t.rest)
		t.rest = t.rest[n:]
		return n, nil
	}
	t.rest = nil
	if err := t.refusedWith(); err != nil {
		return 0, err
	}
	n, err := t.down.Read(b)
	if err != nil && n == 0 {
		if refused := t.refusedWith(); refused != nil {
			return 0, refused
		}
	}
	return n, err
}

func (t *tunnel) refusedWith() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.refused
}

// Write implements net.Conn. What is written at once is a piece of base64 of its
// own: that is how cameras decode it.
func (t *tunnel) Write(b []byte) (int, error) {
	t.line = base64.StdEncoding.AppendEncode(t.line[:0], b)
	up, ended, err := t.upward()
	if err != nil {
		return 0, err
	}
	if !ended {
		n, err := up.Write(t.line)
		if err == nil {
			return len(b), nil
		}
		if n > 0 || isDeadline(err) {
			return min(n, 1), err
		}
	}
	// The camera has ended the POST, which is its right: another goes on.
	ctx, cancel := context.WithTimeout(context.Background(), reopenTimeout)
	defer cancel()
	if err := t.open(ctx); err != nil {
		return 0, err
	}
	if up, _, err = t.upward(); err != nil {
		return 0, err
	}
	if err := up.SetWriteDeadline(time.Now().Add(reopenTimeout)); err != nil {
		return 0, err
	}
	if n, err := up.Write(t.line); err != nil {
		return min(n, 1), err
	}
	return len(b), nil
}

func (t *tunnel) upward() (up net.Conn, ended bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.up, t.upEnded, t.refused
}

// Close implements net.Conn, and waits for all that the tunnel has started.
func (t *tunnel) Close() error {
	t.mu.Lock()
	t.closed = true
	err := t.down.Close()
	if t.up != nil {
		_ = t.up.Close()
	}
	t.mu.Unlock()
	t.watchers.Wait()
	return err
}

// LocalAddr implements net.Conn.
func (t *tunnel) LocalAddr() net.Addr { return t.down.LocalAddr() }

// RemoteAddr implements net.Conn.
func (t *tunnel) RemoteAddr() net.Addr { return t.down.RemoteAddr() }

// SetDeadline implements net.Conn.
func (t *tunnel) SetDeadline(at time.Time) error {
	if err := t.SetWriteDeadline(at); err != nil {
		return err
	}
	return t.SetReadDeadline(at)
}

// SetReadDeadline implements net.Conn. A refusal is not waited away: Read looks
// for it first.
func (t *tunnel) SetReadDeadline(at time.Time) error { return t.down.SetReadDeadline(at) }

// SetWriteDeadline implements net.Conn. An upward half that is over cannot have
// one, and need not: Write opens another.
func (t *tunnel) SetWriteDeadline(at time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.up.SetWriteDeadline(at)
	return nil
}
