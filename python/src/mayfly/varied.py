"""Robots of a group that differ from its model in numbers: masses, friction, gains, lengths."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import Turn, call, encode, ffi, in_turn, lib, text

if TYPE_CHECKING:
    from mayfly.model import Model

__all__ = ["Varied", "give_models", "numbers_image", "read_numbers"]

Numbers = npt.NDArray[np.float64]
_ITEMS = {
    "link": lib.MF_ITEM_LINK,
    "joint": lib.MF_ITEM_JOINT,
    "shape": lib.MF_ITEM_SHAPE,
    "actuator": lib.MF_ITEM_ACTUATOR,
    "physics": lib.MF_ITEM_PHYSICS,
}
_MARK = b"MFNUMBER"  # ends a snapshot that tells robots' numbers
Key = tuple[int, str, int, int]  # item, field, index, component


class Varied:
    """The methods of a group for robots that differ in numbers."""

    _lock: Turn
    _native: Any
    _numbers: dict[Key, Numbers]
    count: int
    model: Model

    @property
    def models(self) -> tuple[Model, ...]:
        """The model of each robot."""
        raise NotImplementedError

    def _use(self) -> Any:
        raise NotImplementedError

    def _robots(self, robots: Any) -> npt.NDArray[np.uint32]:
        raise NotImplementedError

    def vary(self, changes: Mapping[str, Any], robots: Any = None) -> None:
        """Gives robots numbers of their own; each moves as one of a file that was edited so.

        Args:
            changes: By "link.mass", "joint.damping", "shape.friction", "actuator.gain": any real
                field of links, joints, shapes and actuators (docs/reference/model_fields.md), and
                "physics.gravity", whose first value is the world's.
                "shape.friction.0" is one component. A value is one number, one per robot, or one
                row per robot: of the items, of the components of a field that has several, or
                (robots, items, components). A mapping gives values by the names (or numbers) of
                items; what it leaves out stays.
            robots: None for all, a number, a slice, a list or a mask.

        Numbers that were given before stay. They are part of the state and of its hash, and a reset
        leaves them. Poses of links, equations of motion, queries and pictures follow, starts do
        not; friction and softness of shapes hold for their contacts with the ground, not between
        links of a robot. Robots that move by "points" differ in numbers of joints.

        Raises:
            UnsupportedError: The change is more than one of numbers, or the motion has one model
                for all robots.
            ArgumentError: Names the field, item or value that is wrong.
            Either way all robots keep the numbers that they had.

        """
        if not isinstance(changes, Mapping):
            raise errors.ArgumentError(f"vary: need a mapping by fields, got {_short(changes)}")
        with self._lock:
            native, rows = self._use(), self._robots(robots)
            given = {
                key: values
                for name, value in changes.items()
                for key, values in self._changes(name, value, len(rows))
            }
            merged = {key: values.copy() for key, values in self._numbers.items()}
            for key, values in given.items():
                if key not in merged:
                    merged[key] = self._nominals(key)
                merged[key][rows] = values
            if len(rows) > 0:
                try:
                    self._apply(native, rows, merged)
                except errors.MayflyError:
                    if self._is_varied():  # the robots before the one that was refused
                        self._apply(native, rows, self._numbers)
                    raise
            self._numbers.clear()
            self._numbers.update(merged)

    def varied(self) -> dict[str, Numbers]:
        """The numbers that robots have of their own, one row for each, by "trunk/link.mass"."""
        found: dict[str, list[Numbers]] = {}
        for (item, field, index, _), values in sorted(self._numbers.items(), key=lambda v: v[0]):
            kind = text(lib.mf_item_table(item).name)
            found.setdefault(f"{self._name(item, index)}/{kind}.{field}", []).append(values)
        return {
            name: rows[0].copy() if len(rows) == 1 else np.stack(rows, axis=1)
            for name, rows in found.items()
        }

    @in_turn
    def numbers(self, name: str) -> tuple[tuple[str, ...], Numbers]:
        """Names of the items that have a field, and its values in the model: (items, components).

        Items without a name have their number. `name` is as in `vary`: "link.mass".
        """
        item, field, first, width = self._field(name)
        _, count = self._items(item)
        values = [
            [self._nominal((item, field, i, first + c)) for c in range(width)] for i in range(count)
        ]
        names = tuple(self._name(item, i) for i in range(count))
        return names, np.array(values, dtype=np.float64).reshape(count, width)

    def _apply(self, native: Any, rows: npt.NDArray[np.uint32], merged: dict[Key, Numbers]) -> None:
        changes, keep = ffi.new("mf_ModelChange[]", max(len(merged), 1)), []
        for change, ((item, field, index, component), values) in zip(
            changes, merged.items(), strict=False
        ):
            own = np.ascontiguousarray(values[rows])
            name = ffi.new("char[]", encode(field))
            keep += [own, name]
            change.item, change.field, change.index = item, name, index
            change.first, change.count = component, 1
            change.values = ffi.from_buffer("double[]", own)
        data = ffi.from_buffer("uint32_t[]", rows)
        call(lib.mf_group_vary, native, data, len(rows), ffi.NULL, changes, len(merged))

    # ---- snapshots -------------------------------------------------------------------------------

    def _is_varied(self) -> bool:
        names = (b"articulated.numbers", b"points.numbers")
        return any(lib.mf_group_find_field(self._native, name) != ffi.NULL for name in names)

    def _begin_numbers(self) -> None:
        """Gives the robots numbers of their own, those of the model, where they have none yet."""
        if not self._is_varied():
            self._apply(self._use(), np.zeros(1, dtype=np.uint32), {})

    # ---- names -----------------------------------------------------------------------------------

    def _items(self, item: int, model: Model | None = None) -> tuple[Any, int]:
        count = ffi.new("uint32_t *")
        kind = text(lib.mf_item_table(item).type)
        native = (self.model if model is None else model)._use()
        if item == lib.MF_ITEM_PHYSICS:
            return ffi.addressof(native, "physics"), 1
        items = ffi.cast(f"{kind} *", lib.mf_model_items(native, item, count))
        return items, int(count[0])

    def _name(self, item: int, index: int) -> str:
        if item == lib.MF_ITEM_PHYSICS:
            return "world"
        name = text(self._items(item)[0][index].name)
        return name if name else str(index)

    def _nominal(self, key: Key, model: Model | None = None) -> float:
        item, field, index, component = key
        if item == lib.MF_ITEM_PHYSICS and field == "gravity":
            settings = lib.mf_world_config_of(lib.mf_group_world(self._use()))
            return float(settings.gravity * settings.gravity_direction[component])
        value = getattr(self._items(item, model)[0][index], field)
        return float(value) if isinstance(value, float) else float(value[component])

    def _nominals(self, key: Key) -> Numbers:
        """Of all robots."""
        values = {model: self._nominal(key, model) for model in dict.fromkeys(self.models)}
        return np.array([values[model] for model in self.models])

    def _changes(self, name: str, value: Any, rows: int) -> Iterator[tuple[Key, Numbers]]:
        item, field, first, width = self._field(name)
        _, count = self._items(item)
        if not isinstance(value, Mapping):
            values = _rows_of(name, value, rows, count, width)
            for index in range(count):
                for c in range(width):
                    yield (item, field, index, first + c), values[:, index, c]
            return
        for part, own in value.items():
            index = self._index(item, part, name, count)
            values = _rows_of(f"{name}[{part!r}]", own, rows, 1, width)
            for c in range(width):
                yield (item, field, index, first + c), values[:, 0, c]

    def _field(self, name: str) -> tuple[int, str, int, int]:
        """Item, field, first component and how many."""
        parts = name.split(".") if isinstance(name, str) else []
        if len(parts) not in (2, 3) or parts[0] not in _ITEMS:
            known = ", ".join(f"{kind}.FIELD" for kind in _ITEMS)
            raise errors.ArgumentError(f"vary: {name!r}: need one of {known}")
        item = _ITEMS[parts[0]]
        table = lib.mf_item_table(item)
        fields = {
            text(table.fields[i].name): int(table.fields[i].count)
            for i in range(table.count)
            if table.fields[i].type == lib.MF_VALUE_REAL
        }
        if parts[1] not in fields:
            raise errors.ArgumentError(f"vary: {name!r}: need one of {', '.join(sorted(fields))}")
        count = fields[parts[1]]
        if len(parts) == 2:
            return item, parts[1], 0, count
        if not parts[2].isdecimal() or int(parts[2]) >= count:
            raise errors.ArgumentError(f"vary: {name!r}: components are 0 .. {count - 1}")
        return item, parts[1], int(parts[2]), 1

    def _index(self, item: int, part: Any, name: str, count: int) -> int:
        if isinstance(part, str):
            index = int(lib.mf_model_find(self.model._use(), item, encode(part)))
            if index != lib.MF_NONE:
                return index
        elif not isinstance(part, (bool, np.bool_)) and isinstance(part, (int, np.integer)):
            if 0 <= part < count:
                return int(part)
        names = [self._name(item, i) for i in range(count)]
        raise errors.ArgumentError(
            f"vary: {name}: there is no {part!r}; need one of {', '.join(names)}"
        )


def give_models(native: Any, models: Sequence[Model]) -> None:
    """Gives each robot of a native group a model of its own, of one tree."""
    pointers = ffi.new("mf_Model *[]", [model._use() for model in models])
    rows = ffi.from_buffer("uint32_t[]", np.arange(len(models), dtype=np.uint32))
    own = ffi.cast("const mf_Model *const *", pointers)
    call(lib.mf_group_vary, native, rows, len(models), own, ffi.NULL, 0)


def numbers_image(groups: Sequence[Varied]) -> bytes:
    """What `varied` tells of the groups, to follow the native image of a snapshot; maybe empty."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for i, group in enumerate(groups):
        if group._is_varied():
            keys = [" ".join(map(str, key)) for key in group._numbers]
            arrays[f"{i}.keys"] = np.array(keys, dtype=np.str_)
            values = np.array(list(group._numbers.values()), dtype=np.float64)
            arrays[f"{i}.values"] = values.reshape(len(keys), group.count)
    if not arrays:
        return b""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue() + file.tell().to_bytes(8, "little") + _MARK


