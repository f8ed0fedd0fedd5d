"""What a detector returns, and what is common to detectors."""

import math
from dataclasses import dataclass, field


@dataclass
class Seen:
    """One thing that was seen. x, y, width and height are fractions of the picture."""

    label: str
    score: float
    x: float
    y: float
    width: float
    height: float
    track: int = 0
    attributes: dict = field(default_factory=dict)


def inside(label, score, left, top, right, bottom):
    """A Seen that is cut at the picture's edge, or None where nothing of it is left."""
    if not all(math.isfinite(v) for v in (score, left, top, right, bottom)):
        return None
    left, top = max(0.0, float(left)), max(0.0, float(top))
    right, bottom = min(1.0, float(right)), min(1.0, float(bottom))
    if right - left < 1e-4 or bottom - top < 1e-4 or not 0.0 <= score <= 1.0:
        return None
    return Seen(label, float(score), left, top, right - left, bottom - top)


def overlap(a, b):
    """The part of two boxes' union that they share: 0 to 1."""
    width = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    height = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (a.width * a.height + b.width * b.height - shared)


def strongest(seen, most_overlap):
    """Without those that overlap one of the same label with a higher score."""
    kept = []
    for one in sorted(seen, key=lambda s: -s.score):
        if all(one.label != other.label or overlap(one, other) <= most_overlap for other in kept):
            kept.append(one)
    return kept
