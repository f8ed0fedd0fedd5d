#!/usr/bin/env bash
# The server with a simulated camera already added, for a newcomer without one.
# Both end with Ctrl-C. `make demo` has built what is started here. The camera is
# added as a user would, so that it can be changed and removed; each demo begins
# with no other.
source "$(dirname "$0")/lib.sh"

cd "$root"
page=http://${HTTP_ADDR:-127.0.0.1:8090}
rtsp=${CAMERA_ADDR:-127.0.0.1:8554}
demo=build/demo

if curl -s -o /dev/null "$page/healthz"; then
	fail "something already answers on $page: end it first (is \`make run\` still running?)"
fi
# Whatever listens there, camera or not, this camera cannot.
if (exec 3<>"/dev/tcp/${rtsp%:*}/${rtsp#*:}") 2>/dev/null; then
	fail "something already listens on $rtsp: end it first (is \`make camera\` still running?)"
fi

rm -rf "$demo"
mkdir -p "$demo"

pids=()
# Both are asked to end, and waited for, however this script ends.
finish() {
	trap - EXIT INT TERM
	[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
	wait
}
trap finish EXIT
trap 'exit 0' INT TERM

say "starting a simulated camera at rtsp://$rtsp/door"
build/simcam -listen "$rtsp" -camera door >"$demo/camera.log" 2>&1 &
pids+=($!)

say "starting the server (its log: $demo/drover.log)"
DROVER_DATA_DIR=$demo/data DROVER_HTTP_ADDRESS=${page#http://} bin/drover serve >"$demo/drover.log" 2>&1 &
pids+=($!)

answers() { curl -fs "$page/healthz"; }
add_camera() {
	curl -fsS -H 'Content-Type: application/json' -d "{\"id\":\"door\",\"url\":\"rtsp://$rtsp/door\"}" "$page/api/v1/cameras"
}
plays() { curl -fs "$page/hls/door/index.m3u8"; }
running() {
	local pid
	for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done
}
answers_or_ended() { answers || ! running; }
plays_or_ended() { plays || ! running; }

wait_until 30 answers_or_ended || true
if add_camera >/dev/null 2>>"$demo/drover.log"; then wait_until 60 plays_or_ended || true; fi
if ! plays >/dev/null 2>&1; then
	tail -n 5 "$demo/camera.log" "$demo/drover.log" >&2
	fail "the demo did not come up; the logs are in $demo"
fi
say "open $page in a browser. Ctrl-C ends the demo."
wait -n "${pids[@]}" || true
tail -n 5 "$demo/camera.log" "$demo/drover.log" >&2
fail "one of the two has ended by itself; the logs are in $demo"
