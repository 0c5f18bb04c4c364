"""Pictures of results; needs matplotlib. Every function draws into `axes`, or creates them, and
returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mayfly.records import Archive, Recording, optional

__all__ = ["evolution", "path", "series", "tiles"]


def _axes(axes: Any) -> Any:
    return optional("matplotlib.pyplot", "mayfly.plot").subplots()[1] if axes is None else axes


def evolution(archive: Archive, axes: Any = None) -> Any:
    """Best and mean fitness over the generations of an evolution."""
    axes = _axes(axes)
    table = archive.generations
    axes.plot(table["number"], table["best"], label="best")
    axes.plot(table["number"], table["mean"], label="mean")
    axes.set_xlabel("generation")
    axes.set_ylabel("fitness")
    axes.legend()
    return axes


def path(recording: Recording, name: str = "base.position", axes: Any = None) -> Any:
    """The path of every robot, seen from above."""
    axes = _axes(axes)
    positions = recording[name].values
    for robot in range(positions.shape[1]):
        axes.plot(positions[:, robot, 0], positions[:, robot, 1], linewidth=1)
    axes.set_aspect("equal", "datalim")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")
    return axes


def series(
    recording: Recording,
    name: str,
    robot: int = 0,
    components: Sequence[int] | None = None,
    axes: Any = None,
) -> Any:
    """A recorded field of one robot over time."""
    axes = _axes(axes)
    found = recording[name]
    chosen = range(found.values.shape[2]) if components is None else components
    for component in chosen:
        axes.plot(recording.time, found.values[:, robot, component], label=str(component))
    axes.set_xlabel("time [s]")
    axes.set_ylabel(f"{name} [{found.unit}]")
    if len(chosen) > 1:
        axes.legend()
    return axes


def tiles(
    descriptors: Any, fitness: Any, bins: int | tuple[int, int] = 20, axes: Any = None
) -> Any:
    """The best fitness in each cell of a plane of two descriptors, for quality-diversity."""
    axes = _axes(axes)
    positions, values = np.asarray(descriptors, float), np.asarray(fitness, float)
    if positions.ndim != 2 or positions.shape[1] != 2 or values.shape != positions.shape[:1]:
        raise ValueError(
            f"descriptors: need shape (n, 2) and n values, got {positions.shape} and {values.shape}"
        )
    fine = np.isfinite(positions).all(axis=1) & np.isfinite(values)
    positions, values = positions[fine], values[fine]
    wide, high = (bins, bins) if isinstance(bins, int) else bins
    _, xs, ys = np.histogram2d(positions[:, 0], positions[:, 1], bins=(wide, high))
    best = np.full((wide, high), np.nan)
    columns = np.clip(np.searchsorted(xs, positions[:, 0], "right") - 1, 0, wide - 1)
    rows = np.clip(np.searchsorted(ys, positions[:, 1], "right") - 1, 0, high - 1)
    np.fmax.at(best, (columns, rows), values)
    mesh = axes.pcolormesh(xs, ys, best.T)
    axes.figure.colorbar(mesh, ax=axes, label="fitness")
    return axes
