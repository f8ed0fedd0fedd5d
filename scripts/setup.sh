#!/usr/bin/env bash
# Installs what a task needs and the machine lacks. The second time it only looks.
#
#   scripts/setup.sh build    Go and Node are there and new enough
#   scripts/setup.sh camera   ffmpeg, which makes the simulated cameras' clips
#   scripts/setup.sh test     all that `make test` runs
source "$(dirname "$0")/lib.sh"

check_go() {
	have go || fail "Go is missing: install Go $(go_wanted) or newer from https://go.dev/dl/"
	# An older Go either fetches the one named in go.mod by itself, or says here why not.
	(cd "$root" && go version >/dev/null) || fail "Go $(go_wanted) or newer is needed"
}

go_wanted() { awk '$1 == "go" { print $2 }' "$root/go.mod"; }

# Node's versions that the web app's tools run with, as their packages say it.
node_wanted="20.19 or a newer 20, or 22.12 or newer"

check_node() {
	have node && have npm || fail "Node is missing: install Node $node_wanted, with npm, from https://nodejs.org/"
	node_suits "$(node --version)" || fail "Node $(node --version) cannot build the web app: install Node $node_wanted from https://nodejs.org/"
}

# node_suits VERSION: v20.19.0, for example.
node_suits() {
	local major minor
	IFS=. read -r major minor _ <<<"${1#v}"
	case $major in
	20) [ "$minor" -ge 19 ] ;;
	22) [ "$minor" -ge 12 ] ;;
	*) [ "$major" -gt 22 ] ;;
	esac
}

missing=()

# want COMMAND PACKAGES: the packages are needed unless the command is there.
want() {
	local packages
	read -ra packages <<<"$2"
	have "$1" || missing+=("${packages[@]}")
}

want_camera() {
	want curl curl
	want ffmpeg ffmpeg
}

want_test() {
	want_camera
	want ffprobe ffmpeg
	want chromium chromium
	want tsreport tstools
	want jq jq
	want python3 python3
	want nginx nginx
	want varnishd varnish
	want cvlc "vlc-bin vlc-plugin-base"
	want_gstreamer
	want_worker
	# The race detector is the one thing here that needs a C compiler.
	have gcc || missing+=(gcc libc6-dev)
	[ -z "${DROVER_CAMERA_SIM:-}" ] || want_rack
}

# GStreamer as a player of HLS: its elements are in packages of their own.
want_gstreamer() {
	if have gst-launch-1.0 && have gst-inspect-1.0; then
		local element
		for element in uridecodebin3 videoscale filesink hlsdemux2 h264parse avdec_h264; do
			gst-inspect-1.0 "$element" >/dev/null 2>&1 || break
			[ "$element" != avdec_h264 ] || return 0
		done
	fi
	missing+=(gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav)
}

# The AI worker is run by Debian's own Python, too. opencv-doc has a film of people in a
# street.
want_worker() {
	/usr/bin/python3 -c 'import av, cv2, grpc, google.protobuf, numpy' >/dev/null 2>&1 ||
		missing+=(python3-av python3-opencv python3-grpcio python3-protobuf python3-numpy)
	[ -e /usr/share/doc/opencv-doc/examples/data/vtest.avi ] || missing+=(opencv-doc)
}

# The GStreamer rack named by DROVER_CAMERA_SIM is run by Debian's own Python:
# bindings installed by apt are not seen by a Python from elsewhere.
want_rack() {
	local probe='import gi
gi.require_version("GstRtspServer", "1.0")
gi.require_version("GstApp", "1.0")
from gi.repository import Gst, GstApp, GstRtspServer
Gst.init(None)
names = """appsrc appsink videotestsrc audiotestsrc clockoverlay timeoverlay overlaycomposition
	x264enc x265enc voaacenc h264parse h265parse aacparse rtph264pay rtph265pay rtpmp4gpay"""
raise SystemExit(any(Gst.ElementFactory.find(name) is None for name in names.split()))'
	/usr/bin/python3 -c "$probe" >/dev/null 2>&1 || missing+=(
		python3-gi python3-gst-1.0 gir1.2-gst-rtsp-server-1.0
		gir1.2-gst-plugins-base-1.0 gstreamer1.0-plugins-base
		gstreamer1.0-plugins-good gstreamer1.0-plugins-bad
		gstreamer1.0-plugins-ugly gstreamer1.0-libav gstreamer1.0-x
	)
}

case ${1:-} in
build)
	check_go
	check_node
	;;
camera)
	check_go
	want_camera
	;;
test)
	check_go
	check_node
	want_test
	;;
*)
	fail "usage: scripts/setup.sh build|camera|test"
	;;
esac
install_packages "${missing[@]}"
