package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"
)

// joinSegments is how far from a playlist's end a player starts.
const joinSegments = 3

// maxPlaylists bounds what a multivariant playlist can make a viewer follow.
const maxPlaylists = 4

// A viewer plays one camera: it follows the multivariant playlist to the media
// playlists, asks for these again and again, and fetches each new segment once.
type viewer struct {
	conn   *connection
	start  *url.URL
	poll   time.Duration
	stall  time.Duration // a playlist that does not move for longer is a failure
	tally  *tally
	warm   *tally    // of requests that begin before from
	from   time.Time // when it is measured
	buffer []byte    // of the last playlist
	tracks []*track
}

// A track is one media playlist that a viewer follows.
type track struct {
	url     *url.URL
	initURI string // fetched already
	next    int64  // the sequence of the first segment not yet fetched
	joined  bool
	moved   time.Time // when next last grew
}

// run plays until the context ends. A request under way then is finished, so
// that the end of the run is no failure.
func (v *viewer) run(ctx context.Context) {
	defer v.conn.close()
	v.tally.viewers.Add(1)
	defer v.tally.viewers.Add(-1)
	for ctx.Err() == nil {
		if len(v.tracks) == 0 {
			v.open()
		}
		for _, t := range v.tracks {
			v.advance(ctx, t)
		}
		v.wait(ctx)
	}
}

// wait sleeps for about a poll interval: each viewer jitters by a tenth, so that
// a thousand of them do not march in step.
func (v *viewer) wait(ctx context.Context) {
	timer := time.NewTimer(time.Duration(float64(v.poll) * (0.9 + 0.2*rand.Float64())))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// open finds the media playlists; the URL given may be one itself.
func (v *viewer) open() {
	p, err := v.fetchPlaylist(kindMultivariant, v.start)
	if err != nil {
		return
	}
	if len(p.variants) == 0 {
		v.tracks = []*track{{url: v.start, moved: time.Now()}}
		return
	}
	for _, uri := range p.variants[:min(len(p.variants), maxPlaylists)] {
		target, err := v.resolve(v.start, uri)
		if err != nil {
			v.tally.failed(kindMultivariant, err)
			continue
		}
		v.tracks = append(v.tracks, &track{url: target, moved: time.Now()})
	}
}

// advance reloads a track's playlist and fetches what is new in it.
func (v *viewer) advance(ctx context.Context, t *track) {
	if ctx.Err() != nil {
		return
	}
	p, err := v.fetchPlaylist(kindPlaylist, t.url)
	if err != nil {
		return
	}
	if p.initURI != t.initURI {
		if v.fetchMedia(kindInit, t.url, p.initURI) == nil {
			t.initURI = p.initURI
		}
	}
	end := p.sequence + int64(len(p.segments))
	switch {
	case !t.joined:
		t.next = max(p.sequence, end-joinSegments)
		t.joined = true
	case end < t.next:
		v.tally.failed(kindPlaylist, failed("sequence went back", fmt.Errorf("from %d to %d", t.next, end)))
		t.next = end
	case p.sequence > t.next:
		v.tally.failed(kindPlaylist, failed("segments missed", fmt.Errorf("%d left the window unseen", p.sequence-t.next)))
		t.next = p.sequence
	}
	if t.next < end {
		t.moved = time.Now()
	} else if time.Since(t.moved) > v.stall {
		v.tally.failed(kindPlaylist, failed("stalled", fmt.Errorf("no new segment for %v", v.stall)))
		t.moved = time.Now()
	}
	for ; t.next < end && ctx.Err() == nil; t.next++ {
		// A segment that failed is counted and not asked for again.
		_ = v.fetchMedia(kindSegment, t.url, p.segments[t.next-p.sequence])
	}
}

func (v *viewer) fetchPlaylist(k kind, target *url.URL) (playlist, error) {
	var p playlist
	err := v.request(k, target, func(length int64) (err error) {
		v.buffer, err = v.conn.appendBody(v.buffer[:0], length)
		return err
	})
	if err != nil {
		return p, err
	}
	p, err = parsePlaylist(v.buffer)
	if err != nil {
		err = failed("malformed", err)
		v.tally.failed(k, err)
	}
	return p, err
}

func (v *viewer) fetchMedia(k kind, base *url.URL, uri string) error {
	if uri == "" {
		return nil
	}
	target, err := v.resolve(base, uri)
	if err != nil {
		v.tally.failed(k, err)
		return err
	}
	return v.request(k, target, v.conn.discardBody)
}

// request asks, reads the body and counts what came of it.
func (v *viewer) request(k kind, target *url.URL, read func(length int64) error) error {
	started := time.Now()
	tally := v.tally
	if started.Before(v.from) {
		tally = v.warm
	}
	tally.asked.Add(1)
	length, err := v.conn.get(target.RequestURI())
	if err == nil {
		err = read(length)
	}
	if err != nil {
		tally.failed(k, err)
		return err
	}
	tally.succeeded(k, time.Since(started), length)
	return nil
}

// resolve finds what a playlist's URI names. Another host than the one under
// test is never asked.
func (v *viewer) resolve(base *url.URL, uri string) (*url.URL, error) {
	target, err := base.Parse(uri)
	if err != nil {
		return nil, failed("malformed", err)
	}
	if target.Host != v.start.Host || target.Scheme != v.start.Scheme {
		return nil, failed("elsewhere", fmt.Errorf("a playlist names %s, which is not the host under test", target.Host))
	}
	return target, nil
}
