"""Models of tasks with objects: a robot's file with a cube, gates or a ball in one MJCF file."""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Sequence

from mayfly.errors import ArgumentError
from mayfly.model import Model, data_folder

__all__ = ["course", "hand_with_cube"]

_FINGER = (0.0, 0.3, 1.0, 0.8)
_HOLD = (
    *3 * _FINGER,
    0.8,
    0.3,
    0.3,
    0.5,
)  # of an Allegro hand: it carries a cube between palm and fingers
_KINDS = (".xml", ".stl", ".obj", ".msh", ".png")


def _file(path: str | os.PathLike[str]) -> pathlib.Path:
    found = pathlib.Path(os.fsdecode(path))
    if len(found.parts) == 1 and not found.exists():
        found = data_folder() / "models" / found
    if found.suffix != ".xml":
        raise ArgumentError(f"need an MJCF file, got {str(path)!r}")
    return found


def _composed(path: pathlib.Path, options: str, world: str, more: str = "") -> Model:
    """A file as the model "robot" in a world with other bodies. Meshes are those of its folder."""
    assets = {path.name: path.read_bytes()}
    if b"<mesh" in assets[path.name] or b"<texture" in assets[path.name]:
        files = (one for one in path.parent.rglob("*") if one.suffix.lower() in _KINDS)
        assets |= {one.relative_to(path.parent).as_posix(): one.read_bytes() for one in files}
    return Model.from_string(
        f'<mujoco model="{path.stem}"><compiler angle="radian"/>{options}'
        f'<asset><model name="robot" file="{path.name}"/></asset>'
        f"<worldbody>{world}</worldbody>{more}</mujoco>",
        assets=dict(assets),
    )


def hand_with_cube(
    path: str | os.PathLike[str],
    *,
    tips: str = r".*_tip",
    joints: Sequence[float] = _HOLD,
    position: Sequence[float] = (-0.005, 0.0, 0.055),
    size: float = 0.06,
    mass: float = 0.08,
) -> Model:
    """A hand that is fixed in the world and a cube on its palm, the link "cube".

    Args:
        path: the hand's MJCF file, whose coordinates are kept, such as wonik_allegro/right_hand.xml
            of MuJoCo Menagerie.
        tips: regular expression: bodies of the fingertips, which get contact sensors with the cube.
        joints: [rad] default pose of the hand, in the order of its file; by default that of an
            Allegro hand whose palm looks up. Empty: all 0.
        position: [m] of the cube's center at the start.
        size: [m] of an edge.
        mass: [kg] of the cube.

    """
    file, half = _file(path), 0.5 * size
    bodies = re.findall(r'<body name="([^"]+)"', file.read_text(encoding="utf-8"))
    found = [body for body in bodies if re.fullmatch(tips, body)]
    if not found:
        raise ArgumentError(f"tips: no body of {file.name} matches {tips!r}")
    sides = [  # of the colors that are seen
        f'<geom type="box" contype="0" conaffinity="0" mass="0" pos="{x * half} {y * half} '
        f'{z * half}" size="{" ".join(str(half if n == 0 else 0.0005) for n in (x, y, z))}" '
        f'rgba="{color} 1"/>'
        for (x, y, z), color in (
            ((1, 0, 0), ".9 .2 .2"), ((-1, 0, 0), ".9 .6 .6"), ((0, 1, 0), ".2 .8 .2"),
            ((0, -1, 0), ".6 .9 .6"), ((0, 0, 1), ".2 .3 .9"), ((0, 0, -1), ".6 .7 .9"),
        )
    ]  # fmt: skip
    x, y, z = position
    sensors = (
        f'<contact name="{body}_cube" body1="{body}" body2="cube" data="found dist" '
        'reduce="mindist"/>'
        for body in found
    )
    numbers = " ".join(f"{value}" for value in (*joints, *position, 1, 0, 0, 0))
    pose = f'<keyframe><key name="hold" qpos="{numbers}"/></keyframe>' if joints else ""
    return _composed(
        file,
        '<option timestep="0.005" cone="elliptic" impratio="10" integrator="implicitfast"/>',
        '<geom name="floor" type="plane" size="0 0 1" pos="0 0 -0.3"/>'
        '<attach model="robot" prefix=""/>'
        f'<body name="cube" pos="{x} {y} {z}"><freejoint name="cube"/>'
        f'<geom name="cube" type="box" size="{half} {half} {half}" mass="{mass}" '
        f'rgba=".8 .8 .8 1"/>{"".join(sides)}</body>',
        f"<sensor>{''.join(sensors)}</sensor>{pose}",
    )


def course(
    path: str | os.PathLike[str],
    gates: Sequence[Sequence[float]],
    *,
    body: str = "body",
    size: float = 1.0,
) -> Model:
    """A robot that flies, and gates: square frames that stand in the world.

    Args:
        path: the robot's MJCF file, such as "quadrotor.xml".
        gates: (x, y, z [m], yaw [rad]) of each center; a gate's opening is across its x axis.
        body: the robot's body.
        size: [m] edge of the opening.

    """
    file, half, bar = _file(path), 0.5 * size, 0.05
    frames = [
        f'<body name="gate_{i}" pos="{x} {y} {z}" euler="0 0 {yaw}">'
        + "".join(
            f'<geom type="box" pos="0 {left} {up}" size="{bar} {wide} {tall}" rgba=".9 .4 .1 1"/>'
            for left, up, wide, tall in (
                (half + bar, 0, bar, half), (-half - bar, 0, bar, half),
                (0, half + bar, half + 2 * bar, bar), (0, -half - bar, half + 2 * bar, bar),
            )
        )
        + "</body>"
        for i, (x, y, z, yaw) in enumerate(gates)
    ]  # fmt: skip
    return _composed(
        file,
        '<option timestep="0.005"/>',
        '<geom name="floor" type="plane" size="0 0 1"/>'
        f'{"".join(frames)}<attach model="robot" body="{body}" prefix=""/>',
    )
