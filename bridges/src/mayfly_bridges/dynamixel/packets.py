"""Packets of Dynamixel protocol 2.0: how bytes of a bus are sent and found.

A packet is FF FF FD 00, id, length, instruction, parameters and a CRC-16. FF FF FD after the length
is followed by another FD, the stuffing, so that it is no header.
"""

from __future__ import annotations

from collections.abc import Iterator

HEADER = b"\xff\xff\xfd\x00"
MARK = HEADER[:3]
BROADCAST = 0xFE
SERVOS = 252  # ids are 1 .. 252
STATUS = 0x55
LONGEST = 4096  # [byte] of a packet
ANSWERS = 65536  # [byte] that may wait
PATIENCE = 0.1  # [s] for the rest of a packet
_HEAD = 7  # [byte] before the instruction


def _remainder(value: int) -> int:
    for _ in range(8):
        value = (value << 1 ^ (0x8005 if value & 0x8000 else 0)) & 0xFFFF
    return value


_REMAINDERS = [_remainder(byte << 8) for byte in range(256)]


def crc(data: bytes | bytearray) -> bytes:
    """The checksum, as it is sent."""
    value = 0
    for byte in data:
        value = value << 8 & 0xFFFF ^ _REMAINDERS[value >> 8 ^ byte]
    return value.to_bytes(2, "little")


def pack(number: int, body: bytes) -> bytes:
    """A packet of an instruction or status (`body[0]`) and its parameters, stuffed."""
    body = body[:1] + body[1:].replace(MARK, MARK + b"\xfd")
    data = HEADER + bytes([number]) + (len(body) + 2).to_bytes(2, "little") + body
    return data + crc(data)


class Answers:
    """Status packets that wait to be sent. Those that do not fit are dropped."""

    def __init__(self) -> None:
        self.data = bytearray()

    def status(self, number: int, error: int, data: bytes = b"") -> None:
        """Appends a status packet."""
        packet = pack(number, bytes([STATUS, error]) + data)
        if len(self.data) + len(packet) <= ANSWERS:
            self.data += packet

    def begin_fast(self, size: int) -> FastAnswer | None:
        """Begins the answer of a fast read, to which `size` bytes will be appended; None: it does
        not fit."""
        if size + 1 > 0xFFFF or len(self.data) + _HEAD + 1 + size > ANSWERS:
            return None
        begin = len(self.data)
        self.data += HEADER + bytes([BROADCAST]) + (size + 1).to_bytes(2, "little")
        self.data.append(STATUS)
        return FastAnswer(self.data, begin)


class FastAnswer:
    """One packet with the parts of several servos, without stuffing."""

    def __init__(self, data: bytearray, begin: int) -> None:
        self._data, self._begin = data, begin

    def append(self, number: int, error: int, data: bytes) -> None:
        """Appends the part of a servo, with a checksum of the packet up to there."""
        self._data += bytes([error, number]) + data
        self._data += crc(self._data[self._begin :])


class Reader:
    """Finds packets in a stream of bytes; what is no packet is dropped."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._fed = 0.0  # [s] of the clock, when bytes came
        self.dropped = 0  # [byte]

    def clear(self) -> None:
        """Forgets the beginning of a packet."""
        self.dropped += len(self._data)
        self._data.clear()

    def feed(self, data: bytes, clock: float) -> Iterator[tuple[int, int, bytes]]:
        """Id, instruction and parameters of each packet that is complete at `clock` [s]."""
        if clock - self._fed > PATIENCE:  # half a packet, whose sender is gone
            self.clear()
        self._fed = clock
        self._data += data
        at = 0
        while at < len(self._data):
            total = self._measure(at)
            if total > len(self._data) - at:
                break
            packet = self._data[at : at + total]
            if total and crc(packet[:-2]) == packet[-2:]:
                at += total
                body = packet[_HEAD + 1 : -2].replace(MARK + b"\xfd", MARK)
                yield packet[4], packet[_HEAD], bytes(body)
            else:
                at += 1
                self.dropped += 1
        del self._data[:at]

    def _measure(self, at: int) -> int:
        """[byte] of the packet at `at`; 0: it is none, more than is there: it is not complete."""
        head = self._data[at : at + _HEAD]
        if head[:4] != HEADER[: len(head)]:
            return 0
        if len(head) < _HEAD:
            return _HEAD
        total = _HEAD + head[5] + 256 * head[6]
        is_id = head[4] <= SERVOS or head[4] == BROADCAST
        return total if is_id and _HEAD + 3 <= total <= LONGEST else 0
