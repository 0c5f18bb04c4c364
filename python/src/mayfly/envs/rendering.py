"""Pictures of environments: render_mode="rgb_array", and "human" for a page of the browser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import lib
from mayfly.arrays import whole
from mayfly.cameras import Camera, FreeCamera
from mayfly.group import Group

__all__ = ["MODES", "Onlooker", "check_mode", "chosen", "tile"]

MODES = ["human", "rgb_array"]
_MOST = 16  # pictures of one call
_BACK = (-0.62, -0.62, 0.48)  # direction from a robot to the camera

Frame = npt.NDArray[np.uint8]


def check_mode(mode: object) -> str | None:
    """A render mode that exists."""
    if mode is None or mode in MODES:
        return mode
    raise errors.UnsupportedError(
        f"render_mode={mode!r}: environments have {MODES}; or record the robots with "
        "mayfly.Recorder(environment.group, ...) and show the file with mayfly.show(path)"
    )


def _reach(group: Group) -> float:
    """[m] from the base to the farthest part of a robot, if it were stretched out."""
    model: Any = group.model._use()
    reach = [0.0] * model.link_count
    for i in range(1, model.link_count):
        joint = model.joints[model.links[i].joint]
        reach[i] = reach[joint.parent] + math.hypot(*joint.position)
    most = 0.1
    for i in range(model.shape_count):
        shape = model.shapes[i]
        if shape.link != lib.MF_NONE and shape.type != lib.MF_SHAPE_PLANE:
            most = max(most, reach[shape.link] + math.hypot(*shape.position) + shape.size[0])
    return most


def chosen(robots: Sequence[int] | None, count: int, team: int) -> tuple[int, ...]:
    """The robots of which pictures are taken: the given ones, or the first of the first teams."""
    if robots is None:
        return tuple(range(0, min(count, _MOST * team), team))
    return tuple(whole(robot, "render_robots", 0, count) for robot in robots)


def tile(frames: Sequence[Frame], columns: int | None = None) -> Frame:
    """One picture of all of them, row by row; what is left over is black.

    `columns`: None: as many as rows, or one more.
    """
    if columns is None:
        columns = math.ceil(math.sqrt(len(frames)))
    columns = whole(columns, "columns", 1, len(frames) + 1)
    height, width = frames[0].shape[:2]
    rows = -(-len(frames) // columns)
    out = np.zeros((rows * height, columns * width, 3), np.uint8)
    for i, frame in enumerate(frames):
        row, column = divmod(i, columns)
        out[row * height : (row + 1) * height, column * width : (column + 1) * width] = frame
    return out


class Onlooker:
    """A camera that follows robots of a group."""

    def __init__(self, width: int, height: int) -> None:
        self._size = whole(width, "width", 1, 4097), whole(height, "height", 1, 4097)
        self._camera: FreeCamera | None = None
        self._distance = 1.0

    def again(self) -> Onlooker:
        """One with the same settings, that has not looked yet."""
        return Onlooker(*self._size)

    def look(self, group: Group) -> None:
        """Makes the camera, which adds fields to the group."""
        self._made(group)

    def _made(self, group: Group) -> FreeCamera:
        if self._camera is None:
            self._distance = min(max(2.0 * _reach(group), 0.5), 20.0)
            self._camera = FreeCamera(group.world, Camera(*self._size, fovy=0.8))
        return self._camera

    def frames(self, group: Group, robots: Sequence[int]) -> tuple[Frame, ...]:
        """Pictures (height, width, 3) of these robots."""
        camera = self._made(group)
        place = group.field("base.position").read()
        pictures = []
        for robot in robots:
            target = np.nan_to_num(np.asarray(place[robot], float))
            eye = target + self._distance * np.array(_BACK)
            picture = camera.take(eye, look_at=target, robot=(group, robot))
            assert picture.color is not None
            pictures.append(picture.color)
        return tuple(pictures)

    def close(self) -> None:
        """Gives the memory back."""
        if self._camera is not None:
            self._camera.close()
            self._camera = None
