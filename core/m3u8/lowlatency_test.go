package m3u8

import (
	"testing"
	"time"
)

func TestLowLatencyPlaylistReadsAsTheStandardSays(t *testing.T) {
	out := AppendHead([]byte("prefix\n"), &Head{Version: 9, TargetDuration: 2, MediaSequence: 17, IndependentSegments: true, LowLatency: &LowLatency{
		PartTarget: 205 * time.Millisecond, PartHoldBack: 615 * time.Millisecond, HoldBack: 6 * time.Second, CanSkipUntil: 12 * time.Second,
	}})
	out = AppendSkip(out, 9)
	segment := Segment{URI: "a.mp4", MapURI: "init.mp4", Duration: 2 * time.Second, Discontinuity: true}
	out = AppendSegmentStart(out, &segment)
	out = AppendPart(out, &Part{URI: []byte("a.0.mp4"), Duration: 200 * time.Millisecond, Independent: true})
	out = AppendPart(out, &Part{URI: []byte("a.1.mp4"), Duration: 200_200 * time.Microsecond})
	out = AppendSegmentEnd(out, &segment)
	out = AppendPreloadHint(out, []byte("b.0.mp4"))
	out = AppendRenditionReport(out, &RenditionReport{URI: "sub.m3u8", LastMSN: 9, LastPart: 3})
	out = AppendRenditionReport(out, &RenditionReport{URI: "third.m3u8", LastMSN: 8, LastPart: -1})
	want := `prefix
#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:2
#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=0.615,HOLD-BACK=6,CAN-SKIP-UNTIL=12
#EXT-X-PART-INF:PART-TARGET=0.205
#EXT-X-MEDIA-SEQUENCE:17
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-SKIP:SKIPPED-SEGMENTS=9
#EXT-X-DISCONTINUITY
#EXT-X-MAP:URI="init.mp4"
#EXT-X-PART:DURATION=0.2,INDEPENDENT=YES,URI="a.0.mp4"
#EXT-X-PART:DURATION=0.2002,URI="a.1.mp4"
#EXTINF:2.000000,
a.mp4
#EXT-X-PRELOAD-HINT:TYPE=PART,URI="b.0.mp4"
#EXT-X-RENDITION-REPORT:URI="sub.m3u8",LAST-MSN=9,LAST-PART=3
#EXT-X-RENDITION-REPORT:URI="third.m3u8",LAST-MSN=8
`
	if string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}

func TestShortSecondsHaveNoDigitThatSaysNothing(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", -5: "0", 200 * time.Millisecond: "0.2", 12 * time.Second: "12", 33_366_666: "0.03337",
		1_000_004_999: "1", 1_999_999_999: "2", 10 * time.Microsecond: "0.00001", 50 * time.Millisecond: "0.05",
	} {
		if got := string(AppendShortSeconds(nil, d)); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}
