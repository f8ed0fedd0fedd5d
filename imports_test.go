// Package drover_test holds the tree itself to account: who may import whom is
// decided in docs/decisions/0004-who-imports-whom.md and proved here.
package drover_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/drover-video/drover"

// folderRules says for each top folder which others it may import, beside
// itself and, for tests, testHelpers. Every folder with Go in it is here.
func folderRules() map[string][]string {
	return map[string][]string{
		"":           nil, // tests of the tree as a whole
		"core":       nil, // never upward
		"ingest":     {"core"},
		"hls":        {"core"},
		"archive":    {"core"},
		"ai":         {"core"},
		"api":        {"core"},
		"web":        {"core"},
		"cmd":        {"core", "ingest", "hls", "archive", "ai", "api", "web"},
		"benchmarks": {"core", "ingest", "hls", "archive", "ai", "api", "web"},
		"e2e":        {"core", "ingest", "hls", "archive", "ai", "api", "web", "benchmarks"},
	}
}

// testHelpers are packages of our own that tests of any folder may import, and that
// may import each other.
func testHelpers() []string { return []string{"ingest/rtsptest", "archive/archivetest"} }

// A confinement names the only folders that may import a module. The reach of a
// library stays as small as the code that would change with it.
type confinement struct {
	module string
	to     []string // folders, each with all below it
	tests  bool     // tests anywhere may import it too
	why    string
}

func confinements() []confinement {
	return []confinement{
		{"github.com/bluenviron/gortsplib", []string{"ingest/rtsp"}, false, "one package talks RTSP"},
		{"github.com/spf13/viper", []string{"core/config"}, false, "one package knows where configuration comes from"},
		{"modernc.org/sqlite", []string{"core/sqlite"}, false, "one package knows the database"},
		{"github.com/spf13/cobra", []string{"cmd"}, false, "the command line is assembled in one place"},
		{"github.com/go-chi/chi", []string{"api"}, false, "one package routes"},
		{"github.com/danielgtaylor/huma", []string{"api"}, false, "one package describes the API"},
		{"golang.org/x/crypto", []string{"api"}, false, "one package speaks TLS to clients"},
		{"google.golang.org/grpc", []string{"ai"}, false, "one folder talks to workers"},
		{"google.golang.org/protobuf", []string{"ai", "benchmarks/tap"}, false, "one folder talks to workers"},
		{"github.com/coder/websocket", []string{"ai/ws", "benchmarks/tap"}, true, "one package speaks WebSocket"},
		{"github.com/aws", []string{"archive/home"}, false, "one package knows the object store"},
		{"github.com/versity", []string{"archive/home/s3server"}, false, "a module of its own for tests, whose dependencies are not Drover's"},
		{"golang.org/x/net/http2", nil, true, "only tests take HTTP/2 apart"},
		{"github.com/Eyevinn/mp4ff", nil, true, "our own writers make MP4; this one only checks them"},
		{"go.uber.org/goleak", nil, true, "only tests look for leaks"},
	}
}

// An importer is one Go file of the tree.
type importer struct {
	folder string // slash-separated, "" for the root
	test   bool
}

// breach says why an import is against the rules, or "".
func breach(from importer, imported string) string {
	if imported == "C" {
		return "Drover is a Go binary without cgo"
	}
	if within(imported, module) {
		return innerBreach(from, strings.TrimPrefix(strings.TrimPrefix(imported, module), "/"))
	}
	if topFolder(from.folder) == "web" && !from.test && isModule(imported) {
		return "web imports the standard library only"
	}
	for _, rule := range confinements() {
		if !within(imported, rule.module) || rule.tests && from.test || withinAny(from.folder, rule.to) {
			continue
		}
		return fmt.Sprintf("%s is imported only in %s: %s", rule.module, ruleFolders(rule), rule.why)
	}
	return ""
}

func innerBreach(from importer, imported string) string {
	own, other := topFolder(from.folder), topFolder(imported)
	allowed, known := folderRules()[own]
	if !known {
		return fmt.Sprintf("folder %q has no rule yet: decide who it may import", own)
	}
	if testing := from.test || withinAny(from.folder, testHelpers()); own == other || testing && withinAny(imported, testHelpers()) {
		return ""
	}
	for _, folder := range allowed {
		if other == folder {
			return ""
		}
	}
	return fmt.Sprintf("%s must not import %s", own, other)
}

func ruleFolders(rule confinement) string {
	folders := append([]string(nil), rule.to...)
	if rule.tests {
		folders = append(folders, "tests")
	}
	return strings.Join(folders, ", ")
}

func topFolder(folder string) string {
	top, _, _ := strings.Cut(folder, "/")
	return top
}

// within reports whether an import path, or a folder, is parent or below it.
func within(name, parent string) bool {
	return name == parent || strings.HasPrefix(name, parent+"/")
}

func withinAny(name string, parents []string) bool {
	for _, parent := range parents {
		if within(name, parent) {
			return true
		}
	}
	return false
}

