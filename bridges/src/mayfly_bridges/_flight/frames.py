"""Frames of autopilots from those of Mayfly.

World: Mayfly's x east, y north, z up; theirs north, east, down. Body: Mayfly's x forward, y left,
z up; theirs forward, right, down. Quaternions (w, x, y, z) rotate body axes to world axes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from mayfly_bridges._rotation import matrix as matrix
from mayfly_bridges._rotation import multiply

Vector = npt.NDArray[np.float64]

_HALF = math.sqrt(0.5)
_WORLD = np.array([0.0, _HALF, _HALF, 0.0])  # pi about north-east: swaps both, reverses up
_BODY = np.array([0.0, 1.0, 0.0, 0.0])  # pi about the forward axis


def ned(vector: npt.ArrayLike) -> Vector:
    """North, east, down from Mayfly's world axes."""
    x, y, z = np.asarray(vector, float)
    return np.array([y, x, -z])


def frd(vector: npt.ArrayLike) -> Vector:
    """Forward, right, down from Mayfly's body axes."""
    x, y, z = np.asarray(vector, float)
    return np.array([x, -y, -z])


def product(a: npt.ArrayLike, b: npt.ArrayLike) -> Vector:
    """The rotation b, then a."""
    first, second = (np.asarray(rotation, float).tolist() for rotation in (a, b))
    return np.array(list(multiply(first, second)))


def attitude(orientation: npt.ArrayLike) -> Vector:
    """Forward-right-down to north-east-down, w >= 0, from a body to world rotation of Mayfly."""
    rotated = product(product(_WORLD, orientation), _BODY)
    rotated /= np.linalg.norm(rotated)
    return -rotated if rotated[0] < 0 else rotated


def halfway(a: npt.ArrayLike, b: npt.ArrayLike) -> Vector:
    """The attitude in the middle between two that are near each other."""
    first, second = np.asarray(a, float), np.asarray(b, float)
    sum_ = first + second if float(first @ second) >= 0 else first - second
    middle: Vector = sum_ / np.linalg.norm(sum_)
    return middle


def euler(rotation: npt.ArrayLike) -> Vector:
    """Roll, pitch and yaw [rad] of an attitude, in the aerospace order."""
    m = matrix(rotation)
    return np.array(
        [
            math.atan2(m[2, 1], m[2, 2]),
            math.asin(min(1.0, max(-1.0, -m[2, 0]))),
            math.atan2(m[1, 0], m[0, 0]),
        ]
    )
