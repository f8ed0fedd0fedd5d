import queue
import threading
import unittest
from concurrent import futures
from unittest import mock

import grpc
import numpy

from tests import film
from drover_tap import tap_pb2 as tap
from drover_tap import tap_pb2_grpc
from drover_worker import main
from drover_worker.boxes import Seen
from drover_worker.decode import Decoder
from drover_worker.newest import Newest
from drover_worker.tally import Tally
from drover_worker.tap import Backoff, Tap
from drover_worker.work import Worker

PATIENCE = 30  # seconds, for what comes at once


def bright(picture):
    """Where the white square is: upper left corner, in squares."""
    gray = picture[:, :, 1]
    return int(gray.max(axis=0).argmax()) // 16 * 16, int(gray.max(axis=1).argmax()) // 16 * 16


class Decoding(unittest.TestCase):
    def test_each_picture_comes_with_its_own_frame(self):
        for bframes in (0, 2):
            with self.subTest(bframes=bframes):
                config, frames = film.encode([film.numbered(n) for n in range(60)], bframes=bframes)
                decoder, seen = Decoder(config), []
                for frame in frames:
                    for its, picture in decoder.decode(frame):
                        self.assertEqual(its.data, b"")
                        number = its.pts // 3600
                        x, y = film.number_place(number)
                        self.assertGreater(picture()[y + 8, x + 8].min(), 200, f"picture {number}")
                        seen.append(number)
                self.assertGreaterEqual(len(seen), 56)
                self.assertEqual(seen, sorted(seen))

    def test_a_picture_is_there_as_soon_as_its_frame(self):
        config, frames = film.encode([film.numbered(n) for n in range(10)])
        decoder = Decoder(config)
        self.assertEqual([len(list(decoder.decode(f))) for f in frames], [1] * 10)

    def test_after_a_gap_or_damage_it_goes_on_with_a_keyframe(self):
        config, frames = film.encode([film.numbered(n) for n in range(75)])
        decoder = Decoder(config)
        frames[40].data = b"\0\0\0\1\x65" + b"\xff" * 50  # no picture can be made of it
        shown = [its.sequence for f in frames[5:] for its, _ in decoder.decode(f)]
        self.assertNotIn(5, shown)  # nothing to build upon
        self.assertTrue(set(range(25, 40)) <= set(shown))
        self.assertTrue(set(range(50, 75)) <= set(shown))

    def test_jpeg_is_a_picture_by_itself(self):
        import cv2

        data = cv2.imencode(".jpg", film.numbered(3))[1].tobytes()
        ((_, picture),) = Decoder(tap.Config(codec=tap.CODEC_JPEG)).decode(tap.Frame(data=data))
        self.assertEqual(picture().shape, (240, 320, 3))

    def test_sound_is_no_picture(self):
        self.assertEqual(list(Decoder(tap.Config(codec=tap.CODEC_AAC)).decode(tap.Frame(data=b"x", keyframe=True))), [])


class TakingTheNewest(unittest.TestCase):
    def setUp(self):
        self.clock = 1000.0

    def test_only_the_newest_of_a_camera_is_looked_at(self):
        newest = Newest()
        for i in range(5):
            newest.put("door", i)
        newest.put("yard", 7)
        self.assertEqual({newest.take(), newest.take()}, {("door", 4), ("yard", 7)})

    def test_a_camera_that_sends_more_takes_nobodys_turn(self):
        newest = Newest(now=lambda: self.clock)
        taken = []
        for i in range(10):
            self.clock += 1
            newest.put("door", i)
            newest.put("yard", i)
            newest.put("attic", i)
            taken.append(newest.take()[0])
        self.assertEqual({taken.count(c) for c in ("door", "yard", "attic")}, {3, 4})

    def test_no_camera_is_looked_at_more_often_than_it_may(self):
        newest = Newest(per_second=2, now=lambda: self.clock)
        taken = 0
        for _ in range(100):  # 10 s at 10 a second
            self.clock += 0.1
            newest.put("door", 1)
            if self.clock >= newest._due.get("door", 0):
                newest.take()
                taken += 1
        self.assertIn(taken, (20, 21))

    def test_who_waits_is_let_go_at_the_end(self):
        newest = Newest()
        waiter = futures.ThreadPoolExecutor(1).submit(newest.take)
        newest.close()
        self.assertIsNone(waiter.result(PATIENCE))


class WaitingLonger(unittest.TestCase):
    def test_each_wait_is_longer_up_to_a_bound(self):
        backoff = Backoff(first=1, most=8, random=lambda: 1.0)
        self.assertEqual([backoff.wait() for _ in range(5)], [1, 2, 4, 8, 8])
        backoff.reset()
        self.assertEqual(backoff.wait(), 1)
        self.assertEqual(Backoff(first=1, random=lambda: 0.0).wait(), 0.5)


