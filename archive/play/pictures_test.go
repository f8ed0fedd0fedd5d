package play_test

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/drover-video/drover/archive/archivetest"
)

func TestAFrameIsTheKeyframeAtOrBeforeATime(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	take.Record(1)
	growing := take.Begin()
	growing.Round()
	growing.Round()
	for after, want := range map[time.Duration]time.Duration{
		0: 0, 1999 * time.Millisecond: 0, 2 * time.Second: 2 * time.Second, 7 * time.Second: 6 * time.Second, 9 * time.Second: 8 * time.Second,
		13 * time.Second: 12 * time.Second, 60 * time.Second: 22 * time.Second, // a little after the last
	} {
		w := r.get("frame?at=" + at(after))
		if got, want := w.Header().Get("Drover-Frame-Time"), archivetest.Noon.Add(want).Format("2006-01-02T15:04:05.000000Z"); w.Code != http.StatusOK || got != want {
			t.Errorf("at %v: %d, %s, want %s", after, w.Code, got, want)
		}
	}
	w := r.get("frame?at=" + at(3*time.Second))
	if w.Header().Get("Cache-Control") != "public, max-age=3600" || w.Header().Get("Content-Type") != "video/mp4" || w.Header().Get("ETag") == "" {
		t.Errorf("headers %v", w.Header())
	}
	if got := r.get("frame?at="+at(3*time.Second), "If-None-Match", w.Header().Get("ETag")); got.Code != http.StatusNotModified {
		t.Errorf("known already: %d", got.Code)
	}
}

func TestAFrameOfATimeWhoseFootageIsStillToComeIsNotKeptForLong(t *testing.T) {
	r := newRig(t)
	take := r.Take(archivetest.LoadClip(t, "h264"), 1, 0)
	take.Begin().Round()
	late := take.Now().Sub(archivetest.Noon)
	r.set(late + 40*time.Second) // the disk hangs
	for after, want := range map[time.Duration]string{
		late - time.Millisecond: "public, max-age=3600", late: "public, max-age=1, stale-if-error=4", late + 20*time.Second: "public, max-age=1, stale-if-error=4",
	} {
		if got := r.get("frame?at=" + at(after)).Header().Get("Cache-Control"); got != want {
			t.Errorf("at %v of %v: got %q, want %q", after, late, got, want)
		}
	}
}

func TestAFrameIsAFileThatPlayersShow(t *testing.T) {
	for _, name := range []string{"h264", "h265", "h264-bframes"} {
		r := newRig(t)
		clip := archivetest.LoadClip(t, name)
		r.Take(clip, 1, 0).Record(1)
		path := t.TempDir() + "/frame.mp4"
		if err := os.WriteFile(path, r.get("frame?at="+at(5*time.Second)).Body.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		out := execute(t, "ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=codec_type,nb_read_frames", "-of", "csv=p=0", path)
		if got := strings.Fields(out); len(got) == 0 || got[0] != "video,1" || len(got) > 1 {
			t.Errorf("%s: ffprobe sees %q", name, out)
		}
	}
}

func TestPicturesAreByteRangesOfTheSameFiles(t *testing.T) {
	r := newRig(t)
	f := r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Begin()
	f.Round()
	f.Finish()
	file, err := os.ReadFile(f.Path)
	if err != nil {
		t.Fatal(err)
	}
	text := r.playlist("iframes.m3u8" + span(0, time.Minute))
	if !strings.Contains(text, "#EXT-X-I-FRAMES-ONLY\n") || !strings.Contains(text, "#EXT-X-ENDLIST\n") {
		t.Errorf("got\n%s", text)
	}
	pictures := list(t, text, nil)
	media := list(t, r.playlist("index.m3u8"+span(0, time.Minute)), nil)
	if len(pictures.entries) != 4 || len(media.entries) != 4 {
		t.Fatalf("%d pictures of %d segments", len(pictures.entries), len(media.entries))
	}
	for i, e := range pictures.entries {
		size, offset, _ := strings.Cut(e.span, "@")
		whole, same, _ := strings.Cut(media.entries[i].span, "@")
		if offset != same || number(t, size)*3 > number(t, whole) {
			t.Errorf("picture %d is %s of %s", i, e.span, media.entries[i].span)
		}
		// What is read ends with the picture, and the file's own init and it are enough.
		// (ffmpeg reads such playlists as if one range went on in the next.)
		from := number(t, offset)
		path := t.TempDir() + "/picture.mp4"
		if err := os.WriteFile(path, append(bytes.Clone(file[:f.Init]), file[from:from+number(t, size)]...), 0o600); err != nil {
			t.Fatal(err)
		}
		out := execute(t, "ffprobe", "-v", "fatal", "-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames", "-of", "default=nw=1:nk=1", path)
		if strings.TrimSpace(out) != "1" {
			t.Errorf("picture %d: ffprobe decodes %q", i, out)
		}
	}
}

func TestAMultivariantPlaylistNamesBothForTheSameRange(t *testing.T) {
	r := newRig(t)
	r.Take(archivetest.LoadClip(t, "h264"), 1, 0).Record(2)
	got := r.playlist("main.m3u8" + span(0, time.Minute) + "&source=main")
	t.Log(got)
	const query = "?from=2026-11-30T12%3A00%3A00Z&source=main&to=2026-11-30T12%3A01%3A00Z"
	for _, want := range []string{`CODECS="avc1.`, `,mp4a.40.2"`, "RESOLUTION=", "FRAME-RATE=25.000\nindex.m3u8" + query + "\n", "#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=", `,URI="iframes.m3u8` + query + `"`} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q", want)
		}
	}
	if pictures := lines(got, "#EXT-X-I-FRAME-STREAM-INF:")[0]; strings.Contains(pictures, "mp4a") {
		t.Errorf("pictures with sound: %s", pictures)
	}
	r.set(20 * time.Second)
	for _, path := range []string{"main.m3u8", "main.m3u8?from=" + at(0)} {
		if got := r.playlist(path); !strings.Contains(got, "\nindex.m3u8"+strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(path, "main.m3u8"), ".000Z"), ":", "%3A")) {
			t.Errorf("%s: got\n%s", path, got)
		}
	}
}
