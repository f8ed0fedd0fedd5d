package main

import (
	"reflect"
	"testing"
)

func TestPlaylistsOfBothKindsAreRead(t *testing.T) {
	tests := []struct {
		name, text string
		want       playlist
		ok         bool
	}{
		{"multivariant", "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"avc1\"\nmain.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=1\nsub.m3u8\n",
			playlist{variants: []string{"main.m3u8"}}, true},
		{"multivariant with sound apart", "#EXTM3U\n#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",URI=\"audio.m3u8\"\n#EXT-X-STREAM-INF:AUDIO=\"a\"\nmain.m3u8\n",
			playlist{variants: []string{"audio.m3u8", "main.m3u8"}}, true},
		{"media", "#EXTM3U\r\n#EXT-X-MEDIA-SEQUENCE:41\r\n#EXT-X-MAP:URI=\"init.mp4\"\r\n#EXTINF:2.0,\r\na.m4s\r\n#EXTINF:2.0,\r\nb.m4s\r\n",
			playlist{initURI: "init.mp4", sequence: 41, segments: []string{"a.m4s", "b.m4s"}}, true},
		{"not one at all", "<html>", playlist{}, false},
		{"a sequence that is no number", "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:x\n", playlist{}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parsePlaylist([]byte(test.text))
			if (err == nil) != test.ok || test.ok && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

func FuzzPlaylist(f *testing.F) {
	f.Add([]byte("#EXTM3U\n#EXT-X-STREAM-INF:A\nx\n#EXT-X-MEDIA:URI=\"y\"\n"))
	f.Add([]byte("#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:1\n#EXT-X-MAP:URI=\"\n#EXTINF:1,\nz\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePlaylist(text)
		if err == nil && len(p.variants)+len(p.segments) > len(text) {
			t.Errorf("%d names out of %d bytes", len(p.variants)+len(p.segments), len(text))
		}
	})
}
