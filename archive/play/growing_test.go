package play_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
	"github.com/drover-video/drover/archive/index"
	"github.com/drover-video/drover/archive/play"
	"github.com/drover-video/drover/core/footage"
)

// An entry is a segment as a player knows it.
type entry struct {
	sequence, timeline int
	uri, span, mapped  string
	discontinuity, gap bool
}

// A listing is a playlist as a player reads it.
type listing struct {
	target        int
	sequence      int
	discontinuity int
	kind          string
	skipped       int
	ended         bool
	entries       []entry
	lasts         float64
}

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// list reads a playlist. A delta update is completed by the one before.
func list(t testing.TB, text string, before *listing) *listing {
	t.Helper()
	if !strings.HasPrefix(text, "#EXTM3U\n") {
		t.Fatalf("no playlist: %.100s", text)
	}
	l := &listing{}
	next := entry{}
	timeline := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		tag, value, _ := strings.Cut(line, ":")
		switch tag {
		case "#EXT-X-TARGETDURATION":
			l.target = number(t, value)
		case "#EXT-X-MEDIA-SEQUENCE":
			l.sequence = number(t, value)
		case "#EXT-X-DISCONTINUITY-SEQUENCE":
			l.discontinuity = number(t, value)
			timeline = l.discontinuity
		case "#EXT-X-PLAYLIST-TYPE":
			l.kind = value
		case "#EXT-X-SKIP":
			l.skipped = number(t, strings.TrimPrefix(value, "SKIPPED-SEGMENTS="))
			if before == nil {
				t.Fatal("a delta update of nothing")
			}
			from := l.sequence - before.sequence
			l.entries = append(l.entries, before.entries[from:from+l.skipped]...)
			timeline = l.entries[len(l.entries)-1].timeline
			next.mapped = l.entries[len(l.entries)-1].mapped
		case "#EXT-X-ENDLIST":
			l.ended = true
		case "#EXT-X-DISCONTINUITY":
			next.discontinuity = true
			timeline++
		case "#EXT-X-GAP":
			next.gap = true
		case "#EXT-X-MAP":
			next.mapped = value
		case "#EXTINF":
			seconds, err := strconv.ParseFloat(strings.TrimSuffix(value, ","), 64)
			if err != nil || seconds > float64(l.target)+0.5 {
				t.Errorf("%s in a playlist of target duration %d", line, l.target)
			}
			l.lasts += seconds
		case "#EXT-X-BYTERANGE":
			next.span = value
		default:
			if strings.HasPrefix(line, "#") {
				continue
			}
			next.uri, next.sequence, next.timeline = line, l.sequence+len(l.entries), timeline
			l.entries = append(l.entries, next)
			next = entry{mapped: next.mapped}
		}
	}
	return l
}

// follows checks what must hold from one load of a playlist to the next.
func (l *listing) follows(t testing.TB, before *listing) {
	t.Helper()
	if l.target != before.target || l.kind != before.kind {
		t.Errorf("target duration or type changed: %d %s, %d %s", before.target, before.kind, l.target, l.kind)
	}
	if l.sequence < before.sequence || l.sequence+len(l.entries) < before.sequence+len(before.entries) {
		t.Errorf("from %d+%d to %d+%d", before.sequence, len(before.entries), l.sequence, len(l.entries))
	}
	known := map[int]entry{}
	removed := 0
	for _, e := range before.entries {
		known[e.sequence] = e
		if e.sequence < l.sequence && e.discontinuity {
			removed++
		}
	}
	if l.discontinuity != before.discontinuity+removed {
		t.Errorf("discontinuity sequence %d, it was %d and %d tags went", l.discontinuity, before.discontinuity, removed)
	}
	for _, e := range l.entries {
		if was, ok := known[e.sequence]; ok && was != e {
			t.Errorf("segment %d was %+v and is %+v", e.sequence, was, e)
		}
	}
}

func TestAnOpenRangeGrowsAtItsEndAlone(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	before := ""
	url := "index.m3u8?from=" + at(3*time.Second)
	for range 3 {
		f := take.Begin()
		for range 2 {
			f.Round()
			got := r.playlist(url)
			if !strings.HasPrefix(got, before) {
				t.Errorf("what was said before is not said again:\n%s\nis not the beginning of\n%s", before, got)
			}
			before = got
		}
		f.Finish()
	}
	got := list(t, r.playlist(url), nil)
	// 3 files of 2 rounds of 4 segments; the first ends before the range begins.
	if got.kind != "EVENT" || got.ended || len(got.entries) != 23 || got.sequence != 1 || got.target != 4 {
		t.Errorf("got %+v", got)
	}
	w := r.get(url)
	if got := w.Header().Get("Cache-Control"); got != "public, max-age=2, stale-if-error=4" {
		t.Errorf("Cache-Control %s", got)
	}
}

func TestTheSegmentThatIsStillBeingWrittenIsNotListed(t *testing.T) {
	r := newRig(t)
	f := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	url := "index.m3u8?from=" + at(0)
	r.refused(r.get(url), http.StatusNotFound, "no-recording")
	f.Round()
	if got := list(t, r.playlist(url), nil); len(got.entries) != 3 {
		t.Errorf("%d segments while it is written", len(got.entries))
	}
	f.Finish()
	if got := list(t, r.playlist(url), nil); len(got.entries) != 4 {
		t.Errorf("%d segments when it is finished", len(got.entries))
	}
}

