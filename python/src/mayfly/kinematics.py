"""Inverse kinematics: joint angles at which a point of a robot is at a target."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import ffi, fill, lib, output
from mayfly._shown import Brief

__all__ = ["Reach", "solve"]


@dataclasses.dataclass(frozen=True, repr=False)
class Reach(Brief):
    """The result of Model.inverse_kinematics().

    Attributes:
        angles: [rad] or [m] of all joints, in their order.
        reached: position and rotation are within the tolerances.
        distance: [m] of the point from the target.
        rotation_error: [rad] of the link's rotation from the target's; 0 without one.
        iterations: in all starts.
        starts: that were tried.

    """

    angles: npt.NDArray[np.float64]
    reached: bool
    distance: float
    rotation_error: float
    iterations: int
    starts: int


def _vector(name: str, values: npt.ArrayLike, size: int) -> list[float]:
    row = np.asarray(values, float)
    if row.shape != (size,):
        raise ValueError(f"{name}: need {size} numbers, got shape {row.shape}")
    return [float(value) for value in row]


def solve(
    context: Any,
    model: Any,
    link: int,
    position: npt.ArrayLike,
    rotation: npt.ArrayLike | None,
    start: npt.ArrayLike,
    point: npt.ArrayLike,
    settings: Mapping[str, object],
) -> Reach:
    """The same for native objects."""
    if settings.keys() & {"link", "point", "use_rotation"}:
        raise TypeError("inverse_kinematics: link, point and rotation are arguments")
    config = lib.mf_inverse_kinematics_config()
    alive = fill(config, settings, "inverse_kinematics")
    config.link = link
    config.point = _vector("point", point, 3)
    config.use_rotation = rotation is not None
    goal = ffi.new("double[3]", _vector("position", position, 3))
    target_rotation = ffi.NULL
    if rotation is not None:
        target_rotation = ffi.new("double[4]", _vector("rotation", rotation, 4))
    angles = np.array(_vector("start", start, int(model.joint_count)))
    data, place = ffi.from_buffer("double[]", angles), ffi.addressof(config)
    result = output(lib.mf_inverse_kinematics, context, model, place, goal, target_rotation, data)
    del alive
    return Reach(
        angles=angles,
        reached=bool(result.reached),
        distance=float(result.distance),
        rotation_error=float(result.rotation_error),
        iterations=int(result.iterations),
        starts=int(result.starts),
    )
