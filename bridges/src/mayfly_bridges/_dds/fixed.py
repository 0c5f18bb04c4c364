"""Types of fixed size as NumPy records, for messages that are too frequent for one object a value.

A record has the layout that a C compiler gives the type (over which Unitree's checksum runs);
`encode` and `decode` move its bytes to where the wire format wants them. The two differ in padding
only: on the wire members of structures are aligned, the structures themselves are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly_bridges._dds.definition import Library

_FORMATS = {
    "uint8": "u1",
    "int8": "i1",
    "uint16": "<u2",
    "int16": "<i2",
    "uint32": "<u4",
    "int32": "<i4",
    "float32": "<f4",
}
_HEADER = bytes([0, 1, 0, 0])  # plain CDR, little-endian


class Sample:
    """A record that came or goes: what readers take and writers write."""

    def __init__(self, record: npt.NDArray[Any]) -> None:
        self.record = record
        self.sample_info: Any = None


class Fixed:
    """A type of fixed size: its class for topics, and records of it."""

    def __init__(self, library: Library, name: str) -> None:
        self._library = library
        self.dtype = self._layout(name)
        offsets: list[npt.NDArray[np.intp]] = []
        self._offsets = offsets
        self._wire_size = self._lay(name, 0, 0)
        self._inner = np.concatenate([place[0] for place in offsets])
        self._outer = np.concatenate([place[1] for place in offsets])
        self.kind = self._kind(name)

    def new(self) -> npt.NDArray[Any]:
        """A record of zeros, shape ()."""
        return np.zeros((), self.dtype)

    def encode(self, record: npt.NDArray[Any]) -> bytes:
        """The bytes of a record on the wire."""
        wire = np.zeros(self._wire_size, np.uint8)
        wire[self._outer] = np.frombuffer(record.tobytes(), np.uint8)[self._inner]
        return _HEADER + wire.tobytes()

    def decode(self, data: bytes) -> npt.NDArray[Any]:
        """The record of bytes from the wire; ValueError if they are not one."""
        if data[:2] != _HEADER[:2]:
            raise ValueError("expected plain little-endian CDR")
        if len(data) < 4 + self._wire_size:
            raise ValueError(f"expected {self._wire_size} bytes, found {len(data) - 4}")
        inner = np.zeros(self.dtype.itemsize, np.uint8)
        inner[self._inner] = np.frombuffer(data, np.uint8, self._wire_size, 4)[self._outer]
        return inner.view(self.dtype)[0:1].reshape(())

    def sample(self, record: npt.NDArray[Any]) -> Any:
        """A sample of `kind` for a writer, which sends the record as it is now."""
        made = object.__new__(self.kind)
        made.wire = self.encode(record)
        return made

    def _kind(self, name: str) -> Any:
        kind = self._library.kind(name)
        kind.serialize = lambda sample, **_: sample.wire
        kind.deserialize = lambda data, **_: Sample(self.decode(bytes(data)))
        return kind

    def _layout(self, name: str) -> np.dtype[Any]:
        fields: list[Any] = []
        for member in self._library.members[name]:
            nested = member.kind in self._library.members
            kind = self._layout(member.kind) if nested else np.dtype(_FORMATS[member.kind])
            shape = () if member.count is None else (member.count,)
            fields.append((member.name, kind, shape))
        return np.dtype(fields, align=True)

    def _lay(self, name: str, inner: int, outer: int) -> int:
        """Notes where each value of a type at these offsets is; returns the outer end."""
        layout = self._layout(name)
        for member in self._library.members[name]:
            assert layout.fields is not None
            start = inner + layout.fields[member.name][1]
            count = 1 if member.count is None else member.count
            if member.kind in self._library.members:
                stride = self._layout(member.kind).itemsize
                for index in range(count):
                    outer = self._lay(member.kind, start + index * stride, outer)
                continue
            size = np.dtype(_FORMATS[member.kind]).itemsize
            outer = -(-outer // size) * size
            steps = np.arange(count * size)
            self._offsets.append(np.array([start + steps, outer + steps]))
            outer += count * size
        return outer
