package m3u8

import (
	"testing"
	"time"
)

func TestRecordedPlaylistReadsAsTheStandardSays(t *testing.T) {
	out := AppendHead([]byte("prefix\n"), &Head{Version: 9, TargetDuration: 4, MediaSequence: 17, IndependentSegments: true, Type: TypeEvent, CanSkipUntil: 24 * time.Second})
	out = AppendSegment(out, &Segment{URI: "a.mp4", MapURI: "a.mp4", MapBytes: 800, RangeOffset: 900, RangeBytes: 1000, Duration: 2 * time.Second, Short: true})
	out = AppendSegment(out, &Segment{URI: "a.mp4", RangeOffset: 1900, RangeBytes: 70, Duration: 1_966_666_667, Short: true})
	out = AppendSegment(out, &Segment{URI: "gone.mp4", Duration: 20 * time.Second, Gap: true, Short: true})
	out = AppendSegment(out, &Segment{URI: "b.mp4", Short: true})
	want := `prefix
#EXTM3U
#EXT-X-VERSION:9
#EXT-X-TARGETDURATION:4
#EXT-X-SERVER-CONTROL:CAN-SKIP-UNTIL=24
#EXT-X-PLAYLIST-TYPE:EVENT
#EXT-X-MEDIA-SEQUENCE:17
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-MAP:URI="a.mp4",BYTERANGE="800@0"
#EXTINF:2,
#EXT-X-BYTERANGE:1000@900
a.mp4
#EXTINF:1.966667,
#EXT-X-BYTERANGE:70@1900
a.mp4
#EXT-X-GAP
#EXTINF:20,
gone.mp4
#EXTINF:0,
b.mp4
#EXT-X-ENDLIST
`
	if out = AppendEnd(out); string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}

func TestPlaylistOfPicturesReadsAsTheStandardSays(t *testing.T) {
	out := AppendHead([]byte("prefix\n"), &Head{Version: 6, TargetDuration: 2, IndependentSegments: true, Type: TypeVOD, IFramesOnly: true})
	out = AppendMultivariantHead(out, 6, true)
	out = AppendIFrameVariant(out, &Variant{URI: "i.m3u8", Bandwidth: 1000, Codecs: "avc1.64000C", Width: 320, Height: 180, FrameRate: 25})
	want := `prefix
#EXTM3U
#EXT-X-VERSION:6
#EXT-X-TARGETDURATION:2
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MEDIA-SEQUENCE:0
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-I-FRAMES-ONLY
#EXTM3U
#EXT-X-VERSION:6
#EXT-X-INDEPENDENT-SEGMENTS
#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1000,CODECS="avc1.64000C",RESOLUTION=320x180,URI="i.m3u8"
`
	if string(out) != want {
		t.Fatalf("got\n%s", out)
	}
}
