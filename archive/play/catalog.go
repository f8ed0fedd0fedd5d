package play

import (
	"context"
	"errors"
	"time"

	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/core/footage"
)

// Bounds of what is told at once, and kept.
const (
	maxGapsTold      = 1000
	maxBookmarksTold = 1000
	// MaxBookmarks is how many a camera has at most.
	MaxBookmarks = 10_000
)

// A Deleter takes recordings out of the archive. The recorder is one.
type Deleter interface {
	// Delete deletes the files that lie whole within a time of a camera's stream, of
	// all its streams where source is "", but for what is kept.
	Delete(ctx context.Context, camera, source string, from, to time.Time) (files int, bytes int64, err error)
}

// ErrNoDeleter is returned where nothing can be deleted.
var ErrNoDeleter = errors.New("nothing can be deleted from this archive")

// Catalog tells what there is of cameras, for the API.
type Catalog struct {
	index   *index.Index
	deleter Deleter
	now     func() time.Time
}

// NewCatalog returns the catalog of an index. deleter may be nil; now nil: time.Now.
func NewCatalog(x *index.Index, deleter Deleter, now func() time.Time) *Catalog {
	if now == nil {
		now = time.Now
	}
	return &Catalog{index: x, deleter: deleter, now: now}
}

// stream returns the stream that is asked for; false where nothing was recorded of it.
func (c *Catalog) stream(camera, source string) (index.Stream, bool) {
	if source != "" {
		return c.index.Find(camera, source)
	}
	streams := c.index.StreamsOf(camera)
	if len(streams) == 0 {
		return index.Stream{}, false
	}
	return streams[0], true
}

// Recorded reports whether anything was ever recorded of a camera.
func (c *Catalog) Recorded(camera string) bool { return len(c.index.StreamsOf(camera)) > 0 }

// Timeline tells what there is of a time. Spans that lie closer together than the
// resolution are one; gaps that are shorter are left out.
func (c *Catalog) Timeline(ctx context.Context, q footage.Query, resolution time.Duration) (footage.Timeline, error) {
	var t footage.Timeline
	bookmarks, err := c.Bookmarks(ctx, q.Camera, q.From, q.To, maxBookmarksTold)
	if err != nil {
		return t, err
	}
	t.Bookmarks = bookmarks
	stream, found := c.stream(q.Camera, q.Source)
	if !found {
		return t, nil
	}
	t.Source = stream.Source
	spans, err := c.index.Spans(ctx, stream.ID, q.From, q.To, resolution)
	if err != nil {
		return t, err
	}
	for _, s := range spans {
		t.Spans = append(t.Spans, footage.Span(s))
		t.Bytes += s.Bytes
		t.Covered += s.Covered
	}
	gaps, err := c.index.Gaps(ctx, stream.ID, q.From, q.To, resolution, maxGapsTold+1)
	if err != nil {
		return t, err
	}
	if len(gaps) > maxGapsTold {
		gaps, t.MoreGaps = gaps[:maxGapsTold], true
	}
	for _, g := range gaps {
		t.Gaps = append(t.Gaps, footage.Gap{From: g.From, To: g.To, Cause: string(g.Cause), Detail: g.Detail})
	}
	return t, nil
}

// Days tells which days of a zone have footage.
func (c *Catalog) Days(ctx context.Context, q footage.Query, zone *time.Location) ([]footage.Day, error) {
	stream, found := c.stream(q.Camera, q.Source)
	if !found {
		return nil, nil
	}
	days, err := c.index.Days(ctx, stream.ID, q.From, q.To, zone)
	if err != nil {
		return nil, err
	}
	told := make([]footage.Day, len(days))
	for i, d := range days {
		told[i] = footage.Day(d)
	}
	return told, nil
}

// Delete deletes what lies whole within a time, but for what is kept.
func (c *Catalog) Delete(ctx context.Context, q footage.Query) (footage.Deleted, error) {
	if c.deleter == nil {
		return footage.Deleted{}, ErrNoDeleter
	}
	files, bytes, err := c.deleter.Delete(ctx, q.Camera, q.Source, q.From, q.To)
	return footage.Deleted{Files: files, Bytes: bytes}, err
}

// Bookmarks returns those of a camera that touch a time, by their end, at most limit.
func (c *Catalog) Bookmarks(ctx context.Context, camera string, from, to time.Time, limit int) ([]footage.Bookmark, error) {
	all, err := c.index.Bookmarks(ctx, camera, from, to, limit)
	if err != nil {
		return nil, err
	}
	told := make([]footage.Bookmark, len(all))
	for i, b := range all {
		told[i] = footage.Bookmark{ID: b.ID, From: b.From, To: b.To, Kind: b.Kind, Name: b.Name, Keep: b.Keep}
	}
	return told, nil
}

// AddBookmark keeps a bookmark and returns its ID, or footage.ErrTooMany.
func (c *Catalog) AddBookmark(ctx context.Context, camera string, b footage.Bookmark) (int64, error) {
	n, err := c.index.CountBookmarks(ctx, camera)
	if err != nil {
		return 0, err
	}
	if n >= MaxBookmarks {
		return 0, footage.ErrTooMany
	}
	return c.index.AddBookmark(ctx, index.Bookmark{Camera: camera, From: b.From, To: b.To, Kind: b.Kind, Name: b.Name, Keep: b.Keep, Created: c.now()})
}

// RemoveBookmark forgets a bookmark, or returns footage.ErrNotFound.
func (c *Catalog) RemoveBookmark(ctx context.Context, camera string, id int64) error {
	found, err := c.index.RemoveBookmark(ctx, camera, id)
	if err == nil && !found {
		err = footage.ErrNotFound
	}
	return err
}
