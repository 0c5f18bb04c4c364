"""What the sensors of an autopilot would measure, from the true state of a robot.

The accelerometer integrates, as a real one does: it gives the mean specific force of the time since
the last sample, the change of velocity over that time minus gravity, in the body axes in the middle
of that time. It sits at the origin of the base link. Nothing has noise here.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

import mayfly
from mayfly_bridges._flight import frames
from mayfly_bridges._flight.frames import Vector

FAR = 1000.0  # [m] what a range finder without a limit says when nothing is in front of it

_NEEDED = (
    "base.position",
    "base.orientation",
    "base.linear_velocity",
    "base.angular_velocity",
    "fault.word",
)
_USEFUL = ("wind.velocity", "air.speed", "air.alpha", "air.beta", "sensor.value")


@dataclasses.dataclass(frozen=True)
class Sample:
    """The state of a robot at a time, in the frames of autopilots."""

    time: float  # [s]
    position: Vector  # [m] north, east, down from the origin of the world
    velocity: Vector  # [m/s] north, east, down
    attitude: Vector  # forward-right-down to north-east-down (w, x, y, z)
    gyro: Vector  # [rad/s] forward, right, down
    force: Vector  # [m/s^2] specific force: forward, right, down
    acceleration: Vector  # [m/s^2] of the velocity: north, east, down
    airspeed: float | None = None  # [m/s] along the forward axis, as a pitot tube has it
    wind: Vector | None = None  # [m/s] of the air: north, east, down
    ranges: tuple[float, ...] = ()  # [m] of its range finders
    limits: tuple[float, ...] = ()  # [m] the farthest that each of them sees

    def vane(self) -> tuple[float, float]:
        """Where the air comes from [rad], clockwise from the front, and its speed [m/s] past the
        robot in its horizontal plane."""
        assert self.wind is not None
        coming = frames.matrix(self.attitude).T @ (self.velocity - self.wind)
        return math.atan2(coming[1], coming[0]), math.hypot(coming[0], coming[1])


@dataclasses.dataclass(frozen=True)
class Range:
    """A range finder of the model: its place in `sensor.value`."""

    address: int
    limit: float  # [m]


def range_finders(model: dict[str, Any]) -> list[Range]:
    """The range finders of a model (`RemoteGroup.describe`), in its order."""
    found = []
    for sensor in model.get("sensors", []):
        if sensor["type"] == "rangefinder":
            limit = sensor["signal"]["range"][1]
            found.append(Range(sensor["address"], limit if limit and limit > 0 else FAR))
    return found


class Sampler:
    """The samples of a group's robots, in lock-step or not."""

    def __init__(
        self, group: mayfly.RemoteGroup, period: float, gravity: float, ranges: list[Range]
    ) -> None:
        """Subscribes; `gravity` [m/s^2] is that of the world."""
        missing = [name for name in _NEEDED if name not in group.fields]
        if missing:
            raise mayfly.ArgumentError(f"group {group.name} has no field {', '.join(missing)}")
        names = _NEEDED + tuple(name for name in _USEFUL if name in group.fields)
        self._names = frozenset(names)
        self.state = group.subscribe(*names, period=period)
        self.now = 0.0  # [s] of the world: of the turn, or of the newest state
        self._down = np.array([0.0, 0.0, gravity])
        self._ranges = ranges if "sensor.value" in names else []
        self._last: dict[int, tuple[float, Vector, Vector]] = {}

    def place(self, robot: int, sample: Sample) -> None:
        """The robot was moved to this state now."""
        self._last[robot] = (self.now, sample.velocity, sample.attitude)

    def fault(self, robot: int) -> int:
        """The fault word of a robot."""
        return int(self.state["fault.word"][robot, 0])

    def read(self, robot: int) -> Sample:
        """The newest sample of a robot; its time is that of the world."""
        state, now = self.state, self.now
        velocity = frames.ned(state["base.linear_velocity"][robot])
        attitude = frames.attitude(state["base.orientation"][robot])
        before = self._last.get(robot, (now, velocity, attitude))
        self._last[robot] = (now, velocity, attitude)
        passed = round(now - before[0], 9)  # whole nanoseconds
        acceleration = (velocity - before[1]) / passed if passed > 0 else np.zeros(3)
        middle = frames.halfway(before[2], attitude)
        return Sample(
            time=now,
            position=frames.ned(state["base.position"][robot]),
            velocity=velocity,
            attitude=attitude,
            gyro=frames.frd(state["base.angular_velocity"][robot]),
            force=frames.matrix(middle).T @ (acceleration - self._down),
            acceleration=acceleration,
            airspeed=self._airspeed(robot, velocity, attitude),
            wind=self._wind(robot),
            ranges=tuple(self._range(robot, one) for one in self._ranges),
            limits=tuple(one.limit for one in self._ranges),
        )

    def _wind(self, robot: int) -> Vector | None:
        if "wind.velocity" not in self._names:
            return None
        return frames.ned(self.state["wind.velocity"][robot])

    def _airspeed(self, robot: int, velocity: Vector, attitude: Vector) -> float | None:
        if "air.speed" in self._names:  # with gusts, which the wind does not contain
            alpha, beta = (float(self.state[f"air.{n}"][robot, 0]) for n in ("alpha", "beta"))
            speed = float(self.state["air.speed"][robot, 0])
            return max(0.0, speed * math.cos(alpha) * math.cos(beta))
        wind = self._wind(robot)
        if wind is None:
            return None
        return max(0.0, float((frames.matrix(attitude).T @ (velocity - wind))[0]))

    def _range(self, robot: int, one: Range) -> float:
        value = float(self.state["sensor.value"][robot, one.address])
        return value if 0 <= value < one.limit else one.limit
