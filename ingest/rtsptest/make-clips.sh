#!/usr/bin/env bash
# make-clips.sh DIR: makes the clips that simulated cameras play.
#
# All clips last exactly 8 s, so that they loop without a seam: 200 pictures at
# 25 a second (closed GOPs of 50) and 125 AAC frames of 1024 samples at 16 kHz.
# The pictures are noisy, so that the bit rate asked for is really used, and
# carry their number in a row of 16 cells along the top edge; framecode.js and
# framecode.go read it:
#
#   cell 0 white | 1 black | 2..13 picture number, highest bit first
#        | 14 parity of those bits | 15 white
#
# NAME.h264 and NAME.h265 are Annex B streams. NAME.csv holds one presentation
# time per picture, in decoding order and in ticks of 90 kHz: a raw stream with
# B-frames does not say it. mjpeg.mjpeg is JPEG files one after the other, with
# the usual Huffman tables, as RFC 2435 wants them. tick.aac is ADTS, tick.alaw
# raw G.711 A-law, tick.ulaw µ-law, tick.g722 and tick.l16 what their names say,
# tick.opus packets of 20 ms, each of 160 bytes.
#
# h264-people is eight seconds of a street with people in it, from a film that Debian's
# opencv-doc has, and is made where that is installed.
#
# What exists is kept, unless it was made by another version of this script.
set -euo pipefail

version=1
pictures=200

