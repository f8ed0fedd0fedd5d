"""What a worker did, told once a minute, also when that is nothing."""

import logging
import threading


class Tally:
    """Counts, each by one thread alone, and told by a thread of its own."""

    def __init__(self, interval=60.0):
        self._interval = interval
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="tally")
        self.frames = self.pictures = self.reports = self.seen = 0

    def start(self):
        self._thread.start()

    def stop(self):
        self._over.set()
        self._thread.join()

    def _run(self):
        before = (0, 0, 0, 0)
        while not self._over.wait(self._interval):
            now = (self.frames, self.pictures, self.reports, self.seen)
            logging.info("%d frames came, %d pictures looked at, %d reports taken with %d things seen, in %g s",
                         *(n - b for n, b in zip(now, before)), self._interval)
            before = now
