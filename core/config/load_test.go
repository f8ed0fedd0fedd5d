package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/drover-video/drover/core/camera"
)

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "drover.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, content string, environ ...string) *Config {
	t.Helper()
	c, _, err := Load(Source{File: writeFile(t, content), Environ: environ})
	if err != nil {
		t.Fatalf("Load: %v", err)
	}
	return c
}

func problemsOf(t *testing.T, source Source) Problems {
	t.Helper()
	_, _, err := Load(source)
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("Load answered %v, want Problems", err)
	}
	return problems
}

func TestDefaultsNeedNoFile(t *testing.T) {
	c, warnings, err := Load(Source{})
	if err != nil || len(warnings) != 0 {
		t.Fatalf("Load: %v, %v", err, warnings)
	}
	want := Config{
		HTTP: HTTP{Address: "127.0.0.1:8090", ReadHeaderTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
			IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ShutdownGrace: 3 * time.Second,
			ACME: ACME{Directory: "https://acme-v02.api.letsencrypt.org/directory"}},
		Data:   Data{Dir: "./data"},
		Log:    Log{Level: "info", Format: "text"},
		HLS:    HLS{SegmentDuration: 2 * time.Second, Window: 5, PartDuration: 200 * time.Millisecond, KernelBytes: 1e9},
		Ring:   Ring{MaxDuration: 10 * time.Second, MaxBytes: 32e6, SubscriberFrames: 256},
		Ingest: Ingest{DialLimit: 16, BackoffMin: time.Second, BackoffMax: time.Minute, StallTimeout: 10 * time.Second, AudioFLAC: true, IdleAfter: 30 * time.Second},
	}
	if !reflect.DeepEqual(c.HTTP, want.HTTP) || c.Data != want.Data || c.Log != want.Log || c.Auth != want.Auth ||
		c.HLS != want.HLS || c.Ring != want.Ring || c.Ingest != want.Ingest || len(c.Cameras) != 0 {
		t.Errorf("got  %+v\nwant %+v", *c, want)
	}
}

func TestSectionsMayBeWithinSections(t *testing.T) {
	c := load(t, "http:\n  tls:\n    cert: a.pem\n    key: a.key\n  address: 127.0.0.1:1\n  acme:\n")
	if c.HTTP.TLS != (TLS{Cert: "a.pem", Key: "a.key"}) || c.HTTP.Address != "127.0.0.1:1" {
		t.Errorf("file: %+v", c.HTTP)
	}
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse([]string{"--http.tls.key=b.key"}); err != nil {
		t.Fatal(err)
	}
	file := writeFile(t, "http: {tls: {cert: a.pem, key: a.key}}\nhls: {max_bitrate: 1.5Gbps}\n")
	c, _, err := Load(Source{File: file, Flags: flags, Environ: []string{"DROVER_HTTP_TLS_CERT=c.pem", "DROVER_HTTP_TLS_KEY=c.key"}})
	if err != nil || c.HTTP.TLS != (TLS{Cert: "c.pem", Key: "b.key"}) || c.HLS.MaxBitrate != 1.5e9 {
		t.Errorf("flag over environment over file: %+v, %v", c, err)
	}
	c, _, err = Load(Source{Environ: []string{"DROVER_HTTP_ACME_DOMAINS= Cameras.example.org,b.example.org"}})
	if want := []string{"cameras.example.org", "b.example.org"}; err != nil || !reflect.DeepEqual(c.HTTP.ACME.Domains, want) {
		t.Errorf("domains: %+v, %v", c, err)
	}
	for content, want := range map[string]string{
		"http:\n  tls:\n    crt: x\n":                                       ":3: http.tls.crt: there is no such key: did you mean http.tls.cert?",
		"http:\n  tls: on\n":                                                ":2: http.tls: must have its keys below it, indented",
		"http:\n  tls.cert: x\n":                                            ":2: http.tls.cert: must be written in three lines: http: and, indented below it, tls: and, indented below it, cert:",
		"http.tls.cert: x\n":                                                ":1: http.tls.cert: must be written in three lines: http: and, indented below it, tls: and, indented below it, cert:",
		"http: {tls: {cert: x}}\n":                                          ":1: http.tls.cert: needs http.tls.key too",
		"http: {tls: {key: x}}\n":                                           ":1: http.tls.key: needs http.tls.cert too",
		"http: {tls: {key: x, cert: y}, acme: {domains: a.b}}\n":            ":1: http.acme.domains: asks for a certificate where",
		"http: {acme: {domains: 192.168.1.1}}\n":                            ":1: http.acme.domains: must be names",
		"http: {acme: {domains: '*.example.org'}}\n":                        ":1: http.acme.domains: must be names",
		"http: {acme: {domains: 'a.b,,c.d'}}\n":                             ":1: http.acme.domains: must be names",
		"http: {acme: {domains: localhost}}\n":                              ":1: http.acme.domains: must be names",
		"http: {acme: {directory: 'http://h/'}}\n":                          ":1: http.acme.directory: must be an https:// URL",
		"hls: {max_bitrate: fast}\n":                                        ":1: hls.max_bitrate: must be bits per second",
		"hls: {max_camera_viewers: 20001}\n":                                ":1: hls.max_camera_viewers: must be from 0 to 20000",
		"http: {max_connections: -1}\nhls: {max_viewers: 1000001}\nring:\n": ":1: http.max_connections: must be from 0",
	} {
		if err := problemsOf(t, Source{File: writeFile(t, content)}); !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\ngot  %v\nwant %s", content, err, want)
		}
	}
}

