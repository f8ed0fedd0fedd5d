package rtsptest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Seen is what a camera has seen of its clients.
type Seen struct {
	Conns      int // connections now that have named the camera
	ConnsEver  int
	Playing    int // clients that are sent media now
	Plays      int // PLAY requests that worked
	Teardowns  int
	Keepalives int // OPTIONS, GET_PARAMETER and SET_PARAMETER in a session
	Sent       int // pictures given to clients' queues
	Dropped    int // pictures lost because a client's queue was full

	Requests       []Request // in order; the newest maxRequests
	Authorizations []string  // headers, in order; the newest maxRequests
}

// maxRequests bounds what is kept of a client that asks for ever.
const maxRequests = 1000

// Methods lists the methods of the requests, in order, for a test to compare.
func (s Seen) Methods() string {
	methods := make([]string, len(s.Requests))
	for i, request := range s.Requests {
		methods[i] = request.Method
	}
	return strings.Join(methods, " ")
}

// Seen returns what the camera has seen up to now.
func (c *Camera) Seen() Seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seenLocked()
}

func (c *Camera) seenLocked() Seen {
	seen := c.seen
	seen.Playing = len(c.players)
	seen.Requests = slices.Clone(seen.Requests)
	seen.Authorizations = slices.Clone(seen.Authorizations)
	return seen
}

// Wait returns when the camera has seen what done asks for, or with ctx's error.
func (c *Camera) Wait(ctx context.Context, done func(Seen) bool) error {
	for {
		c.mu.Lock()
		seen := c.seenLocked()
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.mu.Unlock()
		if done(seen) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waitLimit ends tests that wait for what does not come.
const waitLimit = time.Minute

// WaitUntil waits for what done asks for, and fails the test if it does not
// come. what says it in words.
func (c *Camera) WaitUntil(tb testing.TB, what string, done func(Seen) bool) Seen {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := c.Wait(ctx, done); err != nil {
		seen := c.Seen()
		methods := seen.Methods()
		seen.Requests = nil
		tb.Fatalf("camera %s: waited in vain for: %s\nseen %+v\nrequests %s", c.path, what, seen, methods)
	}
	return c.Seen()
}

// note wakes those that wait; it is called with the lock held.
func (c *Camera) note() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

func (c *Camera) record(request *Request, inSession bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Requests = appendBounded(c.seen.Requests, *request)
	if authorization := request.Header("Authorization"); authorization != "" {
		c.seen.Authorizations = appendBounded(c.seen.Authorizations, authorization)
	}
	switch request.Method {
	case "TEARDOWN":
		c.seen.Teardowns++
	case "OPTIONS", "GET_PARAMETER", "SET_PARAMETER":
		if inSession {
			c.seen.Keepalives++
		}
	}
	c.note()
}

func appendBounded[T any](list []T, item T) []T {
	if len(list) >= maxRequests {
		list = slices.Delete(list, 0, len(list)-maxRequests+1)
	}
	return append(list, item)
}

func (c *Camera) connected(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Conns += n
	c.seen.ConnsEver += max(n, 0)
	c.note()
}

// Event is a change that a person who runs simulated cameras wants to see.
type Event struct {
	Camera string
	Kind   string // "play", "teardown", "gone", "fault", "error"
	Client string // address, "" if none is concerned
	Detail string
}

// String is the event as a line of text.
func (e Event) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Camera, e.Kind, e.Client, e.Detail))
}

// Setups returns what the SETUP requests offered, in order.
func (s Seen) Setups() []string {
	var offers []string
	for _, request := range s.Requests {
		if request.Method == "SETUP" {
			offers = append(offers, request.Header("Transport"))
		}
	}
	return offers
}
