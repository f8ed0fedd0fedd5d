package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A contender is a server that is ready.
type contender struct {
	name string
	pid  int
	// playlist is a media playlist, and segment finds the newest one of it, which
	// can be had for longer than a run takes.
	playlist string
	live     string // the playlist with parts; "" where there is none
	segment  func(ctx context.Context) (string, error)
	header   string // of the requests to it
	stop     func()
}

// fullWindow is how many segments Drover's playlist lists by default.
const fullWindow = 5

// A stage is all contenders with the segments of one camera.
type stage struct {
	options
	folder     string // of logs and configurations
	shared     string // on tmpfs: the segments
	camera     *process
	contenders []contender
}

// newStage starts a camera that plays a clip, Drover, and the others with what
// Drover made of it.
func newStage(ctx context.Context, o options, clip, segmentDuration string) (s *stage, err error) {
	s = &stage{options: o}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	if s.folder, err = os.MkdirTemp("", "drover-compare-"); err != nil {
		return s, err
	}
	if s.shared, err = os.MkdirTemp("/dev/shm", "drover-compare-"); err != nil {
		return s, err
	}
	// Whoever nginx is when it serves has to read it.
	if err := os.Chmod(s.shared, 0o755); err != nil {
		return s, err
	}
	source, err := s.startCamera(ctx, clip)
	if err != nil {
		return s, err
	}
	if err := s.startDrover(ctx, "drover", source, "DROVER_HLS_SEGMENT_DURATION="+segmentDuration); err != nil {
		return s, err
	}
	if o.ways {
		through := s.contenders[0]
		through.name, through.header, through.stop = "drover, through net/http", notSimple, nil
		s.add(through)
		if err := s.startDrover(ctx, "drover, copying", source, "DROVER_HLS_SEGMENT_DURATION="+segmentDuration, "DROVER_HLS_KERNEL_BYTES=0"); err != nil {
			return s, err
		}
	}
	if err := s.copySegments(ctx); err != nil {
		return s, err
	}
	if o.nginx != "" {
		if err := s.startNginx(ctx); err != nil {
			return s, err
		}
	}
	if err := s.startPlain(ctx); err != nil {
		return s, err
	}
	for _, one := range o.others {
		s.add(contender{name: one.name, pid: one.pid, playlist: one.url,
			segment: func(context.Context) (string, error) { return one.url, nil }})
	}
	return s, nil
}

func (s *stage) add(c contender) { s.contenders = append(s.contenders, c) }

func (s *stage) end() {
	for i := len(s.contenders) - 1; i >= 0; i-- {
		if s.contenders[i].stop != nil {
			s.contenders[i].stop()
		}
	}
	if s.camera != nil {
		s.camera.stop()
	}
	for _, folder := range []string{s.folder, s.shared} {
		if folder != "" {
			_ = os.RemoveAll(folder)
		}
	}
}

// notSimple is a header of which Drover leaves it to net/http what it means.
const notSimple = "Pragma: no-cache"

// startCamera returns the camera's URL.
func (s *stage) startCamera(ctx context.Context, clip string) (source string, err error) {
	camera, err := start(s.folder, others(s.core), nil, s.simcam, "-listen", "127.0.0.1:0", "-cameras", "1", "-clip", clip)
	if err != nil {
		return "", err
	}
	s.camera = camera
	return source, camera.await(ctx, "the camera is ready", func() error {
		ready := regexp.MustCompile(`(?m)^ready (\S+)$`).FindStringSubmatch(camera.output())
		if ready == nil {
			return errors.New("it is not")
		}
		source = ready[1]
		return nil
	})
}

