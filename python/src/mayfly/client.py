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
from collections.abc import Generator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import client_region, errors

__all__ = [
    "Event",
    "RemoteCamera",
    "RemoteField",
    "RemoteGroup",
    "RemotePhoto",
    "RemoteStatistics",
    "RemoteWorld",
    "Subscription",
    "Turn",
    "connect",
]

_MAGIC, _MAJOR, _MINOR = 0x594C464D, 1, 2
_HELLO, _LIST, _SUBSCRIBE, _UNSUBSCRIBE, _WRITE, _LOCK_STEP, _PAUSE, _STEP, _RESET = range(1, 10)
_SNAPSHOT, _RESTORE, _SWITCH, _STATISTICS, _SPEED, _EVENTS = range(10, 16)
_MODEL, _PLACE = 17, 19
_PROPERTY, _GET, _SET, _ABOUT, _DOCK, _STOP = range(22, 28)
_FOUND, _VALUES, _SCENE = range(150, 153)
_ERROR, _WELCOME, _LISTING, _STATE, _DONE, _IMAGE, _SAID, _EVENT, _TURN, _BYE = range(128, 138)
_DESCRIBED = 138
_PHOTO, _PICTURE = 18, 139
_PHOTO_KINDS = {"color": ("|u1", 3), "depth": ("<f4", 1), "segmentation": ("<i4", 3)}
_PHOTO_LIST, _PHOTO_HEAD = 3, 32
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
    "raised",
    "fall",
    "dock",
    "goal",
    "end",
    "held",
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
    is_shared: bool  # this connection has shared memory


# What is asked: a kind of message, its payload, and the kind of its answer.
Request = tuple[int, bytes, int]


def _pause_request(on: bool) -> Request:
    return _PAUSE, struct.pack("<I", on), _DONE


def _step_request(steps: int) -> Request:
    return _STEP, struct.pack("<Q", steps), _DONE


def _speed_request(speed: float) -> Request:
    return _SPEED, struct.pack("<d", speed), _DONE


def _lock_step_request(on: bool, period: float, limit: float) -> Request:
    times = (round(1e9 * period), round(1e9 * limit))
    return _LOCK_STEP, struct.pack("<IIqq", on, 0, *times), _DONE


def _reset_request(group: int, first: int, count: int | None) -> Request:
    return _RESET, struct.pack("<3I", group, first, _ALL if count is None else count), _DONE


def _switch_request(group: int, motion: str, first: int, count: int | None) -> Request:
    if motion not in _MOTIONS:
        raise errors.ArgumentError(f"expected a motion of {', '.join(_MOTIONS)}")
    rows = _ALL if count is None else count
    return _SWITCH, struct.pack("<4I", group, first, rows, _MOTIONS.index(motion)), _DONE


def _watch_request(names: tuple[str, ...]) -> Request:
    for name in names:
        if name not in _EVENT_NAMES:
            raise errors.ArgumentError(f"expected events of {', '.join(_EVENT_NAMES)}")
    mask = sum(1 << _EVENT_NAMES.index(name) for name in set(names))
    return _EVENTS, struct.pack("<I", mask), _DONE


def _hello_request(token: str) -> Request:
    secret = token.encode()
    head = struct.pack("<IHHI", _MAGIC, _MAJOR, _MINOR, len(secret))
    return _HELLO, head + secret, _WELCOME


def _write_payload(tick: int, entries: list[bytes], go: bool) -> bytes:
    return struct.pack("<QII", tick, len(entries), go) + b"".join(entries)


def _read_statistics(data: bytes) -> RemoteStatistics:
    values = struct.unpack("<QqQ8Q2d2I", data)
    names = [field.name for field in dataclasses.fields(RemoteStatistics)]
    found = dict(zip(names, values))
    flags = found["is_paused"]
    found["is_paused"], found["is_shared"] = bool(flags & 1), bool(flags & 2)
    return RemoteStatistics(**found)


@dataclasses.dataclass(frozen=True)
class RemoteCamera:
    """A camera of robots or of the scene: its number, name, size and what it measures."""

    number: int
    name: str
    width: int  # [pixel]
    height: int  # [pixel]
    kinds: tuple[str, ...]  # of "color", "depth", "segmentation"


