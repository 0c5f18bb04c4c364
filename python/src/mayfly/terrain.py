"""The ground: height maps from arrays, images and generators."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Native, encode, ffi, fill, lib, output
from mayfly.arrays import as_array
from mayfly.context import Context, default_context
from mayfly.model import Model

__all__ = ["Terrain"]


class Terrain(Native):
    """A height map over a rectangle of square cells.

    Settings of all of them: `cell` [m] edge of a cell (0.1); `origin` [m] x and y of the low corner
    (centered); `interpolation` "nearest" or "bilinear" (nearest for flat ground and steps, else
    bilinear); `border` "continues" or "ends": outside of the map its border value, or no ground.
    """

    _sealed = True

    def __init__(self) -> None:
        raise TypeError(
            "make a ground with Terrain.from_array(heights), Terrain.from_file(path), "
            "Terrain.generate(shape) or Terrain.from_model(model)"
        )

    @classmethod
    def from_array(
        cls, heights: npt.ArrayLike, *, context: Context | None = None, **settings: object
    ) -> Terrain:
        """From heights [m] of shape (rows along y, columns along x), row 0 at the lowest y."""
        given = as_array(heights)
        if given.dtype.kind not in "biuf":
            raise TypeError(f"heights: need real numbers, got {given.dtype}")
        values = np.ascontiguousarray(given, dtype=np.float64)
        if values.ndim != 2 or 0 in values.shape:
            raise ValueError(f"heights: need an array (rows, columns), got shape {values.shape}")
        recipe = ("from_array", (values.copy(),), settings)
        config = _config(settings)
        config.rows, config.columns = values.shape
        data = ffi.from_buffer("double[]", values)
        used = context if context is not None else default_context()
        ground = output(lib.mf_terrain_from_array, used._use(), ffi.addressof(config), data)
        return cls._of(ground, used, recipe)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        scale: float = 1.0,
        offset: float = 0.0,
        context: Context | None = None,
        **settings: object,
    ) -> Terrain:
        """From a gray PNG or PGM: height = offset + scale * gray [m], gray from 0 to 1."""
        recipe = ("from_file", (os.fspath(path),), {"scale": scale, "offset": offset, **settings})
        config, name = _config(settings), encode(path)
        used = context if context is not None else default_context()
        place, height, low = ffi.addressof(config), float(scale), float(offset)
        ground = output(lib.mf_terrain_load, used._use(), name, place, height, low)
        return cls._of(ground, used, recipe)

    @classmethod
    def generate(
        cls,
        shape: str,
        *,
        amplitude: float = 0.0,
        wavelength: float = 1.0,
        octaves: int = 4,
        seed: int = 1,
        columns: int = 256,
        rows: int = 256,
        context: Context | None = None,
        **settings: object,
    ) -> Terrain:
        """Generated ground: "flat", "slope", "steps", "sine" or "noise".

        Args:
            amplitude: [m] height of waves, noise and one step; for "slope" the angle [rad].
            wavelength: [m] depth of one step, length of waves, size of the largest bumps.

        """
        generator = ffi.new("mf_TerrainGenerator *")
        chosen = {
            "shape": shape,
            "amplitude": amplitude,
            "wavelength": wavelength,
            "octaves": octaves,
            "seed": seed,
        }
        fill(generator[0], chosen, "Terrain")
        size = {"columns": columns, "rows": rows}
        config = _config({**settings, **size})
        recipe = ("generate", (), {**chosen, **size, **settings})
        used = context if context is not None else default_context()
        ground = output(lib.mf_terrain_generate, used._use(), ffi.addressof(config), generator)
        return cls._of(ground, used, recipe)

    @classmethod
    def from_model(cls, model: Model, *, context: Context | None = None) -> Terrain | None:
        """The ground that a robot's file describes; None when it describes none."""
        native = model._use()
        used = context if context is not None else default_context()
        ground = output(lib.mf_terrain_from_model, used._use(), native)
        return None if ground == ffi.NULL else cls._of(ground, used, ("from_model", (model,), {}))

    @classmethod
    def _of(cls, native: Any, used: Context, recipe: tuple[str, tuple[Any, ...], Any]) -> Terrain:
        terrain = cls.__new__(cls)
        terrain._take(lib.MFPY_TERRAIN, native, [used])
        terrain._recipe = recipe
        return terrain

    _recipe: tuple[str, tuple[Any, ...], dict[str, Any]]

    def _use(self) -> Any:
        # Only read, which a forked process can do as well.
        if self._pointer is None:
            raise errors.ClosedError("Terrain is closed: make it again")
        return self._pointer

    def height(self, x: float, y: float) -> float:
        """[m] of the ground at a position [m]."""
        return float(lib.mf_terrain_height(self._use(), float(x), float(y), ffi.NULL))

    def normal(self, x: float, y: float) -> tuple[float, float, float]:
        """The unit normal of the ground at a position [m]."""
        out = ffi.new("double[3]")
        lib.mf_terrain_height(self._use(), float(x), float(y), out)
        return float(out[0]), float(out[1]), float(out[2])

    @property
    def heights(self) -> npt.NDArray[np.float64]:
        """[m] a copy of all heights, shape (rows, columns)."""
        native = self._use()
        count = native.rows * native.columns
        flat: npt.NDArray[np.float64] = np.frombuffer(
            ffi.buffer(native.height_f64, 8 * count), np.float64
        )
        return np.array(flat.reshape(native.rows, native.columns))

    @property
    def cell(self) -> float:
        """[m] edge of a cell."""
        return float(self._use().cell)

    @property
    def origin(self) -> tuple[float, float]:
        """[m] x and y of the low corner."""
        native = self._use()
        return float(native.origin[0]), float(native.origin[1])

    def hash(self) -> int:
        """64-bit hash of everything that affects contact."""
        return int(lib.mf_terrain_hash(self._use()))

    def __repr__(self) -> str:
        if self.closed:
            return "<Terrain, closed>"
        native = self._use()
        return (
            f"<Terrain of {native.columns} x {native.rows} cells, {native.lowest:.4g} .. "
            f"{native.highest:.4g} m>"
        )

    def __reduce__(self) -> tuple[Any, tuple[Any, int]]:
        return _terrain_again, (self._recipe, self.hash())


def _config(settings: Any) -> Any:
    config = lib.mf_terrain_config()
    fill(config, settings, "Terrain")
    return config


def _terrain_again(recipe: tuple[str, tuple[Any, ...], dict[str, Any]], requested: int) -> Terrain:
    name, arguments, settings = recipe
    terrain: Terrain = getattr(Terrain, name)(*arguments, **settings)
    if terrain.hash() != requested:
        raise errors.CorruptError("the ground has changed since it was pickled")
    return terrain
