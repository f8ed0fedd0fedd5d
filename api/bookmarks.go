package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/drover-video/drover/core/footage"
)

// Bookmark is a time of a camera that somebody wants to find again.
type Bookmark struct {
	ID   int64      `json:"id"`
	From microstamp `json:"from"`
	To   microstamp `json:"to"`
	Kind string     `json:"kind" enum:"user,event" doc:"Who made it"`
	Name string     `json:"name" doc:"For people; may be empty"`
	Keep bool       `json:"keep" doc:"What it spans is not deleted; of kind event: as long as the camera's max_age, max_bytes and the disk let it be"`
}

// NewBookmark is the body of a POST.
type NewBookmark struct {
	From string `json:"from" maxLength:"40" doc:"RFC 3339, Unix seconds, or Unix milliseconds" example:"2026-12-01T10:00:00Z"`
	To   string `json:"to" maxLength:"40"`
	Name string `json:"name,omitempty" maxLength:"200" doc:"For people"`
	Keep bool   `json:"keep,omitempty" doc:"Keep what it spans from being deleted, by age and for want of room too"`
}

// maxKept is the longest time that one bookmark may keep.
const maxKept = 7 * 24 * time.Hour

// maxListed is how many bookmarks one answer has at most.
const maxListed = 1000

type bookmarkList struct {
	Body struct {
		Bookmarks []Bookmark `json:"bookmarks" nullable:"false" doc:"By their end, at most 1,000"`
	}
}

type newBookmarkAnswer struct {
	Location string `header:"Location"`
	Body     Bookmark
}

type bookmarkPath struct {
	ID       string `path:"id" doc:"The camera's id"`
	Bookmark int64  `path:"bookmark" minimum:"1" doc:"The bookmark's id"`
}

type bookmarksRequest struct {
	ID   string `path:"id" doc:"The camera's id"`
	From string `query:"from" maxLength:"40" doc:"Only those that touch the time from here on"`
	To   string `query:"to" maxLength:"40" doc:"Only those that begin before"`
}

func (rs *routes) registerBookmarks(api huma.API) {
	const path = "/api/v1/cameras/{id}/bookmarks"
	recordings := func(op huma.Operation) huma.Operation {
		op.Tags = []string{"recordings"}
		return op
	}
	huma.Register(api, recordings(operation("list-bookmarks", http.MethodGet, path, "A camera's bookmarks",
		http.StatusNotFound, http.StatusUnprocessableEntity)), rs.bookmarks)
	huma.Register(api, recordings(created(operation("add-bookmark", http.MethodPost, path, "Mark a time of a camera, and keep it from being deleted if so wished",
		http.StatusNotFound, http.StatusConflict))), rs.addBookmark)
	huma.Register(api, recordings(operation("remove-bookmark", http.MethodDelete, path+"/{bookmark}", "Remove a bookmark; the recordings stay",
		http.StatusNotFound, http.StatusUnprocessableEntity)), rs.removeBookmark)
}

func bookmarkOf(b footage.Bookmark) Bookmark {
	return Bookmark{ID: b.ID, From: microstamp(b.From), To: microstamp(b.To), Kind: b.Kind, Name: b.Name, Keep: b.Keep}
}

func bookmarksOf(all []footage.Bookmark) []Bookmark {
	shown := make([]Bookmark, len(all))
	for i, b := range all {
		shown[i] = bookmarkOf(b)
	}
	return shown
}

func (rs *routes) bookmarks(ctx context.Context, in *bookmarksRequest) (*bookmarkList, error) {
	if err := rs.knownInArchive(in.ID); err != nil {
		return nil, err
	}
	var from, to time.Time
	for _, p := range []struct {
		name, text string
		into       *time.Time
	}{{"from", in.From, &from}, {"to", in.To, &to}} {
		if p.text == "" {
			continue
		}
		at, ok := footage.ParseTime(p.text)
		if !ok {
			return nil, invalidQuery(p.name, "this is no time")
		}
		*p.into = at
	}
	if from.IsZero() {
		from = time.Unix(0, 0)
	}
	all, err := rs.options.Archive.Bookmarks(ctx, in.ID, from, to, maxListed)
	if err != nil {
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	list := &bookmarkList{}
	list.Body.Bookmarks = bookmarksOf(all)
	return list, nil
}

func (rs *routes) addBookmark(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The camera's id"`
	Body NewBookmark
}) (*newBookmarkAnswer, error) {
	if err := rs.knownInArchive(in.ID); err != nil {
		return nil, err
	}
	b := footage.Bookmark{Kind: "user", Name: in.Body.Name, Keep: in.Body.Keep}
	var ok bool
	if b.From, ok = footage.ParseTime(in.Body.From); !ok {
		return nil, invalid("from", "this is no time")
	}
	if b.To, ok = footage.ParseTime(in.Body.To); !ok {
		return nil, invalid("to", "this is no time")
	}
	switch lasts := b.To.Sub(b.From); {
	case lasts <= 0:
		return nil, invalid("to", "it has to be later than from")
	case b.Keep && lasts > maxKept:
		return nil, invalid("keep", "one bookmark keeps at most %d days", maxKept/(24*time.Hour))
	}
	id, err := rs.options.Archive.AddBookmark(ctx, in.ID, b)
	switch {
	case errors.Is(err, footage.ErrTooMany):
		return nil, problem(problemBookmarks, "camera "+in.ID+" has as many bookmarks as may be: remove some that are not needed any more")
	case err != nil:
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	b.ID = id
	return &newBookmarkAnswer{Location: fmt.Sprintf("/api/v1/cameras/%s/bookmarks/%d", in.ID, id), Body: bookmarkOf(b)}, nil
}

func (rs *routes) removeBookmark(ctx context.Context, in *bookmarkPath) (*struct{}, error) {
	if err := rs.knownInArchive(in.ID); err != nil {
		return nil, err
	}
	err := rs.options.Archive.RemoveBookmark(ctx, in.ID, in.Bookmark)
	switch {
	case errors.Is(err, footage.ErrNotFound):
		return nil, problem(problemNoBookmark, "camera "+in.ID+" has no bookmark "+strconv.FormatInt(in.Bookmark, 10))
	case err != nil:
		return nil, rs.archiveFailed(ctx, in.ID, err)
	}
	return nil, nil
}
