//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// rackVariable names a rack of GStreamer cameras: a server of RTSP that shares no
// code with Drover, nor with the libraries that it uses.
const rackVariable = "DROVER_CAMERA_SIM"

// A rack is a running process of cameras. Commands are written to input.
type rack struct {
	port  int
	input io.Writer
}

func (r rack) url(path string) string { return fmt.Sprintf("rtsp://127.0.0.1:%d/%s", r.port, path) }

// startRack runs the rack with cameras, each as its --camera has it.
func startRack(t *testing.T, cameras ...string) rack {
	t.Helper()
	program := os.Getenv(rackVariable)
	if program == "" {
		t.Skipf("%s names no rack of GStreamer cameras", rackVariable)
	}
	arguments := []string{program, "--port", "0"}
	for _, camera := range cameras {
		arguments = append(arguments, "--camera", camera)
	}
	// Debian's bindings are not seen by a Python from elsewhere.
	command := exec.Command("/usr/bin/python3", arguments...)
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	errors := &logBuffer{}
	command.Stderr = errors
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan int, 1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		readRack(output, ready)
	}()
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(10*time.Second, func() { _ = command.Process.Kill() })
		defer kill.Stop()
		<-read
		_ = command.Wait()
		if t.Failed() {
			t.Logf("the rack's errors:\n%s", errors)
		}
	})
	select {
	case port := <-ready:
		return rack{port: port, input: input}
	case <-read:
		t.Fatalf("the rack ended at once:\n%s", errors)
	case <-time.After(patience):
		t.Fatal("the rack does not get ready")
	}
	return rack{}
}

// readRack reads events to their end and hands on the port of the first, "ready".
func readRack(output io.Reader, ready chan<- int) {
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var event struct {
			Event string `json:"event"`
			Port  int    `json:"port"`
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "ready" {
			ready <- event.Port
		}
	}
}

// rackClock reads the pictures of the rack's cameras: milliseconds of the machine's clock.
func rackClock() clock {
	return clock{
		script: filepath.Join(filepath.Dir(os.Getenv(rackVariable)), "framecode.js"),
		reader: "((reader) => (video) => reader.read(video)?.milliseconds ?? null)(new FrameCode.Reader())",
	}
}

func TestMediaOfTheRackIsRight(t *testing.T) {
	cases := []struct {
		mediaCase
		settings string
	}{
		{mediaCase{"h264", []string{"h264"}, true, workingPace}, "size=640x360,bitrate=500"},
		{mediaCase{"h264-aac", []string{"h264", "aac"}, true, workingPace}, "size=640x360,bitrate=500,audio=aac"},
		{mediaCase{"h264-bframes-aac", []string{"h264", "aac"}, true, workingPace}, "size=640x360,bitrate=500,bframes=2,audio=aac"},
		{mediaCase{"h265", []string{"hevc"}, false, workingPace}, "codec=h265,size=640x360,bitrate=500"},
		{mediaCase{"h265-aac", []string{"hevc", "aac"}, false, workingPace}, "codec=h265,size=640x360,bitrate=500,audio=aac"},
	}
	var cameras []string
	for _, one := range cases {
		cameras = append(cameras, one.id+":"+one.settings)
	}
	r := startRack(t, cameras...)
	s := newServer(t, "")
	for _, one := range cases {
		s.addCamera(one.id, r.url(one.id))
	}
	for _, one := range cases {
		settle(s, one.id)
	}
	t.Run("cameras", func(t *testing.T) {
		for _, one := range cases {
			inParallel(t, one.id, func(t *testing.T) { checkMedia(t, s, one.mediaCase) })
		}
	})
}

// settle waits until a camera's window can be trusted. GStreamer's server now and
// then sends a first burst and then nothing, the connection open; Drover connects
// again, and the joint leaves the window before anything is checked.
func settle(s *server, id string) {
	s.t.Helper()
	s.awaitState(id, "live")
	f := follow(s.t, s, waitForIndex(s, id))
	f.reload()
	f.collect(1)
	s.await("no joint is in the window of "+id, func() error {
		f.reload()
		for _, one := range f.last.segments {
			if one.discontinuity {
				return fmt.Errorf("there is one before segment %d", one.number)
			}
		}
		return nil
	})
}

func TestABrowserPlaysTheRackThroughAllChanges(t *testing.T) {
	r := startRack(t, "door:size=640x360,bitrate=500,audio=aac")
	s := newServer(t, "")
	s.addCamera("door", r.url("door"))
	b := openBrowser(t, s.url("/watch/door"), rackClock())
	b.awaitPlaying("the camera plays")
	b.await("sound is decoded", func(now sight) bool { return now.AudioBytes > 0 })

	if _, err := io.WriteString(r.input, "change door 480x270\n"); err != nil {
		t.Fatal(err)
	}
	b.await("the new size is shown", func(now sight) bool { return now.Height == 270 })
	b.awaitPlaying("it plays on in the new size")

	before := s.camera("door").reconnects()
	if _, err := io.WriteString(r.input, "reset door\n"); err != nil {
		t.Fatal(err)
	}
	s.await("the camera was connected to again", func() error {
		if view := s.camera("door"); view.reconnects() == before || view.Status.State != "live" {
			return fmt.Errorf("it is %s, with %d reconnects", view.Status.State, view.reconnects())
		}
		return nil
	})
	b.awaitPlaying("it plays on after the camera hung up")

	s.stop()
	s.start()
	s.awaitState("door", "live")
	b.awaitPlaying("it plays on after the server's restart")
}
