package play

import (
	"strings"
	"testing"
)

func FuzzName(f *testing.F) {
	for _, seed := range []string{"door/index.m3u8", "door/iframes.m3u8", "door/main.m3u8", "door/frame", "door/clip.mp4", "door/clip.mp4.sha256",
		"door/main/20261130T120000.000Z-1.mp4", "../etc/passwd", "door/../x", "door/main/../../x.mp4", "door/main/20261130T120000.000Z-01.mp4", "door/main/2026", "door//"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		n := parseName(path)
		if n.kind == nameUnknown {
			return
		}
		if n.kind == nameFile && n.camera+"/"+string(appendURI(nil, n.file)) != path {
			t.Fatalf("%q is read as %+v", path, n)
		}
		if !validID(n.camera) || strings.Contains(path, "..") || strings.ContainsAny(path, "\\\x00%") {
			t.Fatalf("%q is read as %+v", path, n)
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"from=2026-11-30T12:00:00Z&to=1796119200", "from=5", "at=1.5&format=mp4", "_HLS_skip=YES", "from=%zz", "source=../x", "to=5", "from=6&to=5", "from=a;b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := parseQuery(raw)
		if err != nil {
			return
		}
		if !q.to.IsZero() && (q.from.IsZero() || !q.to.After(q.from)) || q.source != "" && !validID(q.source) {
			t.Fatalf("%q is read as %+v", raw, q)
		}
		again, err := parseQuery(strings.TrimPrefix(q.again(), "?"))
		if err != nil || !again.from.Equal(q.from) || !again.to.Equal(q.to) || again.source != q.source {
			t.Fatalf("%q is read as %+v, and that again as %+v, %v", raw, q, again, err)
		}
	})
}

func FuzzPicture(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x08ftyp\x00\x00\x00\x08moov"), []byte("\x00\x00\x00\x08moof"))
	f.Fuzz(func(_ *testing.T, init, fragment []byte) {
		_, _ = onePicture(init, fragment)
	})
}
