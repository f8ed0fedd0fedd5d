package api

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/drover-video/drover/core/admission"
)

// A keeper refuses what it is told to, and remembers who asked.
type keeper struct {
	playlists, media admission.Reason
	asked            []string
}

func (k *keeper) Playlist(camera, address, agent string) admission.Reason {
	k.asked = append(k.asked, camera+" "+address+" "+agent)
	return k.playlists
}

func (k *keeper) Media(camera string) admission.Reason {
	k.asked = append(k.asked, camera)
	return k.media
}

func TestAViewerForWhomThereIsNoRoomIsToldWhenToComeBack(t *testing.T) {
	gate := &keeper{}
	b := newBench(t, func(o *Options) { o.Gate = gate })
	b.addFileCamera("door")
	base := "/s/" + b.share(`{"camera":"door"}`).Token
	for _, prefix := range []string{"", base} {
		for _, reason := range []admission.Reason{admission.Viewers, admission.CameraViewers, admission.Bitrate, admission.CameraBitrate} {
			gate.playlists, gate.media = reason, ""
			w := b.do("GET", prefix+"/hls/door/main.index.m3u8", "", "User-Agent", "player")
			p := b.refused(w, problemNoRoom)
			seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
			if err != nil || seconds < 5 || seconds > 14 || !strings.HasSuffix(p.Detail, "try again in "+w.Header().Get("Retry-After")+" s") || p.Detail[0] == ':' {
				t.Errorf("%s: %v: %s", reason, w.Header(), p.Detail)
			}
			if !strings.Contains(w.Header().Get("Cache-Control"), "no-store") || w.Header().Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("headers %v", w.Header())
			}
			if got := gate.asked[len(gate.asked)-1]; got != "door 192.0.2.1 player" {
				t.Errorf("asked for %q", got)
			}
			if w := b.do("GET", prefix+"/hls/door/main.1.2.m4s", ""); w.Code != http.StatusOK {
				t.Errorf("a segment: %d", w.Code)
			}
			gate.playlists, gate.media = "", reason
			if w := b.do("GET", prefix+"/hls/door/main.index.m3u8", ""); w.Code != http.StatusOK {
				t.Errorf("a playlist: %d", w.Code)
			}
			b.refused(b.do("GET", prefix+"/hls/door/main.1.2.m4s", ""), problemNoRoom)
			if w := b.do("OPTIONS", prefix+"/hls/door/main.1.2.m4s", ""); w.Code != http.StatusOK {
				t.Errorf("a preflight: %d", w.Code)
			}
		}
	}
}
