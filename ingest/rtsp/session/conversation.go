package session

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strconv"
	"time"
)

// A conversation is the exchange of requests and replies over one connection.
// One goroutine uses it at a time.
type conversation struct {
	conn      net.Conn
	in        *scanner
	login     login
	userAgent string
	timeout   time.Duration // of each reply
	log       *slog.Logger

	sequence  int            // CSeq of the last request
	abandoned map[int]string // requests sent by Run, whose replies nobody waits for: CSeq to method
	sessionID string

	// lifetime is how long the camera keeps a session that is silent.
	lifetime time.Duration

	// early takes frames that come before somebody reads them.
	early func(channel byte, payload []byte)

	spoke  bool // a message has come, so this is an RTSP server
	broken bool // the connection failed, so there is no use in writing
}

// defaultLifetime is RFC 2326 12.37.
const defaultLifetime = 60 * time.Second

// interrupt makes every wait on the connection end when ctx does. The result
// undoes that, and does not return before it is undone.
func interrupt(ctx context.Context, conns ...interface{ SetDeadline(time.Time) error }) (undo func()) {
	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(done)
		for _, conn := range conns {
			_ = conn.SetDeadline(time.Unix(1, 0)) // long past, on any clock
		}
	})
	return func() {
		if !stop() {
			<-done
		}
	}
}

// do sends a request and waits for its reply, answering what the camera asks
// for a login. A reply of any status is not an error.
func (c *conversation) do(ctx context.Context, method, uri string, extra ...header) (*message, error) {
	undo := interrupt(ctx, c.conn)
	defer undo()
	for attempt := 1; ; attempt++ {
		if err := c.arm(ctx); err != nil {
			return nil, err
		}
		answered := c.login.chosen != nil
		if _, err := c.conn.Write(c.request(method, uri, extra)); err != nil {
			c.broken = true
			return nil, err
		}
		reply, err := c.await(ctx)
		if err != nil {
			c.abandoned[c.sequence] = method // its reply may still come
			return nil, err
		}
		c.log.Debug("rtsp request", "method", method, "status", reply.status)
		if reply.status == 401 && attempt < 4 && c.login.renew(reply, answered) {
			continue
		}
		if reply.status != 401 {
			c.login.accepted = c.login.chosen != nil
		}
		c.noteSession(reply)
		return reply, nil
	}
}

// arm gives the connection the time of one request.
func (c *conversation) arm(ctx context.Context) error {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return err
	}
	return ctx.Err() // after setting: the interruption may have come before
}

// request returns the next request in wire form.
func (c *conversation) request(method, uri string, extra []header) []byte {
	c.sequence++
	headers := append([]header{
		{"CSeq", strconv.Itoa(c.sequence)},
		{"Authorization", c.login.authorization(method, uri)},
		{"Session", c.sessionID},
		{"User-Agent", c.userAgent},
	}, extra...)
	return appendRequest(nil, method, uri, headers)
}

// await reads until the reply to the last request.
func (c *conversation) await(ctx context.Context) (*message, error) {
	for {
		found, err := c.in.next()
		if err != nil {
			c.broken = true
			return nil, err
		}
		switch found.kind {
		case itemNone:
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if n, err := c.in.fill(c.conn); err != nil && n == 0 {
				c.broken = !isDeadline(err)
				return nil, c.orNotRTSP(err, 0)
			}
			if err := c.orNotRTSP(nil, maxBodyBytes); err != nil {
				c.broken = true
				return nil, err
			}
		case itemFrame:
			if c.early != nil {
				c.early(found.channel, found.payload)
			}
		case itemMessage:
			c.spoke = true
			if found.message.method != "" {
				reply, _ := c.answer(found.message)
				if _, err := c.conn.Write(reply); err != nil {
					c.broken = true
					return nil, err
				}
			} else if c.isReply(found.message) {
				return found.message, nil
			}
		}
	}
}

// orNotRTSP returns err, unless more than some bytes came and no message: then
// what answers is something else.
func (c *conversation) orNotRTSP(err error, allowed uint64) error {
	if !c.spoke && c.in.garbageBytes.Load() > allowed {
		return ErrNotRTSP
	}
	return err
}

// isReply reports whether a reply is the one waited for: not an interim one,
// and not a late one to a keepalive. Firmware that numbers its replies wrong,
// or not at all, is believed.
func (c *conversation) isReply(reply *message) bool {
	if reply.status < 200 {
		return false
	}
	n, ok := reply.cseq()
	if _, late := c.abandoned[n]; ok && late {
		delete(c.abandoned, n)
		return false
	}
	return true
}

// noteSession takes over what a reply says about the session.
func (c *conversation) noteSession(reply *message) {
	text := reply.get("Session")
	if text == "" || reply.status >= 300 {
		return
	}
	id, seconds := parseSessionHeader(text)
	if id != "" {
		c.sessionID = id
	}
	if seconds > 0 {
		c.lifetime = time.Duration(seconds) * time.Second
	}
}

// answer makes the reply to a request of the camera, and reports whether it
// was one that ends the stream.
func (c *conversation) answer(request *message) (reply []byte, end bool) {
	status, reason := 501, "Not Implemented"
	headers := []header{{"CSeq", request.get("CSeq")}, {"Session", request.get("Session")}, {"User-Agent", c.userAgent}}
	switch request.method {
	case "OPTIONS":
		status, reason = 200, "OK"
		headers = append(headers, header{"Public", "OPTIONS, GET_PARAMETER, SET_PARAMETER"})
	case "GET_PARAMETER", "SET_PARAMETER", "ANNOUNCE", "PLAY_NOTIFY":
		status, reason = 200, "OK"
	case "TEARDOWN":
		status, reason, end = 200, "OK", true
	}
	return appendReply(nil, status, reason, headers), end
}

// success reports whether a reply grants what was asked.
func (m *message) success() bool { return m.status >= 200 && m.status < 300 }

// isDeadline reports whether an error only says that time is up.
func isDeadline(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