// isModule reports whether an import path is outside the standard library,
// whose paths have no dot in their first element.
func isModule(imported string) bool { return strings.Contains(topFolder(imported), ".") }

func TestEveryImportKeepsToTheRules(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipForeignFolder(name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		files++
		checkFile(t, filepath.ToSlash(name))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no Go file was read: is the test run from another folder?")
	}
}

// skipForeignFolder leaves out what is not Drover's own code.
func skipForeignFolder(name string) error {
	base := filepath.Base(name)
	switch {
	case name == ".":
		return nil
	case base == "node_modules", base == "testdata", name == "build", name == "data", strings.HasPrefix(base, "."):
		return filepath.SkipDir
	}
	return nil
}

func checkFile(t *testing.T, name string) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	// The imports of every file are read, whatever build tags it has.
	parsed, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	folder := path.Dir(name)
	if folder == "." {
		folder = ""
	}
	from := importer{folder: folder, test: strings.HasSuffix(name, "_test.go")}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if why := breach(from, imported); why != "" {
			t.Errorf("%s imports %s: %s", name, imported, why)
		}
	}
}

func TestABrokenRuleIsFound(t *testing.T) {
	tests := []struct {
		name     string
		from     importer
		imported string
		broken   bool
	}{
		{"core imports the standard library", importer{folder: "core/ring"}, "sync/atomic", false},
		{"core imports another leaf of core", importer{folder: "core/ring"}, module + "/core/media", false},
		{"core does not import upward", importer{folder: "core/camera"}, module + "/ingest", true},
		{"core's tests do not import upward", importer{folder: "core/camera", test: true}, module + "/hls", true},
		{"core's tests import the simulated camera", importer{folder: "core/camera", test: true}, module + "/ingest/rtsptest", false},
		{"core itself does not import the simulated camera", importer{folder: "core/camera"}, module + "/ingest/rtsptest", true},
		{"hls imports core", importer{folder: "hls"}, module + "/core/ring", false},
		{"hls does not import ingest", importer{folder: "hls"}, module + "/ingest/rtsp", true},
		{"ingest does not import hls", importer{folder: "ingest/rtsp"}, module + "/hls", true},
		{"archive does not import ai", importer{folder: "archive"}, module + "/ai", true},
		{"ai does not import archive", importer{folder: "ai"}, module + "/archive", true},
		{"api does not import hls", importer{folder: "api"}, module + "/hls", true},
		{"a folder imports what is below it", importer{folder: "ingest"}, module + "/ingest/rtsp", false},
		{"cmd imports all", importer{folder: "cmd/drover"}, module + "/hls", false},
		{"nobody imports cmd", importer{folder: "api"}, module + "/cmd/drover", true},
		{"a folder without a rule is told so", importer{folder: "extras"}, module + "/core/ring", true},
		{"web imports no module", importer{folder: "web"}, "github.com/google/uuid", true},
		{"gortsplib below ingest/rtsp", importer{folder: "ingest/rtsp/session"}, "github.com/bluenviron/gortsplib/v4/pkg/base", false},
		{"gortsplib beside ingest/rtsp", importer{folder: "ingest/rtsptest"}, "github.com/bluenviron/gortsplib/v4", true},
		{"gortsplib in a test elsewhere", importer{folder: "hls", test: true}, "github.com/bluenviron/gortsplib/v4", true},
		{"viper in core/config", importer{folder: "core/config"}, "github.com/spf13/viper", false},
		{"viper in cmd", importer{folder: "cmd/drover"}, "github.com/spf13/viper", true},
		{"the database driver in core/sqlite", importer{folder: "core/sqlite"}, "modernc.org/sqlite", false},
		{"the database driver in archive", importer{folder: "archive"}, "modernc.org/sqlite", true},
		{"a part of the database driver elsewhere", importer{folder: "api"}, "modernc.org/sqlite/lib", true},
		{"a module of a like name is another one", importer{folder: "api"}, "modernc.org/sqlitex", false},
		{"the object store's client in archive/home", importer{folder: "archive/home"}, "github.com/aws/aws-sdk-go-v2/service/s3", false},
		{"the object store's client in a test elsewhere", importer{folder: "archive/play", test: true}, "github.com/aws/smithy-go", true},
		{"the S3 server in the module made for it", importer{folder: "archive/home/s3server"}, "github.com/versity/versitygw/embedgw", false},
		{"the S3 server in a test beside it", importer{folder: "archive/home", test: true}, "github.com/versity/versitygw/embedgw", true},
		{"an MP4 checker in a test", importer{folder: "hls", test: true}, "github.com/Eyevinn/mp4ff/mp4", false},
		{"an MP4 checker in the server", importer{folder: "hls"}, "github.com/Eyevinn/mp4ff/mp4", true},
		{"cgo", importer{folder: "core/media"}, "C", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			why := breach(test.from, test.imported)
			if got := why != ""; got != test.broken {
				t.Errorf("broken = %v (%q), want %v", got, why, test.broken)
			}
		})
	}
}
