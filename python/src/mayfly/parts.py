"""Parts of a model: links, joints, bodies, actuators, sensors, stored states, by name.

Their attributes come from the table of model fields in C.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import ffi, lib, text

__all__ = [
    "Actuator",
    "Body",
    "Dock",
    "Fields",
    "Joint",
    "Keyframe",
    "Link",
    "Part",
    "Parts",
    "Sensor",
    "Vector",
    "copied",
]

Vector = tuple[float, ...]


class Fields:
    """Values of a structure of a model, by name; read-only.

    The names are those of the table of model fields (docs/reference/model_fields.md), as in
    `mayfly info --json`.
    """

    _values: dict[str, Any]

    def __init__(self, values: dict[str, Any]) -> None:
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name: str) -> Any:
        values = self.__dict__.get("_values", {})
        if name not in values:
            kind, known = type(self).__name__, ", ".join(values)
            raise AttributeError(f"{kind} has no {name!r}; there are: {known}")
        return values[name]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} cannot be set: a model is frozen")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._values]

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"{type(self).__name__}({inside})"


class Part(Fields):
    """A part of a model. `index` is its index among parts of its kind."""

    index: int
    name: str


class Link(Part):
    """A rigid part, in the frame of the joint that moves it."""


class Joint(Part):
    """Moves a link relative to its parent. `start` is the initial position [rad] or [m]."""


class Body(Part):
    """A body of the file; several may belong to one link."""


class Actuator(Part):
    """Drives a joint, tendon, site or body by a control value."""


class Sensor(Part):
    """A measurement: `count` values from `address` on in the field sensor.value."""


class Dock(Part):
    """A place where robots join while the world runs."""


class Keyframe(Part):
    """A stored state."""


AnyPart = TypeVar("AnyPart", bound=Part)


class Parts(Sequence[AnyPart], Generic[AnyPart]):
    """Parts of one kind, by number or by name."""

    def __init__(self, kind: str, parts: tuple[AnyPart, ...]) -> None:
        self._kind, self._parts = kind, parts
        self._by_name = {part.name: part for part in reversed(parts)}

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(part.name for part in self._parts)

    @overload
    def __getitem__(self, key: int | str) -> AnyPart: ...

    @overload
    def __getitem__(self, key: slice) -> Sequence[AnyPart]: ...

    def __getitem__(self, key: int | str | slice) -> AnyPart | Sequence[AnyPart]:
        if isinstance(key, str):
            if key not in self._by_name:
                known = ", ".join(self.names[:40]) or "none"
                raise errors.NotFoundError(f"there is no {self._kind} {key!r}; there are: {known}")
            return self._by_name[key]
        return self._parts[key]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[AnyPart]:
        return iter(self._parts)

    def __contains__(self, key: object) -> bool:
        return key in self._by_name if isinstance(key, str) else key in self._parts

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._kind}s: {', '.join(self.names)}>"


def copied(pointer: Any, count: int) -> npt.NDArray[np.float64]:
    """A copy of `count` numbers that cannot be written."""
    array: npt.NDArray[np.float64]
    if count == 0 or pointer == ffi.NULL:
        array = np.zeros(0)
    else:
        array = np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64).copy()
    array.flags.writeable = False
    return array


# ---- from C --------------------------------------------------------------------------------------


def _one(native: Any, row: Any, value: Any) -> Any:
    """One value of a field, of a C type, in Python's."""
    if row.type == lib.MF_VALUE_ITEM:
        return Fields(_fields(native, row.item, value))
    if row.type == lib.MF_VALUE_TEXT:
        return "" if value == ffi.NULL else text(value)
    if row.type == lib.MF_VALUE_ENUM:
        return text(lib.mf_item_enum_name(row, ffi.new("int *", int(ffi.cast("int", value)))))
    if row.type == lib.MF_VALUE_INDEX and value == lib.MF_NONE:
        return None
    return value


def _fields(native: Any, item: int, c: Any) -> dict[str, Any]:
    """All fields of a C structure except pointers into other lists."""
    table = lib.mf_item_table(item)
    values: dict[str, Any] = {}
    for i in range(table.count):
        row = table.fields + i
        name = text(row.name)
        if row.type == lib.MF_VALUE_REALS:
            length = ffi.cast("uint32_t *", ffi.cast("char *", native) + row.length)[0]
            values[name] = copied(getattr(c, name), length)
        elif row.type not in (lib.MF_VALUE_LIST, lib.MF_VALUE_POINTER):
            value, many = getattr(c, name), row.count > 1
            values[name] = (
                tuple(_one(native, row, part) for part in value)
                if many
                else _one(native, row, value)
            )
    return values


def make_fields(native: Any, item: int, c: Any) -> Fields:
    """All fields of one C structure of a model."""
    return Fields(_fields(native, item, c))


def make_parts(native: Any, kind: type[AnyPart]) -> Parts[AnyPart]:
    """All parts of a model of that kind."""
    item = int(getattr(lib, f"MF_ITEM_{kind.__name__.upper()}"))
    table, count = lib.mf_item_table(item), ffi.new("uint32_t *")
    items = ffi.cast(f"{text(table.type)} *", lib.mf_model_items(native, item, count))
    made = []
    for i in range(count[0]):
        values = {"index": i, **_fields(native, item, items[i])}
        if kind is Joint:
            values["start"] = native.start_angle[i]
        made.append(kind(values))
    return Parts(text(table.name), tuple(made))
