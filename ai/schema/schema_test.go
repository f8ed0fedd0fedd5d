package schema_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/drover-video/drover/ai/schema"
)

const tree = "../.."

func TestWhatIsMadeOfTheSchemaIsCurrent(t *testing.T) {
	sums, err := os.ReadFile("tap.sum")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if len(lines) != 5 {
		t.Errorf("tap.sum names %d files, want the schema and two each of Go and Python", len(lines))
	}
	for _, line := range lines {
		want, name, _ := strings.Cut(line, "  ")
		content, err := os.ReadFile(filepath.Join(tree, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != want {
			t.Errorf("%s is another than when ai/schema/generate.sh last ran: run it again", name)
		}
	}
}

// pythonLiteral is where generated Python has the schema, as Python writes bytes.
var pythonLiteral = regexp.MustCompile(`AddSerializedFile\(b'(.*)'\)`)

func TestGoAndPythonAreOfOneSchema(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(tree, "ai/python/drover_tap/tap_pb2.py"))
	if err != nil {
		t.Fatal(err)
	}
	found := pythonLiteral.FindSubmatch(source)
	if found == nil {
		t.Fatal("no schema in the generated Python")
	}
	text := strings.NewReplacer(`\\`, `\\`, `\"`, `\"`, `\'`, `'`).Replace(string(found[1]))
	got, err := strconv.Unquote(`"` + text + `"`)
	if err != nil {
		t.Fatal(err)
	}
	var python descriptorpb.FileDescriptorProto
	if err := proto.Unmarshal([]byte(got), &python); err != nil {
		t.Fatal(err)
	}
	file, err := protodesc.NewFile(&python, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Both by way of Go: names in JSON are filled in there.
	want := protodesc.ToFileDescriptorProto(schema.File_drover_tap_tap_proto)
	if !proto.Equal(protodesc.ToFileDescriptorProto(file), want) {
		t.Error("Python's schema is another than Go's: run ai/schema/generate.sh")
	}
}
