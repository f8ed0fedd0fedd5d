package hls

import (
	"strings"
	"testing"

	"github.com/drover-video/drover/core/media"
	"github.com/drover-video/drover/core/ring"
	"github.com/drover-video/drover/hls/conform"
)

// twoSources is a stage whose camera has a sub stream as well.
func twoSources(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, Config{Window: 8}, true)
	pool := media.NewPool()
	subRing := ring.New(ring.Limits{})
	sub := newClipSource(t, pool, subRing, true)
	if err := s.hub.Attach("door", "sub", subRing); err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return len(subRing.Subscribers()) == 1 })
	t.Cleanup(func() {
		s.hub.Close()
		subRing.Close()
		sub.close()
		if stats := pool.Stats(); stats.Frames != 0 || stats.UsedBytes != 0 {
			t.Errorf("frames leaked: %+v", stats)
		}
	})
	played := make(chan struct{})
	go func() {
		defer close(played)
		sub.play(loadClip(t, "h264-small"), 2)
	}()
	s.clips.play(loadClip(t, "h264-bframes"), 2)
	<-played
	await(t, func() bool {
		stats, _ := s.hub.Stats("door")
		for _, source := range stats.Sources {
			if source.Segments < 7 {
				return false
			}
		}
		return len(stats.Sources) == 3
	})
	return s
}

func TestPlayersReadVariantsAndTheirSound(t *testing.T) {
	s := twoSources(t)
	for _, c := range []struct{ list, suffix string }{{"index.m3u8", ".index.m3u8"}, {"live.m3u8", ".live.m3u8"}} {
		t.Run(c.list, func(t *testing.T) {
			list, err := conform.ParseMultivariant(s.load(c.list))
			if err != nil {
				t.Fatal(err)
			}
			if len(list.Variants) != 2 || len(list.Audio) != 1 || list.Audio[0].URI != soundSource+c.suffix {
				t.Fatalf("%+v", list)
			}
			for i, want := range []conform.Variant{
				{URI: "main" + c.suffix, Width: 640, Height: 360, FrameRate: 25},
				{URI: "sub" + c.suffix, Width: 480, Height: 270, FrameRate: 25},
			} {
				got := list.Variants[i]
				if got.URI != want.URI || got.Width != want.Width || got.Height != want.Height || got.FrameRate != want.FrameRate ||
					got.Audio != list.Audio[0].Group || len(got.Codecs) != 2 || !strings.HasPrefix(got.Codecs[0], "avc1.") || got.Codecs[1] != "mp4a.40.2" {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
			if main, sub := list.Variants[0].Bandwidth, list.Variants[1].Bandwidth; main < 400_000 || main > 900_000 || sub < 200_000 || sub >= main {
				t.Errorf("main needs %d bit/s, sub %d", main, sub)
			}
			if said := execute(t, "ffmpeg", "-nostdin", "-v", "warning", "-xerror", "-err_detect", "explode", "-i", s.endURL(c.list), "-map", "0:v", "-map", "0:a", "-f", "null", "-"); said != "" {
				t.Errorf("ffmpeg says %s", said)
			}
			counts := execute(t, "ffprobe", "-v", "error", "-show_entries", "program_stream=codec_name,width,sample_rate", "-of", "csv=p=0", s.endURL(c.list))
			for _, want := range []string{"h264,640", "h264,480", "aac,16000"} {
				if !strings.Contains(counts, want) {
					t.Errorf("ffprobe finds no %s in %q", want, counts)
				}
			}
			for source, want := range map[string]string{"main": "h264\n", "sub": "h264\n", soundSource: "aac\n"} {
				if got := execute(t, "ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", s.endURL(source+c.suffix)); !strings.HasPrefix(got, want) || strings.Count(got, want) > 2 {
					t.Errorf("%s has %q", source, got)
				}
			}
			for _, source := range []string{"main", "sub"} {
				if got := decodedFrames(t, s.endURL(source+c.suffix)); got < 350 {
					t.Errorf("%s: %d pictures", source, got)
				}
			}
		})
	}
	// MPEG-TS has the sound of each source in its segments, and knows no other.
	for _, source := range []string{"main", "sub"} {
		counts := execute(t, "ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", s.endURL("ts/"+source+".index.m3u8"))
		if !strings.Contains(counts, "h264") || !strings.Contains(counts, "aac") {
			t.Errorf("MPEG-TS of %s has %q", source, counts)
		}
	}
	if list := string(s.load("ts/index.m3u8")); strings.Contains(list, "EXT-X-MEDIA") || strings.Count(list, "mp4a.40.2") != 2 {
		t.Errorf("MPEG-TS:\n%s", list)
	}
	if status, _ := ask(NewHandler(s.hub, nil), "door/ts/"+soundSource+".index.m3u8"); status != 404 {
		t.Errorf("sound alone in MPEG-TS: %d", status)
	}
}

func TestAnotherSourceTakesTheSoundApartAndBackWhenItGoes(t *testing.T) {
	hub := newHub(t, Config{})
	handler := NewHandler(hub, nil)
	main, mainSource := camera(t)
	sub, subSource := camera(t)
	mainSource.sound, subSource.params = aacParams(), otherH264Params()
	if err := hub.Attach("door", "main", main); err != nil {
		t.Fatal(err)
	}
	mainSource.gops(4)
	await(t, func() bool { return segmentsOf(hub, "door") == 3 })
	if _, body := ask(handler, "door/index.m3u8"); strings.Contains(body, "EXT-X-MEDIA") || !strings.Contains(body, "mp4a") {
		t.Errorf("one source has its sound in its segments:\n%s", body)
	}
	if status, _ := ask(handler, "door/"+soundSource+".index.m3u8"); status != 404 {
		t.Errorf("and apart as well: %d", status)
	}
	if err := hub.Attach("door", "sub", sub); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		mainSource.gops(1)
		subSource.gops(1)
	}
	await(t, func() bool {
		_, body := ask(handler, "door/index.m3u8")
		return strings.Contains(body, soundSource+".index.m3u8") && strings.Count(body, `AUDIO="sound"`) == 2
	})
	hub.Detach("door", "sub")
	if status, _ := ask(handler, "door/"+soundSource+".index.m3u8"); status != 404 {
		t.Errorf("sound apart of one source: %d", status)
	}
	mainSource.gops(3)
	await(t, func() bool {
		_, body := ask(handler, "door/index.m3u8")
		return !strings.Contains(body, "EXT-X-MEDIA") && strings.Contains(body, "mp4a")
	})
	hub.Detach("door", "main")
	if n := hub.Bytes(); n != 0 {
		t.Errorf("%d bytes held after Detach", n)
	}
	if stats := hub.pool.Stats(); stats.Frames != 0 {
		t.Errorf("frames of sound leaked: %+v", stats)
	}
}
