"""The same thing in picture after picture has one number."""

from drover_worker.boxes import overlap


class Tracker:
    """Follows things of one camera by where they are: what overlaps what was there a
    moment ago is the same. Detectors see fast things too rarely for that; those get
    a new number."""

    def __init__(self, memory=1.5, least_overlap=0.25):
        self.memory, self.least_overlap = memory, least_overlap
        self._last = 0
        self._known = {}  # number: (when it was seen, as what)

    def follow(self, seen, at):
        """Gives each of what was seen at a time, in seconds, its number."""
        self._known = {n: k for n, k in self._known.items() if 0 <= at - k[0] <= self.memory}
        pairs = sorted(
            ((overlap(one, known[1]), i, number) for i, one in enumerate(seen) for number, known in self._known.items() if one.label == known[1].label),
            reverse=True,
        )
        taken = set()
        for shared, i, number in pairs:
            if shared >= self.least_overlap and not seen[i].track and number not in taken:
                seen[i].track = number
                taken.add(number)
        for one in seen:
            if not one.track:
                self._last += 1
                one.track = self._last
            self._known[one.track] = (at, one)
        return seen