@dataclasses.dataclass(frozen=True)
class RemotePhoto:
    """A picture, as of mayfly.Picture; the array cannot be written."""

    tick: int  # of the state that it shows
    time: float  # [s]
    kind: str
    pixels: npt.NDArray[Any]  # (height, width, 3), for depth (height, width)


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
        sizes = (count * field.components * field.dtype.itemsize for field, count in fields)
        self._size = sum(-(-size // 8) * 8 for size in sizes)  # [byte] of a state's values

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The newest values of a field; KeyError before the first state."""
        return self._values[name]

    def _take(self, payload: bytes) -> None:
        _, lost, self.tick, nanoseconds = struct.unpack_from("<IIQq", payload)
        self.time = nanoseconds / 1e9
        self.lost += lost
        self.states += 1
        at = 32
        for field, instances in self._fields:
            count = instances * field.components
            values = np.frombuffer(payload, field.dtype, count, at)
            self._values[field.name] = values.reshape(instances, field.components)
            at += -(-count * field.dtype.itemsize // 8) * 8


class GroupFields:
    """A group of the world and its fields: what the plain and the asyncio client share."""

    def __init__(self, number: int, name: str, count: int) -> None:
        self.number = number
        self.name = name
        self.count = count  # instances
        self.fields: dict[str, RemoteField] = {}

    def __len__(self) -> int:
        return self.count

    def _field(self, name: str) -> RemoteField:
        if name not in self.fields:
            raise errors.NotFoundError(f"group {self.name} has no field {name}")
        return self.fields[name]

    def _entry(self, name: str, values: npt.ArrayLike, first: int, count: int | None) -> bytes:
        field = self._field(name)
        if not field.is_writable:
            raise errors.ArgumentError(
                f"field {name} is no input, or a system of the scene writes it"
            )
        rows = self.count - first if count is None else count
        if first < 0 or rows < 1 or first + rows > self.count:
            raise errors.ArgumentError(f"expected robots within 0 .. {self.count - 1}")
        array = np.asarray(values, field.dtype)
        if array.ndim == 1 and array.shape[0] == rows and field.components == 1:
            array = array[:, None]
        data = np.ascontiguousarray(np.broadcast_to(array, (rows, field.components))).tobytes()
        head = struct.pack("<4I", field.number, first, rows, len(data))
        return head + data + bytes(-len(data) % 8)


class RemoteGroup(GroupFields):
    """A group of the world: its fields, and how to read, write, reset and switch its robots."""

    def __init__(self, world: RemoteWorld, number: int, name: str, count: int) -> None:
        super().__init__(number, name, count)
        self._world = world

    def subscribe(self, *names: str, period: float = 0.0) -> Subscription:
        """Fields of all robots at each multiple of `period` [s]; 0: at every step."""
        made, request = self._world._new_subscription(self, names, period)
        try:
            self._world._ask(*request)
        except errors.MayflyError:
            self._world._forget(made)
            raise
        self._world._sharing.ask(made.number, made._size)
        return made

    def write(
        self, name: str, values: npt.ArrayLike, first: int = 0, count: int | None = None
    ) -> None:
        """Writes an input of the robots first .. first + count - 1; values are broadcast.

        In `lock_step` it is sent at the end of the turn, otherwise at once. What the server refuses
        is raised by a later call.
        """
        self._world._write(self._entry(name, values, first, count))

    def describe(self) -> dict[str, Any]:
        """The model of the robots, as `mayfly info --json` shows it.

        "links", "joints", "sensors", "cameras" and so on are lists of dictionaries with "name", in
        the order of the elements of fields; indices in them count from 0, None: none. "vehicle" has
        the parameters of a vehicle as its file has them, such as {"quadrotor": {"mass": 0.75}}; the
        wheelbase of {"car": ...} is "front" + "rear" [m]. "servos" has the gain, damping, effort,
        speed and backlash of each joint's servo under `articulated`. "world_gravity" is a vector
        [m/s^2] in the world frame.
        """
        text = self._world._ask(_MODEL, struct.pack("<I", self.number), _DESCRIBED)
        described: dict[str, Any] = json.loads(text)
        return described

    def reset(self, first: int = 0, count: int | None = None) -> None:
        """Resets robots to their initial state."""
        self._world._ask(*_reset_request(self.number, first, count))

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
        self._world._ask(*_switch_request(self.number, motion, first, count))

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras that each robot has, by name."""
        return self._world._cameras(self.number)

    def photo(self, camera: str, robot: int = 0, kind: str = "color") -> RemotePhoto:
        """Takes a picture by a robot's camera, now, whatever its rate and delay.

        Args:
            camera: its name.
            robot: number of the robot in the group.
            kind: "color" (uint8), "depth" (float32 [m]) or "segmentation" (int32: group, robot,
                link). The world waits meanwhile.

        """
        return self._world._photo(self.number, camera, robot, kind)


class Session:
    """What a connection knows of its world: the part of both clients that reads messages."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout  # [s] for answers
        self.events: deque[Event] = deque(maxlen=4096)  # that came and were not taken
        self.events_lost = 0  # oldest ones that were dropped, because nobody took them
        self.step_ns = 0
        self.title = ""
        self._subscriptions: dict[int, Subscription] = {}
        self._tag = 0
        self._turn: Turn | None = None
        self._pending: list[bytes] | None = None  # writes of the present turn
        self._is_over = False
        self._refused: errors.MayflyError | None = None  # an error of an earlier write

    def _add_group(self, number: int, name: str, count: int) -> GroupFields:
        raise NotImplementedError

    def _read_welcome(self, welcome: bytes) -> None:
        self.step_ns = struct.unpack_from("<q", welcome, 16)[0]
        self.title = welcome[56:].decode(errors="replace")

    def _read_listing(self, listing: bytes) -> None:
        at, number = 8, 0
        for index in range(struct.unpack_from("<I", listing)[0]):
            count, fields, _, length = struct.unpack_from("<IIIBxxx", listing, at)
            name = listing[at + 16 : at + 16 + length].decode()
            at += 16 + -(-length // 4) * 4
            group = self._add_group(index, name, count)
            for _ in range(fields):
                field, size = _read_field(listing, at, number)
                group.fields[field.name] = field
                at, number = at + size, number + 1

    def _new_subscription(
        self, group: GroupFields, names: tuple[str, ...], period: float
    ) -> tuple[Subscription, Request]:
        fields = [group._field(name) for name in names]
        number = next((n for n in range(64) if n not in self._subscriptions), None)
        if number is None:
            raise errors.LimitError("a connection has at most 64 subscriptions")
        payload = struct.pack("<IIq", number, len(fields), round(1e9 * period))
        payload += b"".join(struct.pack("<3I", f.number, 0, _ALL) for f in fields)
        made = Subscription(number, [(field, group.count) for field in fields])
        self._subscriptions[number] = made
        return made, (_SUBSCRIBE, payload, _DONE)

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription.number, None)

    def _next_tag(self) -> int:
        self._tag = self._tag % (client_region.TAG - 1) + 1
        return self._tag

    def _raise_refused(self) -> None:
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused

    def _check(self, found: int, data: bytes, answer: int) -> bytes:
        """The payload of an answer, or its error."""
        if found == _ERROR:
            raise _error(data)
        if found != answer:
            raise errors.CorruptError(f"expected a message {answer}, found {found}")
        return data

    def _keep(self, kind: int, data: bytes) -> None:
        if kind == _STATE:
            subscription = self._subscriptions.get(struct.unpack_from("<I", data)[0])
            if subscription is not None:
                subscription._take(data)
        elif kind == _TURN:
            tick, nanoseconds = struct.unpack("<Qq", data)
            self._turn = Turn(tick, nanoseconds / 1e9)
        elif kind == _EVENT:
            event, group, instance, value, tick, nanoseconds = struct.unpack("<4IQq", data)
            name = _EVENT_NAMES[event] if event < len(_EVENT_NAMES) else str(event)
            self.events_lost += len(self.events) == self.events.maxlen
            self.events.append(Event(name, group, instance, value, tick, nanoseconds / 1e9))
        elif kind == _ERROR:  # of a write
            self._refused = _error(data)
        elif kind == _BYE:
            self._is_over = True
            raise errors.StoppedError(data.decode(errors="replace"))
        else:
            raise errors.CorruptError(f"the server sent an unknown message {kind}")


class RemoteWorld(Session):
    """A connection to a world. One thread at a time may use it."""

    def __init__(
        self, address: str, token: str = "", timeout: float = 60.0, share: bool = True
    ) -> None:
        super().__init__(timeout)
        self._sharing = client_region.Sharing(share and "/" in address, self._send)
        self.groups: dict[str, RemoteGroup] = {}
        self._found: dict[int, dict[str, RemoteCamera]] = {}  # cameras that were asked for
        self._buffer = bytearray()
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
        self._sharing.close()

    # ---- time ----------------------------------------------------------------------------------

    def pause(self, on: bool = True) -> None:
        """Pauses the world, or lets it go on."""
        self._ask(*_pause_request(on))

    def step(self, steps: int = 1) -> None:
        """Simulates steps of a paused world, and waits until they are done."""
        self._ask(*_step_request(steps))

    def set_speed(self, speed: float) -> None:
        """Simulated seconds per second; 0: as fast as possible."""
        self._ask(*_speed_request(speed))

    def lock_step(self, period: float = 0.0, limit: float = 1.0) -> Generator[Turn, None, None]:
        """Turns, at once and at each multiple of `period` [s]; 0: at every step.

        The world waits while the body of the loop runs, at most `limit` [s]; what the body writes
        acts before the next step. The world goes on by itself after the loop.
        """
        self._turn = None
        self._ask(*_lock_step_request(True, period, limit))
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
                    self._ask(*_lock_step_request(False, 0.0, 0.0))

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
        self._ask(*_reset_request(_ALL, 0, None))

    @property
    def cameras(self) -> dict[str, RemoteCamera]:
        """Cameras of the scene's file, by name."""
        return self._cameras(_ALL)

    def photo(self, camera: str, kind: str = "color") -> RemotePhoto:
        """Takes a picture by a camera of the scene's file, now; see RemoteGroup.photo."""
        return self._photo(_ALL, camera, 0, kind)

    def watch(self, *names: str) -> None:
        """Which events come: "fault", "late", ...; none: no events."""
        self._ask(*_watch_request(names))

    def statistics(self, hash: bool = False) -> RemoteStatistics:
        """Figures of the world and this connection; `hash`: that of the world's state, too."""
        return _read_statistics(self._ask(_STATISTICS, struct.pack("<I", hash), _SAID))

    # ---- pictures ------------------------------------------------------------------------------

    def _cameras(self, group: int) -> dict[str, RemoteCamera]:
        if group not in self._found:
            data = self._ask(_PHOTO, struct.pack("<4I", group, 0, 0, _PHOTO_LIST), _PICTURE)
            cameras, at = {}, _PHOTO_HEAD
            for number in range(struct.unpack_from("<I", data, 20)[0]):
                width, height, mask, length = struct.unpack_from("<4I", data, at)
                name = data[at + 16 : at + 16 + length].decode(errors="replace")
                kinds = tuple(kind for i, kind in enumerate(_PHOTO_KINDS) if mask >> i & 1)
                cameras[name] = RemoteCamera(number, name, width, height, kinds)
                at += 16 + -(-length // 4) * 4
            self._found[group] = cameras
        return self._found[group]

    def _photo(self, group: int, camera: str, robot: int, kind: str) -> RemotePhoto:
        if kind not in _PHOTO_KINDS:
            raise errors.ArgumentError(f"expected a picture of {', '.join(_PHOTO_KINDS)}: {kind!r}")
        cameras = self._cameras(group)
        if camera not in cameras:
            raise errors.NotFoundError(f"there is no camera {camera}: {', '.join(cameras)}")
        number = list(_PHOTO_KINDS).index(kind)
        payload = struct.pack("<4I", group, robot, cameras[camera].number, number)
        data = self._ask(_PHOTO, payload, _PICTURE)
        tick, nanoseconds, _, width, height, _ = struct.unpack_from("<Qq4I", data)
        dtype, channels = _PHOTO_KINDS[kind]
        values = np.frombuffer(data, dtype, width * height * channels, _PHOTO_HEAD)
        shape = (height, width, 3) if channels == 3 else (height, width)
        return RemotePhoto(tick, 1e-9 * nanoseconds, kind, values.reshape(shape))

    # ---- messages ------------------------------------------------------------------------------

    def _add_group(self, number: int, name: str, count: int) -> GroupFields:
        self.groups[name] = RemoteGroup(self, number, name, count)
        return self.groups[name]

    def _begin(self, token: str) -> None:
        welcome = self._ask(*_hello_request(token))
        self._sharing.is_on &= struct.unpack_from("<H", welcome, 6)[0] >= 2
        self._read_welcome(welcome)
        self._read_listing(self._ask(_LIST, b"", _LISTING))

    def unsubscribe(self, subscription: Subscription) -> None:
        """Ends a subscription."""
        self._forget(subscription)  # first: its shared memory ends when the server reads this
        self._ask(_UNSUBSCRIBE, struct.pack("<I", subscription.number))
        self._sharing.drop(subscription.number)

    def _write(self, entry: bytes) -> None:
        if self._pending is not None:
            self._pending.append(entry)
        else:
            self._send_writes([entry], _ANY_TICK, go=False)

    def _send_writes(self, entries: list[bytes], tick: int, go: bool) -> None:
        if not self._sharing.write(tick, entries, go):
            self._send(_WRITE, 0, _write_payload(tick, entries, go))

    def _send(self, kind: int, tag: int, payload: bytes) -> None:
        try:
            self._socket.sendall(struct.pack("<IHH", len(payload), kind, tag) + payload)
        except OSError as error:
            raise errors.OperatingSystemError(f"cannot send: {error}") from error

    def _ask(self, kind: int, payload: bytes, answer: int = _DONE) -> bytes:
        wanted = self._next_tag()
        self._send(kind, wanted, payload)
        while True:
            found, tag, data = self._next(self.timeout)
            if tag == wanted:
                self._raise_refused()
                return self._check(found, data, answer)
            self._keep_message(found, tag, data)

    def _keep_message(self, kind: int, tag: int, data: bytes) -> None:
        message = self._sharing.read(kind, tag, data)
        if message is not None:
            self._keep(*message)

    def _receive(self, seconds: float, patient: bool = True) -> bool:
        """Takes one message; without patience False if none begins in time."""
        if (
            not patient
            and not self._buffer
            and not select.select([self._socket], [], [], seconds)[0]
        ):
            return False
        self._keep_message(*self._next(self.timeout))
        self._raise_refused()
        return True

    def _fill(self, size: int, end: float) -> None:
        while len(self._buffer) < size:
            self._socket.settimeout(max(end - time.monotonic(), 1e-3))
            try:
                most = max(65536, size - len(self._buffer))
                got = self._sharing.receive(self._socket, most)
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


def _split(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise errors.ArgumentError(f"expected host:port or a path with a slash: {address!r}")
    return host.strip("[]"), int(port)


def _open(address: str, timeout: float) -> socket.socket:
    try:
        if "/" in address:
            made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            made.settimeout(timeout)
            made.connect(address)
            return made
        made = socket.create_connection(_split(address), timeout)
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


def connect(
    address: str, token: str = "", timeout: float = 60.0, share: bool = True
) -> RemoteWorld:
    """Connects to `mayfly serve` at "host:port", "[::1]:port" or the path of its Unix socket.

    `token` is the one that the server prints for addresses other than loopback; `timeout` [s] is
    the longest time that an answer may take. `share`: values of large states and writes travel in
    shared memory where the server is at a Unix socket and grants it; the bits are the same.
    """
    return RemoteWorld(address, token, timeout, share)