class Server(tap_pb2_grpc.TapServicer):
    """A Drover that sends what a test puts into its queue. None ends a call."""

    def __init__(self):
        self.requests, self.messages, self.reports = queue.Queue(), queue.Queue(), queue.Queue()
        self.refuse = None
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        tap_pb2_grpc.add_TapServicer_to_server(self, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def Watch(self, request, context):
        self.requests.put((request, dict(context.invocation_metadata())))
        if self.refuse:
            context.abort(self.refuse, "the request makes no sense")
        while context.is_active():
            try:
                message = self.messages.get(timeout=0.05)
            except queue.Empty:
                continue
            if message is None:
                context.abort(grpc.StatusCode.UNAVAILABLE, "the server stops")
            yield message

    def ReportOne(self, request, context):
        self.reports.put(request)
        return tap.ReportSummary(reports=1)

    def stop(self):
        self._server.stop(0).wait()


class WholeWorker(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.stop)

    def start(self, detector, **more):
        tap_ = Tap(self.server.address, backoff=Backoff(first=0.01, most=0.05))
        worker = Worker(tap_, tap.WatchRequest(cameras=["door"]), detector, fps=0, name="test", **more)
        self.result = futures.ThreadPoolExecutor(1).submit(worker.run)
        self.addCleanup(tap_.close)
        self.addCleanup(worker.stop)
        return worker

    def send(self, numbers, keep=None):
        config, frames = film.encode([film.numbered(n) for n in numbers])
        self.server.messages.put(tap.Message(config=config))
        for frame in frames:
            self.server.messages.put(tap.Message(frame=frame))

    def test_what_is_seen_is_reported_against_its_frame(self):
        self.start(Squares())
        self.server.messages.put(tap.Message(status=tap.Status(camera="door", state=tap.STATE_WATCHING)))
        self.send(range(30))
        seen = {}
        while 29 not in seen:
            report = self.server.reports.get(timeout=PATIENCE)
            seen[report.sequence] = report
        for number, report in seen.items():
            x, y = film.number_place(number)
            (one,) = report.detections
            self.assertEqual((report.camera, report.source, report.epoch, report.worker), ("door", "main", 1000, "test"))
            self.assertEqual(report.wall_time_us, 1_790_000_000_000_000 + number * 40_000)
            self.assertAlmostEqual(one.box.x, x / 320, places=5)
            self.assertAlmostEqual(one.box.y, y / 240, places=5)
            self.assertTrue(one.track_id)

    def test_it_comes_back_when_the_server_does(self):
        self.start(Squares())
        self.send(range(3))
        self.server.reports.get(timeout=PATIENCE)
        for _ in range(3):
            self.server.messages.put(None)
        for _ in range(4):
            self.server.requests.get(timeout=PATIENCE)
        while not self.server.reports.empty():
            self.server.reports.get()
        self.send(range(10, 14))
        self.assertEqual(self.server.reports.get(timeout=PATIENCE).worker, "test")

    def test_a_request_that_makes_no_sense_is_not_made_again(self):
        self.server.refuse = grpc.StatusCode.INVALID_ARGUMENT
        self.start(Squares())
        with self.assertRaises(grpc.RpcError):
            self.result.result(PATIENCE)
        self.assertEqual(self.server.requests.qsize(), 1)

    def test_a_picture_that_the_detector_stumbles_over_is_not_the_last(self):
        squares, failed = Squares(), threading.Event()

        class Stumbles:
            def detect(self, picture):
                if not failed.is_set():
                    failed.set()
                    raise RuntimeError("no")
                return squares.detect(picture)

        with self.assertLogs(level="ERROR"):
            self.start(Stumbles())
            self.send(range(5))
            self.assertTrue(failed.wait(PATIENCE))
            self.send(range(5, 10))
            self.server.reports.get(timeout=PATIENCE)

    def test_it_says_once_that_pictures_are_looked_at(self):
        with self.assertLogs(level="INFO") as logs:
            worker = self.start(Squares())
            for first in (0, 5, 10):  # the first report is over when the second comes
                self.send(range(first, first + 5))
                self.server.reports.get(timeout=PATIENCE)
            worker.stop()
            self.result.result(PATIENCE)
        self.assertEqual(sum("first picture" in line for line in logs.output), 1)

    def test_a_tally_tells_what_was_added_and_also_that_nothing_was(self):
        told = queue.Queue()
        tally = Tally(0.01)
        with mock.patch("logging.info", lambda text, *numbers: told.put(numbers)):
            tally.frames, tally.reports = 7, 2
            tally.start()
            first, second = told.get(timeout=PATIENCE), told.get(timeout=PATIENCE)
            tally.stop()
        self.assertEqual(first[:4], (7, 0, 2, 0))
        self.assertEqual(second[:4], (0, 0, 0, 0))

    def test_it_stops_when_it_is_told_to(self):
        worker = self.start(Squares())
        self.server.requests.get(timeout=PATIENCE)
        worker.stop()
        self.assertIsNone(self.result.result(PATIENCE))


class Squares:
    def detect(self, picture):
        height, width = picture.shape[:2]
        x, y = bright(numpy.where(picture > 160, picture, 0))
        return [Seen("square", 0.9, x / width, y / height, 16 / width, 16 / height)]


class CommandLine(unittest.TestCase):
    def test_a_detector_that_there_is_none_of_is_said(self):
        for detector in ("cats", "no/such/file.onnx", "no_such_module:make"):
            with mock.patch("drover_worker.logs.set_up"), self.assertLogs(level="ERROR"):
                self.assertEqual(main.main(["--detector", detector]), 2)

    def test_a_detector_of_ones_own_is_taken(self):
        args = main.parser().parse_args(["--detector", "tests.test_worker:Squares"])
        detector, name = main.detector_of(args)
        self.assertEqual(type(detector).__name__, "Squares")
        self.assertEqual(name, "custom")

    def test_labels_are_a_list_or_a_file(self):
        self.assertEqual(main.labels_of("person, car"), ["person", "car"])
        self.assertEqual(main.labels_of(""), [])


if __name__ == "__main__":
    unittest.main()