func TestTheTimeShiftGoesOnBehindAFileThatIsBroken(t *testing.T) {
	r := newRig(t)
	k := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	k.Record(2)
	broken := k.Begin()
	broken.Round()
	r.set(time.Minute)
	before := list(t, r.playlist("index.m3u8"), nil)
	broken.Round()
	r.Index.GiveUp(broken.Key())
	for range 3 {
		k.Record(2)
	}
	r.set(2 * time.Minute)
	text := r.playlist("index.m3u8")
	whole := r.playlist("index.m3u8" + span(0, 2*time.Minute))
	if got, want := len(lines(text, "#EXTINF")), len(lines(whole, "#EXTINF")); got != want {
		t.Errorf("%d segments, of %d that there are", got, want)
	}
	list(t, text, nil).follows(t, before)
}

func TestAllThatTheTimelineTellsIsPlayed(t *testing.T) {
	r := newRig(t)
	catalog := play.NewCatalog(r.Index, nil, func() time.Time { return archivetest.Noon })
	day := footage.Query{Camera: "door", From: archivetest.Noon.Add(-time.Hour), To: archivetest.Noon.Add(time.Hour)}
	check := func(want time.Duration) {
		t.Helper()
		timeline, err := catalog.Timeline(t.Context(), day, time.Second)
		if err != nil || timeline.Covered != want || len(timeline.Spans) != 1 {
			t.Fatalf("want one span of %v, got %+v, %v", want, timeline, err)
		}
		end := timeline.Spans[0].To.Sub(archivetest.Noon)
		got := list(t, r.playlist("index.m3u8"+span(end-time.Millisecond, end+time.Minute)), nil)
		if len(got.entries) != 1 {
			t.Errorf("%d segments in its last millisecond", len(got.entries))
		}
		r.refused(r.get("index.m3u8"+span(end, end+time.Minute)), http.StatusNotFound, "no-recording")
	}
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	for i := range time.Duration(2) { // each file is of two rounds of eight seconds
		f := take.Begin()
		f.Round()
		check(i*16*time.Second + 6*time.Second) // the last segment may grow
		f.Round()
		check(i*16*time.Second + 14*time.Second)
		f.Finish()
		check(i*16*time.Second + 16*time.Second)
	}
}

// slide records files and calls check with each version of the sliding playlist.
func slide(t *testing.T, r *rig, check func(full *listing, text string)) {
	t.Helper()
	clip := archivetest.LoadClip(t, "h264")
	for epoch := range int64(4) {
		take := r.Take(clip, epoch, time.Duration(epoch)*40*time.Second)
		for range 2 {
			f := take.Begin()
			for range 2 {
				f.Round()
				r.now.Store(take.Now().UnixNano())
				text := r.playlist("index.m3u8")
				check(list(t, text, nil), text)
			}
			f.Finish()
		}
	}
}

func TestTheTimeShiftSlidesAndItsNumbersGoOn(t *testing.T) {
	r := newRigWith(t, play.Options{TimeShift: time.Minute})
	var before *listing
	slid := false
	slide(t, r, func(l *listing, _ string) {
		if before != nil {
			l.follows(t, before)
			slid = slid || l.sequence > before.sequence
		}
		if l.lasts > 60+16 || l.kind != "" || l.ended {
			t.Errorf("it reaches back %v s, type %q", l.lasts, l.kind)
		}
		before = l
	})
	if !slid {
		t.Error("nothing has left the playlist")
	}
}

func TestADeltaUpdateIsTheWholeToWhoHasTheOneBefore(t *testing.T) {
	r := newRigWith(t, play.Options{TimeShift: 80 * time.Second})
	var before *listing
	skips := 0
	slide(t, r, func(full *listing, text string) {
		if before != nil {
			short := r.playlist("index.m3u8?_HLS_skip=YES")
			delta := list(t, short, before)
			if delta.skipped > 0 {
				skips++
				if len(short) >= len(text) {
					t.Errorf("%d bytes of %d", len(short), len(text))
				}
			}
			delta.skipped, delta.lasts = 0, full.lasts
			if len(delta.entries) != len(full.entries) {
				t.Fatalf("%d entries of %d", len(delta.entries), len(full.entries))
			}
			for i := range delta.entries {
				if delta.entries[i] != full.entries[i] {
					t.Errorf("entry %d: %+v, and in full %+v", i, delta.entries[i], full.entries[i])
				}
			}
		}
		before = full
	})
	if skips == 0 {
		t.Error("nothing was ever skipped")
	}
}

