"""MAVLink 2: frames, and the few messages that an autopilot and a simulator exchange.

From the public description of the protocol (mavlink.io, "Serialization") and of its messages (the
dialects minimal and common). A frame is 0xFD, the length of the payload, two bytes of flags, a
sequence number, system, component, three bytes of the message's number, the payload without its
zeros at the end, and a checksum that also covers the definition of the message.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Union

Value = Union[int, float, Sequence[float]]  # noqa: UP007 (a type at run time of 3.10)

MAGIC = 0xFD
_HEAD = struct.Struct("<BBBBBBBBH")  # magic, length, two flags, sequence, system, component, number
_SIGNED, _SIGNATURE = 1, 13
_TYPES = {
    "uint8_t": "B",
    "int8_t": "b",
    "uint16_t": "H",
    "int16_t": "h",
    "uint32_t": "I",
    "int32_t": "i",
    "uint64_t": "Q",
    "float": "f",
}


def checksum(data: bytes, value: int = 0xFFFF) -> int:
    """CRC-16/MCRF4XX."""
    for byte in data:
        low = (byte ^ value) & 0xFF
        low ^= (low << 4) & 0xFF
        value = (value >> 8) ^ (low << 8) ^ (low << 3) ^ (low >> 4)
    return value


@dataclasses.dataclass(frozen=True)
class Field:
    """A field as the definition of its message has it; `length` 0: no array."""

    name: str
    type: str
    length: int = 0

    @property
    def format(self) -> str:
        """For `struct`."""
        return f"{self.length or ''}{_TYPES[self.type]}"


class Message:
    """A message: its number, its name, its fields and how they stand in the payload."""

    def __init__(self, number: int, name: str, fields: str, extensions: str = "") -> None:
        """Fields are "type name" or "type name[n]", in the order of the definition."""
        self.number, self.name = number, name
        base = [_field(text) for text in fields.split(", ")]
        more = [_field(text) for text in extensions.split(", ")] if extensions else []
        # Large types first; extensions stand behind in the order of the definition.
        base.sort(key=lambda field: -struct.calcsize(_TYPES[field.type]))
        self.fields = base + more
        self.format = struct.Struct("<" + "".join(field.format for field in self.fields))
        self.seed = _seed(name, base)

    def pack(self, values: Mapping[str, Value]) -> bytes:
        """The whole payload; missing fields are 0."""
        flat: list[int | float] = []
        for field in self.fields:
            value = values.get(field.name, 0)
            if not field.length:
                assert isinstance(value, (int, float))
                flat.append(value)
                continue
            array = list(value) if isinstance(value, Sequence) else [0.0] * field.length
            assert len(array) == field.length
            flat.extend(array)
        unknown = set(values) - {field.name for field in self.fields}
        assert not unknown, unknown
        return self.format.pack(*flat)

    def unpack(self, payload: bytes) -> dict[str, Value]:
        """Zeros at the end may be missing; what a newer definition appended is ignored."""
        flat = self.format.unpack(payload.ljust(self.format.size, b"\0")[: self.format.size])
        found: dict[str, Value] = {}
        at = 0
        for field in self.fields:
            size = field.length or 1
            found[field.name] = flat[at : at + size] if field.length else flat[at]
            at += size
        return found


def _field(text: str) -> Field:
    kind, name = text.split(" ")
    name, _, length = name.partition("[")
    return Field(name, kind, int(length.rstrip("]") or 0))


def _seed(name: str, fields: Sequence[Field]) -> int:
    """What both sides must know of a message to agree on the checksum."""
    value = checksum(f"{name} ".encode())
    for field in fields:
        value = checksum(f"{field.type} {field.name} ".encode(), value)
        if field.length:
            value = checksum(bytes([field.length]), value)
    return (value & 0xFF) ^ (value >> 8)


class Writer:
    """Frames of one system."""

    def __init__(self, system: int, component: int) -> None:
        self._system, self._component, self._sequence = system, component, 0

    def frame(self, message: Message, values: Mapping[str, Value]) -> bytes:
        """The next frame."""
        payload = message.pack(values).rstrip(b"\0") or b"\0"
        head = _HEAD.pack(
            MAGIC,
            len(payload),
            0,
            0,
            self._sequence,
            self._system,
            self._component,
            message.number & 0xFF,
            message.number >> 8,
        )
        self._sequence = (self._sequence + 1) & 0xFF
        check = checksum(bytes([message.seed]), checksum(head[1:] + payload))
        return head + payload + struct.pack("<H", check)


class Reader:
    """Messages out of a stream of bytes; what is none of the known ones is skipped."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._messages = {message.number: message for message in messages}
        self._buffer = bytearray()
        self.skipped = 0  # bytes outside of frames, and frames with a wrong checksum
        self.unknown = 0  # frames of other messages

    def feed(self, data: bytes) -> Iterator[tuple[Message, dict[str, Value]]]:
        """The messages that are complete with these bytes."""
        self._buffer += data
        while True:
            start = self._buffer.find(MAGIC)
            garbage = len(self._buffer) if start < 0 else start
            self.skipped += garbage
            del self._buffer[:garbage]
            if len(self._buffer) < _HEAD.size:
                return
            _, length, flags, _, _, _, _, low, high = _HEAD.unpack_from(self._buffer)
            if flags & ~_SIGNED:  # a frame that only newer readers understand, or none
                self.skipped += 1
                del self._buffer[:1]
                continue
            size = _HEAD.size + length + 2 + (_SIGNATURE if flags & _SIGNED else 0)
            if len(self._buffer) < size:
                return
            message = self._messages.get(low + (high << 8))
            if message is None:  # without its definition the checksum proves nothing
                self.unknown += 1
                del self._buffer[:size]
                continue
            end = _HEAD.size + length
            requested = checksum(bytes([message.seed]), checksum(bytes(self._buffer[1:end])))
            if struct.unpack_from("<H", self._buffer, end)[0] != requested:
                self.skipped += 1
                del self._buffer[:1]  # a frame may begin inside of what looked like one
                continue
            payload = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:size]
            yield message, message.unpack(payload)