func TestTwoLinesAreAConfiguration(t *testing.T) {
	c := load(t, "cameras:\n  door: rtsp://admin:p%40ss@192.168.1.20/stream1\n")
	if len(c.Cameras) != 1 {
		t.Fatalf("%d cameras, want 1", len(c.Cameras))
	}
	got := c.Cameras[0]
	if got.ID != "door" || !got.Enabled || got.OnDemand || got.Origin != camera.OriginFile || got.Record.Mode != camera.RecordOff {
		t.Errorf("got %+v", got)
	}
	source := got.Sources[0]
	if source.Name != "main" || source.URL != "rtsp://192.168.1.20/stream1" || source.Username != "admin" ||
		source.Password.Reveal() != "p@ss" || source.Transport != camera.TransportAuto {
		t.Errorf("got source %+v", source)
	}
}

func TestACameraHasTheFieldsOfTheAPI(t *testing.T) {
	c := load(t, `
cameras:
  yard:
    name: Back yard
    enabled: false
    on_demand: true
    record:
      mode: schedule
      max_age: 30d
      max_bytes: 500GB
      sources: [main, sub]
      pre_roll: 5s
      post_roll: 1m
      schedule: {zone: UTC, spans: ["mon-fri 08:00-18:00", daily 00:00-24:00]}
      thin: {after: 7d, keep: sub}
    labels: {site: home}
    sources:
      - {name: main, url: "rtsp://cam/main", username: u, password: "a#b: c", transport: tcp}
      - {url: "rtsp://cam/sub"}
      - {name: wide, url: "rtsps://cam/wide", tls: {verify: none}}
  shed: {url: "rtsps://cam/one", username: u, password: p, transport: udp, tls: {fingerprint: "`+strings.Repeat("AB:", 31)+`ab"}}
`)
	yard, shed := c.Cameras[0], c.Cameras[1]
	if yard.Name != "Back yard" || yard.Enabled || !yard.OnDemand || yard.Labels["site"] != "home" {
		t.Errorf("got %+v", yard)
	}
	if want := (camera.RecordSpec{
		Mode: camera.RecordSchedule, MaxAge: 30 * day, MaxBytes: 500e9, Sources: []string{"main", "sub"}, PreRoll: 5 * time.Second, PostRoll: time.Minute,
		Schedule: camera.Schedule{Zone: "UTC", Spans: []string{"mon-fri 08:00-18:00", "daily 00:00-24:00"}}, Thin: camera.ThinSpec{After: 7 * day, Keep: camera.ThinSub},
	}); !reflect.DeepEqual(yard.Record, want) {
		t.Errorf("got %+v", yard.Record)
	}
	if len(yard.Sources) != 3 || yard.Sources[2].TLS.Verify != camera.TLSVerifyNone || yard.Sources[0].Password.Reveal() != "a#b: c" || yard.Sources[0].Transport != camera.TransportTCP || yard.Sources[1].Name != "sub" {
		t.Errorf("got %+v", yard.Sources)
	}
	if shed.Sources[0].Transport != camera.TransportUDP || shed.Sources[0].Username != "u" ||
		shed.Sources[0].TLS != (camera.TLSSpec{Verify: camera.TLSVerifyPin, Fingerprint: strings.Repeat("ab", 32)}) {
		t.Errorf("got %+v", shed.Sources)
	}
}

