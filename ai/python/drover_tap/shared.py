"""The tap in shared memory, in Python without anything beside its standard library.

    from drover_tap import shared

    for frame in shared.watch("data/tap.sock", cameras=["door"]):
        print(frame.camera, frame.sequence, frame.keyframe, len(frame.data), frame.missed)

The layout of the memory is docs/format/tap.md. It is for Linux, and Python 3.9 or newer.
On processors other than amd64 it relies on what CPython does between two reads, which
keeps them in order in practice.
"""

import json
import mmap
import os
import select
import socket
import struct
import time

VERSION = 1
MAGIC = b"DROVTAP1"

HEADER_BYTES = 4096
TRACK_BYTES = 4096
SLOT_BYTES = 128
TRACK_SETS = 200
MAX_PACKET = 128 << 10

KIND_FRAME = 1
KIND_STATUS = 2
FLAG_KEYFRAME = 1
FLAG_SENDER_REPORT = 2

CODECS = {1: "H264", 2: "H265", 3: "JPEG", 4: "AAC", 5: "OPUS", 6: "FLAC"}
STATES = {1: "waiting", 2: "watching", 3: "removed"}

_U64 = struct.Struct("<Q")
_HEADER = struct.Struct("<8sI4xQQQQQQ")
_SLOT = struct.Struct("<QIIIIQQqqqqQII")  # behind the lock
_TRACK = struct.Struct("<IIIIIIdII")  # behind the lock
_LENGTHS = struct.Struct("<BBHHHH")


class Refused(Exception):
    """The server says that nothing comes, or nothing any more. code is as gRPC names it:
    "unavailable" and "resource_exhausted" pass, others do not."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class LayoutError(Exception):
    """The memory is laid out in a way that this version does not know."""


class Config:
    """What decoding a track needs."""

    __slots__ = (
        "camera", "source", "number", "track", "codec", "format", "width", "height", "fps",
        "sample_rate", "channels", "vps", "sps", "pps", "audio_config",
    )


class Frame:
    """One access unit. data is the worker's own."""

    __slots__ = (
        "camera", "source", "config", "sequence", "epoch", "keyframe", "pts", "dts",
        "wall_time_us", "sender_report", "arrival_us", "missed", "lost", "data",
    )


class Status:
    """What has become of a camera: state is "waiting", "watching" or "removed"."""

    __slots__ = ("camera", "source", "state", "reason")