HEARTBEAT = Message(
    0,
    "HEARTBEAT",
    "uint8_t type, uint8_t autopilot, uint8_t base_mode, uint32_t custom_mode,"
    " uint8_t system_status, uint8_t mavlink_version",
)
HIL_ACTUATOR_CONTROLS = Message(
    93,
    "HIL_ACTUATOR_CONTROLS",
    "uint64_t time_usec, float controls[16], uint8_t mode, uint64_t flags",
)
HIL_SENSOR = Message(
    107,
    "HIL_SENSOR",
    "uint64_t time_usec, float xacc, float yacc, float zacc, float xgyro, float ygyro,"
    " float zgyro, float xmag, float ymag, float zmag, float abs_pressure, float diff_pressure,"
    " float pressure_alt, float temperature, uint32_t fields_updated",
    "uint8_t id",
)
HIL_GPS = Message(
    113,
    "HIL_GPS",
    "uint64_t time_usec, uint8_t fix_type, int32_t lat, int32_t lon, int32_t alt, uint16_t eph,"
    " uint16_t epv, uint16_t vel, int16_t vn, int16_t ve, int16_t vd, uint16_t cog,"
    " uint8_t satellites_visible",
    "uint8_t id, uint16_t yaw",
)
HIL_STATE_QUATERNION = Message(
    115,
    "HIL_STATE_QUATERNION",
    "uint64_t time_usec, float attitude_quaternion[4], float rollspeed, float pitchspeed,"
    " float yawspeed, int32_t lat, int32_t lon, int32_t alt, int16_t vx, int16_t vy, int16_t vz,"
    " uint16_t ind_airspeed, uint16_t true_airspeed, int16_t xacc, int16_t yacc, int16_t zacc",
)
DISTANCE_SENSOR = Message(
    132,
    "DISTANCE_SENSOR",
    "uint32_t time_boot_ms, uint16_t min_distance, uint16_t max_distance,"
    " uint16_t current_distance, uint8_t type, uint8_t id, uint8_t orientation,"
    " uint8_t covariance",
    "float horizontal_fov, float vertical_fov, float quaternion[4], uint8_t signal_quality",
)
