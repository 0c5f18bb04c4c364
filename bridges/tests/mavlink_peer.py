"""The other side of PX4's simulator interface, by pymavlink: it decodes every message and refuses
what is not well-formed, and sends outputs."""

from __future__ import annotations

import math
import os
import socket
from typing import Any

os.environ["MAVLINK20"] = "1"
from pymavlink.dialects.v20 import common  # noqa: E402

HOME = (47.397742, 8.545594, 488.0)
RADIUS = 6371000.0


def local(message: Any) -> list[float]:
    """North, east, down [m] from home of a message with latitude, longitude and altitude."""
    north = math.radians(1e-7 * message.lat - HOME[0]) * RADIUS
    east = math.radians(1e-7 * message.lon - HOME[1]) * RADIUS * math.cos(math.radians(HOME[0]))
    return [north, east, HOME[2] - 1e-3 * message.alt]


class Peer:
    """One PX4: `step` waits for HIL_SENSOR, `act` answers it."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(20)
        self.coder = common.MAVLink(None, srcSystem=1, srcComponent=1)
        self.coder.robust_parsing = False  # a wrong checksum is an exception
        self.waiting: list[Any] = []
        self.newest: dict[str, Any] = {}
        self.counts: dict[str, int] = {}

    def close(self) -> None:
        self.socket.close()

    def step(self) -> Any:
        """The next HIL_SENSOR; `newest` has the last message of each name."""
        while True:
            while not self.waiting:
                data = self.socket.recv(65536)
                assert data, "the bridge has closed the connection"
                self.waiting = self.coder.parse_buffer(data) or []
            message = self.waiting.pop(0)
            assert message.get_msgbuf()[0] == 0xFD
            name = message.get_type()
            self.newest[name] = message
            self.counts[name] = self.counts.get(name, 0) + 1
            if name == "HIL_SENSOR":
                return message

    def act(self, controls: list[float], time: int) -> None:
        """HIL_ACTUATOR_CONTROLS of an armed vehicle in lock-step."""
        filled = controls + [0.0] * (16 - len(controls))
        message = self.coder.hil_actuator_controls_encode(time, filled, 128 + 1, 1)
        self.socket.sendall(message.pack(self.coder))