class Memory:
    """The mapped memory, which is only ever read."""

    def __init__(self, buffer):
        if len(buffer) < HEADER_BYTES:
            raise LayoutError("it is too small")
        magic, version, tracks, track_count, slots, slot_count, data, data_bytes = _HEADER.unpack_from(buffer, 0)
        if magic != MAGIC:
            raise LayoutError("it does not begin as it should")
        if version != VERSION:
            raise LayoutError("version %d" % version)
        fits = (
            tracks == HEADER_BYTES
            and slots == tracks + track_count * TRACK_BYTES
            and data == slots + slot_count * SLOT_BYTES
            and data + data_bytes == len(buffer)
            and slot_count > 0
            and slot_count & (slot_count - 1) == 0
            and data_bytes > 0
        )
        if not fits:
            raise LayoutError("its parts do not fit")
        self._buffer = buffer
        self._slots, self._slot_count = slots, slot_count
        self._data, self._data_bytes = data, data_bytes
        self.track_count = track_count

    def _u64(self, at):
        return _U64.unpack_from(self._buffer, at)[0]

    def written(self):
        """The number of the next slot to be written."""
        return self._u64(64)

    def held(self, position, of=None):
        """Whether what was written at a position is still there."""
        claimed = self._u64(72)
        return position <= claimed <= position + (of or self._data_bytes)

    def slot(self, number):
        """The fields of a slot; None: not yet written; False: overwritten."""
        at = self._slots + (number & (self._slot_count - 1)) * SLOT_BYTES
        lock = self._u64(at)
        if lock != 2 * number + 2:
            return False if lock > 2 * number + 2 else None
        fields = _SLOT.unpack_from(self._buffer, at + 8)
        return fields if self._u64(at) == lock else False

    def data(self, position, size):
        """A copy of a slot's data, or None if it has been overwritten."""
        offset = position % self._data_bytes
        if size > self._data_bytes - offset or not self.held(position):
            return None
        at = self._data + offset
        data = self._buffer[at : at + size]
        return data if self.held(position) else None

    def newest_key(self, entry):
        return self._u64(HEADER_BYTES + entry * TRACK_BYTES + 48)

    def track(self, entry, number):
        """The configuration in an entry of the table of tracks, or None if it is another
        by now."""
        if entry >= self.track_count:
            return None
        at = HEADER_BYTES + entry * TRACK_BYTES
        lock = self._u64(at)
        c = Config()
        (c.number, c.track, codec, c.format, c.width, c.height, c.fps,
         c.sample_rate, c.channels) = _TRACK.unpack_from(self._buffer, at + 8)
        camera, source, *sets = _LENGTHS.unpack_from(self._buffer, at + 56)
        names = self._buffer[at + 72 : at + 200]
        rest = bytes(self._buffer[at + TRACK_SETS : at + TRACK_BYTES])
        if lock & 1 or self._u64(at) != lock or c.number != number or number == 0:
            return None
        c.codec = CODECS.get(codec, "")
        c.camera = bytes(names[:camera]).decode(errors="replace")
        c.source = bytes(names[64 : 64 + source]).decode(errors="replace")
        parts = []
        for size in sets:
            parts.append(rest[:size])
            rest = rest[size:]
        c.vps, c.sps, c.pps, c.audio_config = parts
        return c

    def resume(self):
        """The slot that a reader who begins, or who was overtaken, goes on with: the
        oldest of the tracks' newest keyframes that will not be gone in a moment."""
        following = self.written()
        begin = following
        for entry in range(self.track_count):
            key = self.newest_key(entry)
            if not 0 < key <= begin or following - (key - 1) > self._slot_count // 2:
                continue
            slot = self.slot(key - 1)
            if slot and self.held(slot[0], self._data_bytes // 2):
                begin = key - 1
        return begin


class _Reading:
    __slots__ = ("config", "ordinal", "need_keyframe")

    def __init__(self, config):
        self.config, self.ordinal, self.need_keyframe = config, 0, True


class Reader:
    """Reads a memory from the newest keyframes on. Where the writer overtakes it, or it
    falls behind by more than it may, it goes on with the newest keyframes again."""

    def __init__(self, memory, begin, max_behind_s=2.0, now=time.time):
        self._memory, self._max_behind_us, self._now = memory, int(max_behind_s * 1e6), now
        self._next = min(begin, memory.resume())
        self._tracks = {}
        self._told = {}

    def read(self):
        """The next Frame or Status, or None if there is none yet."""
        while True:
            slot = self._memory.slot(self._next)
            if slot is None:
                return None
            if slot is False:
                self._skip()
                continue
            kind = slot[13]
            if kind == KIND_FRAME and self._now() * 1e6 - slot[10] > self._max_behind_us:
                if self._memory.resume() > self._next:
                    self._skip()
                    continue
            item = self._status(slot) if kind == KIND_STATUS else self._frame(slot)
            if item is not None:
                return item

    def _skip(self):
        self._next = max(self._memory.resume(), self._next + 1)
        for track in self._tracks.values():
            track.need_keyframe = True

    def _status(self, slot):
        data = self._memory.data(slot[0], slot[1])
        if data is None:
            self._skip()
            return None
        self._next += 1
        parts = bytes(data).decode(errors="replace").split("\n", 2)
        if len(parts) != 3:
            return None
        s = Status()
        (s.camera, s.source, s.reason), s.state = parts, STATES.get(slot[3], "")
        if self._told.get(s.camera) == (s.source, s.state):
            return None  # it was told for a worker that came later
        self._told[s.camera] = (s.source, s.state)
        if s.state == "removed":
            del self._told[s.camera]
        return s

    def _frame(self, slot):
        (position, size, entry, number, flags, sequence, epoch, pts, dts, wall, arrival, ordinal, lost, _) = slot
        track = self._tracks.get(entry)
        if track is None or track.config.number != number:
            config = self._memory.track(entry, number)
            if config is None:  # the entry is of another by now: its frames come soon
                self._next += 1
                return None
            track = self._tracks[entry] = _Reading(config)
        if track.need_keyframe and not flags & FLAG_KEYFRAME:
            self._next += 1
            return None
        data = self._memory.data(position, size)
        if data is None:
            self._skip()
            return None
        self._next += 1
        f = Frame()
        f.config, f.camera, f.source = track.config, track.config.camera, track.config.source
        f.sequence, f.epoch, f.pts, f.dts = sequence, epoch, pts, dts
        f.keyframe, f.sender_report = bool(flags & FLAG_KEYFRAME), bool(flags & FLAG_SENDER_REPORT)
        f.wall_time_us, f.arrival_us, f.lost, f.data = wall, arrival, lost, data
        f.missed = max(0, ordinal - track.ordinal - 1) if track.ordinal else 0
        track.ordinal, track.need_keyframe = ordinal, False
        return f


def _answer(packet):
    if not packet:
        raise ConnectionError("the server is gone")
    answer = json.loads(packet)
    if answer.get("error"):
        raise Refused(answer.get("code", ""), answer["error"])
    if answer.get("version") != VERSION:
        raise LayoutError("version %r" % answer.get("version"))
    return answer


class Connection:
    """A reader of the memory that a server has handed over. Use it in a with block."""

    def __init__(self, path, cameras=("*",), max_behind_s=2.0, timeout_s=10.0, **request):
        """Further arguments are fields of WatchRequest, as protobuf's JSON has them:
        source="sub", selection="SELECTION_KEYFRAMES", format="FORMAT_LENGTH_PREFIXED",
        maxFps=2, worker="name"."""
        request["cameras"] = list(cameras)
        self._map = self._wake = None
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.settimeout(timeout_s)
            self._socket.connect(path)
            self._socket.send(json.dumps(request).encode())
            packet, descriptors, _, _ = socket.recv_fds(self._socket, MAX_PACKET, 4)
            try:
                answer = _answer(packet)
                if len(descriptors) != 2:
                    raise LayoutError("no memory came")
                self._map = mmap.mmap(descriptors[0], answer["size"], flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
                self._wake = descriptors.pop()
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            os.set_blocking(self._wake, False)
            self._reader = Reader(Memory(self._map), answer.get("next", 0), max_behind_s)
            self._poll = select.poll()
            self._poll.register(self._wake, select.POLLIN)
            self._poll.register(self._socket, select.POLLIN)
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()
        if self._wake is not None:
            os.close(self._wake)
            self._wake = None
        if self._map is not None:
            self._map.close()
            self._map = None

    def next(self, timeout_s=None):
        """The next Frame or Status. None: there was none in time. Refused: nothing comes
        any more. ConnectionError: the server is gone."""
        until = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            item = self._reader.read()
            if item is not None:
                return item
            left = None if until is None else max(0, until - time.monotonic()) * 1000
            ready = self._poll.poll(left)
            if not ready:
                return None
            # The server adds after it has written: what is read here once is looked for after.
            if any(descriptor == self._wake for descriptor, _ in ready):
                try:
                    os.read(self._wake, 8)
                except BlockingIOError:
                    pass
            elif self._reader_is_empty():
                _answer(self._socket.recv(MAX_PACKET))
                raise LayoutError("the server said something that this version does not know")

    def _reader_is_empty(self):
        """Whether all has been read that was written before the server's last word."""
        return self._reader._memory.slot(self._reader._next) is None


def watch(path, cameras=("*",), on_status=None, on_lost=None, **request):
    """Goes through frames, and comes back to a server that was away. What trying again
    does not mend is raised."""
    wait = 0.25
    while True:
        try:
            with Connection(path, cameras, **request) as connection:
                while True:
                    item = connection.next()
                    wait = 0.25
                    if isinstance(item, Status):
                        if on_status is not None:
                            on_status(item)
                    else:
                        yield item
        except Refused as refused:
            if refused.code not in ("unavailable", "resource_exhausted"):
                raise
            lost = refused
        except OSError as error:  # ConnectionError and timeouts are such, too
            lost = error
        if on_lost is not None:
            on_lost(lost)
        time.sleep(wait)
        wait = min(2 * wait, 10)
