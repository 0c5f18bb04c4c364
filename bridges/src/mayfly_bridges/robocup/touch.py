"""The ball: where it is, and who touches it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

import mayfly
from mayfly_bridges.robocup.referee import Who
from mayfly_bridges.robocup.robot import matrix
from mayfly_bridges.robocup.squad import CYCLE, Squad

Array = npt.NDArray[np.float64]

REACH = 0.05  # [m] between ball and robot that a touch may have opened within a cycle


class Ball:
    """The only robot of a group."""

    def __init__(self, group: mayfly.RemoteGroup) -> None:
        told = group.describe()
        self.group = group
        self.told = told
        spheres = [shape for shape in told["shapes"] if shape["type"] == "sphere"]
        if not spheres:
            raise mayfly.ArgumentError(f"group {group.name}: expected a ball")
        self.radius = float(spheres[0]["size"][0])
        self._state = group.subscribe("base.position", period=CYCLE)
        touches = "wrench.count" in group.fields
        self._wrenches = group.subscribe("wrench.count") if touches else None
        self._was_hit = False
        self.at = np.zeros(3)

    def read(self) -> None:
        """Takes the state of the present cycle."""
        self.at = self._state["base.position"][0].astype(np.float64)

    def watch(self) -> None:
        """Notes whether something pushes the ball in the present step."""
        if self._wrenches is not None and self._wrenches["wrench.count"][0, 0] > 0:
            self._was_hit = True

    def drop(self, x: float, y: float) -> None:
        """Puts the ball on the ground, at rest."""
        self.put((x, y, self.radius))

    def put(self, at: tuple[float, float, float]) -> None:
        """Puts the ball somewhere, at rest."""
        self.group.place(at)
        self.at = np.array(at)
        self._was_hit = False

    def touched_by(self, seats: dict[Who, tuple[Squad, int]]) -> Who | None:
        """Who touched the ball since the last call: the nearest robot, if something did."""
        was_hit, self._was_hit = self._was_hit, False
        if not was_hit and self._wrenches is not None:
            return None
        best, found = REACH if was_hit else 0.01, None
        for who, (squad, seat) in seats.items():
            if np.linalg.norm(squad.position[seat] - self.at) > 2 * squad.robot.rest_height + 0.5:
                continue
            gap = self._gap(squad, seat)
            if gap < best:
                best, found = gap, who
        return found

    def _gap(self, squad: Squad, seat: int) -> float:
        """[m] between the ball and the nearest shape of a robot, shapes as their boxes."""
        at, rotated = squad.links()
        gap = np.inf
        for shape in squad.robot.told["shapes"]:
            if not shape["collides"] or shape["link"] is None:
                continue
            link = shape["link"]
            local = rotated[seat, link].T @ (self.at - at[seat, link])
            local = matrix(shape["rotation"]).T @ (local - shape["position"])
            out = np.maximum(np.abs(local) - half_sizes(shape), 0.0)
            gap = min(gap, float(np.linalg.norm(out)) - self.radius)
        return gap


def half_sizes(shape: dict[str, object]) -> Array:
    """Half of the edges of the box around a box, sphere, capsule or cylinder."""
    size = np.array(shape["size"], np.float64)
    if shape["type"] == "box":
        return size / 2
    if shape["type"] == "sphere":
        return np.full(3, size[0])
    return np.array([size[0], size[0], size[1] / 2 + size[0]])
