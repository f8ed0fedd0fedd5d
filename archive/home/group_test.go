package home

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/archive/index"
)

// minutes returns files of a minute and of a thousand bytes each.
func minutes(n int, from time.Time) []index.File {
	files := make([]index.File, n)
	for i := range files {
		files[i] = index.File{Number: int64(i), Start: from.Add(time.Duration(i) * time.Minute), Span: time.Minute, Bytes: 1000}
	}
	return files
}

func TestAnObjectIsOfOneWindowAndOfSoManyBytes(t *testing.T) {
	g := grouping{window: 10 * time.Minute, maxBytes: 1 << 30, grace: 2 * time.Minute}
	_, end := g.windowOf(door, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	start := end.Add(-10 * time.Minute)
	small := g
	small.maxBytes = 2500
	tiny := g
	tiny.maxBytes = 1
	for name, c := range map[string]struct {
		g     grouping
		files []index.File
		now   time.Time
		want  int
		until time.Time
	}{
		"nothing":                               {g, nil, end, 0, time.Time{}},
		"a window that is not over":             {g, minutes(8, start), start.Add(8 * time.Minute), 0, end.Add(2 * time.Minute)},
		"one that is just over":                 {g, minutes(9, start), end.Add(time.Second), 0, end.Add(2 * time.Minute)},
		"one that is over for long":             {g, minutes(9, start), end.Add(time.Hour), 9, time.Time{}},
		"one with files of the next behind":     {g, minutes(12, start), end, 10, time.Time{}},
		"one that began before the first file":  {g, minutes(12, start.Add(7*time.Minute)), end, 3, time.Time{}},
		"more bytes than an object has":         {small, minutes(8, start), start.Add(8 * time.Minute), 2, time.Time{}},
		"a file with more than an object has":   {tiny, minutes(1, start), start, 1, time.Time{}},
		"files of a clock that was a year fast": {g, minutes(3, start.Add(8760*time.Hour)), start, 3, time.Time{}},
		"a clock that went back between files":  {g, append(minutes(3, start), minutes(3, start.Add(-time.Hour))...), start, 3, time.Time{}},
		"the longest backlog":                   {grouping{window: 24 * time.Hour, maxBytes: 1 << 30}, minutes(maxParts+1, end), end, maxParts, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, until := c.g.first(door, c.files, c.now); got != c.want && name != "the longest backlog" || !until.Equal(c.until) || got > maxParts {
				t.Errorf("%d files until %s, want %d until %s", got, until, c.want, c.until)
			}
		})
	}
}

func TestStreamsDoNotAllEndTheirObjectsAtOnce(t *testing.T) {
	g := grouping{window: 10 * time.Minute}
	ends := make(map[int64]bool)
	for _, camera := range []string{"a", "b", "c", "door", "yard", "gate"} {
		_, end := g.windowOf(index.Stream{Camera: camera, Source: "main"}, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
		ends[end.Unix()/10] = true
	}
	if len(ends) < 4 {
		t.Errorf("six streams end at %d times", len(ends))
	}
}

func TestAPaceIsKeptByAllTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pace{rate: 1_000_000}
		begun := time.Now()
		done := make(chan error, 2)
		for range 2 {
			go func() {
				var err error
				for range 50 {
					if e := p.wait(t.Context(), 100_000); e != nil {
						err = e
					}
				}
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		// Ten megabytes at one a second.
		if took := time.Since(begun); took < 10*time.Second-burst || took > 10*time.Second {
			t.Errorf("took %s", took)
		}
	})
}
