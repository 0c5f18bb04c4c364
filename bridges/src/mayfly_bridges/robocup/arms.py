"""Arms that are away from the body: with them a player must not touch the ball."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly_bridges._rotation import matrix
from mayfly_bridges.robocup.robot import Robot

Array = npt.NDArray[np.float64]

ARMS = ("hand", "forearm")  # in names of shapes and links
TRUNKS = ("torso", "trunk", "chest")  # names of the link between the arms, else it is the base
# As the league's server 0.2.1 judges: an arm may be so many of its radii in front of the trunk or
# beside it, and a player has fallen whose eyes are lower than this share of their height (0.45 m
# there; the eyes of T1 are at 1.098 m).
AHEAD, BESIDE = 3.0, 5.0
FALLEN = 0.41


def half_sizes(shape: dict[str, Any]) -> Array:
    """Half of the edges [m] of the box around a box, sphere, capsule or cylinder."""
    size = np.array(shape["size"], np.float64)
    if shape["type"] == "box":
        return size / 2
    if shape["type"] == "sphere":
        return np.full(3, size[0])
    return np.array([size[0], size[0], size[1] / 2 + size[0]])


class Arms:
    """Forearms and hands of a robot, and how far they may be from its trunk when a ball comes."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        shapes = robot.info["shapes"]
        solid = [i for i, s in enumerate(shapes) if s["collides"] and s["link"] is not None]
        behind = self._behind_elbows()
        self.shapes = {i for i in solid if shapes[i]["link"] in behind or self._is_named(shapes[i])}
        names = [name.lower() for name in robot.links]
        self._trunk = next((names.index(name) for name in TRUNKS if name in names), 0)
        of_trunk = [shapes[i] for i in solid if shapes[i]["link"] == self._trunk]
        self._middle = np.array(of_trunk[0]["position"]) if of_trunk else np.zeros(3)
        self._wide = half_sizes(of_trunk[0])[:2] if of_trunk else np.zeros(2)
        self._head = [shapes[i] for i in solid if shapes[i]["link"] == robot.camera.link]
        start = robot.poses(
            np.array([[0.0, 0.0, robot.rest_height]]), np.array([[1.0, 0, 0, 0]]), robot.start[None]
        )
        self._eye_height = float(self._eye(start[0][0], start[1][0])[2])

    def _is_named(self, shape: dict[str, Any]) -> bool:
        name = f"{shape['name']} {self.robot.links[shape['link']]}".lower()
        return any(word in name for word in ARMS)

    def _behind_elbows(self) -> set[int]:
        robot = self.robot
        found: set[int] = set()
        for link, parent in enumerate(robot.parents):
            joint = robot.joint_of[link]
            is_elbow = joint is not None and "elbow" in robot.joints[joint].lower()
            if parent in found or is_elbow:
                found.add(link)
        return found

    def _eye(self, at: Array, rotated: Array) -> Array:
        eye = self.robot.camera
        found: Array = at[eye.link] + rotated[eye.link] @ eye.position
        return found

    def _top(self, at: Array, rotated: Array) -> float:
        """Height [m] of the top of the head."""
        link = self.robot.camera.link
        heights = [float(self._eye(at, rotated)[2])]
        for shape in self._head:
            hand_rotation = rotated[link] @ matrix(shape["rotation"])
            middle = at[link] + rotated[link] @ np.array(shape["position"])
            heights.append(float(middle[2] + np.abs(hand_rotation[2]) @ half_sizes(shape)))
        return max(heights)

    def is_away(self, shape: int, at: Array, rotated: Array) -> bool:
        """Whether an arm's shape is away from the body; `at` (links, 3) [m] and `rotated`
        (links, 3, 3) are the poses of the robot's links."""
        info = self.robot.info["shapes"][shape]
        hand = at[info["link"]] + rotated[info["link"]] @ np.array(info["position"])
        trunk = rotated[self._trunk]
        middle = at[self._trunk] + trunk @ self._middle
        eye = self._eye(at, rotated)
        local = trunk.T @ (hand - middle)
        if eye[2] < FALLEN * self._eye_height:
            # Arms that carry a fallen player may be in front of him and beside him.
            is_on_side = abs(trunk[2, 1]) > abs(trunk[2, 0])
            above_head = bool(local[2] > abs((trunk.T @ (eye - middle))[2]))
            return bool(hand[2] > middle[2] + 2 * self._wide.max()) or (is_on_side and above_head)
        radius = float(half_sizes(info)[:2].min())
        most = self._wide + radius * np.array([AHEAD, BESIDE])
        return bool((np.abs(local[:2]) > most).any() or hand[2] > self._top(at, rotated))
