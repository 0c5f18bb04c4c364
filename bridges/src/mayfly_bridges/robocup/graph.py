"""The scene as monitors get it: nodes with transforms, shapes, and names of agents and the ball.

`full` is the whole graph; `diff` has the same nesting, but only what moved. Nodes of RSMP have
names; those of the older protocol do not, and only named materials.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly_bridges._rotation import matrix
from mayfly_bridges.robocup.robot import Robot

Array = npt.NDArray[np.float64]

MOVED = 0.005  # largest change of an element of a transform that is not worth a message
MATERIALS = ("matLeft", "matRight")


def transform(position: Array, rotation: Array) -> Array:
    """The 16 numbers of a transform, column by column."""
    made = np.zeros((4, 4))
    made[:3, :3] = rotation.T
    made[3, :3] = position
    made[3, 3] = 1.0
    return made.ravel()


def slt(numbers: Array) -> str:
    """A transform as text."""
    return "(SLT " + " ".join(f"{number + 0.0:.4f}" for number in numbers) + ")"


@dataclass
class Shape:
    """A shape of a body; its place in the body, None: its origin."""

    text: str
    place: Array | None


@dataclass
class Body:
    """A node that moves, with its shapes and the bodies on it."""

    name: str = ""  # "ball" or "agent TEAM NUMBER"
    shapes: list[Shape] = field(default_factory=list)
    bodies: list[Body] = field(default_factory=list)
    at: Array = field(default_factory=lambda: transform(np.zeros(3), np.eye(3)))
    reported: Array = field(default_factory=lambda: np.full(16, np.inf))

    def full(self, named: bool) -> str:
        """The node with all that is in it; `named`: with names of agents and the ball."""
        self.reported = self.at
        inner = "".join(_shape(shape) for shape in self.shapes)
        inner += "".join(body.full(named) for body in self.bodies)
        text = f"(nd TRF{slt(self.at)}{inner})"
        return f"(nd DSC({self.name}){text})" if self.name and named else text

    def diff(self, named: bool) -> str:
        """The node with what moved since it was reported, in the same nesting."""
        text = "(nd"
        if np.max(np.abs(self.at - self.reported)) > MOVED:
            self.reported = self.at
            text = f"(nd TRF{slt(self.at)}" if named else f"(nd {slt(self.at)}"
        text += "".join("(nd)" if shape.place is None else "(nd(nd))" for shape in self.shapes)
        text += "".join(body.diff(named) for body in self.bodies) + ")"
        return f"(nd{text})" if self.name and named else text


def _shape(shape: Shape) -> str:
    if shape.place is None:
        return shape.text
    return f"(nd TRF{slt(shape.place)}{shape.text})"


def _load(info: dict[str, Any], robot: Robot | None) -> tuple[str, list[float]] | None:
    """What to load for a shape, and its scale."""
    kind, size = info["type"], info["size"]
    if kind == "box":
        return "StdUnitBox", size
    if kind == "sphere":
        return "StdUnitSphere", [size[0]] * 3
    if kind in ("cylinder", "capsule"):
        return "StdUnitCylinder", [size[0], size[0], size[1]]
    if kind == "mesh" and robot is not None:
        mesh = robot.info["meshes"][info["mesh"]]
        return f"models/{robot.name}/{robot.mesh_file(info['mesh'])}", mesh["scale"]
    return None


def _look(color: list[float], colors: bool) -> str:
    if colors:
        return "(rgba " + " ".join(f"{part:.3g}" for part in color) + " 1)"
    return "(sMat matWhite)" if sum(color) > 1.8 else "(sMat matGrey)"


def shapes(
    info: list[dict[str, Any]], link: int, robot: Robot | None, material: str, colors: bool = True
) -> list[Shape]:
    """The shapes of a link that are seen; `material` instead of their colors, if there is one."""
    found = []
    seen = robot is not None and any(shape["visual"] for shape in info)
    for shape in info:
        load = _load(shape, robot)
        if (shape["link"] or 0) != link or load is None or (seen and not shape["visual"]):
            continue
        look = f"(sMat {material})" if material else _look(shape["color"], colors)
        scale = " ".join(f"{part:.6g}" for part in load[1])
        size = "" if scale == "1 1 1" else f"(sSc {scale})"
        place = transform(np.array(shape["position"]), matrix(shape["rotation"]))
        is_there = np.array_equal(place, transform(np.zeros(3), np.eye(3)))
        text = f"(nd SMN (setVisible 1)(load {load[0]}){look}{size})"
        found.append(Shape(text, None if is_there else place))
    return found


def agent_bodies(robot: Robot, name: str, side: int, colors: bool = True) -> list[Body]:
    """The bodies of a robot, one for each link; the first one is the base. Its body wears the
    color of its team."""
    heaviest = max(range(len(robot.links)), key=lambda link: robot.info["links"][link]["mass"])
    made = []
    for link in range(len(robot.links)):
        material = MATERIALS[side] if link == heaviest else ""
        made.append(Body(shapes=shapes(robot.info["shapes"], link, robot, material, colors)))
    made[0].name = name
    for link, parent in enumerate(robot.parents):
        if parent is not None:
            made[parent].bodies.append(made[link])
    return made


def move_agent(bodies: list[Body], robot: Robot, at: Array, quaternion: Array, q: Array) -> None:
    """Puts the bodies of a robot where it is: each one in the frame of its parent."""
    bodies[0].at = transform(at, matrix(quaternion))
    where, local_rotation = robot.local(q[None, :])
    for link, parent in enumerate(robot.parents):
        if parent is not None:
            joint = robot.joint_of[link]
            bodies[link].at = transform(where[0, joint], local_rotation[0, joint])