func TestCompressedAndPlainPlaylistsAreTheSame(t *testing.T) {
	r := newRigWith(t, play.Options{TimeShift: time.Minute})
	check := func(path, text string) {
		t.Helper()
		w := r.get(path, "Accept-Encoding", "gzip")
		if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Fatalf("%s: headers %v", path, w.Header())
		}
		z, err := gzip.NewReader(bytes.NewReader(w.Body.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(z)
		if err != nil || string(got) != text {
			t.Errorf("%s: %v\n%s\nin plain\n%s", path, err, got, text)
		}
		if plain := r.get(path); plain.Header().Get("ETag") == w.Header().Get("ETag") {
			t.Error("both have the same ETag")
		}
	}
	slide(t, r, func(_ *listing, text string) { check("index.m3u8", text) })
	for _, path := range []string{"index.m3u8?_HLS_skip=v2", "index.m3u8" + span(0, time.Hour), "iframes.m3u8", "iframes.m3u8" + span(0, time.Hour), "main.m3u8" + span(0, time.Hour)} {
		check(path, r.playlist(path))
	}
}

func TestPlaylistsSayTheSameOverARestart(t *testing.T) {
	r := newRigWith(t, play.Options{TimeShift: time.Minute})
	slide(t, r, func(*listing, string) {})
	paths := []string{"index.m3u8", "index.m3u8?from=" + at(50*time.Second), "iframes.m3u8", "main.m3u8", "index.m3u8" + span(0, time.Hour)}
	var before []string
	for _, path := range paths {
		before = append(before, r.playlist(path))
	}
	if err := r.Index.Close(); err != nil {
		t.Fatal(err)
	}
	r.Open()
	r.serve(play.Options{TimeShift: time.Minute})
	for i, path := range paths {
		if got := r.playlist(path); got != before[i] {
			t.Errorf("%s: before\n%s\nand after\n%s", path, before[i], got)
		}
	}
}

func TestWhatIsDeletedInTheMiddleBecomesGapsAndNumbersStay(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	var files []*index.File
	for range 4 {
		files = append(files, take.Record(1))
	}
	again := r.Take(archivetest.LoadClip(t, "h264"), 2, time.Minute)
	files = append(files, again.Record(1), again.Record(1))
	r.set(2 * time.Minute)
	url := "index.m3u8?from=" + at(0)
	before := list(t, r.playlist(url), nil)
	for _, i := range []int{1, 2, 4} {
		path := "door/main/" + files[i].Start.Format("2006-01-02/20060102T150405.000Z") + "-" + strconv.FormatInt(files[i].Number, 10) + ".mp4"
		if _, err := os.Stat(filepath.Join(r.Dir, path)); err != nil {
			t.Fatal(err)
		}
		if err := r.Index.Doom(t.Context(), index.CauseRequest, index.Victim{File: *files[i], Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{url, "index.m3u8"} {
		after := list(t, r.playlist(path), nil)
		if len(after.entries) != len(before.entries) || after.sequence != before.sequence || after.discontinuity != before.discontinuity {
			t.Fatalf("%s: %d entries from %d, and were %d from %d", path, len(after.entries), after.sequence, len(before.entries), before.sequence)
		}
		gaps := 0
		for i, e := range after.entries {
			was := before.entries[i]
			if e.gap {
				gaps++
			} else if e.uri != was.uri || e.span != was.span || e.timeline != was.timeline {
				t.Errorf("%s: %+v, and was %+v", path, e, was)
			}
		}
		if gaps != 12 {
			t.Errorf("%s: %d gaps", path, gaps)
		}
	}
	// A closed range closes the hole instead.
	closed := r.playlist("index.m3u8" + span(0, 2*time.Minute))
	if n := len(lines(closed, "#EXT-X-DISCONTINUITY")); n != 2 || strings.Contains(closed, "#EXT-X-GAP") {
		t.Errorf("%d discontinuities in\n%s", n, closed)
	}
}

func TestOneRenderingDoesForAllWhoAsk(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	take.Record(2)
	f := take.Begin()
	f.Round()
	for _, path := range []string{"index.m3u8", "index.m3u8?from=" + at(0), "index.m3u8" + span(0, time.Minute)} {
		before := r.handler.Stats().Rendered
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if w := r.get(path); w.Code != http.StatusOK {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		all.Wait()
		if n := r.handler.Stats().Rendered - before; n != 1 {
			t.Errorf("%s was rendered %d times", path, n)
		}
	}
	before := r.handler.Stats().Rendered
	f.Round()
	r.playlist("index.m3u8")
	if n := r.handler.Stats().Rendered - before; n != 1 {
		t.Errorf("a new segment made %d renderings", n)
	}
}

func TestWhoWatchesRecordingsIsCountedForAWhile(t *testing.T) {
	r := newRig(t)
	r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(1)
	if n := r.handler.Viewers("door"); n != 0 {
		t.Errorf("%d watch before anybody does", n)
	}
	r.playlist("index.m3u8")
	r.get("main/20261130T120000.000Z-1.mp4", "User-Agent", "another")
	r.get("main/20261130T120000.000Z-2.mp4", "User-Agent", "a third, of nothing")
	if n := r.handler.Viewers("door"); n != 2 {
		t.Errorf("%d watch, want 2", n)
	}
	r.set(time.Hour + time.Minute)
	if n := r.handler.Viewers("door"); n != 0 {
		t.Errorf("%d watch a minute later", n)
	}
}
