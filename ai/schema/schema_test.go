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
	want := protodesc.ToFileDescriptorProto(schema.File_drover_tap_tap_proto)
	forgetJSONNames(want.MessageType)
	if !proto.Equal(&python, want) {
		t.Errorf("Python has\n%v\nGo has\n%v\nrun ai/schema/generate.sh", &python, want)
	}
}

// forgetJSONNames takes away what only Go's plugin is told.
func forgetJSONNames(messages []*descriptorpb.DescriptorProto) {
	for _, message := range messages {
		for _, field := range message.Field {
			field.JsonName = nil
		}
		forgetJSONNames(message.NestedType)
	}
}
