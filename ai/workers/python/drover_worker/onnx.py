"""A detector in an ONNX file, run by onnxruntime where that is installed, else by
OpenCV. What comes out of it is read by its shape:

    1 x N x (5+classes)   YOLOv5 and alike: centre, size, objectness, classes
    1 x (4+classes) x N   YOLOv8 and alike: centre, size, classes
    N x 6, 1 x N x 6      with a last step that chooses: corners, score, class

in pixels of what went in, or in fractions of it."""

import cv2
import numpy

from drover_worker.boxes import inside, strongest


class Onnx:
    def __init__(self, path, labels=(), threshold=0.4, size=(640, 640), layout="auto", runtime="auto"):
        self.labels, self.threshold, self.layout = list(labels), threshold, layout
        self._run, shape = _load(path, runtime)
        self.width, self.height = shape or size

    def detect(self, picture):
        canvas, scale = _letterbox(picture, self.width, self.height)
        blob = cv2.dnn.blobFromImage(canvas, 1 / 255.0, (self.width, self.height), swapRB=True)
        rows, layout = rows_of(self._run(blob), self.layout)
        seen = []
        for box, scores in read(rows, layout, self.threshold):
            if max(abs(v) for v in box) <= 2:  # fractions, not pixels
                box = [box[0] * self.width, box[1] * self.height, box[2] * self.width, box[3] * self.height]
            where = [box[0] / scale[0], box[1] / scale[1], box[2] / scale[0], box[3] / scale[1]]
            number, score = scores
            label = self.labels[number] if number < len(self.labels) else f"class-{number}"
            one = inside(label, min(score, 1.0), *where)
            if one:
                seen.append(one)
        # A flood of boxes says nothing: the server takes 256.
        return strongest(sorted(seen, key=lambda s: -s.score)[:1000], 0.5)[:256]


def _letterbox(picture, width, height):
    """The picture, its sides in proportion, in the upper left of a grey canvas; and how
    many pixels of that its width and height are."""
    factor = min(width / picture.shape[1], height / picture.shape[0])
    w, h = max(1, round(picture.shape[1] * factor)), max(1, round(picture.shape[0] * factor))
    canvas = numpy.full((height, width, 3), 114, numpy.uint8)
    canvas[:h, :w] = cv2.resize(picture, (w, h), interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR)
    return canvas, (w, h)


def _load(path, runtime):
    """Returns what runs the model, and width and height of its input, where it says so."""
    if runtime in ("auto", "onnxruntime"):
        try:
            import onnxruntime
        except ImportError:
            if runtime == "onnxruntime":
                raise
        else:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            first = session.get_inputs()[0]
            shape = first.shape[3:1:-1]
            fixed = tuple(shape) if all(isinstance(n, int) for n in shape) else None
            return lambda blob: session.run(None, {first.name: blob})[0], fixed
    network = cv2.dnn.readNetFromONNX(path)

    def run(blob):
        network.setInput(blob)
        return network.forward()

    return run, None


def rows_of(out, layout):
    """The output as one row a box, and its layout."""
    out = numpy.asarray(out, numpy.float32)
    while out.ndim > 2 and out.shape[0] == 1:
        out = out[0]
    if out.ndim != 2:
        raise ValueError(f"a model with an output of shape {out.shape} is none that is known here")
    if layout == "auto":
        if out.shape[1] == 6:
            # Six columns are corners, score and class, or YOLOv5 with one class: that
            # has a class score from 0 to 1 where the other has a whole number.
            layout = "final" if out.shape[0] <= 1000 and (out[:, 5] == numpy.floor(out[:, 5])).all() and not _centred(out) else "v5"
        else:
            layout = "v8" if out.shape[0] < out.shape[1] else "v5"
    return (out.T if layout == "v8" else out), layout


def _centred(out):
    """Whether columns cannot be corners: somewhere the second is before the first."""
    return bool(((out[:, 2] < out[:, 0]) | (out[:, 3] < out[:, 1])).any())


def read(rows, layout, threshold):
    """Yields corners, and number and score of the likeliest class."""
    if layout == "final":
        for left, top, right, bottom, score, number in rows:
            if score >= threshold:
                yield [float(left), float(top), float(right), float(bottom)], (int(number), float(score))
        return
    scores = rows[:, 5:] * rows[:, 4:5] if layout == "v5" else rows[:, 4:]
    if not scores.size:
        return
    best = scores.argmax(axis=1)
    for i in numpy.nonzero(scores[numpy.arange(len(scores)), best] >= threshold)[0]:
        x, y, w, h = (float(v) for v in rows[i, :4])
        yield [x - w / 2, y - h / 2, x + w / 2, y + h / 2], (int(best[i]), float(scores[i, best[i]]))
