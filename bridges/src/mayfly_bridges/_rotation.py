"""Rotations as quaternions (w, x, y, z), one at a time; and their matrices, any number at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Quaternion = tuple[float, float, float, float]
Vector = tuple[float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
OPTICAL: Quaternion = (0.5, -0.5, 0.5, -0.5)  # REP 103: z forward, x right, in x forward, y left


def multiply(a: Sequence[float], b: Sequence[float]) -> Quaternion:
    """a b: first b, then a."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def conjugate(q: Sequence[float]) -> Quaternion:
    """The inverse rotation."""
    return (q[0], -q[1], -q[2], -q[3])


def rotate(q: Sequence[float], v: Sequence[float]) -> Vector:
    """A vector of the rotated frame in the other one."""
    _, x, y, z = multiply(multiply(q, (0.0, v[0], v[1], v[2])), conjugate(q))
    return (x, y, z)


def about_axis(axis: Sequence[float], angle: float) -> Quaternion:
    """About a unit vector."""
    half = math.sin(0.5 * angle)
    return (math.cos(0.5 * angle), half * axis[0], half * axis[1], half * axis[2])


def from_angles(roll: float, pitch: float, yaw: float) -> Quaternion:
    """About the fixed axes x, y and z, in this order."""
    about_y = multiply(about_axis((0.0, 1.0, 0.0), pitch), about_axis((1.0, 0.0, 0.0), roll))
    return multiply(about_axis((0.0, 0.0, 1.0), yaw), about_y)


def angles(q: Sequence[float]) -> Vector:
    """Roll, pitch and yaw: `from_angles` backwards."""
    w, x, y, z = q
    return (
        math.atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
        math.asin(max(-1.0, min(1.0, 2.0 * (w * y - z * x)))),
        math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)),
    )


def matrix(quaternion: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, np.float64), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
