"""Access units in, pictures out."""

import logging

import av
import cv2
import numpy

from drover_tap import tap_pb2 as tap

_CODECS = {tap.CODEC_H264: "h264", tap.CODEC_H265: "hevc"}

# How many frames may be inside a decoder. H.264 with B-frames holds a few.
_MOST_INSIDE = 64


class Decoder:
    """Decodes one track. A frame that is damaged costs the pictures up to the next
    keyframe, and nothing else."""

    def __init__(self, config):
        self.config = config
        self._codec = None
        self._inside = {}  # frames by PTS
        self._broken = True  # until a keyframe
        self._reset()

    def _reset(self):
        name = _CODECS.get(self.config.codec)
        if name:
            self._codec = av.CodecContext.create(name, "r")
            # Frame threads would hold back as many pictures as there are threads.
            self._codec.thread_type = "SLICE"
            self._codec.thread_count = 1
        self._inside.clear()
        self._broken = True

    def decode(self, frame):
        """Yields pairs of a tap frame, its data taken out, and its picture: a function
        that makes an array of BGR of it, for one that nobody looks at need not be
        converted."""
        data = frame.data
        frame.ClearField("data")
        if self.config.codec == tap.CODEC_JPEG:
            yield frame, lambda: _jpeg(data)
            return
        if self._codec is None:
            return
        if frame.keyframe and (self._broken or frame.missed or frame.lost):
            self._reset()
            self._broken = False
        if self._broken:
            return
        packet = av.Packet(data)
        packet.pts, packet.dts = frame.pts, frame.dts
        self._inside[frame.pts] = frame
        while len(self._inside) > _MOST_INSIDE:
            self._inside.pop(next(iter(self._inside)))
        try:
            pictures = self._codec.decode(packet)
        except av.AVError as err:
            logging.debug("camera %s: a frame cannot be decoded: %s", frame.camera, err)
            self._broken = True
            return
        for picture in pictures:
            its = self._inside.pop(picture.pts, None)
            if its is not None:
                yield its, lambda picture=picture: picture.to_ndarray(format="bgr24")


def _jpeg(data):
    picture = cv2.imdecode(numpy.frombuffer(data, numpy.uint8), cv2.IMREAD_COLOR)
    if picture is None:
        raise ValueError("a JPEG cannot be read")
    return picture
