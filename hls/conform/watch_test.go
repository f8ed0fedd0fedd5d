package conform

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/drover-video/drover/core/fmp4"
)

// A camera is a server of a stream with parts, of which one more is there with
// each load of the playlist.
type camera struct {
	t      *testing.T
	parts  int // there, over all segments of ten
	init   []byte
	change func(path string, status int, body []byte) (int, []byte)
}

func newCamera(t *testing.T, change func(path string, status int, body []byte) (int, []byte)) *camera {
	sps, err1 := hex.DecodeString("6764000cacd941419f9f011000000300100000030320f1429960")
	pps, err2 := hex.DecodeString("68ebe3cb22c0")
	codec, err3 := fmp4.NewH264(sps, pps)
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	c := &camera{t: t, parts: 93, change: change}
	c.init = fmp4.AppendInit(nil, []fmp4.Track{{ID: 1, Timescale: 90000, Codec: codec}})
	return c
}

func part(sequence, index int) []byte {
	samples := make([]fmp4.Sample, 5)
	for i := range samples {
		samples[i] = fmp4.Sample{Duration: 3600, Size: 10, Sync: index == 0 && i == 0}
	}
	base := uint64(sequence*10+index) * 18000
	data := fmp4.AppendFragment(nil, uint32(base), []fmp4.Run{{TrackID: 1, BaseTime: base, Samples: samples}})
	return append(data, bytes.Repeat([]byte{byte(index)}, 50)...)
}

func segment(sequence int) (data []byte) {
	for index := range 10 {
		data = append(data, part(sequence, index)...)
	}
	return data
}

func (c *camera) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	status, body := c.answer(name, r.URL.Query().Get("_HLS_msn"), r.URL.RawQuery)
	if c.change != nil {
		status, body = c.change(name+"?"+r.URL.RawQuery, status, body)
	}
	w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (c *camera) answer(name, msn, query string) (int, []byte) {
	var sequence, index, asked int
	switch {
	case name == "live.m3u8":
		return 200, []byte("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1000000,CODECS=\"avc1.64000C\"\nmain.m3u8\n")
	case name == "main.m3u8":
		if n, _ := fmt.Sscanf(msn, "%d", &asked); msn == "" && query != "" || msn != "" && (n != 1 || asked < 0 || asked > c.parts/10+1) {
			return 400, nil
		}
		if c.parts++; msn != "" && !strings.Contains(query, "_HLS_part") {
			c.parts = (c.parts + 9) / 10 * 10
		}
		s := stream{first: c.parts/10 - 7, segments: 7, parts: c.parts % 10}
		return 200, bytes.ReplaceAll(s.load(), []byte(",CAN-SKIP-UNTIL=12"), nil)
	case name == "init.mp4":
		return 200, c.init
	}
	if n, _ := fmt.Sscanf(name, "%d.%d.m4s", &sequence, &index); n == 2 {
		if sequence*10+index > c.parts {
			return 404, nil
		}
		return 200, part(sequence, index)
	}
	if n, _ := fmt.Sscanf(name, "%d.m4s", &sequence); n == 1 {
		return 200, segment(sequence)
	}
	return 404, nil
}

type transport struct{ http.Handler }

func (h transport) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	h.ServeHTTP(recorder, r)
	time.Sleep(100 * time.Millisecond) // in the bubble's time
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return recorder.Result(), nil
}

// watch watches a camera for some seconds.
func watch(t *testing.T, change func(path string, status int, body []byte) (int, []byte)) (r Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCamera(t, change)
		reports, err := Watch(context.Background(), Options{
			URL: "http://camera/live.m3u8", Client: &http.Client{Transport: serial(c)}, Duration: 30 * time.Second,
		})
		if err != nil || len(reports) != 1 {
			t.Fatalf("%v %v", reports, err)
		}
		r = reports[0]
	})
	return r
}

// serial answers one request at a time, in the order in which they come.
func serial(h http.Handler) http.RoundTripper {
	turn := make(chan struct{}, 1)
	return transport{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn <- struct{}{}
		h.ServeHTTP(w, r)
		<-turn
	})}
}

func TestAGoodStreamIsWatchedWithoutAComplaint(t *testing.T) {
	r := watch(t, nil)
	if len(r.Violations) != 0 || r.Parts < 50 || r.Segments < 5 || r.Loads < 30 || r.URL != "http://camera/main.m3u8" {
		t.Errorf("%+v", r)
	}
}

