package hls

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/drover-video/drover/core/memfile"
)

// promoting is a rig whose segments become memory files.
func promoting(t *testing.T, files int) (r *rig, segment string, budget *memfile.Budget) {
	t.Helper()
	budget = memfile.NewBudget(files, 1<<30)
	r = newRig(t, Config{Files: budget})
	r.bytes = 2000
	r.gops(8)
	t.Cleanup(func() {
		r.pipeline.end()
		if files, bytes := budget.Used(); files != 0 || bytes != 0 {
			t.Errorf("%d files of %d bytes outlive the source", files, bytes)
		}
	})
	return r, "door/" + r.playlist().Segments[2].URI, budget
}

// files is how many there should be: none where the system has no such files.
func files(n int) int {
	if !memfile.Sendable {
		return 0
	}
	return n
}

// A kernelWriter is a ResponseWriter that takes files, as a connection does.
type kernelWriter struct {
	silentWriter
	files int
	body  []byte
}

func (w *kernelWriter) ReadFrom(source io.Reader) (int64, error) {
	if _, ok := source.(*memfile.Reader); ok {
		w.files++
	}
	data, err := io.ReadAll(source)
	w.body = append(w.body, data...)
	return int64(len(data)), err
}

func (w *kernelWriter) Write(data []byte) (int, error) {
	w.body = append(w.body, data...)
	return len(data), nil
}

func (r *rig) kernel(path string, change func(*http.Request)) *kernelWriter {
	w := &kernelWriter{silentWriter: silentWriter{header: http.Header{}}}
	request, err := http.NewRequest(http.MethodGet, "http://x/hls/"+path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	if change != nil {
		change(request)
	}
	r.handler.ServeHTTP(w, request)
	return w
}

func TestTheThirdRequestMakesAMemoryFileOfASegment(t *testing.T) {
	for name, path := range map[string]func(string) string{
		"fragmented MP4":   func(segment string) string { return segment },
		"transport stream": func(segment string) string { return "door/ts/" + strings.TrimSuffix(segment[5:], "m4s") + "ts" },
	} {
		t.Run(name, func(t *testing.T) {
			r, segment, budget := promoting(t, 10)
			segment = path(segment)
			want := bodyOf(t, r.get(segment))
			held := r.muxer.held.Load()
			for request := 1; request <= 5; request++ {
				w := r.kernel(segment, nil)
				if string(w.body) != want {
					t.Fatalf("request %d: other bytes", request)
				}
				if promoted := files(1) == 1 && request >= promoteAt; (w.files == 1) != promoted {
					t.Errorf("request %d: %d files sent", request, w.files)
				}
			}
			if n, bytes := budget.Used(); n != files(1) || bytes != int64(files(len(want))) {
				t.Errorf("%d files of %d bytes", n, bytes)
			}
			if got := r.muxer.held.Load() - held; got != int64(files(len(want))) {
				t.Errorf("%d bytes more are held", got)
			}
			part := r.kernel(segment, func(q *http.Request) { q.Header.Set("Range", "bytes=1000-40999") })
			if string(part.body) != want[1000:41000] || part.status != 206 || part.files != files(1) {
				t.Errorf("a range: %d bytes, status %d, %d files", len(part.body), part.status, part.files)
			}
			r.gops(20)
			if n, bytes := budget.Used(); n != 0 || bytes != 0 {
				t.Errorf("the segment has gone, and %d files of %d bytes are left", n, bytes)
			}
		})
	}
}

func TestEachSegmentIsMadeAFileOnceHoweverManyAsk(t *testing.T) {
	r, segment, budget := promoting(t, 100)
	want := bodyOf(t, r.get(segment))
	var crowd sync.WaitGroup
	for range 32 {
		crowd.Go(func() {
			for range 10 {
				if w := r.kernel(segment, nil); string(w.body) != want {
					t.Error("other bytes")
				}
			}
		})
	}
	crowd.Wait()
	if n, _ := budget.Used(); n != files(1) {
		t.Errorf("%d files of one segment", n)
	}
}

func TestWhatNobodyOrTheWrongOnesAskForIsNoFile(t *testing.T) {
	r, segment, budget := promoting(t, 100)
	for range 2 * promoteAt {
		r.do(http.MethodHead, segment)
		r.kernel(segment, func(q *http.Request) { q.ProtoMajor = 2 })
		r.kernel("door/main.index.m3u8", nil)
		r.kernel("door/"+r.playlist().Segments[0].MapURI, nil)
		r.get(segment) // by a writer that cannot take files
	}
	r.gops(3) // of these, nobody asked for any
	if n, _ := budget.Used(); n != 0 {
		t.Errorf("%d files", n)
	}
}

func TestWithoutRoomForAFileTheBytesAreSentAsTheyAre(t *testing.T) {
	r, segment, budget := promoting(t, 1)
	other := "door/" + r.playlist().Segments[3].URI
	want := bodyOf(t, r.get(other))
	for range 5 {
		r.kernel(segment, nil)
		if w := r.kernel(other, nil); string(w.body) != want || w.files != 0 {
			t.Errorf("%d files, or other bytes", w.files)
		}
	}
	if n, _ := budget.Used(); n != files(1) {
		t.Errorf("%d files of a budget of one", n)
	}
}

// A segment may leave the window while the kernel still has some of it to send.
func TestAFileThatIsBeingSentOutlivesTheWindow(t *testing.T) {
	r, segment, budget := promoting(t, 10)
	want := bodyOf(t, r.get(segment))
	for range promoteAt {
		r.kernel(segment, nil)
	}
	w := &leavingWriter{kernelWriter: kernelWriter{silentWriter: silentWriter{header: http.Header{}}}}
	w.leave = func() {
		r.gops(20)
		if n, _ := budget.Used(); n != files(1) {
			t.Errorf("%d files while one is being sent", n)
		}
	}
	request, err := http.NewRequest(http.MethodGet, "http://x/hls/"+segment, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.handler.ServeHTTP(w, request)
	if string(w.body) != want {
		t.Error("other bytes")
	}
	if n, _ := budget.Used(); n != 0 {
		t.Errorf("%d files are left", n)
	}
}

type leavingWriter struct {
	kernelWriter
	leave func()
}

func (w *leavingWriter) ReadFrom(source io.Reader) (int64, error) {
	some, err := w.kernelWriter.ReadFrom(io.LimitReader(source, 1000))
	if err != nil {
		return some, fmt.Errorf("the first bytes: %w", err)
	}
	w.leave()
	rest, err := w.kernelWriter.ReadFrom(source)
	return some + rest, err
}
