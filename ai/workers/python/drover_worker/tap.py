"""The conversation with Drover: watching, coming back, reporting."""

import logging
import random
import threading

import grpc

from drover_tap import tap_pb2 as tap
from drover_tap import tap_pb2_grpc

# Not worth another try: the request itself is wrong.
_FINAL = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.UNIMPLEMENTED)

_REPORT_TIMEOUT = 5  # seconds


class Backoff:
    """Waits longer after each failure, and never as long as others: a server that comes
    back is not met by all its workers at once."""

    def __init__(self, first=0.5, most=30.0, random=random.random):
        self._first, self._most, self._random = first, most, random
        self._next = first

    def reset(self):
        self._next = self._first

    def wait(self):
        """How long to wait now, in seconds."""
        wait = self._next * (0.5 + self._random() / 2)
        self._next = min(self._most, self._next * 2)
        return wait


class Tap:
    """One server. watch() runs until stop; report() may be called by another thread."""

    def __init__(self, address, credentials=None, metadata=(), backoff=None):
        options = [("grpc.max_receive_message_length", 64 << 20), ("grpc.keepalive_time_ms", 20000)]
        self._channel = grpc.secure_channel(address, credentials, options) if credentials else grpc.insecure_channel(address, options)
        self._stub = tap_pb2_grpc.TapStub(self._channel)
        self._metadata = tuple(metadata)
        self._backoff = backoff or Backoff()
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._call = None
        self._rejected = 0

    def watch(self, request, take, lost=lambda: None):
        """Hands each message to take, and comes back when the call breaks; lost is
        called before. Returns when stopped, and raises what another try cannot mend."""
        while not self._stopped.is_set():
            try:
                call = self._stub.Watch(request, metadata=self._metadata)
                with self._lock:
                    self._call = call
                if self._stopped.is_set():
                    call.cancel()
                for message in call:
                    self._backoff.reset()
                    take(message)
                reason = "the server ended the call"
            except grpc.RpcError as err:
                if self._stopped.is_set():
                    return
                if err.code() in _FINAL:
                    raise
                reason = f"{err.code().name}: {err.details()}"
            if self._stopped.is_set():
                return
            lost()
            wait = self._backoff.wait()
            logging.warning("no frames: %s; trying again in %.1f s", reason, wait)
            self._stopped.wait(wait)

    def report(self, detections):
        """Reports what was seen in a frame, and returns whether it was taken. What is
        refused is told in the log, and no reason to end."""
        try:
            self._stub.ReportOne(detections, timeout=_REPORT_TIMEOUT, metadata=self._metadata)
        except grpc.RpcError as err:
            if self._stopped.is_set():
                return False
            self._rejected += 1
            # The first of each hundred: a flood of words helps nobody.
            if self._rejected % 100 == 1:
                logging.warning("a report was not taken (%d so far): %s: %s", self._rejected, err.code().name, err.details())
            return False
        return True

    def stop(self):
        self._stopped.set()
        with self._lock:
            if self._call is not None:
                self._call.cancel()

    def close(self):
        self.stop()
        self._channel.close()
