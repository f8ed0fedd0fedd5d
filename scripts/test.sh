#!/usr/bin/env bash
# All tests. `make test` has installed and built what they need.
source "$(dirname "$0")/lib.sh"

cd "$root"
started=$SECONDS

# What only computes runs behind those tests that mostly wait for cameras to play, at
# the lowest priority, and is waited for before the next that want the processor.
mkdir -p build
export DROVER_TEST_S3SERVER=$root/build/s3server
aside() {
	scripts/lint.sh &&
		say "a real S3 server for the second home's tests" &&
		go build -C archive/home/s3server -o "$DROVER_TEST_S3SERVER" .
}
(aside) >build/aside.log 2>&1 &
aside=$!
renice -n 19 $aside >/dev/null
trap 'kill $aside 2>/dev/null' EXIT

# Returned buffers are overwritten under the tag poison: who reads one after its
# last owner let go of it fails here, instead of turning a picture green at a
# user's. With the race detector run those packages that share memory between
# goroutines most, and once is enough. Not the packages over the database: its
# driver, translated from C, takes minutes to build for the detector, and gRPC one.
# Nor ingest/rtsp itself, whose tests hold dozens of cameras to their time-outs, for
# which the detector is too slow where a machine is busy. `make race` runs both.
mapfile -t raced < <(go list ./core/media/... ./core/ring/... ./core/timeline/... ./core/camera/... ./hls/... \
	./ingest/rtsp/session/... ./ingest/rtsp/depacket/... ./ingest/rtsptest/... \
	./ai/feed ./ai/message ./ai/shm/... ./ai/still)
mapfile -t paced < <(go list ./ingest/... | grep -vxFf <(printf '%s\n' "${raced[@]}"))
mapfile -t rest < <(go list ./... | grep -v /ingest/ | grep -vxFf <(printf '%s\n' "${raced[@]}"))

# go vet is the linter's.
say "Go tests of cameras"
# Simulated cameras play in real time. On two cores, tests with racks of them run
# one package after another.
go test -vet=off -p 1 -tags poison "${paced[@]}"

say "gofmt, go vet, staticcheck, types"
wait $aside || { cat build/aside.log; exit 1; }
cat build/aside.log

# Half of the browsers' time is waiting, too.
pages() {
	(cd web && npm test --silent) &&
		(cd ai/workers/python && /usr/bin/python3 -m unittest discover -t . -s tests 2>&1)
}
(pages) >build/pages.log 2>&1 &
aside=$!

say "Go tests"
go test -vet=off "${rest[@]}" ./hls

# With -short: situations that last for minutes are shorter.
say "Go tests with the race detector, and poisoned buffers"
CGO_ENABLED=1 go build -race -tags poison "${raced[@]}"
CGO_ENABLED=1 go test -vet=off -race -short -tags poison -p 1 "${raced[@]}"

say "web app and AI worker tests"
wait $aside || { cat build/pages.log; exit 1; }
trap - EXIT
tail -n 20 build/pages.log

say "end-to-end tests"
if [ -n "${DROVER_CAMERA_SIM:-}" ]; then
	echo "    with the GStreamer rack too: $DROVER_CAMERA_SIM"
else
	echo "    without the GStreamer rack: DROVER_CAMERA_SIM names none"
fi
# Most of them wait for pictures to come. Those with browsers run one after another, in
# three lanes: those that mind most whether the machine is busy lie beside those that
# load it least. What asks for much, or by many, comes when they are done, side by side.
variants='Variant'
racks='Rack'
crowds='Herd|Cache|Nginx|Readers|Storm|Leave|HTTP2|K6|BadCamera|Passwords'
recorded='Archive|Recorded|Past|Range|Worker|Live'
go test -c -vet=off -tags e2e -o build/e2e.test ./e2e
end_to_end() { (cd e2e && ../build/e2e.test -test.parallel 64 -test.timeout 12m "$@"); }
{ end_to_end -test.run "$variants|$crowds"; } >build/variants.log 2>&1 &
lanes=($!)
{ end_to_end -test.run "$recorded" -test.skip "$variants|$crowds|$racks" && end_to_end -test.run "$racks"; } >build/recorded.log 2>&1 &
lanes+=($!)
{ end_to_end -test.skip "$variants|$crowds|$recorded|$racks"; } >build/rest.log 2>&1 &
lanes+=($!)
trap 'kill "${lanes[@]}" 2>/dev/null' EXIT
failed=0
for lane in "${lanes[@]}"; do
	wait "$lane" || failed=1
done
trap - EXIT
cat build/variants.log build/recorded.log build/rest.log
[ $failed = 0 ]

say "all tests passed, in $((SECONDS - started)) s"
