"""Messages of the protocol of `mayfly serve`: numbers, requests, and what answers say.

What the plain client, the one for asyncio and scripts share. docs/reference/protocol.md specifies
the messages; the names in capital letters are its kinds.
"""

from __future__ import annotations

import dataclasses
import struct
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors

MAGIC, MAJOR, MINOR = 0x594C464D, 1, 2
HELLO, LIST, SUBSCRIBE, UNSUBSCRIBE, WRITE, LOCK_STEP, PAUSE, STEP, RESET = range(1, 10)
SNAPSHOT, RESTORE, SWITCH, STATISTICS, SPEED, EVENTS = range(10, 16)
MODEL, SET_POSES, LOAD, SPAWN, WORLD = 17, 19, 20, 21, 28
PROPERTY, GET, SET, ABOUT, DOCK, STOP = range(22, 28)
FOUND, VALUES, SCENE = range(150, 153)
ERROR, WELCOME, LISTING, STATE, DONE, IMAGE, SAID, EVENT, TURN, BYE = range(128, 138)
DESCRIBED = 138
PHOTO, PICTURE = 18, 139
PHOTO_KINDS = {"color": ("|u1", 3), "depth": ("<f4", 1), "segmentation": ("<i4", 3)}
PHOTO_LIST, PHOTO_HEAD = 3, 32
ALL = 0xFFFFFFFF
ANY_TICK = 0xFFFFFFFFFFFFFFFF
WRITABLE = 16
WORLD_LOADED = 2  # value of the event "world"
TYPES = tuple(np.dtype(kind) for kind in ("<f4", "<f8", "<i4", "<u4"))
KINDS: tuple[type[errors.MayflyError], ...] = (
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
EVENT_NAMES = (
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
    "world",
)
MOTIONS = (
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


def pause_request(on: bool) -> Request:
    return PAUSE, struct.pack("<I", on), DONE


def step_request(steps: int) -> Request:
    return STEP, struct.pack("<Q", steps), DONE


def speed_request(speed: float) -> Request:
    return SPEED, struct.pack("<d", speed), DONE


def lock_step_request(on: bool, period: float, limit: float) -> Request:
    times = (round(1e9 * period), round(1e9 * limit))
    return LOCK_STEP, struct.pack("<IIqq", on, 0, *times), DONE


def reset_request(group: int, first: int, count: int | None) -> Request:
    return RESET, struct.pack("<3I", group, first, ALL if count is None else count), DONE


def switch_request(group: int, motion: str, first: int, count: int | None) -> Request:
    if motion not in MOTIONS:
        raise errors.ArgumentError(f"expected a motion of {', '.join(MOTIONS)}")
    rows = ALL if count is None else count
    return SWITCH, struct.pack("<4I", group, first, rows, MOTIONS.index(motion)), DONE


def watch_request(names: tuple[str, ...]) -> Request:
    for name in names:
        if name not in EVENT_NAMES:
            raise errors.ArgumentError(f"expected events of {', '.join(EVENT_NAMES)}")
    mask = sum(1 << EVENT_NAMES.index(name) for name in set(names))
    return EVENTS, struct.pack("<I", mask), DONE


def hello_request(token: str) -> Request:
    secret = token.encode()
    head = struct.pack("<IHHI", MAGIC, MAJOR, MINOR, len(secret))
    return HELLO, head + secret, WELCOME


def load_request(path: str | None, text: str | None) -> Request:
    if (path is None) == (text is None):
        raise errors.ArgumentError("expected the path of a file or the text of a scene")
    if path == "":
        raise errors.ArgumentError("expected the path of a file, found an empty text")
    return LOAD, struct.pack("<II", text is not None, 0) + (path or text or "").encode(), DONE


def spawn_request(
    poses: npt.ArrayLike, file: str | None, group: str | None, name: str, height: float
) -> Request:
    if (file is None) == (group is None):
        raise errors.ArgumentError("expected a robot's file or the name of a group")
    rows = np.atleast_2d(np.asarray(poses, "<f8"))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise errors.ArgumentError("expected poses of x, y and heading")
    source, own = (file or group or "").encode(), name.encode()
    head = struct.pack("<4Id", len(rows), len(source), len(own), group is not None, height)
    return SPAWN, head + rows.tobytes() + source + own, DONE


def write_payload(tick: int, entries: list[bytes], go: bool) -> bytes:
    return struct.pack("<QII", tick, len(entries), go) + b"".join(entries)


def read_statistics(data: bytes) -> RemoteStatistics:
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


def error(data: bytes) -> errors.MayflyError:
    code = struct.unpack_from("<I", data)[0]
    kind = KINDS[code] if code < len(KINDS) else errors.MayflyError
    return kind(data[4:].decode(errors="replace"))


def read_field(listing: bytes, at: int, number: int) -> tuple[RemoteField, int]:
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
        TYPES[kind],
        elements * width,
        bool(flags & WRITABLE),
    )
    return field, 20 + -(-sum(lengths) // 4) * 4
