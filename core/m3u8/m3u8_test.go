package m3u8

import (
	"testing"
	"time"
)

func TestMediaPlaylistReadsAsTheStandardSays(t *testing.T) {
	out := AppendHead([]byte("prefix\n"), &Head{Version: 6, TargetDuration: 2, MediaSequence: 17, DiscontinuitySequence: 3, IndependentSegments: true})
	at := time.Date(2026, 7, 1, 10, 0, 0, 123_999_000, time.FixedZone("", 7200))
	out = AppendSegment(out, &Segment{URI: "a.mp4", MapURI: "init.mp4", Duration: 2 * time.Second, ProgramDateTime: at})
	out = AppendSegment(out, &Segment{URI: "b.mp4", Duration: 1_966_666_667, Discontinuity: true})
	out = AppendSegment(out, &Segment{URI: "c.mp4", Duration: time.Second / 2, Gap: true})
	want := `prefix
#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-MEDIA-SEQUENCE:17
#EXT-X-DISCONTINUITY-SEQUENCE:3
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MAP:URI="init.mp4"
#EXT-X-PROGRAM-DATE-TIME:2026-07-01T08:00:00.123Z
#EXTINF:2.000000,
a.mp4
#EXT-X-DISCONTINUITY
#EXTINF:1.966667,
b.mp4
#EXT-X-GAP
#EXTINF:0.500000,
c.mp4
`
	if string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}

func TestMultivariantPlaylistReadsAsTheStandardSays(t *testing.T) {
	out := AppendMultivariantHead([]byte("prefix\n"), 6, true)
	out = AppendVariant(out, &Variant{URI: "main.m3u8", Bandwidth: 2_000_000, AverageBandwidth: 1_500_000, Codecs: "avc1.64000C,mp4a.40.2", Width: 320, Height: 180, FrameRate: 30000.0 / 1001})
	out = AppendVariant(out, &Variant{URI: "sound.m3u8", Bandwidth: 64000, Codecs: "mp4a.40.2"})
	want := `prefix
#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-STREAM-INF:BANDWIDTH=2000000,AVERAGE-BANDWIDTH=1500000,CODECS="avc1.64000C,mp4a.40.2",RESOLUTION=320x180,FRAME-RATE=29.970
main.m3u8
#EXT-X-STREAM-INF:BANDWIDTH=64000,CODECS="mp4a.40.2"
sound.m3u8
`
	if string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}

func TestSecondsAreRoundedToTheMicrosecond(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.000000", 499: "0.000000", 500: "0.000001", 999_999_600: "1.000000",
		33_366_666: "0.033367", 120 * time.Second: "120.000000", -5: "0.000000",
	} {
		if got := string(AppendSeconds(nil, d)); got != want {
			t.Errorf("%d ns: got %s, want %s", d, got, want)
		}
	}
}

func TestQuotedStringHasNoQuoteInside(t *testing.T) {
	if got := string(AppendQuoted(nil, "a\"b\r\nc")); got != `"abc"` {
		t.Fatalf("got %s", got)
	}
}

func writeWindow(dst []byte) []byte {
	at := time.Unix(1, 0)
	dst = AppendHead(dst, &Head{Version: 6, TargetDuration: 2, MediaSequence: 1 << 40, IndependentSegments: true})
	for range 5 {
		dst = AppendSegment(dst, &Segment{URI: "main-1790000000000-894000000.mp4", Duration: 2 * time.Second, ProgramDateTime: at})
	}
	return dst
}

func TestWritingAllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { dst = writeWindow(dst[:0]) }); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkMediaPlaylist(b *testing.B) {
	dst := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		dst = writeWindow(dst[:0])
	}
}
