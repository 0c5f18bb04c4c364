"""The ball: where it is, and who touches it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges._rotation import matrix
from mayfly_bridges.robocup.arms import Arms, half_sizes
from mayfly_bridges.robocup.discipline import Who
from mayfly_bridges.robocup.referee import Touch
from mayfly_bridges.robocup.robot import Robot
from mayfly_bridges.robocup.squad import CYCLE, Squad

Array = npt.NDArray[np.float64]

REACH = 0.05  # [m] between ball and robot that a touch may have opened within a cycle


class Ball:
    """The only robot of a group."""

    def __init__(self, group: mayfly.RemoteGroup, step: float) -> None:
        info = group.describe()
        self.group = group
        self.info = info
        spheres = [shape for shape in info["shapes"] if shape["type"] == "sphere"]
        if not spheres:
            raise mayfly.ArgumentError(f"group {group.name}: expected a ball")
        self.radius = float(spheres[0]["size"][0])
        self._state = group.subscribe("base.position", period=CYCLE)
        touches = "wrench.count" in group.fields
        self._wrenches = group.subscribe("wrench.count") if touches else None
        self._was_hit = False
        self._step = step  # [s]
        self._pushed = 0  # steps until a push ends
        self._arms: dict[int, Arms] = {}  # by the id of the robot
        self.at = np.zeros(3)

    def read(self) -> None:
        """Takes the state of the present cycle."""
        self.at = self._state["base.position"][0].astype(np.float64)

    def watch(self) -> None:
        """Notes whether something pushes the ball in the present step, and ends a push of ours."""
        if self._pushed:
            self._pushed -= 1
            if not self._pushed:
                self.group.write("base.force", np.zeros((1, 3)))
        if self._wrenches is not None and self._wrenches["wrench.count"][0, 0] > 0:
            self._was_hit = True

    def drop(self, x: float, y: float) -> None:
        """Puts the ball on the ground, at rest."""
        self.put((x, y, self.radius))

    def put(self, at: Sequence[float], velocity: Sequence[float] | None = None) -> None:
        """Puts the ball somewhere [m], at rest or with a velocity [m/s]: that of a push in the
        present step."""
        self.group.place(at)
        if velocity is not None:
            force = self.info["mass"] / self._step * np.array(velocity)
            self.group.write("base.force", force.reshape(1, 3))
            self._pushed = 2
        self.at = np.array(at)
        self._was_hit = False

    def touched_by(self, seats: dict[Who, tuple[Squad, int]]) -> Touch | None:
        """Who touched the ball since the last call: the nearest robot, if something did."""
        was_hit, self._was_hit = self._was_hit, False
        if not was_hit and self._wrenches is not None:
            return None
        best, found, part = REACH if was_hit else 0.01, None, -1
        for who, (squad, seat) in seats.items():
            if np.linalg.norm(squad.position[seat] - self.at) > 2 * squad.robot.rest_height + 0.5:
                continue
            shape, gap = self._nearest(squad, seat)
            if gap < best:
                best, found, part = gap, who, shape
        if found is None:
            return None
        squad, seat = seats[found]
        arms = self._arms_of(squad.robot)
        at, rotated = squad.links()
        by_arm = part in arms.shapes and arms.is_away(part, at[seat], rotated[seat])
        return Touch(found, by_arm)

    def _arms_of(self, robot: Robot) -> Arms:
        if id(robot) not in self._arms:
            self._arms[id(robot)] = Arms(robot)
        return self._arms[id(robot)]

    def _nearest(self, squad: Squad, seat: int) -> tuple[int, float]:
        """The nearest shape of a robot to the ball, and how far it is [m]; shapes as boxes."""
        at, rotated = squad.links()
        found, best = -1, np.inf
        for index, shape in enumerate(squad.robot.info["shapes"]):
            if not shape["collides"] or shape["link"] is None:
                continue
            link = shape["link"]
            local = rotated[seat, link].T @ (self.at - at[seat, link])
            local = matrix(shape["rotation"]).T @ (local - shape["position"])
            out = np.maximum(np.abs(local) - half_sizes(shape), 0.0)
            gap = float(np.linalg.norm(out)) - self.radius
            if gap < best:
                found, best = index, gap
        return found, best
