"""Film for tests: made here, or a street scene that Debian's opencv-doc has."""

import fractions
import os

import av
import cv2
import numpy

from drover_tap import tap_pb2 as tap

STREET = os.environ.get("DROVER_VTEST", "/usr/share/doc/opencv-doc/examples/data/vtest.avi")


def street(number):
    """A picture of the street scene."""
    film = cv2.VideoCapture(STREET)
    film.set(cv2.CAP_PROP_POS_FRAMES, number)
    ok, picture = film.read()
    if not ok:
        raise ValueError(f"{STREET} has no picture {number}")
    return picture


def numbered(n, width=320, height=240):
    """A grey picture with a white square whose place says its number."""
    picture = numpy.full((height, width, 3), 60, numpy.uint8)
    x, y = number_place(n, width, height)
    picture[y : y + 16, x : x + 16] = 255
    return picture


def number_place(n, width=320, height=240):
    return n % (width // 16) * 16, n // (width // 16) % (height // 16) * 16


def encode(pictures, codec="libx264", gop=25, bframes=0):
    """Config and frames as the tap sends them."""
    encoder = av.CodecContext.create(codec, "w")
    encoder.height, encoder.width = pictures[0].shape[:2]
    encoder.pix_fmt = "yuv420p"
    encoder.time_base = fractions.Fraction(1, 90000)
    encoder.framerate = fractions.Fraction(25)
    encoder.gop_size = gop
    encoder.options = {"preset": "ultrafast", "bf": str(bframes), "threads": "1", "x264-params": "scenecut=0:repeat-headers=1"}
    packets = []
    for i, picture in enumerate(pictures):
        frame = av.VideoFrame.from_ndarray(picture, format="bgr24")
        frame.pts = i * 3600
        packets += encoder.encode(frame)
    packets += encoder.encode(None)
    config = tap.Config(camera="door", source="main", number=1, codec=tap.CODEC_H264, width=encoder.width, height=encoder.height)
    frames = [
        tap.Frame(
            camera="door", source="main", config=1, sequence=i, epoch=1000, keyframe=bool(p.is_keyframe), pts=p.pts, dts=p.dts,
            wall_time_us=1_790_000_000_000_000 + p.pts * 100 // 9, data=bytes(p),
        )
        for i, p in enumerate(packets)
    ]
    return config, frames
