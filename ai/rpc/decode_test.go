package rpc

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/drover-video/drover/ai/schema"
)

// many is a report with so many detections, of two bytes each, and its worker's name
// behind them.
func many(n int) []byte {
	wire := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "door")
	wire = append(wire, bytes.Repeat([]byte{detectionsField<<3 | 2, 0}, n)...)
	return protowire.AppendString(protowire.AppendTag(wire, 6, protowire.BytesType), "hog")
}

func TestOfAReportNoMoreDetectionsAreDecodedThanFindItTooLong(t *testing.T) {
	for _, test := range []struct {
		name         string
		wire         []byte
		want, worker int
	}{
		{"none", many(0), 0, 3},
		{"one less", many(9), 9, 3},
		{"as many", many(10), 10, 0},
		{"a thousand times as many", many(10_000), 10, 0},
		{"nothing", nil, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var in schema.Detections
			if err := proto.Unmarshal(upTo(test.wire, 10), &in); err != nil || len(in.Detections) != test.want || len(in.Worker) != test.worker {
				t.Errorf("got %d of %q, %v", len(in.Detections), in.Worker, err)
			}
		})
	}
}

func TestAReportIsNotDecodedBeforeThereIsRoomForIt(t *testing.T) {
	var in schema.Detections
	if err := newCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(many(100_000))}, &in); err != nil || len(in.Detections) != 0 {
		t.Errorf("%d detections, %v", len(in.Detections), err)
	}
}

func FuzzUpTo(f *testing.F) {
	for _, wire := range [][]byte{nil, many(0), many(3), many(4), many(5), {detectionsField<<3 | 2, 200}, {detectionsField<<3 | 3}} {
		f.Add(wire)
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		short := upTo(wire, 4)
		if !bytes.HasPrefix(wire, short) {
			t.Fatalf("% x is no beginning of % x", short, wire)
		}
		var all, some schema.Detections
		if proto.Unmarshal(wire, &all) != nil {
			return
		}
		if err := proto.Unmarshal(short, &some); err != nil || len(some.Detections) > 4 || len(some.Detections) > len(all.Detections) {
			t.Fatalf("%d of %d, %v", len(some.Detections), len(all.Detections), err)
		}
	})
}