if [ $# -ne 1 ]; then
  echo "usage: make-clips.sh DIR" >&2
  exit 2
fi
for tool in ffmpeg ffprobe flock; do
  if ! command -v "$tool" >/dev/null; then
    echo "make-clips: $tool is not installed (Debian: apt-get install ffmpeg util-linux)" >&2
    exit 1
  fi
done

dir=$1
mkdir -p "$dir"

# Test packages run side by side and may all want the clips at once.
exec 9>"$dir/.lock"
flock -n 9 || { echo "make-clips: waiting for another run"; flock 9; }

if [ "$(cat "$dir/version" 2>/dev/null)" != "$version" ]; then
  rm -f "$dir"/*.h264 "$dir"/*.h265 "$dir"/*.csv "$dir"/tick.*
fi
rm -rf "$dir"/.work.* # of a run that was killed
work=$(mktemp -d "$dir/.work.XXXXXX")
trap 'rm -rf "$work"' EXIT

run_ffmpeg() { ffmpeg -nostdin -hide_banner -v error -y "$@"; }

# code WIDTH HEIGHT: the filters that draw the picture number.
code() {
  local cell=$(($1 / 16)) height=$(($2 / 15)) sum=0 bit weight filters
  filters="drawbox=x=0:y=0:w=iw:h=$height:color=black:t=fill"
  white() { filters+=",drawbox=x=$(($1 * cell)):y=0:w=$cell:h=$height:color=white:t=fill$2"; }
  white 0 ""
  for bit in 0 1 2 3 4 5 6 7 8 9 10 11; do
    weight=$((1 << (11 - bit)))
    white $((2 + bit)) ":enable='mod(floor(n/$weight),2)'"
    sum+="+mod(floor(n/$weight),2)"
  done
  white 14 ":enable='mod($sum,2)'"
  white 15 ""
  echo "$filters"
}

# What pictures are of, and what is done to them.
source=(-f lavfi -i "testsrc2=size=%sx%s:rate=25")
grain="noise=alls=14:allf=t,"

# video NAME WIDTH HEIGHT RATE FORMAT ENCODER-OPTIONS...
video() {
  local name=$1 width=$2 height=$3 rate=$4 format=$5
  shift 5
  local codec=h264
  [ "$format" = hevc ] && codec=h265
  [ "$format" = mjpeg ] && codec=mjpeg
  if [ -s "$dir/$name.$codec" ] && [ -s "$dir/$name.csv" ]; then
    return
  fi
  echo "make-clips: $name (${width}x$height, $rate bit/s)"
  run_ffmpeg "${source[@]//%sx%s/${width}x$height}" -frames:v $pictures \
    -vf "$grain$(code "$width" "$height"),format=yuv420p" \
    -b:v "$rate" -maxrate "$rate" -bufsize "$rate" "$@" \
    -video_track_timescale 90000 "$work/$name.mp4"
  run_ffmpeg -i "$work/$name.mp4" -c copy -f "$format" "$work/$name.$codec"
  ffprobe -v error -show_entries packet=pts -of csv=p=0 "$work/$name.mp4" |
    tr -d ',' >"$work/$name.csv"
  if [ "$(wc -l <"$work/$name.csv")" -ne $pictures ]; then
    echo "make-clips: $name came out with a wrong number of pictures" >&2
    exit 1
  fi
  mv "$work/$name.$codec" "$dir/"
  mv "$work/$name.csv" "$dir/" # last: its presence says that both are there
}

x264=(-c:v libx264 -preset superfast -x264-params)
x264_gop="keyint=50:min-keyint=50:scenecut=0:open-gop=0:sliced-threads=0"
x265=(-c:v libx265 -preset ultrafast -tag:v hvc1 -x265-params)
x265_gop="log-level=error:keyint=50:min-keyint=50:scenecut=0:open-gop=0"

video h264         640 360  500k h264 "${x264[@]}" "$x264_gop:bframes=0"
video h264-small   480 270  300k h264 "${x264[@]}" "$x264_gop:bframes=0"
video h264-bframes 640 360  500k h264 "${x264[@]}" "$x264_gop:bframes=2:b-adapt=0"
video h264-slices  640 360  500k h264 "${x264[@]}" "$x264_gop:bframes=0:slices=4"
video h264-720p   1280 720 2000k h264 "${x264[@]}" "$x264_gop:bframes=0"
video h265         640 360  500k hevc "${x265[@]}" "$x265_gop:bframes=0"
video h265-bframes 640 360  500k hevc "${x265[@]}" "$x265_gop:bframes=2:b-adapt=0"
video mjpeg        480 272 2500k mjpeg -c:v mjpeg -huffman default -pix_fmt yuvj420p

street=/usr/share/doc/opencv-doc/examples/data/vtest.avi
if [ -e "$street" ]; then
  source=(-ss 4 -i "$street")
  grain="fps=25,scale=768:576,"
  video h264-people 768 576 1500k h264 "${x264[@]}" "$x264_gop:bframes=0"
fi

# A tick of 50 ms in the middle of each second: the ends of the loop are silent.
tick="aevalsrc='0.5*sin(2*PI*1000*t)*between(mod(t,1),0.5,0.55)':d=8.3"
if [ ! -s "$dir/tick.aac" ]; then
  echo "make-clips: tick.aac"
  run_ffmpeg -f lavfi -i "$tick:s=16000" -ac 1 -c:a aac -b:a 32k -f adts "$work/tick.aac"
  mv "$work/tick.aac" "$dir/"
fi
if [ ! -s "$dir/tick.alaw" ]; then
  echo "make-clips: tick.alaw"
  run_ffmpeg -f lavfi -i "$tick:s=8000" -t 8 -ac 1 -c:a pcm_alaw -f alaw "$work/tick.alaw"
  mv "$work/tick.alaw" "$dir/"
fi
# sound NAME RATE ENCODER-OPTIONS...
sound() {
  local name=$1 rate=$2
  shift 2
  if [ ! -s "$dir/$name" ]; then
    echo "make-clips: $name"
    run_ffmpeg -f lavfi -i "$tick:s=$rate" -map 0:a -t 8 -ac 1 "$@" "$work/$name"
    mv "$work/$name" "$dir/"
  fi
}
sound tick.ulaw  8000 -c:a pcm_mulaw -f mulaw
sound tick.g722 16000 -c:a g722 -f g722
sound tick.l16  16000 -c:a pcm_s16be -f s16be
sound tick.opus 48000 -c:a libopus -b:a 64k -vbr off -f data

echo "$version" >"$work/version"
mv "$work/version" "$dir/version"
