package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/drover-video/drover/core/sqlite"
)

// Stream is one source of a camera, as far as it was ever recorded.
type Stream struct {
	ID     int64
	Camera string
	Source string
}

// A stream is what is known of one in memory. Its fields are guarded by Index.mu.
type stream struct {
	Stream
	open    []*File // being written, by number: at most two for a moment, and those that are broken
	version uint64  // grows with each change of what can be read
	shape   uint64  // grows when files have gone or become others
}

func (x *Index) loadStreams(ctx context.Context) error {
	rows, err := x.db.Reader().QueryContext(ctx, "SELECT id, camera, source FROM streams")
	if err != nil {
		return fmt.Errorf("read streams: %w", sqlite.Explain(err))
	}
	defer rows.Close()
	for rows.Next() {
		var s Stream
		if err := rows.Scan(&s.ID, &s.Camera, &s.Source); err != nil {
			return fmt.Errorf("read streams: %w", sqlite.Explain(err))
		}
		x.remember(s)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read streams: %w", sqlite.Explain(err))
	}
	return nil
}

func (x *Index) remember(s Stream) {
	kept := &stream{Stream: s}
	x.streams[s.ID] = kept
	x.byName[Stream{Camera: s.Camera, Source: s.Source}] = kept
	x.byCamera[s.Camera] = append(x.byCamera[s.Camera], s)
	slices.SortFunc(x.byCamera[s.Camera], byID)
}

func byID(a, b Stream) int { return cmp.Compare(a.ID, b.ID) }

// Stream returns the stream of a camera's source, and makes it where it is missing.
func (x *Index) Stream(ctx context.Context, camera, source string) (Stream, error) {
	if s, ok := x.Find(camera, source); ok {
		return s, nil
	}
	s := Stream{Camera: camera, Source: source}
	err := x.db.Write(ctx, "make the stream of "+camera, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, `
			INSERT INTO streams (camera, source) VALUES (?, ?)
			ON CONFLICT (camera, source) DO UPDATE SET camera = excluded.camera
			RETURNING id`, camera, source).Scan(&s.ID)
	})
	if err != nil {
		return Stream{}, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.streams[s.ID]; !ok {
		x.remember(s)
	}
	return s, nil
}

// Find returns the stream of a camera's source, if there ever was one.
func (x *Index) Find(camera, source string) (Stream, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s, ok := x.byName[Stream{Camera: camera, Source: source}]
	if !ok {
		return Stream{}, false
	}
	return s.Stream, true
}

// Streams returns all streams in the order in which they were made.
func (x *Index) Streams() []Stream {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := make([]Stream, 0, len(x.streams))
	for _, s := range x.streams {
		all = append(all, s.Stream)
	}
	slices.SortFunc(all, byID)
	return all
}

// StreamsOf returns the streams of a camera in the order in which they were made.
func (x *Index) StreamsOf(camera string) []Stream {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Clone(x.byCamera[camera])
}

// Version grows with each change of what can be read of a stream, within one run of
// the process.
func (x *Index) Version(streamID int64) uint64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if s, ok := x.streams[streamID]; ok {
		return s.version
	}
	return 0
}

// changed tells that a stream can be read otherwise than before.
func (x *Index) changed(streamID int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s, ok := x.streams[streamID]; ok {
		s.version++
	}
}