func TestFlagsOverEnvironmentOverFileOverDefaults(t *testing.T) {
	file := writeFile(t, "hls:\n  window: 6\nlog:\n  level: warn\nring:\n  max_bytes: 8MiB\n")
	flags := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse([]string{"--hls.window=8"}); err != nil {
		t.Fatal(err)
	}
	c, _, err := Load(Source{File: file, Flags: flags, Environ: []string{"DROVER_HLS_WINDOW=7", "DROVER_LOG_LEVEL=debug"}})
	if err != nil {
		t.Fatal(err)
	}
	if c.HLS.Window != 8 {
		t.Errorf("flag: window %d, want 8", c.HLS.Window)
	}
	if c.Log.Level != "debug" {
		t.Errorf("environment: level %s, want debug", c.Log.Level)
	}
	if c.Ring.MaxBytes != 8<<20 {
		t.Errorf("file: max_bytes %d, want %d", c.Ring.MaxBytes, 8<<20)
	}
	if c.HLS.SegmentDuration != 2*time.Second {
		t.Errorf("default: segment_duration %v, want 2s", c.HLS.SegmentDuration)
	}
}

func TestVariablesStandInValues(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secretFile, []byte("from: file # $x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, `
cameras:
  a: {url: "rtsp://${HOST}/1", username: u, password: "${CAM}"}
  b: {url: "rtsp://h/2", username: u, password: "$${CAM}$x"}
  c: {url: "rtsp://h/3", username: u, password: "${DROVER_SHED}"}
  d-e: {url: "rtsp://h/4", username: u}
`, "HOST=10.0.0.1:554", "CAM=x: y", "DROVER_SHED_FILE="+secretFile, "DROVER_CAMERAS_D_E_PASSWORD_FILE="+secretFile, "DROVER_CAMERAS_B_USERNAME=v")
	if c.Cameras[0].Sources[0].URL != "rtsp://10.0.0.1:554/1" {
		t.Errorf("got URL %s", c.Cameras[0].Sources[0].URL)
	}
	for i, want := range []string{"x: y", "${CAM}$x", "from: file # $x", "from: file # $x"} {
		if got := c.Cameras[i].Sources[0].Password.Reveal(); got != want {
			t.Errorf("camera %s: password %q, want %q", c.Cameras[i].ID, got, want)
		}
	}
	if c.Cameras[1].Sources[0].Username != "v" {
		t.Errorf("got user %s", c.Cameras[1].Sources[0].Username)
	}
}

func TestAnEmptySectionIsNoError(t *testing.T) {
	for _, content := range []string{"", "\n# nothing\n", "---\n", "http:\n  # address:\ncameras:\n", "http: {}\n"} {
		if c := load(t, content); c.HTTP.Address != "127.0.0.1:8090" {
			t.Errorf("%q: address %s", content, c.HTTP.Address)
		}
	}
}

func TestOffLoopbackNeedsAuthNoneInAsManyWords(t *testing.T) {
	for address, public := range map[string]bool{
		"127.0.0.1:8090": false, "127.8.8.8:1": false, "localhost:80": false, "[::1]:80": false, "[::ffff:127.0.0.1]:80": false,
		":8090": true, "0.0.0.0:8090": true, "192.168.1.2:80": true, "[::]:80": true, "example.com:80": true,
	} {
		_, _, err := Load(Source{Environ: []string{"DROVER_HTTP_ADDRESS=" + address}})
		if (err != nil) != public {
			t.Errorf("%s without auth.mode: %v", address, err)
		}
		if public && !strings.Contains(err.Error(), "auth.mode") {
			t.Errorf("%s: the error does not say what to do: %v", address, err)
		}
		c, _, err := Load(Source{Environ: []string{"DROVER_HTTP_ADDRESS=" + address, "DROVER_AUTH_MODE=none"}})
		if err != nil || c.HTTP.Address != address {
			t.Errorf("%s with auth.mode none: %v", address, err)
		}
	}
}

func TestAllErrorsAreReportedAtOnceWithTheirLines(t *testing.T) {
	file := writeFile(t, `http:
  adress: 1.2.3.4:80
  idle_timeout: 5
hsl:
  window: 3
ring:
  segment_duration: 2s
  max_bytes: 1kB
  max_bytes: 2MB
cameras:
  door: http://h/x
  Door: rtsp://h/x
  yard:
    ulr: rtsp://h/x
  shed:
    url: rtsp://h/x
    transport: pigeon
  door: rtsp://h/y
  roof:
    sources:
      - url: rtsp://h/1
      - url: rtsp://h/2
        paswort: x
`)
	got := problemsOf(t, Source{File: file, Environ: []string{"DROVER_HLS_WINDOW=many", "DROVER_LOG_LEVEL_FILE=/no/such/file", "DROVER_CAMERAS_ATTIC_URL=x"}})
	wants := []struct {
		line        int
		key, reason string
	}{
		{2, "http.adress", "did you mean http.address?"},
		{3, "http.idle_timeout", "must be a time with its unit"},
		{4, "hsl", "did you mean hls?"},
		{7, "ring.segment_duration", "did you mean hls.segment_duration?"},
		{8, "ring.max_bytes", "must be from 1000000"},
		{9, "ring.max_bytes", "first in line 8"},
		{11, "cameras.door.url", "rtsp://"},
		{12, "cameras.Door", "must match"},
		{14, "cameras.yard.ulr", "did you mean cameras.yard.url?"},
		{17, "cameras.shed.transport", "must be auto, tcp, udp, multicast or tunnel"},
		{18, "cameras.door", "first in line 11"},
		{23, "cameras.roof.sources[1].paswort", "did you mean cameras.roof.sources[1].password?"},
		{0, "hls.window", "must be a whole number"},
		{0, "log.level", "cannot read the file"},
		{0, "", "sets nothing"},
	}
	for _, want := range wants {
		found := false
		for _, p := range got {
			if p.Line == want.line && p.Key == want.key && strings.Contains(p.Reason, want.reason) {
				found = true
			}
		}
		if !found {
			t.Errorf("missing: line %d, %s: …%s…", want.line, want.key, want.reason)
		}
	}
	if t.Failed() || len(got) != len(wants) {
		t.Errorf("got %d problems, want %d:\n%v", len(got), len(wants), got)
	}
	if line := got[0].Error(); !strings.HasPrefix(line, file+":2: http.adress: ") {
		t.Errorf("got %q", line)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	tests := map[string]struct{ content, reason string }{
		"a tab":                  {"http:\n\taddress: x\n", "is not YAML"},
		"two documents":          {"http:\n---\nhttp:\n", "second document"},
		"a list":                 {"- a\n", "must begin with a key"},
		"a word":                 {"hello\n", "must begin with a key"},
		"a flat key":             {"http.address: x\n", "in two lines"},
		"a section with a value": {"http: 127.0.0.1:80\n", "keys below it"},
		"a section with a list":  {"http: [a]\n", "keys below it"},
		"a value with keys":      {"http:\n  address:\n    a: b\n", "must be a single value"},
		"an empty value":         {"http:\n  address:\n", "is empty"},
		"a number of cameras":    {"cameras: 3\n", "each camera's id"},
		"a list of cameras":      {"cameras:\n  - door\n", "each camera's id"},
		"an empty camera":        {"cameras:\n  door:\n", "is empty"},
		"a camera of a list":     {"cameras:\n  door: [a]\n", "single value"},
		"no url":                 {"cameras:\n  door: {name: x}\n", "is missing"},
		"url and sources":        {"cameras:\n  door: {url: 'rtsp://h/x', sources: [{url: 'rtsp://h/x'}]}\n", "one or the other"},
		"sources as a map":       {"cameras:\n  door: {sources: {main: x}}\n", "must be a list"},
		"too many sources":       {"cameras:\n  door: {sources: [a,a,a,a,a,a,a,a,a]}\n", "at most 8"},
		"a word for a boolean":   {"cameras:\n  door: {url: 'rtsp://h/x', enabled: maybe}\n", "true or false"},
		"a bad age":              {"cameras:\n  door: {url: 'rtsp://h/x', record: {max_age: 30}}\n", "with its unit"},
		"an unset variable":      {"cameras:\n  door: rtsp://${NOPE}/x\n", "NOPE is not set"},
		"an open variable":       {"cameras:\n  door: rtsp://${NOPE/x\n", "name of a variable"},
		"an unquoted star":       {"cameras:\n  door: {password: *hunter2}\n", "in quotes"},
		"a merge key":            {"cameras:\n  a: &a {url: 'rtsp://h/x'}\n  b: {<<: *a}\n", "write keys out"},
		"ids one variable apart": {"cameras:\n  a-b: rtsp://h/x\n  a_b: rtsp://h/x\n", "rename one"},
		"a circle":               {"cameras: &a\n  b: *a\n", "there is no such key"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			problems := problemsOf(t, Source{File: writeFile(t, test.content)})
			if !strings.Contains(problems.Error(), test.reason) {
				t.Errorf("got %q, want …%s…", problems.Error(), test.reason)
			}
			if strings.Contains(problems.Error(), "hunter2") {
				t.Errorf("the error shows a password: %v", problems)
			}
		})
	}
}

func TestAMissingFileIsAnError(t *testing.T) {
	problems := problemsOf(t, Source{File: filepath.Join(t.TempDir(), "none.yaml")})
	if !strings.Contains(problems.Error(), "cannot read") {
		t.Errorf("got %v", problems)
	}
}

func TestAHugeFileIsRefused(t *testing.T) {
	problems := problemsOf(t, Source{File: writeFile(t, strings.Repeat("#\n", maxFileBytes))})
	if !strings.Contains(problems.Error(), "larger than") {
		t.Errorf("got %v", problems)
	}
}

func TestAVariableAndItsFileAreNotBothSet(t *testing.T) {
	problems := problemsOf(t, Source{Environ: []string{"DROVER_DATA_DIR=a", "DROVER_DATA_DIR_FILE=b"}})
	if !strings.Contains(problems.Error(), "unset one") {
		t.Errorf("got %v", problems)
	}
}

func TestAMisspeltVariableIsAWarning(t *testing.T) {
	_, warnings, err := Load(Source{Environ: []string{"DROVER_HTTP_ADRESS=x", "DROVER_CAMERA_SIM=x", "DROVER_HTTP_ADDRESS=127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(warnings) != 1 || !strings.Contains(warnings.Error(), "DROVER_HTTP_ADDRESS?") {
		t.Errorf("got %v", warnings)
	}
}

func TestNoErrorShowsAPassword(t *testing.T) {
	for _, content := range []string{
		"cameras:\n  rtsp://u:hunter2@h/x: y\n",
		"cameras:\n  door: 'rtsp://u:hunter2@h/%zz'\n",
		"cameras:\n  door: 'ftp://u:hunter2@h/'\n",
		"cameras:\n  door: {url: 'rtsp://h/x', password: \"hunter2\\0\"}\n",
		"cameras:\n  door: {url: 'rtsp://h/x', password: [hunter2]}\n",
		"cameras:\n  door: {url: 'rtsp://h/x', password: hunter2, 'password: hunter2': x}\n",
		"cameras:\n  door: {url: 'rtsp://h/x', password: hunter2\n",
		"cameras:\n  door: {url: 'rtsp://h/x', password: hunter2, transport: hunter2}\n",
		"http:\n  address: ${S}\n",
		"log:\n  level: ${S}\n",
		"ring:\n  max_bytes: ${S}\n",
	} {
		problems := problemsOf(t, Source{File: writeFile(t, content), Environ: []string{"S=hunter2"}})
		if strings.Contains(problems.Error(), "hunter2") {
			t.Errorf("%q: %v", content, problems)
		}
	}
}
