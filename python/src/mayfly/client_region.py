"""Memory that `mayfly serve` shares with a client over a Unix socket.

Values of large states and writes travel in it; docs/reference/protocol.md has its layout.
"""

from __future__ import annotations

import mmap
import os
import socket
import struct
from collections.abc import Callable

from mayfly import _messages as messages
from mayfly import errors

__all__ = ["Sharing"]

_LEAST = 16384  # [byte] from where on shared memory was measured to win
_ENTRY = messages.WRITE_ENTRY.size
TAG = 65535  # of requests whose answers nobody waits for


class Region:
    """Slots that one side fills and the other one empties; takes the file over."""

    def __init__(self, file: int, message: bytes) -> None:
        _, self._slots, self._first, self._stride, size = messages.ANSWER_SHARED.unpack(message)
        try:
            if size < self._first + self._slots * self._stride or os.fstat(file).st_size < size:
                raise errors.CorruptError("the server sent shared memory that is malformed")
            self._memory = mmap.mmap(file, size)
        finally:
            os.close(file)
        self._numbers = [0] * self._slots  # of what was put last in each
        self._last = 0

    def close(self) -> None:
        self._memory.close()

    def take(self, head: bytes, size: int, slot: int, number: int) -> bytes:
        """The head, and a copy of the first bytes of a slot, which is released."""
        if slot >= self._slots or size > self._stride:
            raise errors.CorruptError("the server named a slot that does not exist")
        start = self._first + slot * self._stride
        with memoryview(self._memory) as view, view[start : start + size] as values:
            data = b"".join((head, values))
        struct.pack_into("<I", self._memory, slot * messages.COUNTER, number)
        return data

    def put(self, parts: list[memoryview], size: int) -> tuple[int, int] | None:
        """Puts values of `size` bytes into a free slot; gives it and the number of that."""
        for slot, number in enumerate(self._numbers if size <= self._stride else ()):
            if struct.unpack_from("<I", self._memory, slot * messages.COUNTER)[0] != number:
                continue
            self._last = self._last % 0xFFFFFFFF + 1  # 0: the slot is unused
            self._numbers[slot] = self._last
            at = self._first + slot * self._stride
            for part in parts:
                self._memory[at : at + len(part)] = part
                at += len(part)
            return slot, self._last
        return None


class Sharing:
    """The shared memory of a connection; whatever does not fit goes over the socket."""

    def __init__(self, is_requested: bool, send: Callable[[bytes], None]) -> None:
        self.is_on = is_requested
        self._send = send
        self._files: list[int] = []  # that came before their messages were read
        self._regions: dict[
            int, Region
        ] = {}  # by number of the subscription; messages.ALL: of writes
        self._sizes: dict[int, int] = {}  # [byte] that were asked for

    def close(self) -> None:
        """Gives all of it back."""
        for number in list(self._regions):
            self.drop(number)
        for file in self._files:
            os.close(file)
        self._files = []

    def drop(self, number: int) -> None:
        """Gives the memory of a subscription, or of writes, back."""
        self._sizes.pop(number, None)
        region = self._regions.pop(number, None)
        if region is not None:
            region.close()

    def receive(self, connection: socket.socket, size: int) -> bytes:
        """What has come, at most `size` bytes; keeps a file that came with it."""
        if not self.is_on:
            return connection.recv(size)
        data, files, _, _ = socket.recv_fds(connection, size, 1, socket.MSG_CMSG_CLOEXEC)
        self._files.extend(files)
        return data

    def ask(self, number: int, size: int) -> None:
        """Asks for memory where it pays; does not wait for it."""
        if self.is_on and size >= _LEAST:
            self._sizes[number] = size
            request = messages.SHARE.ask(number, size if number == messages.ALL else 0)
            self._send(request.frame(TAG))

    def read(self, kind: int, tag: int, data: bytes) -> tuple[int, bytes] | None:
        """A message as it would be without shared memory; None: it was about that."""
        if kind == messages.ANSWER_SHARED.kind:
            if not self._files:
                raise errors.CorruptError("shared memory came without its file")
            region = Region(self._files.pop(0), data)
            self._regions[messages.ANSWER_SHARED.unpack(data)[0]] = region
            return None
        if kind == messages.ANSWER_STATE_SHARED.kind:
            number, *_, slot, content = messages.ANSWER_STATE_SHARED.unpack(data)
            if number not in self._regions:
                raise errors.CorruptError("the server put a state where there is no memory")
            region = self._regions[number]
            return messages.ANSWER_STATE.kind, region.take(data, self._sizes[number], slot, content)
        # Refused: all goes over the socket.
        return None if kind == messages.ANSWER_ERROR.kind and tag == TAG else (kind, data)

    def write(self, tick: int, entries: list[bytes], go: bool) -> bool:
        """Sends a write; False: it is to go over the socket."""
        size = sum(len(entry) - _ENTRY for entry in entries)
        if not self.is_on or size < _LEAST:
            return False
        if size > self._sizes.get(messages.ALL, 0):
            self.drop(messages.ALL)  # as the server does when it reads this
            self.ask(messages.ALL, size)
            return False
        region = self._regions.get(messages.ALL)
        parts = [memoryview(entry)[_ENTRY:] for entry in entries]
        place = region.put(parts, size) if region is not None else None
        if place is None:
            return False
        heads = b"".join(entry[:_ENTRY] for entry in entries)
        request = messages.WRITE_SHARED.ask(tick, len(entries), go, *place, tail=heads)
        self._send(request.frame(0))
        return True
