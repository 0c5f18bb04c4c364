"""Cloths: sheets of vertices, from files or arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly._native import encode, ffi, fill, lib, read_struct
from mayfly.arrays import whole
from mayfly.bodies import VertexBody
from mayfly.context import Context

__all__ = ["Cloth"]

_PLANES = {"xy": lib.MF_CLOTH_XY, "xz": lib.MF_CLOTH_XZ, "yz": lib.MF_CLOTH_YZ}


class Cloth(VertexBody):
    """A cloth: immutable; `world.add_group(cloth)` makes a group of copies.

    Create one with Cloth.from_file, from_string, rectangle or from_arrays. Its material is
    `density` [kg/m^2], `stretch` and `shear` [N/m], `bending` [N m], `damping` [s], `strength`
    [N/m] (0: it does not tear), `thickness` [m] and `friction`.
    """

    _kind = "cloth"
    _motions = ("cloth",)

    @classmethod
    def rectangle(
        cls,
        width: float,
        length: float,
        columns: int,
        rows: int,
        *,
        plane: str = "xy",
        pins: Sequence[int] = (),
        name: str = "cloth",
        context: Context | None = None,
        **material: object,
    ) -> Cloth:
        """A rectangle that is centered at the origin.

        Args:
            width: [m] along the first axis of the plane.
            length: [m] along the second one.
            columns: vertices along the first axis; vertex (i, j) has the number j columns + i.
            rows: vertices along the second one.
            plane: "xy" is level, "xz" and "yz" are upright.
            pins: vertices that are fixed where the cloth starts.
            name: of the cloth.
            context: that of the process if not given.
            material: `density=0.2`, `strength=500.0`, ...; what is not given is that of cotton.

        """
        if plane not in _PLANES:
            raise ValueError(f"plane: need one of {', '.join(_PLANES)}, got {plane!r}")
        native = ffi.new("mf_Cloth *")
        counts = whole(columns, "columns", 2, 2**16 + 1), whole(rows, "rows", 2, 2**16 + 1)
        native[0] = lib.mf_cloth_rectangle(float(width), float(length), *counts)
        native.plane = _PLANES[plane]
        return cls._written(native, pins, name, context, material)

    @classmethod
    def from_arrays(
        cls,
        vertices: npt.ArrayLike,
        triangles: npt.ArrayLike,
        *,
        warp: Sequence[float] = (1.0, 0.0, 0.0),
        pins: Sequence[int] = (),
        name: str = "cloth",
        context: Context | None = None,
        **material: object,
    ) -> Cloth:
        """A cloth of triangles.

        Args:
            vertices: [m], (V, 3).
            triangles: three vertices each, (T, 3).
            warp: direction of the first threads; the second ones are perpendicular.
            pins: vertices that are fixed where the cloth starts.
            name: of the cloth.
            context: that of the process if not given.
            material: as of `rectangle`.

        """
        points = np.ascontiguousarray(np.asarray(vertices, float).reshape(-1, 3))
        corners = np.ascontiguousarray(np.asarray(triangles, np.uint32).reshape(-1, 3))
        native = ffi.new("mf_Cloth *")
        native.material = lib.mf_cloth_material()
        native.vertices = ffi.cast("double(*)[3]", ffi.from_buffer(points))
        native.triangles = ffi.cast("uint32_t(*)[3]", ffi.from_buffer(corners))
        native.vertex_count, native.triangle_count = len(points), len(corners)
        native.warp = [float(value) for value in warp]
        return cls._written(native, pins, name, context, material)

    @classmethod
    def _written(
        cls,
        native: Any,
        pins: Sequence[int],
        name: str,
        context: Context | None,
        material: dict[str, object],
    ) -> Cloth:
        """The cloth of a native description, which C borrows until it is written as text."""
        fill(native.material, material, "material")
        title = ffi.new("char[]", encode(name))
        pinned = ffi.new("uint32_t[]", [int(pin) for pin in pins] or [0])
        native.name, native.pins, native.pin_count = title, pinned, len(pins)
        return cls._from_native(native, context)

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def material(self) -> dict[str, Any]:
        """`density`, `stretch`, `shear`, `bending`, `damping`, `strength`, `thickness`,
        `friction`.
        """
        return read_struct(self._use().material)

    @property
    def positions(self) -> npt.NDArray[np.float64]:
        """[m] of the vertices in the file, (V, 3)."""
        native, at = self._use(), ffi.new("double[3]")
        rows = np.empty((lib.mf_cloth_vertex_count(native), 3))
        for vertex in range(len(rows)):
            lib.mf_cloth_vertex(native, vertex, at)
            rows[vertex] = list(at)
        return rows

    @property
    def triangles(self) -> npt.NDArray[np.uint32]:
        """Vertices of the triangles, (T, 3); of a rectangle two for each cell."""
        native, corners = self._use(), ffi.new("uint32_t[3]")
        rows = np.empty((lib.mf_cloth_triangle_count(native), 3), np.uint32)
        for triangle in range(len(rows)):
            lib.mf_cloth_triangle(native, triangle, corners)
            rows[triangle] = list(corners)
        return rows

    @property
    def counts(self) -> tuple[int, int]:
        """Vertices along both sides of a rectangle; (0, 0): triangles."""
        native = self._use()
        return int(native.counts[0]), int(native.counts[1])

    @property
    def pins(self) -> npt.NDArray[np.uint32]:
        """Vertices that are fixed, (P,)."""
        native = self._use()
        return np.array([native.pins[i] for i in range(native.pin_count)], np.uint32)

    @property
    def elements(self) -> int:
        """How many values `cloth.torn` has, where `strength` is not 0."""
        return int(lib.mf_cloth_element_count(self._use()))

    @property
    def area(self) -> float:
        """[m^2]."""
        return float(lib.mf_cloth_area(self._use()))

    @property
    def mass(self) -> float:
        """[kg]."""
        return self.area * float(self._use().material.density)
