"""Messages over TCP: four bytes of length (big-endian), then as many bytes of text.

Nothing here blocks: what a peer does not read or send in time is its own loss.
"""

from __future__ import annotations

import math
import select
import socket
import struct
from collections import deque
from collections.abc import Sequence
from typing import Protocol

MOST_IN = 1 << 16  # [byte] of a message from a peer
MOST_WAITING = 4 << 20  # [byte] that a peer may leave unread


class Gone(Exception):
    """A peer closed its connection, broke the framing, or does not read."""


def frame(text: str | bytes) -> bytes:
    """A message with its length."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">I", len(data)) + data


class Unframer:
    """Cuts a stream of bytes into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete now; Gone if one is too long."""
        self._buffer += data
        found = []
        while len(self._buffer) >= 4:
            size = struct.unpack_from(">I", self._buffer)[0]
            if size > MOST_IN:
                raise Gone(f"a message of {size} bytes; expected at most {MOST_IN}")
            if len(self._buffer) < 4 + size:
                break
            found.append(bytes(self._buffer[4 : 4 + size]))
            del self._buffer[: 4 + size]
        return found


class Peer:
    """A connection of an agent or a monitor."""

    def __init__(self, made: socket.socket, address: str) -> None:
        made.setblocking(False)
        self.address = address
        self.inbox: deque[bytes] = deque()
        self._socket = made
        self._unframer = Unframer()
        self._unsent = bytearray()

    def fileno(self) -> int:
        return self._socket.fileno()

    def poll(self) -> None:
        """Takes into `inbox` what has come; Gone if the peer is."""
        while len(self.inbox) < 1000:
            try:
                data = self._socket.recv(65536)
            except BlockingIOError:
                return
            except OSError as error:
                raise Gone(str(error)) from error
            if not data:
                raise Gone("closed")
            self.inbox.extend(self._unframer.feed(data))

    def send(self, text: str | bytes) -> None:
        """Sends a message, or keeps what does not fit yet; Gone if the peer does not read."""
        self._unsent += frame(text)
        self.flush()
        if len(self._unsent) > MOST_WAITING:
            raise Gone("it does not read what it is sent")

    def flush(self) -> None:
        """Sends what was kept."""
        while self._unsent:
            try:
                sent = self._socket.send(self._unsent)
            except BlockingIOError:
                return
            except OSError as error:
                raise Gone(str(error)) from error
            del self._unsent[:sent]

    def close(self) -> None:
        self._socket.close()


class Listener:
    """A port at which peers arrive."""

    def __init__(self, host: str, port: int) -> None:
        self._socket = socket.create_server((host, port), backlog=64)
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]

    def fileno(self) -> int:
        return self._socket.fileno()

    def accept(self) -> list[Peer]:
        """The peers that came."""
        found: list[Peer] = []
        while True:
            try:
                made, address = self._socket.accept()
            except OSError:  # none, or gone already
                return found
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            found.append(Peer(made, f"{address[0]}:{address[1]}"))

    def close(self) -> None:
        self._socket.close()


class Source(Protocol):
    """What has a socket."""

    def fileno(self) -> int: ...


def wait(sources: Sequence[Source], seconds: float) -> None:
    """Waits until one of the sources has something to receive or accept; inf: without a limit."""
    select.select(sources, [], [], seconds if seconds < math.inf else None)
