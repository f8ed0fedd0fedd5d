"""OpenCV's own people detector: histograms of gradients, trained long ago, and there
wherever OpenCV is. It sees people who stand upright and are not too small; about 0.2 s
of CPU per picture. For more, give an ONNX file."""

import math

import cv2

from drover_worker.boxes import inside, strongest


class Hog:
    # People are seen that are about a hundred pixels high and more: in a street that
    # wants this width. Of 768 pixels, as they are, it finds half as many, in two thirds
    # of the time.
    WIDTH = 960
    MOST_ENLARGED = 1.5

    def __init__(self, threshold=0.4):
        self.threshold = threshold
        self._hog = cv2.HOGDescriptor()
        self._hog.setSVMDetector(cv2.HOGDescriptor_getDefaultPeopleDetector())

    def detect(self, picture):
        height, width = picture.shape[:2]
        factor = min(self.WIDTH / width, self.MOST_ENLARGED)
        if factor != 1:
            size = (round(width * factor), round(height * factor))
            picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR)
            height, width = picture.shape[:2]
        if height < 128 or width < 64:
            return []
        boxes, weights = self._hog.detectMultiScale(picture, winStride=(8, 8), padding=(8, 8), scale=1.05)
        seen = []
        for (x, y, w, h), weight in zip(boxes, weights):
            # A distance from the classifier's border, from 0 on; as a score it is a
            # guess of how likely that is a person.
            score = 1 - math.exp(-max(0.0, float(weight)))
            # The detector's window has a margin around the person.
            left, right = x + 0.15 * w, x + 0.85 * w
            top, bottom = y + 0.06 * h, y + 0.94 * h
            one = inside("person", score, left / width, top / height, right / width, bottom / height)
            if one and score >= self.threshold:
                seen.append(one)
        return strongest(seen, 0.4)
