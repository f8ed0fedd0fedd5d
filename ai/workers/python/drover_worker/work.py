"""All of it together: one thread watches and decodes, another detects and reports."""

import logging
import threading

from drover_tap import tap_pb2 as tap
from drover_worker.decode import Decoder
from drover_worker.newest import Newest
from drover_worker.tally import Tally
from drover_worker.track import Tracker


class Worker:
    def __init__(self, server, request, detector, fps=2.0, tracking=True, name="worker", tell_every=60.0):
        self._server, self._request, self._detector = server, request, detector
        self._tracking, self._name = tracking, name
        self._newest = Newest(fps)
        self._decoders = {}  # by camera, source and track
        self._trackers = {}  # by camera and source
        self._failures = 0
        self._tally = Tally(tell_every)
        self._failed = None

    def run(self):
        """Works until stop, or until there is something that another try cannot mend,
        which is raised."""
        detecting = threading.Thread(target=self._detect, name="detect")
        detecting.start()
        self._tally.start()
        try:
            self._server.watch(self._request, self.take, self._lost)
        finally:
            self._newest.close()
            detecting.join()
            self._tally.stop()
        if self._failed is not None:
            raise self._failed

    def stop(self):
        self._server.stop()
        self._newest.close()

    def take(self, message):
        """Takes what the tap sent."""
        kind = message.WhichOneof("body")
        if kind == "status":
            state = tap.State.Name(message.status.state).removeprefix("STATE_").lower()
            logging.info("camera %s: %s%s", message.status.camera, state, message.status.reason and ": " + message.status.reason)
        elif kind == "config":
            c = message.config
            self._decoders[c.camera, c.source, c.track] = Decoder(c)
        elif kind == "frame":
            f = message.frame
            self._tally.frames += 1
            decoder = self._decoders.get((f.camera, f.source, f.track))
            if decoder is None:
                return
            for frame, picture in decoder.decode(f):
                self._newest.put((frame.camera, frame.source), (frame, picture))

    def _lost(self):
        self._decoders.clear()
        self._newest.forget()

    def _detect(self):
        while (taken := self._newest.take()) is not None:
            key, (frame, picture) = taken
            try:
                seen = self._detector.detect(picture())
            except Exception as err:  # A picture that a detector stumbles over is not the last.
                self._failures += 1
                if self._failures % 100 == 1:
                    logging.exception("camera %s: a picture was not looked at (%d so far)", frame.camera, self._failures)
                if self._failures > 1000 and not self._tally.pictures:
                    # It never worked: that is no matter of pictures.
                    self._failed = err
                    self._server.stop()
                    return
                continue
            if self._tracking:
                seen = self._trackers.setdefault(key, Tracker()).follow(seen, frame.wall_time_us / 1e6)
            self._tally.pictures += 1
            if self._server.report(report_of(frame, seen, self._name)):
                if not self._tally.reports:
                    logging.info("camera %s: the first picture was looked at and reported; from now on a line a minute", frame.camera)
                self._tally.reports += 1
                self._tally.seen += len(seen)


def report_of(frame, seen, name):
    """The report of what was seen in a frame of the tap."""
    report = tap.Detections(
        camera=frame.camera, source=frame.source, epoch=frame.epoch, sequence=frame.sequence, wall_time_us=frame.wall_time_us, worker=name
    )
    for one in seen:
        report.detections.add(
            label=one.label, score=one.score, track_id=one.track, attributes=one.attributes,
            box=tap.Box(x=one.x, y=one.y, width=one.width, height=one.height),
        )
    return report