def read_numbers(data: bytes, groups: Sequence[Varied]) -> tuple[bytes, list[dict[Key, Numbers]]]:
    """The native image, and the numbers of each group: of these, all that were varied now are."""
    found: list[dict[Key, Numbers]] = [{} for _ in groups]
    if not data.endswith(_MARK):
        return data, found
    end = len(data) - len(_MARK) - 8
    first = end - int.from_bytes(data[end : end + 8], "little")
    try:
        image = data[first:end] if first >= 0 else b""
        arrays = np.load(io.BytesIO(image), allow_pickle=False)
        for i, group in enumerate(groups):
            if f"{i}.keys" in arrays:
                values = arrays[f"{i}.values"]
                for key, row in zip(arrays[f"{i}.keys"], values, strict=True):
                    item, field, index, component = str(key).split(" ")
                    found[i][int(item), field, int(index), int(component)] = row.copy()
                group._begin_numbers()
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise errors.CorruptError(f"snapshot: numbers of robots: {error}") from None
    return data[:first], found


def _short(value: Any) -> str:
    return " ".join(repr(value).split())[:60]


def _rows_of(name: str, value: Any, rows: int, items: int, width: int) -> Numbers:
    """(robots, items, components)"""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise errors.ArgumentError(f"vary: {name}: need numbers, got {_short(value)}") from None
    if values.ndim == 1 and values.shape == (rows,):
        values = values[:, None, None]
    elif values.ndim == 2 and values.shape[0] == rows:
        if values.shape[1] == width and width > 1:
            values = values[:, None, :]
        elif values.shape[1] == items:
            values = values[:, :, None]
    if values.ndim in (0, 3):
        try:
            return np.broadcast_to(values, (rows, items, width))
        except ValueError:
            pass
    raise errors.ArgumentError(
        f"vary: {name}: need one number, {rows} (one per robot) or rows of {items} items and "
        f"{width} components, got an array of shape {np.shape(value)}"
    )
