package home

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"math/rand/v2"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// A copier decides what is sent when. One goroutine owns it.
type copier struct {
	*Home
	done   chan outcome
	busy   map[int64]bool      // streams of which an object is being sent
	next   int                 // the stream to look at next, for each to have its turn
	later  map[int64]time.Time // streams that are left alone until then
	failed map[int64]int       // how often in a row one of a stream's objects failed
	away   int                 // how often in a row the store failed
	until  time.Time           // it is left alone until then
}

// outcome is how sending an object ended.
type outcome struct {
	stream index.Stream
	files  int
	bytes  int64
	err    error
}

// copies sends what there is to send until ctx ends.
func (h *Home) copies(ctx context.Context) {
	c := &copier{
		Home: h, done: make(chan outcome, h.options.Uploads),
		busy: make(map[int64]bool), later: make(map[int64]time.Time), failed: make(map[int64]int),
	}
	for {
		timer := time.NewTimer(c.dispatch(ctx))
		select {
		case out := <-c.done:
			c.take(ctx, out)
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			for len(c.busy) > 0 {
				c.take(ctx, <-c.done)
			}
			return
		}
	}
}

// dispatch begins to send as many objects as may be sent, and returns when to look
// again.
func (c *copier) dispatch(ctx context.Context) time.Duration {
	if wait := time.Until(c.until); wait > 0 {
		return wait
	}
	atOnce := c.options.Uploads
	if c.away > 0 {
		atOnce = 1 // to see whether it is back
	}
	streams := c.index.Streams()
	for looked := 0; len(c.busy) < atOnce && looked < len(streams); looked++ {
		s := streams[c.next%len(streams)]
		c.next = (c.next + 1) % len(streams)
		if c.busy[s.ID] || time.Until(c.later[s.ID]) > 0 {
			continue
		}
		c.look(ctx, s)
	}
	return c.options.Poll
}

// look begins to send a stream's next object, if there is one.
func (c *copier) look(ctx context.Context, s index.Stream) {
	files, err := c.index.Uncopied(ctx, s.ID, maxParts+1)
	if err != nil {
		c.options.Log.Error("second home: the index cannot be read", "err", err)
		c.later[s.ID] = time.Now().Add(c.options.Poll)
		return
	}
	// By the clock that files are named by; what it says is taken as a span, so that a
	// step of it delays nothing for long.
	now := c.options.Now()
	n, until := c.grouping.first(s, files, now)
	if n == 0 {
		wait := c.options.Poll
		if !until.IsZero() {
			wait = max(wait, until.Sub(now))
		}
		c.later[s.ID] = time.Now().Add(min(wait, c.grouping.window))
		return
	}
	c.busy[s.ID] = true
	go func() { c.done <- c.copy(ctx, s, files[:n:n]) }() // copies waits for it
}

// take draws conclusions from how sending an object ended.
func (c *copier) take(ctx context.Context, out outcome) {
	id := out.stream.ID
	delete(c.busy, id)
	var missing *missingError
	switch {
	case out.err == nil:
		c.away = 0
		delete(c.failed, id)
		delete(c.later, id)
		c.copied(out)
	case ctx.Err() != nil:
	case errors.As(out.err, &missing):
		c.gone(ctx, out.stream, missing)
	case errors.Is(out.err, index.ErrOtherFile): // what is queued now is taken up
	case ReasonOf(out.err).general():
		c.away++
		c.until = time.Now().Add(c.backoff(c.away))
		c.fails(out.err)
	default:
		c.failed[id]++
		c.later[id] = time.Now().Add(c.backoff(c.failed[id]))
		c.failsFor(out.stream, c.failed[id], out.err)
	}
}

// backoff returns how long to wait after so many failures in a row: between half of
// what doubles each time and the whole of it.
func (c *copier) backoff(failures int) time.Duration {
	limit := c.options.BackoffMax
	if shift := failures - 1; shift < 20 {
		limit = min(limit, c.options.BackoffMin<<shift)
	}
	return limit/2 + time.Duration(rand.Int64N(int64(limit/2)+1))
}