func (s *stage) startDrover(ctx context.Context, name, source string, environment ...string) error {
	configuration := filepath.Join(s.folder, "drover.yaml")
	if err := os.WriteFile(configuration, []byte("cameras:\n  door: "+source+"\n"), 0o600); err != nil {
		return err
	}
	data, err := os.MkdirTemp(s.folder, "data-")
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	environment = append(environment, "DROVER_HTTP_ADDRESS="+address, "DROVER_DATA_DIR="+data)
	server, err := start(s.folder, only(s.core), environment, s.drover, "serve", "--config", configuration)
	if err != nil {
		return err
	}
	playlist := "http://" + address + "/hls/door/main.index.m3u8"
	s.add(contender{
		name: name, pid: server.pid(), playlist: playlist, stop: server.stop,
		live:    "http://" + address + "/hls/door/main.live.m3u8",
		segment: func(ctx context.Context) (string, error) { return newestSegment(ctx, playlist) },
	})
	return server.await(ctx, "the window is full", func() error {
		text, err := get(ctx, playlist)
		if n := len(segmentNames(text)); err == nil && n < fullWindow {
			err = fmt.Errorf("%d segments", n)
		}
		return err
	})
}

// copySegments lays what Drover serves now on tmpfs.
func (s *stage) copySegments(ctx context.Context) error {
	playlist := s.contenders[0].playlist
	text, err := get(ctx, playlist)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.shared, "main.index.m3u8"), text, 0o644); err != nil {
		return err
	}
	for _, name := range segmentNames(text) {
		data, err := get(ctx, strings.TrimSuffix(playlist, "main.index.m3u8")+name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(s.shared, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns a contender that serves the files on tmpfs.
func (s *stage) files(name, address string, p *process) contender {
	playlist := "http://" + address + "/main.index.m3u8"
	return contender{name: name, pid: p.pid(), playlist: playlist, stop: p.stop,
		segment: func(ctx context.Context) (string, error) { return newestSegment(ctx, playlist) }}
}

// nginxConfiguration is nginx at its best: no log, files kept open, sendfile, and
// one process, which is the one that is measured.
const nginxConfiguration = `daemon off;
master_process off;
worker_processes 1;
user %s;
pid %[2]s/nginx.pid;
error_log %[2]s/nginx-error.log;
events { worker_connections 16384; }
http {
  access_log off;
  client_body_temp_path %[2]s;
  sendfile on;
  tcp_nodelay on;
  keepalive_requests 1000000000;
  open_file_cache max=100 inactive=1h;
  open_file_cache_valid 1h;
  types { application/vnd.apple.mpegurl m3u8; }
  default_type video/mp4;
  server { listen %[3]s backlog=4096; root %[4]s; }
}
`

func (s *stage) startNginx(ctx context.Context) error {
	name, err := exec.LookPath(s.nginx)
	if err != nil {
		fmt.Println("without nginx, which is not installed (Debian: apt-get install nginx-light)")
		return nil
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	user := "nobody"
	if os.Getuid() == 0 {
		user = "root"
	}
	file := filepath.Join(s.folder, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfiguration, user, s.folder, address, s.shared), 0o600); err != nil {
		return err
	}
	p, err := start(s.folder, only(s.core), nil, name, "-p", s.folder, "-c", file)
	if err != nil {
		return err
	}
	return s.addFiles(ctx, "nginx", address, p)
}

func (s *stage) startPlain(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	address, err := freeAddress()
	if err != nil {
		return err
	}
	p, err := start(s.folder, only(s.core), nil, self, plainArgument, s.shared, address)
	if err != nil {
		return err
	}
	return s.addFiles(ctx, "net/http", address, p)
}

func (s *stage) addFiles(ctx context.Context, name, address string, p *process) error {
	c := s.files(name, address, p)
	s.add(c)
	return p.await(ctx, name+" serves", func() error {
		_, err := c.segment(ctx)
		return err
	})
}

// newestSegment returns the URL of the last segment of a playlist.
func newestSegment(ctx context.Context, playlist string) (string, error) {
	text, err := get(ctx, playlist)
	if err != nil {
		return "", err
	}
	names := segmentNames(text)
	if len(names) == 0 {
		return "", errors.New("there is no segment yet")
	}
	return playlist[:strings.LastIndexByte(playlist, '/')+1] + names[len(names)-1], nil
}

func segmentNames(playlist []byte) []string {
	return regexp.MustCompile(`(?m)^[\w.-]+\.m4s$`).FindAllString(string(playlist), -1)
}

func get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
