//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/drover-video/drover/ingest/rtsptest"
)

// A k6Report is what the stand-in for k6 prints.
type k6Report struct {
	Metrics map[string]struct {
		Count, Rate float64
	}
	Thresholds map[string]bool
}

// k6ThresholdBroken is the exit code of k6, and of the stand-in, where a threshold
// does not hold.
const k6ThresholdBroken = 99

// aboutTime matches thresholds that a busy machine may break.
func aboutTime(threshold string) bool {
	return regexp.MustCompile("duration|startup|stall|age").MatchString(threshold)
}

// runK6 runs a script of k6/ by the stand-in for it, and returns what it found. A
// wanted exit code below 0 stands for any that k6 has for a whole run.
func runK6(t *testing.T, script string, wantExit int, environment ...string) k6Report {
	t.Helper()
	arguments := []string{"../k6/shim/run.mjs", "../k6/" + script}
	for _, variable := range environment {
		arguments = append(arguments, "--env", variable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	command := exec.CommandContext(ctx, "node", arguments...)
	var output, errorOutput bytes.Buffer
	command.Stdout, command.Stderr = &output, &errorOutput
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", command, err)
	}
	var report k6Report
	if err := json.Unmarshal(output.Bytes(), &report); err != nil || wantExit >= 0 && command.ProcessState.ExitCode() != wantExit || wantExit < 0 && command.ProcessState.ExitCode() > k6ThresholdBroken {
		t.Fatalf("%s ended with %v, want %d: %v\n%s\n%s", script, command.ProcessState, wantExit, err, &output, &errorOutput)
	}
	return report
}

func TestTheK6ScriptsRunAgainstALiveServer(t *testing.T) {
	t.Parallel()
	rack := rtsptest.Start(t, rtsptest.CameraConfig{Path: "door", AAC: true})
	s := newServer(t, "")
	s.addCamera("door", rack.Camera("door").URL())
	if a, err := s.do("PATCH", "/api/v1/cameras/door", strings.NewReader(`{"record":{"mode":"continuous"}}`), "application/json"); err != nil || a.status != http.StatusOK {
		t.Fatalf("PATCH: %+v, %v", a, err)
	}
	waitForIndex(s, "door")
	s.await("something to be recorded", func() error {
		_, err := s.tryGet("/archive/door/index.m3u8")
		return err
	})
	base := "BASE=http://" + s.address
	prefix := "PREFIX=" + strings.TrimSuffix(s.share(`{"camera":"door"}`).Playlist, "/hls/door/index.m3u8")
	for _, test := range []struct {
		script      string
		environment []string
		least       map[string]float64 // of counters
	}{
		{"herd.js", []string{"VIEWERS=4", "DURATION=2s"}, map[string]float64{"herd_segments": 8}},
		{"viewers.js", []string{"VIEWERS=3", "RAMP=1s", "DURATION=12s", "SESSION=10", prefix}, map[string]float64{"viewer_segments": 15, "viewer_sessions": 3}},
		{"llhls.js", []string{"VIEWERS=3", "DURATION=4s", prefix}, map[string]float64{"ll_parts": 15}},
		{"archive.js", []string{"VIEWERS=2", "DURATION=4s", "SEEKS=2"}, map[string]float64{"archive_visits": 2, "archive_seeks": 4}},
		{"api.js", []string{"READERS=2", "WRITERS=1", "DURATION=2s"}, map[string]float64{"api_rounds": 4}},
	} {
		t.Run(strings.TrimSuffix(test.script, ".js"), func(t *testing.T) {
			report := runK6(t, test.script, -1, append(test.environment, base)...)
			for threshold, holds := range report.Thresholds {
				if !holds && !aboutTime(threshold) {
					t.Errorf("it does not hold that %s", threshold)
				}
			}
			for name, least := range test.least {
				if got := report.Metrics[name].Count; got < least {
					t.Errorf("%s: %v, want %v or more", name, got, least)
				}
			}
			if len(report.Thresholds) < 3 {
				t.Errorf("only these thresholds: %v", report.Thresholds)
			}
		})
	}
	if left := string(s.get("/api/v1/cameras")); strings.Contains(left, `"k6-`) {
		t.Errorf("cameras are left: %s", left)
	}
}

func TestTheK6ScriptsFailWhereTheServerDoes(t *testing.T) {
	t.Parallel()
	s := newServer(t, "")
	for script, environment := range map[string][]string{
		"herd.js":    {"CAMERA=none", "VIEWERS=1", "DURATION=6s"},
		"viewers.js": {"CAMERA=none", "VIEWERS=1", "RAMP=100ms", "DURATION=6s"},
		"llhls.js":   {"CAMERA=none", "VIEWERS=1", "DURATION=6s"},
		"archive.js": {"CAMERA=none", "VIEWERS=1", "DURATION=2s"},
		"api.js":     {"READERS=1", "WRITERS=1", "DURATION=6s"},
	} {
		t.Run(strings.TrimSuffix(script, ".js"), func(t *testing.T) {
			base := "BASE=http://" + s.address
			if script == "api.js" { // which makes what it needs
				base = "BASE=http://" + freeAddress(t)
			}
			report := runK6(t, script, k6ThresholdBroken, append(environment, base)...)
			if report.Metrics["http_req_failed"].Rate == 0 {
				t.Errorf("no request has failed: %v", report.Metrics)
			}
		})
	}
}
