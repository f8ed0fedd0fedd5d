import os
import tempfile
import unittest

import cv2
import numpy

from tests import film, tinyonnx
from drover_worker.boxes import Seen, inside, overlap, strongest
from drover_worker.hog import Hog
from drover_worker.onnx import Onnx, read, rows_of
from drover_worker.track import Tracker


class Boxes(unittest.TestCase):
    def test_what_leaves_the_picture_is_cut_and_what_is_nothing_is_none(self):
        one = inside("a", 0.5, -0.5, 0.5, 0.5, 1.5)
        self.assertEqual((one.x, one.y, one.width, one.height), (0.0, 0.5, 0.5, 0.5))
        nan = float("nan")
        for bad in [(0.5, 0.2, 0.2, 0.1, 0.3), (0.5, 1.1, 0, 1.2, 1), (nan, 0, 0, 1, 1), (0.5, nan, 0, 1, 1), (1.5, 0, 0, 1, 1)]:
            self.assertIsNone(inside("a", *bad), bad)

    def test_of_those_that_overlap_the_strongest_stays(self):
        a, b, c = Seen("a", 0.5, 0, 0, 0.5, 0.5), Seen("a", 0.9, 0.05, 0, 0.5, 0.5), Seen("b", 0.1, 0, 0, 0.5, 0.5)
        self.assertAlmostEqual(overlap(a, b), 0.45 / 0.55)
        self.assertEqual(strongest([a, b, c], 0.5), [b, c])
        self.assertEqual(len(strongest([a, b], 0.9)), 2)


class PeopleDetector(unittest.TestCase):
    def test_nobody_is_seen_where_nobody_is(self):
        self.assertEqual(Hog().detect(numpy.full((480, 640, 3), 90, numpy.uint8)), [])
        self.assertEqual(Hog().detect(numpy.zeros((32, 32, 3), numpy.uint8)), [])

    @unittest.skipUnless(os.path.exists(film.STREET), "Debian's opencv-doc, which has the film, is not installed")
    def test_people_in_a_street_are_seen_where_they_are(self):
        pictures = [film.street(n) for n in (40, 200, 360, 520)]
        found = [Hog().detect(p) for p in pictures]
        self.assertGreaterEqual(sum(1 for seen in found if seen), 3, found)
        for one in (s for seen in found for s in seen):
            self.assertEqual(one.label, "person")
            self.assertTrue(0.4 <= one.score <= 1 and one.height > one.width * 4 / 3 / 2, one)


class OnnxDetector(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def detector(self, shape, **more):
        path = os.path.join(self.folder.name, shape + ".onnx")
        with open(path, "wb") as file:
            file.write(tinyonnx.model(shape))
        return Onnx(path, labels=["lamp"], size=(tinyonnx.SIZE, tinyonnx.SIZE), threshold=0.5, runtime="opencv", **more)

    def test_a_model_sees_in_either_layout_what_is_there(self):
        # Twice as wide as high: the model's square has a grey rest below.
        picture = numpy.zeros((320, 640, 3), numpy.uint8)
        picture[160:320, 320:480] = 255
        for layout in ("v5", "v8"):
            for said in ("auto", layout):
                with self.subTest(layout=layout, said=said):
                    seen = self.detector(layout, layout=said).detect(picture)
                    self.assertEqual([s.label for s in seen], ["lamp"])
                    one = seen[0]
                    self.assertGreater(one.score, 0.95)
                    for got, want in zip((one.x, one.y, one.width, one.height), (0.5, 0.5, 0.25, 0.5)):
                        self.assertAlmostEqual(got, want, places=3)

    def test_nothing_is_seen_in_the_dark(self):
        self.assertEqual(self.detector("v8").detect(numpy.zeros((320, 640, 3), numpy.uint8)), [])

    def test_a_file_that_is_no_model_is_an_error(self):
        path = os.path.join(self.folder.name, "bad.onnx")
        with open(path, "wb") as file:
            file.write(b"no model")
        with self.assertRaises(Exception):
            Onnx(path, runtime="opencv")

    def test_outputs_are_told_apart_by_their_shape(self):
        final = numpy.array([[[10, 20, 30, 40, 0.9, 2], [0, 0, 5, 5, 0.1, 1]]], numpy.float32)
        rows, layout = rows_of(final, "auto")
        self.assertEqual(layout, "final")
        self.assertEqual([(b, n) for b, (n, _) in read(rows, layout, 0.5)], [([10, 20, 30, 40], 2)])
        self.assertEqual(rows_of(numpy.zeros((1, 84, 8400)), "auto")[1], "v8")
        self.assertEqual(rows_of(numpy.zeros((1, 25200, 85)), "auto")[1], "v5")
        with self.assertRaises(ValueError):
            rows_of(numpy.zeros((2, 3, 4)), "auto")

    def test_the_likeliest_class_counts(self):
        rows = numpy.array([[50, 50, 20, 10, 0.5, 0.2, 0.9], [5, 5, 2, 2, 0.9, 0.3, 0.1]], numpy.float32)
        ((box, (number, score)),) = read(rows, "v5", 0.4)
        self.assertEqual((box, number), ([40, 45, 60, 55], 1))
        self.assertAlmostEqual(score, 0.45, places=5)


class Tracking(unittest.TestCase):
    def test_what_moves_a_little_is_the_same(self):
        tracker = Tracker()
        numbers = []
        for i in range(10):
            walker, other = Seen("person", 0.9, 0.1 + i * 0.02, 0.2, 0.1, 0.4), Seen("person", 0.8, 0.7, 0.2, 0.1, 0.4)
            # In another order each time.
            tracker.follow([walker, other] if i % 2 else [other, walker], i / 2)
            numbers.append((walker.track, other.track))
        self.assertEqual(len(set(numbers)), 1)
        self.assertNotEqual(*numbers[0])

    def test_who_comes_back_much_later_or_is_something_else_has_a_new_number(self):
        tracker = Tracker(memory=1)
        first = tracker.follow([Seen("person", 0.9, 0.1, 0.1, 0.2, 0.5)], 0)[0].track
        car = tracker.follow([Seen("car", 0.9, 0.1, 0.1, 0.2, 0.5)], 0.5)[0].track
        later = tracker.follow([Seen("person", 0.9, 0.1, 0.1, 0.2, 0.5)], 5)[0].track
        self.assertEqual(len({first, car, later}), 3)

    def test_a_clock_that_goes_back_begins_anew(self):
        tracker = Tracker()
        before = tracker.follow([Seen("person", 0.9, 0.1, 0.1, 0.2, 0.5)], 100)[0].track
        self.assertNotEqual(tracker.follow([Seen("person", 0.9, 0.1, 0.1, 0.2, 0.5)], 50)[0].track, before)


cv2.setNumThreads(1)

if __name__ == "__main__":
    unittest.main()
