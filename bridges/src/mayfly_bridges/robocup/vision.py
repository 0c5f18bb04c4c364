"""What a robot's eyes see: directions and distances, in a field of view of 120 by 120 degrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup.discipline import Who
from mayfly_bridges.robocup.percepts import cut

Array = npt.NDArray[np.float64]

HALF = 60.0  # [deg] of view to each side, upward and downward


@dataclass(frozen=True)
class Seen:
    """Marks of a robot."""

    team: str
    who: Who
    names: Sequence[str]
    at: Array  # [m] (marks, 3), world


def polar(points: Array, eye: Array, rotation: Array) -> tuple[Array, Array, Array]:
    """Distances [m], azimuths (to the left) and elevations [deg] of points from an eye."""
    local = (points - eye) @ rotation
    distance = np.linalg.norm(local, axis=-1)
    azimuth = np.degrees(np.arctan2(local[..., 1], local[..., 0]))
    height = local[..., 2] / np.maximum(distance, 1e-9)
    return distance, azimuth, np.degrees(np.arcsin(np.clip(height, -1, 1)))


class Detection:
    """What can be seen in a cycle: flags, the ball, marks of robots. Made once, for all eyes."""

    def __init__(
        self, flags: Sequence[str], flags_at: Array, ball: Array, robots: Sequence[Seen]
    ) -> None:
        self._names = [*flags, "B"]
        self._owners = [-1] * len(self._names)  # index of the robot, -1: none
        for index, robot in enumerate(robots):
            self._names += robot.names
            self._owners += [index] * len(robot.names)
        self._at = np.vstack((flags_at, ball, *(robot.at for robot in robots)))
        self._heads = [f"(P (team {robot.team})(id {robot.who[1]})" for robot in robots]
        self._index = {robot.who: index for index, robot in enumerate(robots)}

    def see(self, eye: Array, rotation: Array, who: Who) -> str:
        """The percept of a robot, which does not see itself. Its eye is at `eye` [m] and looks
        along the x axis of `rotation`."""
        own = self._index.get(who)
        distance, azimuth, elevation = polar(self._at, eye, rotation)
        fits = np.nonzero((np.abs(azimuth) <= HALF) & (np.abs(elevation) <= HALF))[0]
        numbers = cut(np.stack((distance[fits], azimuth[fits], elevation[fits]), axis=-1), 2)
        found, before = ["(See "], -1
        for index, (far, to_left, up) in zip(fits.tolist(), numbers):
            owner = self._owners[index]
            if owner == own:
                continue
            if owner != before:
                found.append(")" * (before >= 0) + self._heads[owner])
                before = owner
            found.append(f"({self._names[index]} (pol {far} {to_left} {up}))")
        return "".join(found) + ")" * (before >= 0) + ")"
