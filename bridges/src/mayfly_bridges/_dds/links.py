"""Frames of a robot: its links, joints and sensors, from the description of its group."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from mayfly_bridges._rotation import Quaternion, Vector, about_axis, multiply, rotate

BASE = "base_link"


@dataclasses.dataclass(frozen=True)
class Pose:
    """A frame in another one: position [m] and rotation (w, x, y, z)."""

    position: Vector
    rotation: Quaternion


@dataclasses.dataclass(frozen=True)
class Joint:
    """A hinge or slide between two named links."""

    name: str
    index: int
    parent: str
    child: str
    is_hinge: bool
    axis: Vector
    reference: float
    origin: Pose
    lower: float | None
    upper: float | None
    effort: float | None
    speed: float | None

    def pose(self, angle: float) -> Pose:
        """The child's frame in the parent's at an angle [rad] or a distance [m]."""
        moved = angle - self.reference
        if self.is_hinge:
            rotation = multiply(self.origin.rotation, about_axis(self.axis, moved))
            return Pose(self.origin.position, rotation)
        offset = rotate(self.origin.rotation, [moved * part for part in self.axis])
        x, y, z = (a + b for a, b in zip(self.origin.position, offset))
        return Pose((x, y, z), self.origin.rotation)


class Links:
    """The named frames of a robot and the joints between them.

    Link 0 is the base and gets the name that REP 105 wants, `base_link`; links without a name are
    called after their number. `left_out` names joints of other types, which have no field
    `joint.angle`; the links beyond them are not connected.
    """

    def __init__(self, described: dict[str, Any]) -> None:
        self.described = described
        self.base_name = str(described["links"][0]["name"] or BASE)
        self.names = [self._name(index) for index in range(len(described["links"]))]
        self.joints: list[Joint] = []
        self.left_out: list[str] = []
        for index, joint in enumerate(described["joints"]):
            if joint["type"] in ("hinge", "slide"):
                self.joints.append(self._joint(index, joint))
            else:
                self.left_out.append(str(joint["name"] or index))

    def name(self, link: int | None) -> str:
        """The frame of a link; None: the world."""
        return "odom" if link is None else self.names[link]

    def sensors(self, *kinds: str) -> list[dict[str, Any]]:
        """The sensors of these types, in the file's order."""
        return [sensor for sensor in self.described["sensors"] if sensor["type"] in kinds]

    def _name(self, index: int) -> str:
        if index == 0:
            return BASE
        return str(self.described["links"][index]["name"] or f"link{index}")

    def _joint(self, index: int, joint: dict[str, Any]) -> Joint:
        return Joint(
            name=str(joint["name"] or f"joint{index}"),
            index=index,
            parent=self.names[joint["parent"]],
            child=self.names[joint["child"]],
            is_hinge=joint["type"] == "hinge",
            axis=vector(joint["axis"]),
            reference=float(joint["reference"]),
            origin=pose(joint),
            lower=joint["lower"],
            upper=joint["upper"],
            effort=joint["effort"],
            speed=joint["speed"],
        )


def vector(values: Sequence[float]) -> Vector:
    """Three numbers."""
    x, y, z = (float(value) for value in values)
    return (x, y, z)


def pose(frame: dict[str, Any]) -> Pose:
    """The pose of a description: "position" and "rotation"."""
    w, x, y, z = (float(value) for value in frame["rotation"])
    return Pose(vector(frame["position"]), (w, x, y, z))
