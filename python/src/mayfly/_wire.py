"""Messages of the protocol of `mayfly serve` as bytes, without any input or output.

A message is a head of numbers and what follows it; `_messages` has all of them.
"""

from __future__ import annotations

import dataclasses
import functools
import struct
from collections.abc import Awaitable, Callable, Generator
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from mayfly import errors

P = ParamSpec("P")
T = TypeVar("T")
_CODES = {"u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i64": "q", "f64": "d"}
_HEAD = struct.Struct("<IHH")  # size, kind and tag of a message


class Message:
    """A kind of message, or of a part of one: its members, and the answer to a request."""

    def __init__(self, kind: int, members: str, answer: Message | None = None) -> None:
        words = members.split()
        pairs = list(zip(words[::2], words[1::2]))
        codes = (f"{int(t[1:]) // 8}x" if name == "zero" else _CODES[t] for t, name in pairs)
        layout = struct.Struct("<" + "".join(codes))
        self.kind = kind
        self.answer = answer
        self.names = [name for _, name in pairs if name != "zero"]
        self.size = layout.size  # [byte] of the head
        self.pack = layout.pack
        self._unpack = layout.unpack_from

    def unpack(self, data: bytes, at: int = 0) -> tuple[Any, ...]:
        """The members of a head, in their order."""
        if len(data) - at < self.size:
            raise errors.CorruptError("the server sent a message that is malformed")
        return self._unpack(data, at)

    def read(self, data: bytes, at: int = 0) -> dict[str, Any]:
        """The members of a head by name."""
        return dict(zip(self.names, self.unpack(data, at)))

    def ask(self, *members: Any, tail: bytes = b"") -> Request[None]:
        """A request whose answer says no more than that it was done."""
        return self.ask_for(lambda data: None, *members, tail=tail)

    def ask_for(self, read: Callable[[bytes], T], *members: Any, tail: bytes = b"") -> Request[T]:
        """A request, and what its answer means."""
        return Request(self, self.pack(*members) + tail, read)


@dataclasses.dataclass(frozen=True)
class Request(Generic[T]):
    """A message to the server, and what is made of the payload of its answer."""

    message: Message
    payload: bytes
    read: Callable[[bytes], T]

    def __iter__(self) -> Generator[Request[Any], Any, T]:
        """What its answer means, by `yield from` among the steps of an operation."""
        result: T = yield self
        return result

    def frame(self, tag: int) -> bytes:
        """The bytes to send."""
        return _HEAD.pack(len(self.payload), self.message.kind, tag) + self.payload


Steps = Generator[Request[Any], Any, T]  # yields requests and gets what their answers mean


class Plain:
    """Of the client whose calls wait."""


class Later:
    """Of the client for asyncio, whose calls are awaited."""


if TYPE_CHECKING:

    class operation(Generic[P, T]):
        def __init__(self, steps: Callable[Concatenate[Any, P], Steps[T]]) -> None: ...
        @overload
        def __get__(self, thing: Plain, kind: type) -> Callable[P, T]: ...
        @overload
        def __get__(self, thing: Later, kind: type) -> Callable[P, Awaitable[T]]: ...
        def __get__(self, thing: Any, kind: type) -> Any: ...

else:

    def operation(steps):
        """A method of both clients, written once as the steps of its requests."""

        @functools.wraps(steps)
        def method(self, *arguments, **options):
            return self._run(steps(self, *arguments, **options))

        return method


class Inbox:
    """Whole messages out of the bytes that come."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def missing(self) -> int:
        """Bytes that the next message still needs, as far as they are known; 0: it is there."""
        if len(self._bytes) < _HEAD.size:
            return _HEAD.size - len(self._bytes)
        size: int = _HEAD.unpack_from(self._bytes)[0]
        return max(0, _HEAD.size + size - len(self._bytes))

    def take(self) -> tuple[int, int, bytes]:
        """Kind, tag and payload of the next message."""
        size, kind, tag = _HEAD.unpack_from(self._bytes)
        data = bytes(self._bytes[_HEAD.size : _HEAD.size + size])
        del self._bytes[: _HEAD.size + size]
        return kind, tag, data


def padded(size: int, unit: int) -> int:
    """[byte] with the zeros that follow."""
    return -(-size // unit) * unit


def read_text(data: bytes, at: int) -> str:
    """The text from there to the end."""
    return data[at:].decode(errors="replace")


def read_texts(data: bytes, at: int, *sizes: int) -> tuple[list[str], int]:
    """Texts one after the other, and where what follows them begins."""
    texts, end = [], at
    for size in sizes:
        texts.append(data[end : end + size].decode(errors="replace"))
        end += size
    return texts, at + padded(end - at, 4)
