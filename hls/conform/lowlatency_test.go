package conform

import (
	"fmt"
	"strings"
	"testing"
)

// A stream writes valid playlists with parts: segments of 2 s in ten parts of
// 200 ms, of which a window is listed.
type stream struct {
	first, segments, parts int // listed; parts of the segment being made
	skip                   bool
	change                 func(line string) string
}

func (s stream) load() []byte {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("#EXTM3U")
	add("#EXT-X-VERSION:9")
	add("#EXT-X-TARGETDURATION:2")
	add("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.615,HOLD-BACK=6,CAN-SKIP-UNTIL=12")
	add("#EXT-X-PART-INF:PART-TARGET=0.205")
	add("#EXT-X-MEDIA-SEQUENCE:%d", s.first)
	add("#EXT-X-INDEPENDENT-SEGMENTS")
	end := s.first + s.segments
	skipped := 0
	if s.skip {
		skipped = s.segments - 6
		add("#EXT-X-SKIP:SKIPPED-SEGMENTS=%d", skipped)
	}
	for i := s.first + skipped; i <= end; i++ {
		if i == s.first {
			add(`#EXT-X-MAP:URI="init.mp4"`)
		}
		count := 10
		if i == end {
			count = s.parts
		}
		if i < end || count > 0 {
			add("#EXT-X-PROGRAM-DATE-TIME:2026-07-01T10:%02d:%02d.000Z", i*2/60, i*2%60)
		}
		for part := range count {
			independent := ""
			if part == 0 {
				independent = ",INDEPENDENT=YES"
			}
			// Those of segments that end more than three target durations ago are
			// not listed.
			if (end-1-i)*10+s.parts <= 30 {
				add(`#EXT-X-PART:DURATION=0.2%s,URI="%d.%d.m4s"`, independent, i, part)
			}
		}
		if i < end {
			add("#EXTINF:2.000000,")
			add("%d.m4s", i)
		}
	}
	add(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="%d.%d.m4s"`, end, s.parts)
	add(`#EXT-X-RENDITION-REPORT:URI="sub.m3u8",LAST-MSN=%d,LAST-PART=%d`, end+5, s.parts+1)
	var out strings.Builder
	for _, line := range lines {
		if line += "\n"; s.change != nil {
			line = s.change(line)
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}

func (s stream) with(old, new string) []byte {
	s.change = replace(old, new)
	return s.load()
}

func TestValidLoadsWithPartsPass(t *testing.T) {
	c := New()
	for parts := range 10 {
		c.Watch(stream{first: 1, segments: 8, parts: parts}.load())
	}
	for parts := range 10 {
		c.Watch(stream{first: 1 + parts/5, segments: 9 - parts/5, parts: parts}.load())
	}
	for parts := range 10 {
		c.Watch(stream{first: 2, segments: 9, parts: parts, skip: true}.load())
	}
	if len(c.Violations()) != 0 || c.Loads != 30 || c.Restarts != 0 {
		t.Errorf("%d loads, %d new lives, %v", c.Loads, c.Restarts, c.Violations())
	}
}

func TestADeltaUpdateIsReadAsTheWholePlaylist(t *testing.T) {
	c := New()
	whole := c.Watch(stream{first: 1, segments: 9, parts: 3}.load())
	update := c.Watch(stream{first: 1, segments: 9, parts: 4, skip: true}.load())
	if len(update.Segments) != 9 || update.Segments[0].Entry != whole.Segments[0].Entry || update.Open.MapURI != "init.mp4" || update.end() != 10 {
		t.Errorf("%+v", update)
	}
}

func TestEachRuleOfLowLatencyIsSeenWhenBroken(t *testing.T) {
	s := stream{first: 1, segments: 9, parts: 4}
	next := stream{first: 1, segments: 9, parts: 5}
	over := stream{first: 2, segments: 9, parts: 0}
	for _, c := range []struct {
		name, section string
		loads         [][]byte
	}{
		{"no part target", "4.4.3.7", [][]byte{s.with("#EXT-X-PART-INF:PART-TARGET=0.205\n", "")}},
		{"part target changes", "4.4.3.7", [][]byte{s.load(), stream{1, 9, 5, false, func(line string) string {
			return replace("TARGET=0.205", "TARGET=0.21")(replace("HOLD-BACK=0.615", "HOLD-BACK=0.65")(line))
		}}.load()}},
		{"no control", "4.4.3.8", [][]byte{s.with("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.615,HOLD-BACK=6,CAN-SKIP-UNTIL=12\n", "")}},
		{"no hold back of parts", "4.4.3.8", [][]byte{s.with("PART-HOLD-BACK=0.615,", "")}},
		{"hold back of two parts", "4.4.3.8", [][]byte{s.with("PART-HOLD-BACK=0.615", "PART-HOLD-BACK=0.41")}},
		{"hold back of two segments", "4.4.3.8", [][]byte{s.with(",HOLD-BACK=6", ",HOLD-BACK=4")}},
		{"skip boundary of five segments", "4.4.3.8", [][]byte{s.with("CAN-SKIP-UNTIL=12", "CAN-SKIP-UNTIL=10")}},
		{"unknown attribute", "4.4.3.8", [][]byte{s.with("CAN-SKIP-UNTIL", "CAN-JUMP-UNTIL")}},
		{"no blocking reload", "6.2.5.2", [][]byte{s.with("CAN-BLOCK-RELOAD=YES,", "")}},
		{"control changes", "6.2.1", [][]byte{s.load(), next.with("PART-HOLD-BACK=0.615", "PART-HOLD-BACK=0.8")}},
		{"part too long", "4.4.4.9", [][]byte{s.with(`0.2,URI="10.2.m4s"`, `0.21,URI="10.2.m4s"`)}},
		{"part too short", "4.4.4.9", [][]byte{s.with(`0.2,URI="10.2.m4s"`, `0.17,URI="10.2.m4s"`)}},
		{"date behind the first part", "4.4.4.9", [][]byte{s.with(`"9.0.m4s"`+"\n", `"9.0.m4s"`+"\n#EXT-X-PROGRAM-DATE-TIME:2026-07-01T10:00:18.000Z\n")}},
		{"parts are not the segment", "3:", [][]byte{s.with(`#EXT-X-PART:DURATION=0.2,URI="9.9.m4s"`+"\n", "")}},
		{"part changes", "6.2.1", [][]byte{s.load(), next.with(`0.2,URI="10.2.m4s"`, `0.19,URI="10.2.m4s"`)}},
		{"name of a part comes again", "3:", [][]byte{s.load(), next.with(`"10.4.m4s"`, `"10.3.m4s"`)}},
		{"part of a finished segment is missing", "6.2.1", [][]byte{stream{first: 1, segments: 8, parts: 10}.load(), over.with(`#EXT-X-PART:DURATION=0.2,URI="9.9.m4s"`+"\n", "")}},
		{"part is taken back", "6.2.1", [][]byte{next.load(), s.load()}},
		{"parts are dropped early", "6.2.2", [][]byte{s.load(), {}, stream{1, 9, 5, false, func(line string) string {
			if strings.Contains(line, `"8.`) && strings.Contains(line, "PART") {
				return ""
			}
			return line
		}}.load()}},
		{"parts are kept long", "6.2.2", [][]byte{s.with("10:00:06.000Z", "10:00:06.000Z\n"+`#EXT-X-PART:DURATION=2,INDEPENDENT=YES,URI="3.0.m4s"`)}},
		{"open segment longer than target", "4.3.3.1", [][]byte{stream{first: 1, segments: 9, parts: 13}.load()}},
		{"segment begins without a keyframe", "4.3.5.1", [][]byte{s.with(`,INDEPENDENT=YES,URI="10.0.m4s"`, `,URI="10.0.m4s"`)}},
		{"segments not said to be independent", "4.3.5.1", [][]byte{s.with("#EXT-X-INDEPENDENT-SEGMENTS\n", "")}},
		{"no hint", "4.4.5.3", [][]byte{s.with(`#EXT-X-PRELOAD-HINT:TYPE=PART,URI="10.4.m4s"`+"\n", "")}},
		{"hint of a map", "4.4.5.3", [][]byte{s.with("TYPE=PART", "TYPE=MAP")}},
		{"hint of what is there", "4.4.5.3", [][]byte{s.with(`HINT:TYPE=PART,URI="10.4.m4s"`, `HINT:TYPE=PART,URI="10.3.m4s"`)}},
		{"hint of what does not come", "4.4.5.3", [][]byte{s.with(`HINT:TYPE=PART,URI="10.4.m4s"`, `HINT:TYPE=PART,URI="10.5.m4s"`), next.load()}},
		{"report goes back", "4.4.5.4", [][]byte{s.load(), next.with("LAST-MSN=15", "LAST-MSN=14")}},
		{"report without a part", "4.4.5.4", [][]byte{s.with(",LAST-PART=5", "")}},
		{"report without a segment", "4.4.5.4", [][]byte{s.with(",LAST-MSN=15", "")}},
		{"two reports", "4.4.5.4", [][]byte{s.with("#EXT-X-RENDITION", `#EXT-X-RENDITION-REPORT:URI="sub.m3u8",LAST-MSN=15,LAST-PART=5`+"\n#EXT-X-RENDITION")}},
		{"target changes without need", "6.2.1", [][]byte{s.load(), stream{1, 9, 5, false, func(line string) string {
			return replace("DURATION:2", "DURATION:3")(replace(",HOLD-BACK=6,CAN-SKIP-UNTIL=12", ",HOLD-BACK=9,CAN-SKIP-UNTIL=18")(line))
		}}.load()}},
		{"update that skips too much", "6.2.5.1", [][]byte{s.load(), stream{1, 9, 5, true, replace("#EXTINF:2.000000,\n", "#EXTINF:1.000000,\n")}.load()}},
		{"update that skips the unknown", "6.2.5.1", [][]byte{stream{first: 1, segments: 9, skip: true}.load()}},
		{"update that was not offered", "6.2.5.1", [][]byte{s.load(), stream{1, 9, 5, true, replace(",CAN-SKIP-UNTIL=12", "")}.load()}},
		{"update of an old version", "8:", [][]byte{s.load(), stream{1, 9, 5, true, replace("VERSION:9", "VERSION:6")}.load()}},
		{"update that skips nothing", "4.4.5.2", [][]byte{s.with("#EXT-X-MAP", "#EXT-X-SKIP:SKIPPED-SEGMENTS=0\n#EXT-X-MAP")}},
		{"skip behind a segment", "4.4.5.2", [][]byte{s.with("4.m4s", "4.m4s\n#EXT-X-SKIP:SKIPPED-SEGMENTS=1"), s.with(`#EXT-X-PART:DURATION=0.2,URI="10.1`, `#EXT-X-SKIP:SKIPPED-SEGMENTS=1`+"\n"+`#EXT-X-PART:DURATION=0.2,URI="10.1`)}},
		{"attribute twice", "4.2", [][]byte{s.with("HOLD-BACK=6", "HOLD-BACK=6,HOLD-BACK=6")}},
		{"no number", "4.2", [][]byte{s.with("PART-TARGET=0.205", "PART-TARGET=2e-1")}},
		{"no quotes", "4.2", [][]byte{s.with(`URI="10.0.m4s"`, `URI=10.0.m4s`)}},
		{"open quote", "4.2", [][]byte{s.with(`URI="10.0.m4s"`, `URI="10.0.m4s`)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checker := New()
			for _, data := range c.loads {
				if len(data) > 0 {
					checker.Watch(data)
				}
			}
			if all := strings.Join(checker.Violations(), "\n"); !strings.Contains(all, c.section) {
				t.Errorf("found %q, want %s", all, c.section)
			}
		})
	}
}

func TestNewLifeOfAPlaylistWithPartsPassesWhereATargetIsOutgrown(t *testing.T) {
	c := New()
	c.Watch(stream{first: 1, segments: 9, parts: 12}.load())
	c.Watch(stream{1, 9, 13, false, func(line string) string {
		return replace("DURATION:2", "DURATION:4")(replace(",HOLD-BACK=6,CAN-SKIP-UNTIL=12", ",HOLD-BACK=12,CAN-SKIP-UNTIL=24")(line))
	}}.load())
	if c.Restarts != 1 {
		t.Errorf("%d new lives", c.Restarts)
	}
	for _, v := range c.Violations() {
		if !strings.Contains(v, "6.2.2") { // the parts of the generator go by the old target
			t.Error(v)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(string(stream{first: 1, segments: 9, parts: 4, skip: true}.load()))
	f.Add(string(load(1, 4, nil)))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text))
		if err != nil {
			return
		}
		c := New()
		c.Watch([]byte(text))
		c.Watch([]byte(text))
		if p.end() < p.MediaSequence {
			t.Fatalf("%+v", p)
		}
	})
}
