package conform

import (
	"strings"
	"testing"
)

// load is a valid playlist of segments from a first number on, each of 2 s.
func load(first, count int, change func(line string) string) []byte {
	var b strings.Builder
	b.WriteString("#EXTM3U\n#EXT-X-VERSION:6\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:" + string(rune('0'+first)) +
		"\n#EXT-X-INDEPENDENT-SEGMENTS\n#EXT-X-MAP:URI=\"init.mp4\"\n")
	for i := first; i < first+count; i++ {
		digit := string(rune('0' + i))
		b.WriteString("#EXT-X-PROGRAM-DATE-TIME:2026-07-01T10:00:" + []string{"0", "1"}[i*2/10] + string(rune('0'+i*2%10)) + ".000Z\n#EXTINF:2.000000,\nmain." + digit + ".m4s\n")
	}
	if change == nil {
		return []byte(b.String())
	}
	var out strings.Builder
	for line := range strings.Lines(b.String()) {
		out.WriteString(change(line))
	}
	return []byte(out.String())
}

func replace(old, new string) func(string) string {
	return func(line string) string { return strings.Replace(line, old, new, 1) }
}

func TestValidLoadsPass(t *testing.T) {
	c := New()
	c.Watch(load(1, 4, nil))
	c.Watch(load(1, 4, nil))
	c.Watch(load(2, 4, nil))
	c.Watch(load(3, 4, nil))
	if len(c.Violations()) != 0 || c.Loads != 3 {
		t.Errorf("%d loads, %v", c.Loads, c.Violations())
	}
}

func TestEachRuleIsSeenWhenBroken(t *testing.T) {
	for _, c := range []struct {
		name, section string
		loads         [][]byte
	}{
		{"no first line", "4.3.1.1", [][]byte{load(1, 4, replace("#EXTM3U", "#EXTM4U"))}},
		{"no target", "4.3.3.1", [][]byte{load(1, 4, replace("#EXT-X-TARGETDURATION:2\n", ""))}},
		{"segment longer than target", "4.3.3.1", [][]byte{load(1, 4, replace("EXTINF:2.000000", "EXTINF:2.600000"))}},
		{"old version", "7:", [][]byte{load(1, 4, replace("VERSION:6", "VERSION:3"))}},
		{"no map", "4.3.2.5", [][]byte{load(1, 4, replace("#EXT-X-MAP:URI=\"init.mp4\"\n", ""))}},
		{"no comma", "4.3.2.1", [][]byte{load(1, 4, replace("2.000000,", "2.000000"))}},
		{"sequence goes back", "6.2.2", [][]byte{load(2, 4, nil), load(1, 4, nil)}},
		{"target changes", "6.2.1", [][]byte{load(1, 4, nil), load(2, 4, replace("DURATION:2", "DURATION:3"))}},
		{"segment changes", "6.2.1", [][]byte{load(1, 4, nil), load(1, 4, replace("EXTINF:2.000000", "EXTINF:1.990000"))}},
		{"name changes", "6.2.1", [][]byte{load(1, 4, nil), load(1, 4, replace("main.3", "main.x"))}},
		{"name comes again", "3:", [][]byte{load(1, 4, nil), load(2, 4, replace("main.5", "main.1"))}},
		{"date does not follow", "4.3.2.6", [][]byte{load(1, 4, replace("10:00:04", "10:00:05"))}},
		{"map without discontinuity", "4.3.2.3", [][]byte{load(1, 4, replace("main.3", "#EXT-X-MAP:URI=\"other.mp4\"\nmain.3"))}},
		{"tag left uncounted", "6.2.2", [][]byte{load(1, 4, replace("#EXT-X-MAP", "#EXT-X-DISCONTINUITY\n#EXT-X-MAP")), load(2, 4, nil)}},
		{"too little left", "6.2.2", [][]byte{load(1, 3, nil), load(2, 2, nil)}},
		{"it ends", "ends", [][]byte{append(load(1, 4, nil), "#EXT-X-ENDLIST\n"...)}},
		{"nonsense", "unexpected", [][]byte{append(load(1, 4, nil), "#EXT-X-NONSENSE\n"...)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			checker := New()
			for _, data := range c.loads {
				checker.Watch(data)
			}
			if all := strings.Join(checker.Violations(), "\n"); !strings.Contains(all, c.section) {
				t.Errorf("found %q, want %s", all, c.section)
			}
		})
	}
}

func TestNewLifeWithAnotherTargetPasses(t *testing.T) {
	c := New()
	c.Watch(load(1, 4, nil))
	c.Watch(load(5, 3, func(line string) string {
		line = replace("DURATION:2", "DURATION:9")(line)
		return replace("#EXT-X-MAP", "#EXT-X-DISCONTINUITY\n#EXT-X-MAP")(line)
	}))
	if len(c.Violations()) != 0 || c.Restarts != 1 {
		t.Errorf("%d restarts, %v", c.Restarts, c.Violations())
	}
}
