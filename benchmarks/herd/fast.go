package main

import (
	"context"
	"errors"
	"time"
)

// repeat asks for the start URL again and again.
func (v *viewer) repeat(ctx context.Context) {
	v.busy(ctx, func() error { return v.request(kindObject, v.start, v.conn.discardBody) })
}

// fast loads the playlist and the newest segment of it, again and again, whether
// there is a new one or not.
func (v *viewer) fast(ctx context.Context) {
	v.busy(ctx, func() error {
		if len(v.tracks) == 0 {
			v.open()
			if len(v.tracks) == 0 {
				return errors.New("no playlist")
			}
		}
		t := v.tracks[0]
		p, err := v.fetchPlaylist(kindPlaylist, t.url)
		if err != nil || len(p.segments) == 0 {
			return errors.Join(err, ctx.Err())
		}
		return v.fetchMedia(kindSegment, t.url, p.segments[len(p.segments)-1])
	})
}

// afterFailure is how long a viewer waits before it tries again: a server that
// refuses is not flooded.
const afterFailure = 100 * time.Millisecond

// busy does one thing until the context ends.
func (v *viewer) busy(ctx context.Context, once func() error) {
	defer v.conn.close()
	v.tally.viewers.Add(1)
	defer v.tally.viewers.Add(-1)
	for ctx.Err() == nil {
		if once() == nil {
			continue
		}
		timer := time.NewTimer(afterFailure)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}
