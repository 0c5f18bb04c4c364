"""A TCP port at which one PX4 finds its robot."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable, Sequence

from mayfly_bridges._flight.outputs import Control
from mayfly_bridges.px4 import mavlink
from mayfly_bridges.px4.mavlink import Message, Reader, Value, Writer

_LOOK = 0.2  # [s] between looks at the world while nothing comes
SYSTEM, COMPONENT = 1, 200  # as simulators of PX4 name themselves


class Link:
    """A server for one PX4 after another."""

    def __init__(self, address: str, port: int) -> None:
        """Binds the port; 0: a free one."""
        self._server = socket.create_server((address, port), backlog=1)
        self._peer: socket.socket | None = None
        self._reader = Reader([mavlink.HIL_ACTUATOR_CONTROLS])
        self._writer = Writer(SYSTEM, COMPONENT)
        self.port: int = self._server.getsockname()[1]
        self.has_answered = False  # PX4's outputs have begun
        self.controls: list[Control] = []  # the newest ones; without a PX4 none

    def close(self) -> None:
        """Ends the connection and frees the port."""
        self._drop()
        self._server.close()

    def _drop(self) -> None:
        if self._peer is not None:
            self._peer.close()
        self._peer, self.has_answered, self.controls = None, False, []

    def _accept(self, seconds: float) -> bool:
        if not select.select([self._server], [], [], seconds)[0]:
            return False
        self._peer, _ = self._server.accept()
        self._peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peer.settimeout(10)  # of a PX4 that does not read
        self._reader = Reader([mavlink.HIL_ACTUATOR_CONTROLS])
        self._writer = Writer(SYSTEM, COMPONENT)
        return True

    def synchronize(self, look: Callable[[], None] | None) -> bool:
        """Whether a PX4 has just connected. `look`, which may raise, is called from time to time
        while none is there; None: do not wait for one."""
        if self._peer is not None:
            return False
        if look is None:
            return self._accept(0.0)
        while not self._accept(_LOOK):
            look()
        return True

    @property
    def is_connected(self) -> bool:
        """Whether a PX4 is there."""
        return self._peer is not None

    def send(self, messages: Sequence[tuple[Message, dict[str, Value]]]) -> None:
        """Without a PX4, or one that is gone, nothing."""
        if self._peer is None:
            return
        self.take(0.0)  # what is older is no answer to these
        data = b"".join(self._writer.frame(message, values) for message, values in messages)
        try:
            if self._peer is not None:
                self._peer.sendall(data)
        except OSError:
            self._drop()

    def take(self, seconds: float) -> bool:
        """Waits for outputs, at most so long; False: none came."""
        found = False
        while self._peer is not None:
            if not select.select([self._peer], [], [], 0.0 if found else seconds)[0]:
                break
            try:
                data = self._peer.recv(65536)
            except OSError:
                data = b""
            if not data:
                self._drop()
                break
            for _, values in self._reader.feed(data):
                array = values["controls"]
                assert isinstance(array, Sequence)
                self.controls = [control(value) for value in array]
                self.has_answered = found = True
        return found


def control(value: float) -> Control:
    """0 .. 1 of a motor, -1 .. 1 of a surface; not a number: the output is off."""
    return Control(0.0, 0.0) if value != value else Control(value, value)
