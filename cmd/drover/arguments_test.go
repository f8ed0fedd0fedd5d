package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWrongWordIsAnErrorThatSaysWhichWasMeant(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"nearly one":          {[]string{"cameras", "lst"}, "did you mean drover cameras list?"},
		"nearly, with a flag": {[]string{"cameras", "lst", "--json"}, "did you mean drover cameras list?"},
		"nothing like any":    {[]string{"archive", "frobnicate"}, "drover archive verify, or repair, or restore, or export?"},
		"too few":             {[]string{"cameras", "add"}, "drover cameras add wants ID and URL, and 0 were given"},
		"too many":            {[]string{"cameras", "remove", "a", "b"}, "drover cameras remove wants ID, and 2 were given"},
		"no URL":              {[]string{"probe"}, "drover probe wants URL"},
		"half a range":        {[]string{"archive", "export", "door", "1"}, "wants CAMERA and FROM and TO"},
	} {
		t.Run(name, func(t *testing.T) {
			if out, err := command(t, c.args...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %q, want something of %q", err, out, c.want)
			}
		})
	}
	if out, err := command(t, "cameras"); err != nil || !strings.Contains(out, "remove") {
		t.Errorf("without a word: %v, %q", err, out)
	}
}

// TestHelpShowsWhatTheCommandItselfTakes: the configuration's keys are taken as flags
// everywhere, and told where they are what one looks for.
func TestHelpShowsWhatTheCommandItselfTakes(t *testing.T) {
	for line, c := range map[string]struct{ shown, hidden string }{
		"serve":           {"--hls.window", "no such flag"},
		"check":           {"--hls.window", "no such flag"},
		"cameras list":    {"--server", "--hls.window"},
		"cameras add":     {"--password-file", "--hls.window"},
		"archive export":  {"--output", "--hls.window"},
		"archive verify":  {"--archive.dir", "--hls.window"},
		"archive repair":  {"--data.dir", "--hls.window"},
		"archive restore": {"--archive.second_home.bucket", "--hls.window"},
		"probe":           {"--password-file", "--hls.window"},
	} {
		out, err := command(t, append(strings.Fields(line), "--help")...)
		if err != nil || !strings.Contains(out, c.shown) || strings.Contains(out, c.hidden) {
			t.Errorf("%s --help: %v, want %s and not %s in\n%s", line, err, c.shown, c.hidden, out)
		}
	}
}

func TestCheckTakesTheFileAsItsArgument(t *testing.T) {
	file := filepath.Join(t.TempDir(), "drover.yaml")
	if err := os.WriteFile(file, []byte("htp:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "check", file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
	if _, err := command(t, "check", file, "--config", file); err == nil || !strings.Contains(err.Error(), "once") {
		t.Errorf("given twice: %v", err)
	}
}

func TestThingsAreCountedInWords(t *testing.T) {
	for n, want := range map[int]string{0: "0 cameras", 1: "1 camera", 2: "2 cameras"} {
		if got := counted(n, "camera"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
