"""A client of `mayfly serve`: a world in another process, or on another computer.

    with mayfly.connect("127.0.0.1:8766") as world:
        robots = world["robot"]
        state = robots.subscribe("joint.angle", "joint.rate", period=0.01)
        for turn in world.lock_step(period=0.01):
            robots.write("joint.target", -0.1 * state["joint.angle"])
            if turn.time > 10:
                break

docs/reference/protocol.md specifies the messages, lock-step and what a slow reader loses.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors

__all__ = [
    "Event",
    "RemoteField",
    "RemoteGroup",
    "RemoteStatistics",
    "RemoteWorld",
    "Subscription",
    "Turn",
    "connect",
]

_MAGIC, _MAJOR, _MINOR = 0x594C464D, 1, 0
_HELLO, _LIST, _SUBSCRIBE, _UNSUBSCRIBE, _WRITE, _LOCK_STEP, _PAUSE, _STEP, _RESET = range(1, 10)
_SNAPSHOT, _RESTORE, _SWITCH, _STATISTICS, _SPEED, _EVENTS = range(10, 16)
_MODEL, _PLACE = 17, 18
_ERROR, _WELCOME, _LISTING, _STATE, _DONE, _IMAGE, _SAID, _EVENT, _TURN, _BYE = range(128, 138)
_DESCRIBED = 138
_ALL = 0xFFFFFFFF
_ANY_TICK = 0xFFFFFFFFFFFFFFFF
_WRITABLE = 16
_TYPES = tuple(np.dtype(kind) for kind in ("<f4", "<f8", "<i4", "<u4"))
_KINDS: tuple[type[errors.MayflyError], ...] = (
    errors.MayflyError,
    errors.ArgumentError,
    errors.FileError,
    errors.NoMemoryError,
    errors.OperatingSystemError,
    errors.UnsupportedError,
    errors.NotFoundError,
    errors.BusyError,
    errors.CorruptError,
    errors.VersionError,
    errors.StoppedError,
    errors.LimitError,
)
_EVENT_NAMES = (
    "fault",
    "late",
    "joined",
    "left",
    "pause",
    "reset",
    "restore",
    "switch",
    "missed",
)
_MOTIONS = (
    "kinematic points rigid prescribed articulated quadrotor fixed_wing car external "
    "quasistatic elastic cloth fluid grains"
).split()


@dataclasses.dataclass(frozen=True)
class RemoteField:
    """A field of a group: its number, name, unit, frame, type and shape."""

    number: int
    name: str
    unit: str
    frame: str
    description: str
    dtype: np.dtype[Any]
    components: int  # of an instance
    is_writable: bool


@dataclasses.dataclass(frozen=True)
class Event:
    """Something that happened: `name` is "fault", "late", "joined", "left" and so on."""

    name: str
    group: int
    instance: int
    value: int
    tick: int
    time: float  # [s]


@dataclasses.dataclass(frozen=True)
class Turn:
    """The world waits for this connection."""

    tick: int
    time: float  # [s]


@dataclasses.dataclass(frozen=True)
class RemoteStatistics:
    """Figures of the world and of this connection, as in the message STATISTICS."""

    tick: int
    time_ns: int
    hash: int
    states: int
    lost: int
    writes: int
    late: int
    turns: int
    missed: int
    bytes_in: int
    bytes_out: int
    speed: float
    factor: float
    connections: int
    is_paused: bool


class Subscription:
    """Fields that come regularly; `subscription["joint.angle"]` is the newest array.

    Arrays have the shape (instances, components) and cannot be written; each state has new ones.
    """

    def __init__(self, number: int, fields: list[tuple[RemoteField, int]]) -> None:
        self.number = number
        self.tick = -1  # of the newest state; -1: none has come yet
        self.time = 0.0  # [s]
        self.lost = 0  # states that were dropped so far because this reader was slow
        self.states = 0  # that came so far
        self._values: dict[str, npt.NDArray[Any]] = {}
        self._fields = fields

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The newest values of a field; KeyError before the first state."""
        return self._values[name]

    def _take(self, payload: bytes) -> None:
        _, lost, self.tick, nanoseconds = struct.unpack_from("<IIQq", payload)
        self.time = 1e-9 * nanoseconds
        self.lost += lost
        self.states += 1
        at = 32
        for field, instances in self._fields:
            count = instances * field.components
            values = np.frombuffer(payload, field.dtype, count, at)
            self._values[field.name] = values.reshape(instances, field.components)
            at += -(-count * field.dtype.itemsize // 8) * 8


class RemoteGroup:
    """A group of the world: its fields, and how to read, write, reset and switch its robots."""

    def __init__(self, world: RemoteWorld, number: int, name: str, count: int) -> None:
        self._world = world
        self.number = number
        self.name = name
        self.count = count  # instances
        self.fields: dict[str, RemoteField] = {}

    def __len__(self) -> int:
        return self.count

    def subscribe(self, *names: str, period: float = 0.0) -> Subscription:
        """Fields of all robots at each multiple of `period` [s]; 0: at every step."""
        return self._world._subscribe(self, [self._field(name) for name in names], period)

    def write(
        self, name: str, values: npt.ArrayLike, first: int = 0, count: int | None = None
    ) -> None:
        """Writes an input of the robots first .. first + count - 1; values are broadcast.

        In `lock_step` it is sent at the end of the turn, otherwise at once. What the server refuses
        is raised by a later call.
        """
        field = self._field(name)
        rows = self.count - first if count is None else count
        if first < 0 or rows < 1 or first + rows > self.count:
            raise errors.ArgumentError(f"expected robots within 0 .. {self.count - 1}")
        array = np.asarray(values, field.dtype)
        if array.ndim == 1 and array.shape[0] == rows and field.components == 1:
            array = array[:, None]
        data = np.ascontiguousarray(np.broadcast_to(array, (rows, field.components))).tobytes()
        head = struct.pack("<4I", field.number, first, rows, len(data))
        self._world._write(head + data + bytes(-len(data) % 8))

    def describe(self) -> dict[str, Any]:
        """The model of the robots, as `mayfly info --json` shows it.

        "links", "joints", "sensors", "cameras" and so on are lists of dictionaries with "name", in
        the order of the elements of fields; indices in them count from 0, None: none.
        """
        text = self._world._ask(_MODEL, struct.pack("<I", self.number), _DESCRIBED)
        described: dict[str, Any] = json.loads(text)
        return described

    def reset(self, first: int = 0, count: int | None = None) -> None:
        """Resets robots to their initial state."""
        rows = _ALL if count is None else count
        self._world._ask(_RESET, struct.pack("<3I", self.number, first, rows))

    def place(
        self,
        positions: npt.ArrayLike,
        orientations: npt.ArrayLike = (1.0, 0.0, 0.0, 0.0),
        first: int = 0,
        count: int | None = None,
    ) -> None:
        """Resets the robots first .. first + count - 1 and puts their bases elsewhere, at rest.

        Positions [m] and orientations (w, x, y, z) are in the world frame and are broadcast. The
        ground is not taken into account; a later `reset` returns to the initial state.
        """
        rows = self.count - first if count is None else count
        if first < 0 or rows < 1 or first + rows > self.count:
            raise errors.ArgumentError(f"expected robots within 0 .. {self.count - 1}")
        poses = np.empty((rows, 7), "<f8")
        poses[:, :3] = positions
        poses[:, 3:] = orientations
        head = struct.pack("<4I", self.number, first, rows, 0)
        self._world._ask(_PLACE, head + poses.tobytes())

    def switch(self, motion: str, first: int = 0, count: int | None = None) -> None:
        """Switches robots to another motion: "rigid", "articulated", ..."""
        if motion not in _MOTIONS:
            raise errors.ArgumentError(f"expected a motion of {', '.join(_MOTIONS)}")
        rows = _ALL if count is None else count
        payload = struct.pack("<4I", self.number, first, rows, _MOTIONS.index(motion))
        self._world._ask(_SWITCH, payload)

    def _field(self, name: str) -> RemoteField:
        if name not in self.fields:
            raise errors.NotFoundError(f"group {self.name} has no field {name}")
        return self.fields[name]


class RemoteWorld:
    """A connection to a world. One thread at a time may use it."""

    def __init__(self, address: str, token: str = "", timeout: float = 60.0) -> None:
        self.timeout = timeout  # [s] for answers
        self.events: deque[Event] = deque(maxlen=4096)  # that came and were not taken
        self.events_lost = 0  # oldest ones that were dropped, because nobody took them
        self.groups: dict[str, RemoteGroup] = {}
        self._subscriptions: dict[int, Subscription] = {}
        self._tag = 0
        self._turn: Turn | None = None
        self._pending: list[bytes] | None = None  # writes of the present turn
        self._buffer = bytearray()
        self._is_over = False
        self._refused: errors.MayflyError | None = None  # an error of an earlier write
        self._socket = _open(address, timeout)
        try:
            self._begin(token)
        except BaseException:
            self._socket.close()
            raise

    def __enter__(self) -> RemoteWorld:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __getitem__(self, group: str) -> RemoteGroup:
        """The group of that name."""
        if group not in self.groups:
            raise errors.NotFoundError(f"there is no group {group}: {', '.join(self.groups)}")
        return self.groups[group]

    def close(self) -> None:
        """Ends the connection; the world goes on."""
        self._socket.close()

    # ---- time ----------------------------------------------------------------------------------

    def pause(self, on: bool = True) -> None:
        """Pauses the world, or lets it go on."""
        self._ask(_PAUSE, struct.pack("<I", on))

    def step(self, steps: int = 1) -> None:
        """Simulates steps of a paused world, and waits until they are done."""
        self._ask(_STEP, struct.pack("<Q", steps))

    def set_speed(self, speed: float) -> None:
        """Simulated seconds per second; 0: as fast as possible."""
        self._ask(_SPEED, struct.pack("<d", speed))

    def lock_step(self, period: float = 0.0, limit: float = 1.0) -> Iterator[Turn]:
        """Turns, at once and at each multiple of `period` [s]; 0: at every step.

        The world waits while the body of the loop runs, at most `limit` [s]; what the body writes
        acts before the next step. The world goes on by itself after the loop.
        """
        nanoseconds = (round(1e9 * period), round(1e9 * limit))
        self._turn = None
        self._ask(_LOCK_STEP, struct.pack("<IIqq", 1, 0, *nanoseconds))
        try:
            while True:
                while self._turn is None:
                    self._receive(self.timeout)
                turn, self._turn = self._turn, None
                self._pending = []
                yield turn
                self._send_writes(self._pending, turn.tick, go=True)
                self._pending = None
        finally:
            writes, self._pending = self._pending, None
            if not self._is_over and self._socket.fileno() >= 0:
                with contextlib.suppress(errors.OperatingSystemError):  # the server is gone
                    if writes:
                        self._send_writes(writes, _ANY_TICK, go=False)
                    self._ask(_LOCK_STEP, struct.pack("<IIqq", 0, 0, 0, 0))

    def wait(self, subscription: Subscription, timeout: float | None = None) -> bool:
        """Waits for the next state of a subscription; False: it did not come in time."""
        end = time.monotonic() + (self.timeout if timeout is None else timeout)
        states = subscription.states
        while subscription.states == states:
            left = end - time.monotonic()
            if left < 0 or not self._receive(left, patient=False):
                return False
        return True

    def poll(self) -> None:
        """Takes all that has come: states, and events into `events`."""
        while self._receive(0.0, patient=False):
            pass

    # ---- states --------------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """The state of the whole world, for `restore` on a server of the same scene."""
        return self._ask(_SNAPSHOT, b"", _IMAGE)

    def restore(self, image: bytes) -> None:
        """Restores a snapshot."""
        self._ask(_RESTORE, image)

    def reset(self) -> None:
        """Resets all robots of all groups."""
        self._ask(_RESET, struct.pack("<3I", _ALL, 0, _ALL))

    def watch(self, *names: str) -> None:
        """Which events come: "fault", "late", ...; none: no events."""
        for name in names:
            if name not in _EVENT_NAMES:
                raise errors.ArgumentError(f"expected events of {', '.join(_EVENT_NAMES)}")
        mask = sum(1 << _EVENT_NAMES.index(name) for name in set(names))
        self._ask(_EVENTS, struct.pack("<I", mask))

    def statistics(self, hash: bool = False) -> RemoteStatistics:
        """Figures of the world and this connection; `hash`: that of the world's state, too."""
        values = struct.unpack("<QqQ8Q2d2I", self._ask(_STATISTICS, struct.pack("<I", hash), _SAID))
        names = [field.name for field in dataclasses.fields(RemoteStatistics)]
        found = dict(zip(names, values))
        found["is_paused"] = bool(found["is_paused"] & 1)
        return RemoteStatistics(**found)

    # ---- messages ------------------------------------------------------------------------------

    def _begin(self, token: str) -> None:
        secret = token.encode()
        hello = struct.pack("<IHHI", _MAGIC, _MAJOR, _MINOR, len(secret)) + secret
        welcome = self._ask(_HELLO, hello, _WELCOME)
        self.step_ns: int = struct.unpack_from("<q", welcome, 16)[0]
        self.title = welcome[56:].decode(errors="replace")
        listing = self._ask(_LIST, b"", _LISTING)
        at, number = 8, 0
        for index in range(struct.unpack_from("<I", listing)[0]):
            count, fields, _, length = struct.unpack_from("<IIIBxxx", listing, at)
            name = listing[at + 16 : at + 16 + length].decode()
            at += 16 + -(-length // 4) * 4
            group = RemoteGroup(self, index, name, count)
            for _ in range(fields):
                field, size = _read_field(listing, at, number)
                group.fields[field.name] = field
                at, number = at + size, number + 1
            self.groups[name] = group

    def _subscribe(
        self, group: RemoteGroup, fields: list[RemoteField], period: float
    ) -> Subscription:
        number = next((n for n in range(64) if n not in self._subscriptions), None)
        if number is None:
            raise errors.LimitError("a connection has at most 64 subscriptions")
        payload = struct.pack("<IIq", number, len(fields), round(1e9 * period))
        payload += b"".join(struct.pack("<3I", f.number, 0, _ALL) for f in fields)
        made = Subscription(number, [(field, group.count) for field in fields])
        self._subscriptions[number] = made
        try:
            self._ask(_SUBSCRIBE, payload)
        except errors.MayflyError:
            del self._subscriptions[number]
            raise
        return made

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription."""
        self._ask(_UNSUBSCRIBE, struct.pack("<I", subscription.number))
        self._subscriptions.pop(subscription.number, None)

    def _write(self, entry: bytes) -> None:
        if self._pending is not None:
            self._pending.append(entry)
        else:
            self._send_writes([entry], _ANY_TICK, go=False)

    def _send_writes(self, entries: list[bytes], tick: int, go: bool) -> None:
        self._send(_WRITE, 0, struct.pack("<QII", tick, len(entries), go) + b"".join(entries))

    def _send(self, kind: int, tag: int, payload: bytes) -> None:
        try:
            self._socket.sendall(struct.pack("<IHH", len(payload), kind, tag) + payload)
        except OSError as error:
            raise errors.OperatingSystemError(f"cannot send: {error}") from error

    def _ask(self, kind: int, payload: bytes, answer: int = _DONE) -> bytes:
        self._tag = self._tag % 65535 + 1
        self._send(kind, self._tag, payload)
        while True:
            found, tag, data = self._next(self.timeout)
            if tag != self._tag:
                self._keep(found, data)
            elif self._refused is not None:
                refused, self._refused = self._refused, None
                raise refused
            elif found == _ERROR:
                raise _error(data)
            elif found != answer:
                raise errors.CorruptError(f"expected a message {answer}, found {found}")
            else:
                return data

    def _receive(self, seconds: float, patient: bool = True) -> bool:
        """Takes one message; without patience False if none begins in time."""
        if (
            not patient
            and not self._buffer
            and not select.select([self._socket], [], [], seconds)[0]
        ):
            return False
        kind, _, data = self._next(self.timeout)
        self._keep(kind, data)
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused
        return True

    def _keep(self, kind: int, data: bytes) -> None:
        if kind == _STATE:
            subscription = self._subscriptions.get(struct.unpack_from("<I", data)[0])
            if subscription is not None:
                subscription._take(data)
        elif kind == _TURN:
            tick, nanoseconds = struct.unpack("<Qq", data)
            self._turn = Turn(tick, 1e-9 * nanoseconds)
        elif kind == _EVENT:
            event, group, instance, value, tick, nanoseconds = struct.unpack("<4IQq", data)
            name = _EVENT_NAMES[event] if event < len(_EVENT_NAMES) else str(event)
            self.events_lost += len(self.events) == self.events.maxlen
            self.events.append(Event(name, group, instance, value, tick, 1e-9 * nanoseconds))
        elif kind == _ERROR:  # of a write
            self._refused = _error(data)
        elif kind == _BYE:
            self._is_over = True
            raise errors.StoppedError(data.decode(errors="replace"))
        else:
            raise errors.CorruptError(f"the server sent an unknown message {kind}")

    def _fill(self, size: int, end: float) -> None:
        while len(self._buffer) < size:
            self._socket.settimeout(max(end - time.monotonic(), 1e-3))
            try:
                got = self._socket.recv(max(65536, size - len(self._buffer)))
            except TimeoutError as error:
                raise errors.StoppedError("nothing came in time") from error
            except OSError as error:
                raise errors.OperatingSystemError(f"cannot receive: {error}") from error
            if not got:
                self._is_over = True
                raise errors.OperatingSystemError("the server closed the connection")
            self._buffer += got

    def _next(self, seconds: float) -> tuple[int, int, bytes]:
        end = time.monotonic() + seconds
        self._fill(8, end)
        size, kind, tag = struct.unpack_from("<IHH", self._buffer)
        self._fill(8 + size, end)
        data = bytes(self._buffer[8 : 8 + size])
        del self._buffer[: 8 + size]
        return kind, tag, data


def _open(address: str, timeout: float) -> socket.socket:
    try:
        if "/" in address:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.settimeout(timeout)
            made.connect(address)
            return made
        host, colon, port = address.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise errors.ArgumentError(f"expected host:port or a path with a slash: {address!r}")
        made = socket.create_connection((host.strip("[]"), int(port)), timeout)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return made
    except OSError as error:
        raise errors.OperatingSystemError(f"cannot connect to {address}: {error}") from error


def _error(data: bytes) -> errors.MayflyError:
    code = struct.unpack_from("<I", data)[0]
    kind = _KINDS[code] if code < len(_KINDS) else errors.MayflyError
    return kind(data[4:].decode(errors="replace"))


def _read_field(listing: bytes, at: int, number: int) -> tuple[RemoteField, int]:
    kind, elements, width, flags, *lengths = struct.unpack_from("<IIIBxxx4B", listing, at)
    texts, start = [], at + 20
    for length in lengths:
        texts.append(listing[start : start + length].decode(errors="replace"))
        start += length
    name, unit, frame, description = texts
    field = RemoteField(
        number,
        name,
        unit,
        frame,
        description,
        _TYPES[kind],
        elements * width,
        bool(flags & _WRITABLE),
    )
    return field, 20 + -(-sum(lengths) // 4) * 4


def connect(address: str, token: str = "", timeout: float = 60.0) -> RemoteWorld:
    """Connects to `mayfly serve` at "host:port", "[::1]:port" or the path of its Unix socket.

    `token` is the one that the server prints for addresses other than loopback; `timeout` [s] is
    the longest time that an answer may take.
    """
    return RemoteWorld(address, token, timeout)
