package m3u8

import (
	"testing"
	"time"
)

func TestADateRangeReadsAsTheStandardSays(t *testing.T) {
	at := time.Date(2026, 7, 1, 10, 0, 0, 123_999_000, time.FixedZone("", 7200))
	out := AppendDateRange([]byte("prefix\n"), &DateRange{ID: "a", Class: "c", Start: at, End: at.Add(time.Second), Attributes: []Attribute{{"X-NAME", "say \"x\"\n"}, {"X-LABEL", ""}}})
	out = AppendDateRange(out, &DateRange{ID: "b", Start: at})
	out = AppendSubtitles(out, &Subtitles{Group: "seen", Name: "What is seen", URI: "main.boxes.m3u8"})
	out = AppendVariant(out, &Variant{URI: "main.m3u8", Bandwidth: 1, Audio: "sound", Subtitles: "seen"})
	want := `prefix
#EXT-X-DATERANGE:ID="a",CLASS="c",START-DATE="2026-07-01T08:00:00.123Z",END-DATE="2026-07-01T08:00:01.123Z",X-NAME="say x",X-LABEL=""
#EXT-X-DATERANGE:ID="b",START-DATE="2026-07-01T08:00:00.123Z"
#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="seen",NAME="What is seen",DEFAULT=NO,AUTOSELECT=NO,FORCED=NO,URI="main.boxes.m3u8"
#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="sound",SUBTITLES="seen"
main.m3u8
`
	if string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}
