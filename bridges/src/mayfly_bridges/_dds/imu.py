"""Inertial units of a robot: sensors of its file, or the true state of its base."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mayfly_bridges._dds.links import BASE, Links, Pose, pose
from mayfly_bridges._rotation import (
    IDENTITY,
    Quaternion,
    Vector,
    conjugate,
    from_angles,
    multiply,
    rotate,
)

_GRAVITY: Vector = (0.0, 0.0, -9.81)
_SAME = 1e-6  # [m], [1] two sensors at one position


@dataclasses.dataclass(frozen=True)
class Reading:
    """Orientation in the world (w, x, y, z), rate [rad/s], acceleration [m/s^2], at rest +g up."""

    orientation: Quaternion
    rate: Vector
    acceleration: Vector


@dataclasses.dataclass(frozen=True)
class Imu:
    """A gyroscope and an accelerometer in one frame, perhaps with a sensor of the orientation."""

    link: str
    pose: Pose  # in the link
    rate: int  # first value of each in sensor.value
    acceleration: int
    attitude: dict[str, Any] | None
    deviations: tuple[float, float, float]  # of the three quantities of a reading

    def read(self, values: Sequence[float], truth: Quaternion) -> Reading:
        """From the sensors' values; `truth` is the orientation where no sensor measures it."""
        orientation = truth
        if self.attitude is not None:
            first = int(self.attitude["address"])
            found = values[first : first + int(self.attitude["count"])]
            if len(found) == 3:
                orientation = from_angles(*found)
            else:
                orientation = (found[0], found[1], found[2], found[3])
        return Reading(orientation, _three(values, self.rate), _three(values, self.acceleration))

    def orientation(self, links: Links, base: Quaternion, angles: Sequence[float]) -> Quaternion:
        """The true one, from that of the base and the joint angles."""
        rotated = multiply(base, _rotation_of(links, self.link, angles))
        return multiply(rotated, self.pose.rotation)


def find_imus(links: Links) -> list[Imu]:
    """The inertial units of a robot, in the order of their gyroscopes."""
    attitudes = links.sensors("attitude", "framequat")
    found = []
    for gyroscope in links.sensors("gyro"):
        for accelerometer in links.sensors("accelerometer"):
            if not _same_frame(gyroscope, accelerometer):
                continue
            seen = [a for a in attitudes if _same_frame(gyroscope, a)]
            noise = [seen[0] if seen else None, gyroscope, accelerometer]
            attitude, spin, push = (float(s["signal"]["noise"]) if s else 0.0 for s in noise)
            made = Imu(
                link=links.name(gyroscope["frame"]["link"]),
                pose=pose(gyroscope["frame"]),
                rate=int(gyroscope["address"]),
                acceleration=int(accelerometer["address"]),
                attitude=seen[0] if seen else None,
                deviations=(attitude, spin, push),
            )
            found.append(made)
            break
    return found


class TrueImu:
    """The inertial unit of a robot without one: the true state at the origin of its base.

    The acceleration is the mean since the reading before.
    """

    def __init__(self) -> None:
        self._before: tuple[int, Sequence[float]] | None = None

    def read(
        self,
        nanoseconds: int,
        orientation: Quaternion,
        rate: Sequence[float],
        velocity: Sequence[float],
    ) -> Reading | None:
        """None at the first time, and when time has not gone on."""
        before, self._before = self._before, (nanoseconds, velocity)
        if before is None or before[0] >= nanoseconds:
            return None
        seconds = 1e-9 * (nanoseconds - before[0])
        felt = [(v - u) / seconds - g for v, u, g in zip(velocity, before[1], _GRAVITY)]
        return Reading(orientation, _three(rate, 0), rotate(conjugate(orientation), felt))


def _rotation_of(links: Links, link: str, angles: Sequence[float]) -> Quaternion:
    """The rotation of a link in the base at these joint angles."""
    by_child = {joint.child: joint for joint in links.joints}
    rotation = IDENTITY
    while link != BASE and link in by_child:
        joint = by_child[link]
        rotation = multiply(joint.pose(angles[joint.index]).rotation, rotation)
        link = joint.parent
    return rotation


def _three(values: Sequence[float], first: int) -> Vector:
    return (values[first], values[first + 1], values[first + 2])


def _same_frame(a: dict[str, Any], b: dict[str, Any]) -> bool:
    one, other = a["frame"], b["frame"]
    rotated = multiply(conjugate(one["rotation"]), other["rotation"])
    return (
        one["link"] == other["link"]
        and math.dist(one["position"], other["position"]) < _SAME
        and abs(rotated[0]) > 1.0 - _SAME
    )
