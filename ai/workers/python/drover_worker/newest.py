"""From many cameras, each one's newest picture, fairly."""

import threading
import time


class Newest:
    """Holds the newest item of each key. Who takes gets the one whose turn it is: no key
    twice before all others that have something, and none more often than it may."""

    def __init__(self, per_second=0.0, now=time.monotonic):
        self._pause = 1 / per_second if per_second > 0 else 0.0
        self._now = now
        self._changed = threading.Condition()
        self._items = {}
        self._due = {}
        self._closed = False

    def put(self, key, item):
        with self._changed:
            self._items[key] = item
            self._changed.notify()

    def forget(self):
        """Lets go of all: what comes after has nothing to do with it."""
        with self._changed:
            self._items.clear()

    def take(self):
        """Waits for an item, and returns it with its key; None after close."""
        with self._changed:
            while not self._closed:
                now = self._now()
                key = min(self._items, key=lambda k: self._due.get(k, 0.0), default=None)
                if key is None:
                    self._changed.wait()
                    continue
                wait = self._due.get(key, 0.0) - now
                if wait > 0:
                    self._changed.wait(wait)
                    continue
                # Of equals the one that has waited longest is next, for its time is
                # the oldest. A little late is made up for, and no more than that.
                self._due[key] = max(self._due.get(key, 0.0) + self._pause, now + self._pause / 2)
                return key, self._items.pop(key)
            return None

    def close(self):
        with self._changed:
            self._closed = True
            self._changed.notify_all()
