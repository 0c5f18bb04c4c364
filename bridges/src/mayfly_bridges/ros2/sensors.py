"""Which sensors of a robot make an inertial unit and a laser scanner, and their messages."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mayfly_bridges._dds.links import BASE, Links, Pose, pose, vector
from mayfly_bridges._dds.rotation import (
    IDENTITY,
    Vector,
    conjugate,
    from_angles,
    multiply,
    rotate,
)
from mayfly_bridges.ros2 import encode

_GRAVITY: Vector = (0.0, 0.0, -9.81)
_SAME = 1e-6  # [m], [1] two sensors in one place
_EVEN = 1e-4  # [rad] rays of one scan


@dataclasses.dataclass(frozen=True)
class Imu:
    """The first gyroscope and accelerometer of one frame; `orientation` may be missing."""

    link: str
    pose: Pose  # in the link
    rate: int  # first value of each in sensor.value
    acceleration: int
    attitude: dict[str, Any] | None
    deviations: tuple[float, float, float]

    def message(
        self, nanoseconds: int, frame: str, values: Sequence[float], truth: Sequence[float]
    ) -> Any:
        """sensor_msgs/Imu from the sensors' values; `truth` is the orientation without a sensor."""
        orientation = truth
        if self.attitude is not None:
            first = int(self.attitude["address"])
            found = values[first : first + int(self.attitude["count"])]
            orientation = from_angles(*found) if len(found) == 3 else found
        return encode.imu(
            nanoseconds,
            frame,
            orientation,
            values[self.rate : self.rate + 3],
            values[self.acceleration : self.acceleration + 3],
            self.deviations,
        )


def find_imu(links: Links) -> Imu | None:
    """The inertial unit of a robot, if it has one."""
    gyroscopes, accelerometers = links.sensors("gyro"), links.sensors("accelerometer")
    attitudes = links.sensors("attitude", "framequat")
    for gyroscope in gyroscopes:
        for accelerometer in accelerometers:
            if not _same_frame(gyroscope, accelerometer):
                continue
            seen = [a for a in attitudes if _same_frame(gyroscope, a)]
            noise = [seen[0] if seen else None, gyroscope, accelerometer]
            turn, spin, push = (float(s["signal"]["noise"]) if s else 0.0 for s in noise)
            return Imu(
                link=links.name(gyroscope["frame"]["link"]),
                pose=pose(gyroscope["frame"]),
                rate=int(gyroscope["address"]),
                acceleration=int(accelerometer["address"]),
                attitude=seen[0] if seen else None,
                deviations=(turn, spin, push),
            )
    return None


def true_imu(
    nanoseconds: int,
    frame: str,
    orientation: Sequence[float],
    rate: Sequence[float],
    change: Sequence[float],
    seconds: float,
) -> Any:
    """sensor_msgs/Imu of the base from the true state: `change` [m/s] of velocity in `seconds`."""
    felt = [part / seconds - g for part, g in zip(change, _GRAVITY)]
    return encode.imu(nanoseconds, frame, orientation, rate, rotate(conjugate(orientation), felt))


@dataclasses.dataclass(frozen=True)
class Scan:
    """Rays from one point in one plane with even angles, as a laser scanner has them."""

    link: str
    pose: Pose  # in the link; rays are in its x-y plane
    first: float  # [rad] about z
    increment: float  # [rad]
    reach: float  # [m]
    period: float  # [s] between measurements; 0: each step
    addresses: tuple[int, ...]  # in the order of angles

    def message(self, nanoseconds: int, frame: str, values: Sequence[float]) -> Any:
        """sensor_msgs/LaserScan from the sensors' values."""
        ranges = [values[address] for address in self.addresses]
        return encode.laser_scan(
            nanoseconds, frame, self.first, self.increment, self.period, self.reach, ranges
        )


def find_scan(links: Links) -> Scan | None:
    """The laser scanner of a robot: all its range sensors, if they make one.

    The plane is the x-y plane of the link; the rays leave its z axis or one point.
    """
    rays = links.sensors("ray", "rangefinder")
    if len(rays) < 2 or any(ray["frame"]["link"] != rays[0]["frame"]["link"] for ray in rays):
        return None
    start = vector(rays[0]["frame"]["position"])
    if any(math.dist(start, ray["frame"]["position"]) > _SAME for ray in rays):
        return None
    found = []
    for ray in rays:
        x, y, z = _direction(ray)
        if abs(z) > _EVEN:
            return None
        found.append((math.atan2(y, x), int(ray["address"])))
    found.sort()
    angles = [angle for angle, _ in found]
    increment = (angles[-1] - angles[0]) / (len(angles) - 1)
    even = [angles[0] + increment * index for index in range(len(angles))]
    if increment < _EVEN or any(abs(a - b) > _EVEN for a, b in zip(angles, even)):
        return None
    rate = rays[0]["signal"]["rate"]
    return Scan(
        link=links.name(rays[0]["frame"]["link"]),
        pose=Pose(start, IDENTITY),
        first=angles[0],
        increment=increment,
        reach=min(_reach(ray) for ray in rays),
        period=rate["denominator"] / rate["numerator"] if rate["numerator"] else 0.0,
        addresses=tuple(address for _, address in found),
    )


def orientation_of(links: Links, link: str, angles: Sequence[float]) -> tuple[float, ...]:
    """The rotation of a link in the base at these joint angles."""
    by_child = {joint.child: joint for joint in links.joints}
    rotation = IDENTITY
    while link != BASE and link in by_child:
        joint = by_child[link]
        rotation = multiply(joint.pose(angles[joint.index]).rotation, rotation)
        link = joint.parent
    return rotation


def _same_frame(a: dict[str, Any], b: dict[str, Any]) -> bool:
    one, other = a["frame"], b["frame"]
    turned = multiply(conjugate(one["rotation"]), other["rotation"])
    return (
        one["link"] == other["link"]
        and math.dist(one["position"], other["position"]) < _SAME
        and abs(turned[0]) > 1.0 - _SAME
    )


def _direction(ray: dict[str, Any]) -> Vector:
    along: Vector = (0.0, 0.0, 1.0) if ray["type"] == "rangefinder" else (1.0, 0.0, 0.0)
    return rotate(ray["frame"]["rotation"], along)


def _reach(ray: dict[str, Any]) -> float:
    if ray["range"] > 0.0:
        return float(ray["range"])
    upper = float(ray["signal"]["range"][1])
    return upper if upper > 0.0 else math.inf
