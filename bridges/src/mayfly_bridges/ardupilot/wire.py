"""The packets of ArduPilot's JSON interface (libraries/SITL/examples/JSON/readme.md there).

In: little-endian u16 magic, u16 frame rate [Hz], u32 frame count, and 16 or 32 u16 pulse widths
[us]. Out: one JSON object between two line feeds.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from typing import Any

from mayfly_bridges._flight.sample import Sample

MAGIC_16, MAGIC_32 = 18458, 29569
_COUNTS = {MAGIC_16: 16, MAGIC_32: 32}
_HEAD = struct.Struct("<HHI")


@dataclasses.dataclass(frozen=True)
class Servos:
    """A packet of ArduPilot."""

    rate: int  # [Hz] that it would like
    frame: int  # counts packets from the start of ArduPilot
    pulses: tuple[int, ...]  # [us] of 16 or 32 outputs, 0: the output is off


def decode(packet: bytes) -> Servos | None:
    """A packet of ArduPilot; None: it is something else."""
    if len(packet) < _HEAD.size:
        return None
    magic, rate, frame = _HEAD.unpack_from(packet)
    count = _COUNTS.get(magic)
    if count is None or len(packet) != _HEAD.size + 2 * count:
        return None
    return Servos(rate, frame, struct.unpack_from(f"<{count}H", packet, _HEAD.size))


def encode(sample: Sample, lock_step: bool) -> bytes:
    """The state of a robot as ArduPilot reads it; what is not known is left out."""
    state: dict[str, Any] = {
        "timestamp": sample.time,
        "imu": {"gyro": list(sample.gyro), "accel_body": list(sample.force)},
        "position": list(sample.position),
        "velocity": list(sample.velocity),
        "quaternion": list(sample.attitude),
    }
    if not lock_step:
        state["no_lockstep"] = True
    if sample.airspeed is not None:
        state["airspeed"] = sample.airspeed
    if sample.wind is not None:
        state["velocity_wind"] = list(sample.wind)
        direction, speed = sample.vane()
        state["windvane"] = {"direction": direction, "speed": speed}
    for number, distance in enumerate(sample.ranges[:6], 1):
        state[f"rng_{number}"] = distance
    return ("\n" + json.dumps(state, separators=(",", ":"), allow_nan=False) + "\n").encode()
