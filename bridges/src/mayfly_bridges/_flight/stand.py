"""Keeps a vehicle at its start until its motors push.

The motions of vehicles have no ground to stand on, and an autopilot needs seconds at rest to find
its attitude. A quadrotor stays at its start place until its thrust exceeds its weight. An aircraft
is then pulled along a rail that ends at its start place, with constant acceleration from rest to
the velocity of its start; the autopilot's sensors see that. In the world the robot is at its start
meanwhile.
"""

from __future__ import annotations

import dataclasses

import numpy as np

import mayfly
from mayfly_bridges._flight import frames
from mayfly_bridges._flight.sample import Sample, Sampler


@dataclasses.dataclass(frozen=True)
class Rules:
    """When and how a vehicle leaves its stand."""

    release: float  # thrust of the motors, as a part of their largest one
    seconds: float = 0.0  # [s] on the rail


class Stand:
    """One robot's stand."""

    def __init__(
        self,
        group: mayfly.RemoteGroup,
        robot: int,
        sampler: Sampler,
        rules: Rules | None,
        gravity: float,
    ) -> None:
        """The robot is at its start; `rules` None: it stands on the ground by itself."""
        self._group, self._robot, self._sampler = group, robot, sampler
        self._rules, self._down = rules, np.array([0.0, 0.0, gravity])
        self._start = sampler.read(robot)
        self._since: float | None = None  # [s] when the rail began to pull
        self._placed: float | None = None  # [s] of the last reset
        self.is_fixed = rules is not None

    def reset(self) -> None:
        """Back to the start."""
        self._group.reset(self._robot, 1)
        self._sampler.place(self._robot, self._start)
        self._placed, self._since = self._sampler.now, None
        self.is_fixed = self._rules is not None

    def update(self, thrust: float) -> None:
        """Once for each command with the part of the thrust that it wants."""
        if not self.is_fixed or self._rules is None:
            return
        now = self._sampler.now
        if self._since is None and thrust > self._rules.release:
            self._since = now
        if self._since is not None and now - self._since >= self._rules.seconds:
            self.is_fixed = False
        self._group.reset(self._robot, 1)
        self._sampler.place(self._robot, self._start)

    def sample(self) -> Sample:
        """The robot's newest state, or that of the robot on its stand."""
        if not self.is_fixed or self._rules is None:
            if self._placed == self._sampler.now:  # the newest state is from before the reset
                return dataclasses.replace(self._start, time=self._placed)
            return self._sampler.read(self._robot)
        now, start, seconds = self._sampler.now, self._start, self._rules.seconds
        passed = 0.0 if self._since is None else min(now - self._since, seconds)
        pull = np.zeros(3)
        velocity, position = np.zeros(3), start.position
        if seconds > 0:
            part = passed / seconds
            velocity = start.velocity * part
            position = position - start.velocity * (0.5 * seconds * (1.0 - part * part))
            pull = start.velocity / seconds if self._since is not None else pull
        to_body = frames.matrix(start.attitude).T
        airspeed = None
        if start.airspeed is not None:
            air = velocity if start.wind is None else velocity - start.wind
            airspeed = max(0.0, float((to_body @ air)[0]))
        return dataclasses.replace(
            start,
            time=now,
            position=position,
            velocity=velocity,
            gyro=np.zeros(3),
            acceleration=pull,
            force=to_body @ (pull - self._down),
            airspeed=airspeed,
        )
