#!/usr/bin/env bash
# Makes Go and Python of tap.proto, and tap.sum, by which a test sees that they belong
# together. It needs protoc and its Python plugin (Debian: protobuf-compiler,
# protobuf-compiler-grpc); those for Go are pinned in go.mod.
#
#   ai/schema/generate.sh          writes them
#   ai/schema/generate.sh --check  fails where they would come out otherwise
set -euo pipefail
cd "$(dirname "$0")/../.."

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/bin/" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
# To protoc the file lies in a folder named like the Python package that is made of it.
protoc -I drover_tap=ai/schema \
	--plugin="$out/bin/protoc-gen-go" --plugin="$out/bin/protoc-gen-go-grpc" \
	--plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" \
	--go_out="$out" --go_opt=module=github.com/drover-video/drover \
	--go-grpc_out="$out" --go-grpc_opt=module=github.com/drover-video/drover \
	--python_out="$out" --grpc_python_out="$out" \
	drover_tap/tap.proto
# Which protoc it was says nothing about what was made, and differs between machines.
sed -i -E '/^\/\/ (- )?(\t)?protoc +v/d' "$out"/ai/schema/*.go

made=(ai/schema/tap.pb.go ai/schema/tap_grpc.pb.go ai/python/drover_tap/tap_pb2.py ai/python/drover_tap/tap_pb2_grpc.py)
mkdir -p "$out/ai/python"
mv "$out/drover_tap" "$out/ai/python/drover_tap"
if [ "${1:-}" = --check ]; then
	for file in "${made[@]}"; do
		diff -u "$file" "$out/$file" || { echo "$file is not current: run ai/schema/generate.sh" >&2; exit 1; }
	done
	sha256sum --quiet -c ai/schema/tap.sum
	echo "what is made of tap.proto is current"
	exit
fi
for file in "${made[@]}"; do
	mkdir -p "$(dirname "$file")"
	cp "$out/$file" "$file"
done
sha256sum ai/schema/tap.proto "${made[@]}" >ai/schema/tap.sum
