"""What a connection to `mayfly serve` knows of its world, for the plain client and asyncio's."""

from __future__ import annotations

import struct
from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import _protocol as protocol
from mayfly import client_region, errors
from mayfly._protocol import Event, RemoteField, Request, Turn
from mayfly._sealed import Sealed


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
        self._end = ""  # why nothing comes any more
        self._fields = fields
        sizes = (count * field.components * field.dtype.itemsize for field, count in fields)
        self._size = sum(-(-size // 8) * 8 for size in sizes)  # [byte] of a state's values

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """The newest values of a field; KeyError before the first state."""
        return self._values[name]

    def _raise_ended(self) -> None:
        if self._end:
            raise errors.ClosedError(f"the subscription has ended: {self._end}")

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


class GroupFields(Sealed):
    """A group of the world and its fields: what the plain and the asyncio client share."""

    def __init__(self, number: int, name: str, count: int) -> None:
        self.number = number
        self.name = name
        self.count = count  # instances
        self.fields: dict[str, RemoteField] = {}
        self._is_gone = False  # not in the world that is served
        self._seal()

    def __len__(self) -> int:
        return self.count

    def _field(self, name: str) -> RemoteField:
        if self._is_gone:
            raise errors.NotFoundError(
                f"group {self.name} has no field {name}: another world is served; "
                "take its groups from the connection anew"
            )
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


class Session(Sealed):
    """What a connection knows of its world: the part of both clients that reads messages."""

    _settable = frozenset({"timeout"})

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

    def _forget_groups(self) -> None:
        raise NotImplementedError

    def _read_welcome(self, welcome: bytes) -> None:
        step, title = (
            struct.unpack_from("<q", welcome, 16)[0],
            welcome[56:].decode(errors="replace"),
        )
        vars(self).update(step_ns=step, title=title)

    def _read_listing(self, listing: bytes) -> None:
        self._forget_groups()
        at, number = 8, 0
        for index in range(struct.unpack_from("<I", listing)[0]):
            count, fields, _, length = struct.unpack_from("<IIIBxxx", listing, at)
            name = listing[at + 16 : at + 16 + length].decode()
            at += 16 + -(-length // 4) * 4
            group = self._add_group(index, name, count)
            for _ in range(fields):
                field, size = protocol.read_field(listing, at, number)
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
        payload += b"".join(struct.pack("<3I", f.number, 0, protocol.ALL) for f in fields)
        made = Subscription(number, [(field, group.count) for field in fields])
        self._subscriptions[number] = made
        return made, (protocol.SUBSCRIBE, payload, protocol.DONE)

    def _forget(self, subscription: Subscription) -> None:
        self._subscriptions.pop(subscription.number, None)
        subscription._end = "the program gave it up"

    def _forget_all(self) -> None:
        for subscription in self._subscriptions.values():
            subscription._end = "another world is served"
        self._subscriptions.clear()

    def _next_tag(self) -> int:
        self._tag = self._tag % (client_region.TAG - 1) + 1
        return self._tag

    def _raise_refused(self) -> None:
        if self._refused is not None:
            refused, self._refused = self._refused, None
            raise refused

    def _check(self, found: int, data: bytes, answer: int) -> bytes:
        """The payload of an answer, or its error."""
        if found == protocol.ERROR:
            raise protocol.error(data)
        if found != answer:
            raise errors.CorruptError(f"expected a message {answer}, found {found}")
        return data

    def _keep(self, kind: int, data: bytes) -> None:
        if kind == protocol.STATE:
            subscription = self._subscriptions.get(struct.unpack_from("<I", data)[0])
            if subscription is not None:
                subscription._take(data)
        elif kind == protocol.TURN:
            tick, nanoseconds = struct.unpack("<Qq", data)
            self._turn = Turn(tick, nanoseconds / 1e9)
        elif kind == protocol.EVENT:
            event, group, instance, value, tick, nanoseconds = struct.unpack("<4IQq", data)
            name = protocol.EVENT_NAMES[event] if event < len(protocol.EVENT_NAMES) else str(event)
            vars(self)["events_lost"] += len(self.events) == self.events.maxlen
            if name == "world" and value == protocol.WORLD_LOADED:
                self._forget_all()  # they ended with the old world
            self.events.append(Event(name, group, instance, value, tick, nanoseconds / 1e9))
        elif kind == protocol.ERROR:  # of a write
            self._refused = protocol.error(data)
        elif kind == protocol.BYE:
            self._is_over = True
            raise errors.StoppedError(data.decode(errors="replace"))
        else:
            raise errors.CorruptError(f"the server sent an unknown message {kind}")
