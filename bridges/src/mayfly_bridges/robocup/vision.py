"""What a robot's eyes see: directions and distances, in a field of view of 120 by 120 degrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mayfly_bridges.robocup.percepts import cut

Array = npt.NDArray[np.float64]

HALF = 60.0  # [deg] of view to each side, upward and downward


@dataclass(frozen=True)
class Seen:
    """Marks of another robot."""

    team: str
    number: int
    names: Sequence[str]
    at: Array  # [m] (marks, 3), world


def polar(points: Array, eye: Array, rotation: Array) -> tuple[Array, Array, Array]:
    """Distances [m], azimuths (to the left) and elevations [deg] of points from an eye."""
    local = (points - eye) @ rotation
    distance = np.linalg.norm(local, axis=-1)
    azimuth = np.degrees(np.arctan2(local[..., 1], local[..., 0]))
    height = local[..., 2] / np.maximum(distance, 1e-9)
    return distance, azimuth, np.degrees(np.arcsin(np.clip(height, -1, 1)))


def _texts(names: Sequence[str], points: Array, eye: Array, rotation: Array) -> str:
    distance, azimuth, elevation = polar(points, eye, rotation)
    fits = (np.abs(azimuth) <= HALF) & (np.abs(elevation) <= HALF)
    parts = [cut(values, 2) for values in (distance, azimuth, elevation)]
    return "".join(
        f"({name} (pol {parts[0][i]} {parts[1][i]} {parts[2][i]}))"
        for i, name in enumerate(names)
        if fits[i]
    )


def see(
    eye: Array,
    rotation: Array,
    flags: Sequence[str],
    flags_at: Array,
    ball: Array,
    others: Sequence[Seen],
) -> str:
    """The percept of a robot whose eye is at `eye` [m] and looks along the x axis of `rotation`."""
    names = [*flags, "B"]
    found = _texts(names, np.vstack((flags_at, ball)), eye, rotation)
    for other in others:
        marks = _texts(other.names, other.at, eye, rotation)
        if marks:
            found += f"(P (team {other.team})(id {other.number}){marks})"
    return f"(See {found})"
