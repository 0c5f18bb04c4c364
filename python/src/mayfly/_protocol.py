"""Requests of `mayfly serve` and what its answers say: what both clients and scripts share."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mayfly import _messages as messages
from mayfly import errors
from mayfly._shown import Brief
from mayfly._wire import Request, read_text, read_texts

PHOTO_KINDS = {"color": ("|u1", 3), "depth": ("<f4", 1), "segmentation": ("<i4", 3)}
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
MOTIONS = (
    "kinematic points rigid prescribed articulated quadrotor fixed_wing car external "
    "quasistatic elastic cloth fluid grains debris"
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


@dataclasses.dataclass(frozen=True)
class RemoteCamera:
    """A camera of robots or of the scene: its number, name, size and what it measures."""

    number: int
    name: str
    width: int  # [pixel]
    height: int  # [pixel]
    kinds: tuple[str, ...]  # of "color", "depth", "segmentation"


@dataclasses.dataclass(frozen=True, repr=False)
class RemotePhoto(Brief):
    """A picture, as of mayfly.Picture; the array cannot be written."""

    tick: int  # of the state that it shows
    time: float  # [s]
    kind: str
    pixels: npt.NDArray[Any]  # (height, width, 3), for depth (height, width)


# ---- requests ------------------------------------------------------------------------------------


def nanoseconds(seconds: float) -> int:
    return round(1e9 * seconds)


def lock_step(on: bool, period: float = 0.0, limit: float = 0.0) -> Request[None]:
    return messages.LOCK_STEP.ask(on, nanoseconds(period), nanoseconds(limit))


def reset(group: int, first: int, count: int | None) -> Request[None]:
    return messages.RESET.ask(group, first, messages.ALL if count is None else count)


def write_entry(field: RemoteField, first: int, values: npt.NDArray[Any]) -> bytes:
    data = np.ascontiguousarray(values).tobytes()
    head = messages.WRITE_ENTRY.pack(field.number, first, len(values), len(data))
    return head + data + bytes(-len(data) % 8)


def get(number: int) -> Request[list[float]]:
    def read(data: bytes) -> list[float]:
        values: list[float] = np.frombuffer(data, "<f8", -1, messages.ANSWER_VALUES.size).tolist()
        return values

    return messages.GET.ask_for(read, number)


def set_values(writes: list[tuple[int, int, bytearray]]) -> Request[None]:
    """Values under the numbers of properties: (number, first value, values of 8 bytes each)."""
    entries = (
        messages.SET_ENTRY.pack(number, first, len(data) // 8) + data
        for number, first, data in writes
    )
    return messages.SET.ask(len(writes), tail=b"".join(entries))


# ---- answers -------------------------------------------------------------------------------------


def statistics(data: bytes) -> RemoteStatistics:
    found = messages.ANSWER_STATISTICS.read(data)
    flags = found.pop("flags")
    return RemoteStatistics(
        time_ns=found.pop("time"),
        is_paused=bool(flags & messages.PAUSED),
        is_shared=bool(flags & messages.SHARES),
        **found,
    )


def cameras(data: bytes) -> dict[str, RemoteCamera]:
    found, at = {}, messages.ANSWER_PHOTO.size
    for number in range(messages.ANSWER_PHOTO.read(data)["width"]):
        width, height, mask, length = messages.CAMERA.unpack(data, at)
        (name,), at = read_texts(data, at + messages.CAMERA.size, length)
        kinds = tuple(kind for i, kind in enumerate(PHOTO_KINDS) if mask >> i & 1)
        found[name] = RemoteCamera(number, name, width, height, kinds)
    return found


def photo(data: bytes) -> RemotePhoto:
    head = messages.ANSWER_PHOTO.read(data)
    kind = list(PHOTO_KINDS)[head["kind"]]
    dtype, channels = PHOTO_KINDS[kind]
    shape = (head["height"], head["width"], *([3] if channels == 3 else []))
    values = np.frombuffer(data, dtype, -1, messages.ANSWER_PHOTO.size)
    return RemotePhoto(head["tick"], 1e-9 * head["time"], kind, values.reshape(shape))


class PropertyAnswer(NamedTuple):
    """What a path or pattern names; of each property the members of PROPERTY_PART."""

    name: str
    unit: str
    locked: str | None  # why it cannot be written
    is_rotation: bool
    values: int  # of all of them
    parts: npt.NDArray[np.uint32]


def find_property(number: int, path: str) -> Request[PropertyAnswer]:
    return messages.PROPERTY.ask_for(_read_property, number, tail=path.encode())


def _read_property(data: bytes) -> PropertyAnswer:
    head, at = messages.ANSWER_PROPERTY.read(data), messages.ANSWER_PROPERTY.size
    sizes = (head[f"{text}_size"] for text in ("name", "unit", "locked"))
    (name, unit, locked), at = read_texts(data, at, *sizes)
    count, flags = head["count"], head["flags"]
    parts = np.frombuffer(data, "<u4", 4 * count, at).reshape(count, 4)
    return PropertyAnswer(
        name, unit, locked if flags & 1 else None, bool(flags & 2), head["values"], parts
    )


class AboutAnswer(NamedTuple):
    """The seed, the robots with a fault, and of each group the names of its gaits and docks."""

    seed: int
    faults: int
    groups: list[tuple[list[str], list[str]]]


def about() -> Request[AboutAnswer]:
    return messages.ABOUT.ask_for(_read_about)


def _read_about(data: bytes) -> AboutAnswer:
    head, at = messages.ANSWER_ABOUT.read(data), messages.ANSWER_ABOUT.size
    groups = []
    while at < len(data):
        gaits, docks = messages.GROUP_NAMES.unpack(data, at)
        at += messages.GROUP_NAMES.size
        names = []
        for _ in range(gaits + docks):
            (length,) = messages.NAME.unpack(data, at)
            (name,), at = read_texts(data, at + messages.NAME.size, length)
            names.append(name)
        groups.append((names[:gaits], names[gaits:]))
    return AboutAnswer(groups=groups, **head)


def error(data: bytes) -> errors.MayflyError:
    (code,) = messages.ANSWER_ERROR.unpack(data)
    kind = KINDS[code] if code < len(KINDS) else errors.MayflyError
    return kind(read_text(data, messages.ANSWER_ERROR.size))


def event(data: bytes) -> Event:
    found = messages.ANSWER_EVENT.read(data)
    number, nanoseconds = found.pop("event"), found.pop("time")
    known = number < len(messages.EVENT_NAMES)
    name = messages.EVENT_NAMES[number] if known else str(number)
    return Event(name=name, time=nanoseconds / 1e9, **found)


def turn(data: bytes) -> Turn:
    tick, nanoseconds = messages.ANSWER_TURN.unpack(data)
    return Turn(tick, nanoseconds / 1e9)


def listing(data: bytes) -> list[tuple[str, int, list[RemoteField]]]:
    """Name, instances and fields of each group."""
    groups, at, number = [], messages.ANSWER_LISTING.size, 0
    for _ in range(messages.ANSWER_LISTING.read(data)["groups"]):
        head = messages.GROUP.read(data, at)
        fields = []
        (name,), at = read_texts(data, at + messages.GROUP.size, head["name_size"])
        for _ in range(head["fields"]):
            field, at = _read_field(data, at, number)
            fields.append(field)
            number += 1
        groups.append((name, head["instances"], fields))
    return groups


def _read_field(data: bytes, at: int, number: int) -> tuple[RemoteField, int]:
    head = messages.FIELD.read(data, at)
    sizes = (head[f"{text}_size"] for text in ("name", "unit", "frame", "description"))
    (name, unit, frame, description), at = read_texts(data, at + messages.FIELD.size, *sizes)
    components = head["elements"] * head["width"]
    is_writable = bool(head["flags"] & messages.WRITABLE)
    kind = TYPES[head["type"]]
    return RemoteField(number, name, unit, frame, description, kind, components, is_writable), at
