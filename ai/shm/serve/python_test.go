//go:build linux

package serve_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/drover-video/drover/ai/aitest"
	"github.com/drover-video/drover/ai/feed"
	"github.com/drover-video/drover/ai/shm/serve"
)

// python is a worker in Python that reads when it is told to.
type python struct {
	t     *testing.T
	tell  io.Writer
	lines *bufio.Scanner
}

// said is a line of what it says.
type said struct {
	Camera, State, Codec, SPS, Sum string
	Width                          int
	Sequence, Missed               uint64
	PTS                            int64
	Keyframe                       bool
	Code, Error                    string
}

func startPython(t *testing.T, path, camera string) *python {
	t.Helper()
	command := exec.CommandContext(soon(t), "python3", "testdata/reader.py", path, camera)
	command.Env = append(os.Environ(), "PYTHONPATH=../../python", "PYTHONDONTWRITEBYTECODE=1")
	command.Stderr = os.Stderr
	tell, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("Python 3.9 or newer is needed: %v", err)
	}
	t.Cleanup(func() {
		tell.Close()
		if err := command.Wait(); err != nil {
			t.Error(err)
		}
	})
	return &python{t, tell, bufio.NewScanner(out)}
}

func (p *python) read(n int) { fmt.Fprintln(p.tell, n) }

func (p *python) line() said {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatal("Python says nothing more")
	}
	var s said
	if err := json.Unmarshal(p.lines.Bytes(), &s); err != nil {
		p.t.Fatalf("%v: %s", err, p.lines.Text())
	}
	return s
}

func TestPythonReadsWhatGoWrote(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	door := rig.Attach("door", "main")
	door.Bytes, door.GOP = 10_000, 10
	path, _ := start(t, rig, serve.Options{})
	p := startPython(t, path, "door")
	p.read(1)
	if s := p.line(); s.Camera != "door" || s.State != "watching" {
		t.Fatalf("got %+v", s)
	}
	beside := open(t, path, "door") // what Go reads of the same memory
	for range 12 {
		n := door.Write()
		sum := sha256.Sum256(beside.frame().Data)
		p.read(1)
		s := p.line()
		if s.Sequence != n || s.Missed != 0 || s.Sum != hex.EncodeToString(sum[:]) || s.Keyframe != (n%10 == 1) || s.PTS != int64(n-1)*3600 {
			t.Fatalf("got %+v, want frame %d", s, n)
		}
		if s.Codec != "H264" || s.Width != 640 || s.SPS != hex.EncodeToString(door.Params.SPS) {
			t.Errorf("got configuration %+v", s)
		}
	}
	for range 1000 { // ten times around
		door.Write()
		beside.frame()
	}
	p.read(1)
	if s := p.line(); !s.Keyframe || s.Sequence != 12+s.Missed+1 || s.Missed < 900 {
		t.Errorf("after it was overtaken: got %+v", s)
	}
	rig.Know("door")
	door.Detach()
	p.read(2000)
	for {
		s := p.line()
		if s.Code == "" {
			continue
		}
		if s.Code != "not_found" || s.Error == "" {
			t.Errorf("at the end: got %+v", s)
		}
		break
	}
}

func TestPythonIsToldWhatIsWrong(t *testing.T) {
	rig := aitest.New(t, feed.Options{})
	path, _ := start(t, rig, serve.Options{})
	if s := startPython(t, path, "nobody").line(); s.Code != "not_found" {
		t.Errorf("got %+v", s)
	}
}