func TestEachRuleOfMediaAndServerIsSeenWhenBroken(t *testing.T) {
	// on changes the answers of a path that contains a text.
	on := func(text string, change func(body []byte) []byte) func(string, int, []byte) (int, []byte) {
		return func(path string, status int, body []byte) (int, []byte) {
			if strings.Contains(path, text) && status == 200 {
				body = change(bytes.Clone(body))
			}
			return status, body
		}
	}
	status := func(text string, other int) func(string, int, []byte) (int, []byte) {
		return func(path string, status int, body []byte) (int, []byte) {
			if strings.Contains(path, text) {
				status = other
			}
			return status, body
		}
	}
	times := 0
	for _, c := range []struct {
		name, section string
		change        func(path string, status int, body []byte) (int, []byte)
	}{
		{"a part is missing", "6.2.1: 10.2.m4s", status("10.2.m4s", 404)},
		{"a segment is missing", "6.2.1: 10.m4s", status("10.m4s?", 404)},
		{"nonsense is answered", "6.2.5.2", status("_HLS_msn=x", 200)},
		{"a part without its segment is answered", "6.2.5.2", status("?_HLS_part", 200)},
		{"too far ahead is answered", "6.2.5.2", status("_HLS_msn=18446744073709551616", 503)},
		{"503 without headers", "6.2.5.2: 503", status("_HLS_part=5", 503)},
		{"a playlist is not found", "404", status("_HLS_part=5", 404)},
		{"a segment is not its parts", "3: segment 11.m4s", on("11.m4s?", func(body []byte) []byte { body[len(body)-1]++; return body })},
		{"a part has other bytes than its hint", "6.2.6", on(".m4s", func(body []byte) []byte { times++; body[len(body)-1] = byte(times); return body })},
		{"two fragments in a part", "2 fragments", on("10.2.m4s", func(body []byte) []byte { return append(body, part(10, 3)...) })},
		{"a gap", "begins at", on("11.4.m4s", func([]byte) []byte { return part(11, 5) })},
		{"a part is shorter than it says", "4.4.4: 11.4.m4s", on("11.4.m4s", func(body []byte) []byte { return replaceAll(body, 3600, 3500) })},
		{"a part begins with no keyframe", "4.4.4.9", on("11.0.m4s", func([]byte) []byte { return part(11, 1) })},
		{"media where no header says", "the samples end at", on("11.4.m4s", func(body []byte) []byte { body = replaceAll(body, 58, 60); return append(body, 0, 0) })},
		{"a header that points elsewhere", "is at", on("11.4.m4s", shiftOffset)},
		{"cut off", "3: 11.4.m4s", on("11.4.m4s", func(body []byte) []byte { return body[:len(body)-5] })},
		{"nothing", "3: 11.4.m4s", on("11.4.m4s", func([]byte) []byte { return nil })},
		{"no init segment", "3: init.mp4", on("init.mp4", func([]byte) []byte { return []byte{0, 0, 0, 8, 'f', 't', 'y', 'p'} })},
		{"a track that the init segment lacks", "track 2", on("11.4.m4s", func(body []byte) []byte { return replaceAll(body, 1, 2) })},
		{"a reload that comes too early", "6.2.5.2: asked for", func() func(string, int, []byte) (int, []byte) {
			var last []byte
			return func(path string, status int, body []byte) (int, []byte) {
				if !strings.Contains(path, "main.m3u8") || status != 200 {
					return status, body
				}
				if last != nil && strings.Contains(path, "_HLS_part=7") {
					return status, last
				}
				last = body
				return status, body
			}
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := watch(t, c.change)
			if all := strings.Join(r.Violations, "\n"); !strings.Contains(all, c.section) {
				t.Errorf("found %q, want %s", all, c.section)
			}
		})
	}
}

// replaceAll changes each number of four bytes in the headers of a part.
func replaceAll(body []byte, old, with int) []byte {
	number := func(v int) []byte { return []byte{0, 0, byte(v >> 8), byte(v)} }
	return bytes.ReplaceAll(body, number(old), number(with))
}

// shiftOffset makes a trun point four bytes further.
func shiftOffset(body []byte) []byte {
	at := bytes.Index(body, []byte("trun")) + 4 + 4 + 4
	body[at+3] += 4
	return body
}

func TestOrdinaryPlaylistsAreWatchedByPolling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		server := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/vnd.apple.mpegurl")
			if r.URL.RawQuery != "" {
				t.Errorf("asked %s", r.URL)
			}
			if r.URL.Path == "/index.m3u8" {
				first := 1 + int(time.Since(began)/(2*time.Second))
				_, _ = w.Write(bytes.ReplaceAll(load(first%5+1, 4, nil), []byte("main."), []byte("")))
				return
			}
			c := newCamera(t, nil)
			c.ServeHTTP(w, r)
		})
		reports, err := Watch(context.Background(), Options{URL: "http://camera/index.m3u8", Client: &http.Client{Transport: transport{server}}, Duration: 7 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if r := reports[0]; r.Segments < 4 || r.Parts != 0 || len(r.Violations) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func FuzzFragments(f *testing.F) {
	f.Add(part(3, 0))
	f.Add(newCamera(&testing.T{}, nil).init)
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ParseFragments(data)
		_, _ = ParseInit(data)
	})
}