// gone looks after a file that cannot be copied since it is not there.
func (c *copier) gone(ctx context.Context, s index.Stream, missing *missingError) {
	was, err := c.index.Unqueue(ctx, missing.file)
	switch {
	case err != nil:
		c.later[s.ID] = time.Now().Add(c.options.Poll)
		c.options.Log.Error("second home: the index cannot be used", "err", err)
	case was: // else retention or thinning was faster
		c.counted(func(status *Status) { status.Missing++ })
		c.options.Log.Warn("second home: a file is not copied, since it is not on the disk as the index says",
			"camera", s.Camera, "source", s.Source, "number", missing.file.Number)
	}
}

// copy makes an object of files and sends it.
func (h *Home) copy(ctx context.Context, s index.Stream, files []index.File) outcome {
	out := outcome{stream: s, files: len(files)}
	m, err := newMaterial(ctx, h.root, s, files)
	if err != nil {
		out.err = explainLocal(ctx, err)
		return out
	}
	defer m.close()
	out.bytes = m.size
	o := m.object()
	again, err := h.index.Intend(ctx, o)
	if err != nil {
		out.err = err
		return out
	}
	if o.Tag, out.err = h.send(ctx, m, o.Name, again); out.err != nil {
		return out
	}
	// It is there; whether ctx ends now changes nothing about it.
	out.err = h.index.Copied(context.WithoutCancel(ctx), o)
	return out
}

// explainLocal makes a Failure of an error of the disk.
func explainLocal(ctx context.Context, err error) error {
	var local *localError
	if errors.As(err, &local) {
		return explain(ctx, "read a file", err)
	}
	return err
}

// send sends an object and makes sure that it has arrived.
func (h *Home) send(ctx context.Context, m *material, name string, again bool) (tag string, err error) {
	if again {
		// It may have arrived just before a crash. Objects arrive whole or not at all, and
		// the name has a part of the checksum.
		size, tag, checksum, err := h.store.head(ctx, name)
		switch {
		case err == nil && size == m.size && checksum != nil && *checksum == m.checksum:
			h.counted(func(status *Status) { status.Found++ })
			return tag, nil
		case err != nil && ReasonOf(err) != ReasonMissing:
			return "", err
		}
	}
	body := &paced{ctx: ctx, pace: &h.pace, reader: &counting{reader: m.reader(ctx), home: h}}
	if tag, err = h.store.put(ctx, name, body, m.size, m.checksum); err != nil {
		return "", h.why(ctx, err)
	}
	return tag, h.verify(ctx, m, name, tag)
}

// why asks once more for why sending failed: a store that refuses before it has read
// all that it is sent may close the connection before its answer can be read.
func (h *Home) why(ctx context.Context, err error) error {
	switch ReasonOf(err) {
	case ReasonUnreachable, ReasonBroken:
	default:
		return err
	}
	probed := h.store.probe(ctx)
	if reason := ReasonOf(probed); reason.general() && reason != ReasonUnreachable {
		return probed
	}
	return err
}

// counting counts what is sent.
type counting struct {
	reader io.Reader
	home   *Home
}

func (c *counting) Read(into []byte) (int, error) {
	n, err := c.reader.Read(into)
	c.home.counted(func(status *Status) { status.SentBytes += uint64(n) })
	return n, err
}

// verify makes as sure as is asked for that an object is what was sent.
func (h *Home) verify(ctx context.Context, m *material, name, tag string) error {
	mismatch := &Failure{Step: "verify an object", Reason: ReasonMismatch}
	if h.options.Verify == VerifySent {
		return nil
	}
	size, has, checksum, err := h.store.head(ctx, name)
	switch {
	case ReasonOf(err) == ReasonMissing:
		return mismatch // it was taken, and is not there
	case err != nil:
		return err
	case size != m.size, has != tag, checksum != nil && *checksum != m.checksum:
		return mismatch
	case h.options.Verify == VerifyHead:
		return nil
	}
	digest := sha256.New()
	if err := h.readBack(ctx, digest, name, tag, size); err != nil {
		return err
	}
	if sum(digest.Sum(nil)) != m.checksum {
		return mismatch
	}
	return nil
}

func (h *Home) readBack(ctx context.Context, into hash.Hash, name, tag string, size int64) error {
	body, err := h.store.get(ctx, name, tag, 0, size, h.options.Stall)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.CopyBuffer(onlyWriter{into}, body, make([]byte, pieceBytes))
	return err
}
