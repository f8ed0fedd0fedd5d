package message

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// As proto3 has it, a field with its zero value is left out.

func appendNumber(dst []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), v)
}

func appendString(dst []byte, field protowire.Number, v string) []byte {
	if v == "" {
		return dst
	}
	return protowire.AppendString(protowire.AppendTag(dst, field, protowire.BytesType), v)
}

func appendBytes(dst []byte, field protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), v)
}

func appendDouble(dst []byte, field protowire.Number, v float64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendFixed64(protowire.AppendTag(dst, field, protowire.Fixed64Type), math.Float64bits(v))
}
