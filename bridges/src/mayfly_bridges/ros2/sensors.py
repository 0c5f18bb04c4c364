"""Which sensors of a robot make a laser scanner, and its messages."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from mayfly_bridges._dds.links import Links, Pose, vector
from mayfly_bridges._rotation import IDENTITY, Vector, rotate
from mayfly_bridges.ros2 import encode

_SAME = 1e-6  # [m] rays from one point
_EVEN = 1e-4  # [rad] rays of one scan


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


def _direction(ray: dict[str, Any]) -> Vector:
    along: Vector = (0.0, 0.0, 1.0) if ray["type"] == "rangefinder" else (1.0, 0.0, 0.0)
    return rotate(ray["frame"]["rotation"], along)


def _reach(ray: dict[str, Any]) -> float:
    if ray["range"] > 0.0:
        return float(ray["range"])
    upper = float(ray["signal"]["range"][1])
    return upper if upper > 0.0 else math.inf
