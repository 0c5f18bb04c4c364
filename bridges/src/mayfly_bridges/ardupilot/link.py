"""A UDP socket on which one ArduPilot finds its robot."""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import Any

from mayfly_bridges._flight.outputs import Control
from mayfly_bridges._flight.sample import Sample
from mayfly_bridges.ardupilot import wire
from mayfly_bridges.ardupilot.wire import Servos

_LOOK = 0.2  # [s] between looks at the world while nothing comes


class Link:
    """Packets of one ArduPilot, in order, and the states that answer them."""

    def __init__(self, address: str, port: int, lock_step: bool) -> None:
        """Binds the port; 0: a free one."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, port))
        self._socket.setblocking(False)
        self._lock_step = lock_step
        self._peer: Any = None  # its address; None: it has not come yet
        self._frame = -1  # of its newest packet
        self._answer: bytes | None = None  # the newest state that was sent
        self.port: int = self._socket.getsockname()[1]
        self.has_restarted = False  # with the packet that was taken last
        self.rate = 0  # [Hz] that it wants
        self.lost = 0  # packets, by their numbers
        self.late = 0  # packets that came after newer ones
        self.refused = 0  # datagrams that are none of ArduPilot's

    def close(self) -> None:
        """Frees the port."""
        self._socket.close()

    def send(self, sample: Sample) -> None:
        """Answers the packet before; without one nobody is there to be answered."""
        if self._peer is not None:
            self._answer = wire.encode(sample, self._lock_step)
            self._socket.sendto(self._answer, self._peer)

    def wait(self, look: Callable[[], None]) -> Servos:
        """The next new packet; `look` is called from time to time and may raise."""
        while True:
            servos = self.take()
            if servos is not None:
                return servos
            if not select.select([self._socket], [], [], _LOOK)[0]:
                look()

    def take(self) -> Servos | None:
        """The next new packet that has come already; None: there is none."""
        while True:
            try:
                packet, sender = self._socket.recvfrom(4096)
            except BlockingIOError:
                return None
            except ConnectionRefusedError:  # an answer found nobody: ArduPilot has ended
                continue
            servos = wire.decode(packet)
            if servos is None:
                self.refused += 1
            elif self._is_new(servos, sender):
                return servos

    def _is_new(self, servos: Servos, sender: Any) -> bool:
        """Whether the packet is a new one; an old one is answered by the old state again."""
        is_same = sender == self._peer
        if is_same and servos.frame == self._frame:
            if self._answer is not None:
                self._socket.sendto(self._answer, sender)
            return False
        if is_same and servos.frame < self._frame < 2 * servos.frame:
            self.late += 1  # overtaken on its way; a start counts from the beginning
            return False
        self.has_restarted = self._peer is None or servos.frame <= self._frame
        if self.has_restarted:
            self._answer = None  # the state before belongs to the robot before its reset
        else:
            self.lost += servos.frame - self._frame - 1
        self._peer, self._frame, self.rate = sender, servos.frame, servos.rate
        return True


def controls(servos: Servos) -> list[Control]:
    """1000 .. 2000 us as 0 .. 1 of a motor and -1 .. 1 of a surface; 0 us, an output that is off,
    is no thrust and no deflection."""
    return [
        Control(0.0, 0.0) if pulse == 0 else Control((pulse - 1000) / 1000, (pulse - 1500) / 500)
        for pulse in servos.pulses
    ]
