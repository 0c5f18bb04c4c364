"""Fields: the named arrays of a group, as NumPy arrays.

C stores a field as [block][component][lane], sixteen robots side by side. `view` shows that memory
without a copy, as (blocks, 16, *shape); all other access is by robot: (count, *shape).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import ffi, lib, text
from mayfly._sealed import Sealed
from mayfly._shown import table
from mayfly.arrays import DLPACK_CPU, Array, as_array

if TYPE_CHECKING:
    from mayfly.group import Group

__all__ = ["Field"]

_BLOCK: int = lib.MF_BLOCK
_TYPES = {lib.MF_F32: "<f4", lib.MF_F64: "<f8", lib.MF_I32: "<i4", lib.MF_U32: "<u4"}
_PER_INSTANCE: int = lib.MF_PER_INSTANCE


def _picks(parts: tuple[Any, ...]) -> bool:
    """Whether an index selects elements by lists or masks."""
    return any(isinstance(part, (list, np.ndarray)) for part in parts)


def _is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


class _Memory:
    """The owner of a view's memory: the address, and a reference to its world."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


class Field(Sealed):
    """One field of a group, or the part of it that belongs to a joint, link or sensor.

    `field[...]` reads and writes by robot, with NumPy's rules for indices: `field[3]`,
    `field[mask]`, `field[2:5, 0]`. Values that are written are checked: numbers, finite, of a
    matching shape. After a write to a state field, systems recompute derived values.

    Attributes:
        name: such as "base.position", or its path.
        unit: "m"; "1" for pure numbers.
        frame: "world", "body", "joint", "link" or "".
        doc: one line of description.
        shape: of the whole, robots first.
        dtype: of the numbers in memory.
        writeable: whether it may be written: poses, velocities, targets and other inputs may; what
            a motion, sensor or solver computes or remembers may not.

    """

    def __init__(
        self,
        group: Group,
        native: Any,
        name: str,
        first: int = 0,
        count: int | None = None,
        unit: str | None = None,
        frame: str | None = None,
        doc: str | None = None,
    ) -> None:
        info = native.info
        self.group = group
        self.name = name
        self.unit = text(info.unit) if unit is None else unit
        self.frame = text(info.frame) if frame is None else frame
        self.doc = text(info.description) if doc is None else doc
        self.dtype: np.dtype[Any] = np.dtype(_TYPES[int(info.type)])
        self._field_name = text(info.name)
        self._flags = int(info.flags)
        self._components = int(native.components)
        self._blocks = int(native.blocks)
        self._first = first
        self._element = self._element_shape(info, count)
        self._data = native.data
        self._remainder = native.remainder  # of sums in single precision, else NULL
        given = self._flags & (lib.MF_FIELD_INPUT | lib.MF_FIELD_OUTPUT)
        self.writeable = given == lib.MF_FIELD_INPUT
        self._moves = group._is_motion_state(self._field_name)
        self._controller = group._controller_of(self._field_name) if self.writeable else None
        self._cached: Array | None = None
        self._seal()

    def _element_shape(self, info: Any, count: int | None) -> tuple[int, ...]:
        width = max(int(info.width), 1)
        if count is None and int(info.shape) != _PER_INSTANCE:
            elements = self._components // width
            return (elements,) if width == 1 else (elements, width)
        values = self._components if count is None else count
        if count is not None and values > width and values % width == 0 and width > 1:
            return values // width, width
        return () if values == 1 else (values,)

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """(robots, *shape of one robot's values)."""
        return (self.group.count, *self._element)

    @property
    def ndim(self) -> int:
        """Length of the shape."""
        return 1 + len(self._element)

    def __len__(self) -> int:
        return self.group.count

    def __repr__(self) -> str:
        access = "" if self.writeable else ", read only"
        return f"<Field {self.name} {self.shape} [{self.unit}] {self.dtype}{access}: {self.doc}>"

    def _repr_html_(self) -> str:
        values = self.read().reshape(self.group.count, -1)
        rows = [[i, *row.tolist()] for i, row in enumerate(values[:16, :16])]
        return table(repr(self), ["robot", *map(str, range(min(values.shape[1], 16)))], rows)

    # ---- memory ----------------------------------------------------------------------------------

    @property
    def view(self) -> Array:
        """The memory itself, without a copy: (blocks, 16, *shape of one robot's values).

        Robot i is view[i // 16, i % 16]; lanes after the last robot are undefined. It changes with
        every step, and stays valid after close() with the last values. Writing to it is not
        checked; after writing state call group.refresh().
        """
        view = self._cached
        if view is None:
            world = self.group.world
            with world._lock:
                world._use()
                world._fields.add(self)  # which releases it when it is closed
                view = self._cached = self._make_view(self._data)
        return view

    def _make_view(self, data: Any) -> Array:
        size = self.dtype.itemsize
        inner = [size * _BLOCK]
        if len(self._element) == 2:
            inner.insert(0, size * _BLOCK * self._element[1])
        address = int(ffi.cast("uintptr_t", data)) + self._first * _BLOCK * size
        memory = _Memory(
            self.group.world._owner,
            {
                "version": 3,
                "typestr": self.dtype.str,
                "data": (address, not self.writeable),
                "shape": (self._blocks, _BLOCK, *self._element),
                "strides": (self._components * _BLOCK * size, size, *inner[: len(self._element)]),
            },
        )
        return np.asarray(memory)

    def read(self, out: Array | None = None) -> Array:
        """A copy of all robots' values, (robots, *shape); or written into `out`."""
        world = self.group.world
        with world._lock:
            world._use()
            view, count = self.view, self.group.count
            if out is None:
                out = np.empty(self.shape, self.dtype)
            elif out.shape != self.shape:
                raise ValueError(f"{self.name}: out: need shape {self.shape}, got {out.shape}")
            whole, rest = divmod(count, _BLOCK)
            if whole:
                target = out[: whole * _BLOCK].reshape(whole, _BLOCK, *self._element)
                if out.size > 0 and not np.shares_memory(target, out):
                    raise ValueError(f"{self.name}: out: need an array that is not transposed")
                np.copyto(target, view[:whole], casting="same_kind")
            if rest:
                np.copyto(out[whole * _BLOCK :], view[whole, :rest], casting="same_kind")
        return out

    @property
    def array(self) -> Array:
        """A copy of all robots' values, (robots, *shape), that is read-only.

        `field[...] = values` writes the field; read() returns a writable copy.
        """
        values = self.read()
        values.flags.writeable = False
        return values

    def numpy(self) -> Array:
        """A copy of all robots' values, (robots, *shape)."""
        return self.read()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError(f"{self.name}: blocks of 16 robots need a copy; use .view without one")
        values = self.read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, **more: Any) -> Any:
        """The view (not a copy) for torch, JAX and others.

        Consumers that do not support read-only memory get a copy.
        """
        view = self.view
        if not self.writeable and (max_version is None or tuple(max_version) < (1, 0)):
            view = view.copy()
        try:
            return view.__dlpack__(stream=stream, max_version=max_version, **more)
        except TypeError:  # NumPy before 2.1
            return view.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_CPU, 0

    # ---- by robot --------------------------------------------------------------------------------

    def _split(self, key: Any) -> tuple[Any, tuple[Any, ...]]:
        """Splits an index into robots and components."""
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) > 0 and isinstance(parts[0], np.ndarray) and parts[0].ndim > 1:
            raise IndexError(
                f"{self.name}: need one index or mask over robots, got one of "
                f"{parts[0].ndim} dimensions"
            )
        if len(parts) == 0 or parts[0] is Ellipsis:
            missing = self.ndim - (len(parts) - 1 if parts else 0)
            return slice(None), (*(slice(None),) * max(missing - 1, 0), *parts[1:])
        if parts[0] is None:
            raise IndexError(f"{self.name}: robots come first, None cannot stand before them")
        return parts[0], tuple(parts[1:])

    def _rows(self, rows: Any) -> tuple[npt.NDArray[np.intp], bool]:
        """Indices of robots for an index expression, and whether it was a single one."""
        picked = np.arange(self.group.count)[rows]
        if picked.ndim > 1:
            raise IndexError(f"{self.name}: need one index or mask over robots")
        return np.atleast_1d(picked), picked.ndim == 0

    def __getitem__(self, key: Any) -> Any:
        rows, rest = self._split(key)
        inner = (slice(None), *rest)
        world = self.group.world
        with world._lock:
            world._use()
            if _picks(rest):
                return self.read()[key]
            if isinstance(rows, slice) and rows == slice(None):
                return self.read()[inner]
            index, single = self._rows(rows)
            values = self.view[index // _BLOCK, index % _BLOCK][inner]
        return values[0] if single else values

    def __setitem__(self, key: Any, value: object) -> None:
        if self._field_name == "motion.level":
            raise ValueError("motion.level: is changed by group.switch(motion, robots)")
        if not self.writeable:
            raise ValueError(f"{self.name}: is computed, it cannot be written")
        if self._controller is not None:
            name, self._controller = self._controller, None  # said once
            warnings.warn(
                f"{self.name}: the system {name!r} of the group writes it, too, at its own rate",
                stacklevel=2,
            )
        rows, rest = self._split(key)
        given = self._numbers(value)
        world = self.group.world
        with world._lock:
            world._use()
            everything = all(_is_whole(part) for part in (rows, *rest))
            if not (everything and self._store_quickly(given)):
                self._store(key, rows, rest, given)

    def _store_quickly(self, given: Array) -> bool:
        """Fast path for all robots; False if an error must be reported."""
        if self.dtype.kind != "f" or self._field_name.endswith(".orientation"):
            return False
        values = np.empty(self.shape, self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            self._assign(values, Ellipsis, given)
        if not np.isfinite(values).all():
            return False
        self._store_all(values)
        if self._moves:
            self.group._refresh_rows(np.arange(self.group.count))
        return True

    def _store(self, key: Any, rows: Any, rest: tuple[Any, ...], given: Array) -> None:
        index, single = self._rows(rows)
        if _picks((rows,)) and not _picks(rest) and len(np.unique(index)) != len(index):
            raise IndexError(f"{self.name}: names a robot twice")
        if _picks(rest):  # pairs of indices: as NumPy does it
            whole = self.read().astype(np.float64)
            self._assign(whole, key, given)
            new = whole[index]
        else:
            new = np.empty((len(index), *self._element), np.float64)
            if rest:
                new[...] = self.view[index // _BLOCK, index % _BLOCK]
            self._assign(new, (0 if single else slice(None), *rest), given)
        self._write(index, self._checked(new, index))
        if self._moves:
            self.group._refresh_rows(index)

    def _write(self, index: npt.NDArray[np.intp], values: Array) -> None:
        place = index // _BLOCK, index % _BLOCK
        self.view[place] = values
        self._forget(place)

    def _put(self, index: npt.NDArray[np.intp], given: Any) -> None:
        """Writes robots; the caller refreshes what follows from their state."""
        if not self.writeable:
            raise ValueError(f"{self.name}: is computed, it cannot be written")
        numbers, shape = self._numbers(given), (len(index), *self._element)
        plain = self.dtype.kind == "f" and not self._field_name.endswith(".orientation")
        values = np.empty(shape, self.dtype if plain else np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            self._assign(values, Ellipsis, numbers)
        if not (plain and np.isfinite(values).all()):
            values = self._checked(values.astype(np.float64, copy=False), index)
        self._write(index, values)

    def _forget(self, index: Any) -> None:
        """What was written is exact: what rounding has left out of the old values is dropped."""
        if self._remainder != ffi.NULL:
            self._make_view(self._remainder)[index] = 0

    def _store_all(self, values: Array) -> None:
        self._forget(...)
        whole, rest = divmod(self.group.count, _BLOCK)
        head = values[: whole * _BLOCK].reshape(whole, _BLOCK, *self._element)
        self.view[:whole] = head
        if rest:
            self.view[whole, :rest] = values[whole * _BLOCK :]

    def _numbers(self, value: object) -> Array:
        given = as_array(value)
        if given.dtype.kind not in "biuf":
            raise TypeError(f"{self.name}: need real numbers, got {given.dtype}")
        return given

    def _assign(self, new: Array, target: Any, given: Array) -> None:
        try:
            new[target] = given
        except ValueError:
            requested = np.shape(new[target])
            raise ValueError(
                f"{self.name}: need values of shape {requested} or what broadcasts to it, got "
                f"{given.shape}"
            ) from None

    def _checked(self, values: Array, index: npt.NDArray[np.intp]) -> Array:
        """The values in the form of the field; raises if they are invalid."""
        self._complain(~np.isfinite(values), values, index, "finite numbers")
        if self.dtype.kind in "iu":
            limits = np.iinfo(self.dtype)
            wrong = (values != np.floor(values)) | (values < limits.min) | (values > limits.max)
            self._complain(wrong, values, index, f"whole numbers {limits.min} .. {limits.max}")
            return values.astype(self.dtype)
        if self._field_name.endswith(".orientation") and values.shape[-1:] == (4,):
            values = self._rotated(values, index)
        with np.errstate(over="ignore"):
            stored = values.astype(self.dtype)
        self._complain(~np.isfinite(stored), values, index, f"numbers within {self.dtype}")
        return stored

    def _rotated(self, values: Array, index: npt.NDArray[np.intp]) -> Array:
        with np.errstate(over="ignore"):
            square = np.sum(values * values, axis=-1, keepdims=True)
        wrong = ~((square > 0.98) & (square < 1.02))
        self._complain(wrong, np.sqrt(square), index, "quaternions (w, x, y, z) of length 1")
        return np.asarray(values / np.sqrt(square))

    def _complain(
        self, wrong: Array, values: Array, index: npt.NDArray[np.intp], requested: str
    ) -> None:
        if not wrong.any():
            return
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        robots = int(np.count_nonzero(wrong.reshape(len(index), -1).any(axis=1)))
        more = f" (and {robots - 1} more)" if robots > 1 else ""
        raise errors.ArgumentError(
            f"{self.name}: need {requested}, robot {index[place[0]]}{more} would get "
            f"{values[place]:g}; nothing was written"
        )

    # ---- in place: group["joint.target"] += 0.1 --------------------------------------------------

    def _change(self, operation: Callable[[Any, Any], Any], value: object) -> Field:
        given = self._numbers(value.read() if isinstance(value, Field) else value)
        self[...] = operation(self.read().astype(np.float64), given)
        return self

    def __iadd__(self, value: object) -> Field:
        return self._change(np.add, value)

    def __isub__(self, value: object) -> Field:
        return self._change(np.subtract, value)

    def __imul__(self, value: object) -> Field:
        return self._change(np.multiply, value)

    def __itruediv__(self, value: object) -> Field:
        return self._change(np.divide, value)

    # ---- as other sequences ----------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        return iter(self.read())

    def __reduce__(self) -> Any:
        raise TypeError(f"{self.name}: pickle the world, or the numbers: field.array")
