"""Rough ground to learn on: a map of square patches, rougher from row to row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import real_number
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.task import near
from mayfly.terrain import Terrain

__all__ = ["TerrainPatches"]

_STEP = 0.3  # [m] depth of a step
_RIM = 0.2  # [m] width of the level rim
_LEVEL = 0.5  # [m] half the edge of the level square in the middle
Heights = npt.NDArray[Any]


def _cells(length: float, cell: float) -> int:
    return max(1, round(length / cell))


def _rings(size: int, cell: float) -> npt.NDArray[np.int64]:
    """Cells to the edge, for each cell; in the middle those of the level square."""
    inward = np.minimum(np.arange(size), np.arange(size)[::-1])
    found: npt.NDArray[np.int64] = np.minimum.outer(inward, inward)
    return np.minimum(found, size // 2 - _cells(_LEVEL, cell))


def _flat(size: int, cell: float, height: float, rng: np.random.Generator) -> Heights:
    return np.zeros((size, size))


def _random(size: int, cell: float, height: float, rng: np.random.Generator) -> Heights:
    """Each cell up to half the height from 0."""
    return rng.uniform(-0.5 * height, 0.5 * height, (size, size))


def _boxes(size: int, cell: float, height: float, rng: np.random.Generator) -> Heights:
    """Squares of about 0.4 m at different heights."""
    edge = _cells(0.4, cell)
    count = -(-size // edge)
    tops = rng.uniform(-height, height, (count, count))
    return np.kron(tops, np.ones((edge, edge)))[:size, :size]


def _stairs(size: int, cell: float, height: float, rng: np.random.Generator) -> Heights:
    """A pyramid of steps of 0.3 m."""
    return height * (_rings(size, cell) // _cells(_STEP, cell)).astype(float)


def _slope(size: int, cell: float, height: float, rng: np.random.Generator) -> Heights:
    """A pyramid that climbs by the height in 0.3 m, which is a step of the stairs."""
    return height / _STEP * cell * np.maximum(_rings(size, cell) - _cells(_RIM, cell) + 1, 0)


_KINDS: dict[str, Callable[[int, float, float, np.random.Generator], Heights]] = {
    "flat": _flat,
    "random": _random,
    "boxes": _boxes,
    "stairs": _stairs,
    "stairs_down": lambda *given: -_stairs(*given),
    "slope": _slope,
    "slope_down": lambda *given: -_slope(*given),
}


class TerrainPatches(Sealed):
    """A height map of square patches: `levels` rows along x, of growing height, and a column along
    y for each kind. For Task(terrain=...): robots start in the middle of a patch, and
    mdp.terrain_levels_vel moves them to another row when an episode has ended.

    Args:
        kinds: of columns: "flat", "random", "boxes", "stairs", "stairs_down", "slope",
            "slope_down"; a kind may be repeated.
        height: [m] of a step of the last row's stairs, and of what is as difficult; that of row i
            is (i + 1) / levels of it.
        levels: rows.
        start_levels: robots start in one of these first rows.
        size: [m] edge of a patch. A square of 1 m in its middle is level, and so is its rim.
        cell: [m] of the map.
        seed: of random heights.

    Attributes:
        terrain: the map, a mayfly.Terrain.
        origins: [m] middles of patches, (levels, kinds, 3).

    """

    def __init__(
        self,
        kinds: Sequence[str] = ("random", "boxes", "stairs", "stairs_down", "slope", "slope_down"),
        *,
        height: float = 0.15,
        levels: int = 10,
        start_levels: int = 5,
        size: float = 8.0,
        cell: float = 0.1,
        seed: int = 1,
    ) -> None:
        self.kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        for kind in self.kinds:
            if kind not in _KINDS:
                raise errors.ArgumentError(
                    f"kinds: no kind {kind!r}{near(kind, _KINDS)}; there are: {', '.join(_KINDS)}"
                )
        self.height, self.cell = real_number(height, "height"), real_number(cell, "cell")
        self.levels = whole(levels, "levels", 1, 1001)
        self.start_levels = whole(start_levels, "start_levels", 1, 1001)
        self.size = real_number(size, "size")
        cells = round(self.size / self.cell) if self.cell > 0.0 else 0
        if not (self.height >= 0.0 and self.size >= 2.0 and 20 <= cells <= 10_000):
            raise ValueError(
                f"need height >= 0 m, size >= 2 m and 20 to 10,000 cells in it, got height "
                f"{height!r}, size {size!r}, cell {cell!r}"
            )
        self.seed = seed
        if not self.kinds:
            raise errors.ArgumentError("kinds: need at least one")
        heights = np.zeros((len(self.kinds) * cells, self.levels * cells))
        self.origins = np.zeros((self.levels, len(self.kinds), 3))
        low = -0.5 * self.cell * np.array(heights.shape[::-1])
        for level in range(self.levels):
            for column, kind in enumerate(self.kinds):
                rng = np.random.default_rng([seed, level, column])
                share = self.height * (level + 1) / self.levels
                patch = self._patch(_KINDS[kind](cells, self.cell, share, rng))
                heights[column * cells :, level * cells :][:cells, :cells] = patch
                middle = self.size * (np.array([level, column]) + 0.5)
                self.origins[level, column] = [*(low + middle), patch[cells // 2, cells // 2]]
        self.terrain = Terrain.from_array(heights, cell=self.cell)
        self._seal()

    def _patch(self, heights: Heights) -> Heights:
        """With a level rim, at 0, and a level square in the middle."""
        count, half = len(heights), _cells(_LEVEL, self.cell)
        out = np.where(_rings(count, self.cell) < _cells(_RIM, self.cell), 0.0, heights)
        middle = slice(count // 2 - half, count // 2 + half)
        out[middle, middle] = heights[middle, middle].max()
        return out

    def __repr__(self) -> str:
        return (
            f"TerrainPatches({len(self.kinds)} kinds x {self.levels} levels of {self.size:g} m: "
            f"{', '.join(self.kinds)}; height {self.height:g})"
        )

    def __reduce__(self) -> tuple[Callable[..., TerrainPatches], tuple[object, ...]]:
        given = self.height, self.levels, self.start_levels, self.size, self.cell, self.seed
        return _again, (self.kinds, *given)


def _again(
    kinds: Sequence[str],
    height: float,
    levels: int,
    start_levels: int,
    size: float,
    cell: float,
    seed: int,
) -> TerrainPatches:
    return TerrainPatches(
        kinds,
        height=height,
        levels=levels,
        start_levels=start_levels,
        size=size,
        cell=cell,
        seed=seed,
    )
