#!/usr/bin/env bash
# All tests. `make test` has installed and built what they need.
source "$(dirname "$0")/lib.sh"

cd "$root"
started=$SECONDS

scripts/lint.sh

# Returned buffers are overwritten under the tag poison: who reads one after its
# last owner let go of it fails here, instead of turning a picture green at a
# user's. With the race detector run those packages that share memory between
# goroutines most, and once is enough. Not the packages over the database: its
# driver, translated from C, takes minutes to build for the detector. Nor ingest/rtsp
# itself, whose tests hold dozens of cameras to their time-outs, for which the
# detector is too slow where a machine is busy: `make race` runs it alone.
mapfile -t raced < <(go list ./core/media/... ./core/ring/... ./core/timeline/... ./core/camera/... ./hls/... \
	./ingest/rtsp/session/... ./ingest/rtsp/depacket/... ./ingest/rtsptest/... \
	./ai/feed ./ai/message ./ai/rpc ./ai/shm/... ./ai/still ./ai/tap ./ai/ws)
mapfile -t paced < <(go list ./ingest/... | grep -vxFf <(printf '%s\n' "${raced[@]}"))
mapfile -t rest < <(go list ./... | grep -v /ingest/ | grep -vxFf <(printf '%s\n' "${raced[@]}"))

say "Go tests"
go test "${rest[@]}"
# Simulated cameras play in real time. On two cores, tests with racks of them run
# one package after another.
go test -p 1 -tags poison "${paced[@]}"

say "Go tests with the race detector, and poisoned buffers"
CGO_ENABLED=1 go build -race -tags poison "${raced[@]}"
CGO_ENABLED=1 go test -race -tags poison -p 1 "${raced[@]}"

say "web app tests"
(cd web && npm test --silent)

say "AI worker tests"
(cd ai/workers/python && /usr/bin/python3 -m unittest discover -t . -s tests 2>&1)

say "end-to-end tests"
if [ -n "${DROVER_CAMERA_SIM:-}" ]; then
	echo "    with the GStreamer rack too: $DROVER_CAMERA_SIM"
else
	echo "    without the GStreamer rack: DROVER_CAMERA_SIM names none"
fi
# Most of them wait for pictures to come, side by side.
go test -tags e2e -count 1 -parallel 64 -timeout 9m ./e2e/...

say "all tests passed, in $((SECONDS - started)) s"
