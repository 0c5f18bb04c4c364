"""The other side of ArduPilot's JSON interface, written from its description: it sends servo
packets, takes the answers and checks every field of them."""

from __future__ import annotations

import json
import math
import socket
import struct
from typing import Any

VECTORS = ("position", "velocity")
KNOWN = {
    "timestamp",
    "imu",
    "position",
    "velocity",
    "attitude",
    "quaternion",
    "airspeed",
    "velocity_wind",
    "windvane",
    "battery",
    "rc",
    "no_lockstep",
} | {f"rng_{i}" for i in range(1, 7)}


def is_vector(value: object, count: int) -> bool:
    return (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(part, (int, float)) and math.isfinite(part) for part in value)
    )


def check(text: bytes) -> dict[str, Any]:
    """The state in a packet; AssertionError names what ArduPilot would not accept."""
    assert text.startswith(b"\n") and text.endswith(b"\n") and text.count(b"\n") == 2
    state: dict[str, Any] = json.loads(text)
    assert set(state) <= KNOWN, set(state) - KNOWN
    assert isinstance(state["timestamp"], float) and state["timestamp"] >= 0
    assert set(state["imu"]) == {"gyro", "accel_body"}
    assert is_vector(state["imu"]["gyro"], 3) and is_vector(state["imu"]["accel_body"], 3)
    for name in VECTORS:
        assert is_vector(state[name], 3), name
    assert "attitude" in state or "quaternion" in state
    if "attitude" in state:
        assert is_vector(state["attitude"], 3)
    if "quaternion" in state:
        assert is_vector(state["quaternion"], 4)
        assert abs(math.hypot(*state["quaternion"]) - 1) < 1e-6
    if "velocity_wind" in state:
        assert is_vector(state["velocity_wind"], 3)
    if "windvane" in state:
        assert set(state["windvane"]) == {"direction", "speed"}
        assert is_vector(list(state["windvane"].values()), 2)
    for name in KNOWN & set(state):
        if name.startswith("rng_") or name == "airspeed":
            assert isinstance(state[name], float) and math.isfinite(state[name])
    return state


class Peer:
    """Sends `pulses` [us] and receives states; its frames count from 0."""

    def __init__(self, port: int, rate: int = 500) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))
        self.socket.settimeout(20)
        self.frame = 0
        self.rate = rate

    def packet(self, pulses: list[int]) -> bytes:
        """Of 16 outputs, or of 32 if there are more; missing ones are off."""
        count = 16 if len(pulses) <= 16 else 32
        magic = 18458 if count == 16 else 29569
        filled = pulses + [0] * (count - len(pulses))
        return struct.pack(f"<HHI{count}H", magic, self.rate, self.frame, *filled)

    def send(self, pulses: list[int]) -> None:
        self.socket.send(self.packet(pulses))
        self.frame += 1

    def receive(self) -> dict[str, Any]:
        return check(self.socket.recv(65536))

    def exchange(self, pulses: list[int]) -> dict[str, Any]:
        """A frame and the state that answers it."""
        self.send(pulses)
        return self.receive()
