package play_test

import (
	"errors"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/footage"
)

func TestTheCatalogTellsWhatThereIsAndWhatThereIsNot(t *testing.T) {
	r := newRig(t)
	clip := archivetest.LoadClip(t, "h264")
	r.Take(clip, 1, 0).Record(2)
	r.Take(clip, 2, time.Minute).Record(1)
	noon := archivetest.Noon
	if err := r.Index.AddGaps(t.Context(), index.Gap{Stream: r.Stream.ID, From: noon.Add(16 * time.Second), To: noon.Add(time.Minute), Cause: index.CauseNetwork, Detail: "no route"}); err != nil {
		t.Fatal(err)
	}
	c := play.NewCatalog(r.Index, nil, func() time.Time { return noon })
	id, err := c.AddBookmark(t.Context(), "door", footage.Bookmark{From: noon, To: noon.Add(time.Second), Kind: "user", Name: "fox", Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	all := footage.Query{Camera: "door", From: noon, To: noon.Add(time.Hour)}
	got, err := c.Timeline(t.Context(), all, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != "main" || got.Covered != 24*time.Second || len(got.Spans) != 2 || len(got.Gaps) != 1 || got.Gaps[0].Cause != "network" ||
		len(got.Bookmarks) != 1 || got.Bookmarks[0].ID != id || !got.Bookmarks[0].Keep || got.Bytes != got.Spans[0].Bytes+got.Spans[1].Bytes {
		t.Errorf("got %+v", got)
	}
	if got, err := c.Timeline(t.Context(), all, time.Minute); err != nil || len(got.Spans) != 1 || len(got.Gaps) != 0 {
		t.Errorf("coarsely: %+v, %v", got, err)
	}
	days, err := c.Days(t.Context(), all, time.UTC)
	if err != nil || len(days) != 1 || days[0].Date != "2026-11-30" || days[0].Covered != 24*time.Second {
		t.Errorf("days %+v, %v", days, err)
	}
	if err := c.RemoveBookmark(t.Context(), "yard", id); !errors.Is(err, footage.ErrNotFound) {
		t.Errorf("another camera's bookmark: %v", err)
	}
	if err := c.RemoveBookmark(t.Context(), "door", id); err != nil {
		t.Error(err)
	}
	nothing := footage.Query{Camera: "none", From: noon, To: noon.Add(time.Hour)}
	if got, err := c.Timeline(t.Context(), nothing, time.Second); err != nil || got.Source != "" || len(got.Spans) != 0 || c.Recorded("none") || !c.Recorded("door") {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	if _, err := c.Delete(t.Context(), all); !errors.Is(err, play.ErrNoDeleter) {
		t.Errorf("deleting: %v", err)
	}
}
