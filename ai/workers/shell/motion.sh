#!/usr/bin/env bash
# motion.sh SERVER CAMERA [LEAST [SECONDS]]: a worker in a few lines of shell. It takes
# the newest keyframe of a camera again and again, has ffmpeg see how much of it is
# another than the one before (0 to 255), and reports "motion" where that is more than
# LEAST (3). It wants curl, ffmpeg and jq.
#
#   motion.sh http://127.0.0.1:8090 door
set -euo pipefail

server=${1:?the server, for example http://127.0.0.1:8090} camera=${2:?the id of a camera} least=${3:-3} pause=${4:-1}
api=$server/api/v1/cameras/$camera
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

header() { sed -n "s/^$1: *\(.*\)\r$/\1/Ip" headers; }

difference() {
	ffmpeg -nostdin -v error -i before.mp4 -i now.mp4 -filter_complex \
		'[0]scale=160:90,format=gray[a];[1]scale=160:90,format=gray[b];[a][b]blend=all_mode=difference,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-' \
		-f null - | sed -n 's/.*YAVG=//p'
}

last=
while sleep "$pause"; do
	curl -fsS --max-time 10 -D headers -o now.mp4 "$api/frames/latest" || continue
	frame="$(header drover-epoch).$(header drover-sequence)"
	[ "$frame" != "$last" ] || continue
	if [ -n "$last" ] && moved=$(difference); then
		jq -n --argjson moved "${moved:-0}" --argjson least "$least" --arg time "$(header drover-time)" \
			--argjson epoch "$(header drover-epoch)" --argjson sequence "$(header drover-sequence)" \
			'{worker: "motion-sh", $time, $epoch, $sequence,
			  detections: [if $moved > $least then {label: "motion", score: ([$moved / 64, 1] | min)} else empty end]}' |
			curl -fsS --max-time 10 -o answer -H 'Content-Type: application/json' -d @- "$api/detections" || continue
	fi
	last=$frame
	mv now.mp4 before.mp4
done
