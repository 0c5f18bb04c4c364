"""The interface of C and Python: statuses become exceptions, native objects get owners, and
keyword arguments become members of C structures.
"""

from __future__ import annotations

import difflib
import functools
import math
import operator
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar, cast

from mayfly import errors
from mayfly._binding import ffi, lib
from mayfly._sealed import Sealed

__all__ = [
    "Native",
    "Turn",
    "call",
    "check",
    "encode",
    "ffi",
    "fill",
    "in_turn",
    "lib",
    "output",
    "real_number",
    "read_struct",
    "take_text",
    "text",
    "texts",
    "time_from_seconds",
]

_ERRORS: dict[int, type[errors.MayflyError]] = {
    lib.MF_BAD_ARGUMENT: errors.ArgumentError,
    lib.MF_BAD_FILE: errors.FileError,
    lib.MF_NO_MEMORY: errors.NoMemoryError,
    lib.MF_IO: errors.OperatingSystemError,
    lib.MF_UNSUPPORTED: errors.UnsupportedError,
    lib.MF_NOT_FOUND: errors.NotFoundError,
    lib.MF_BUSY: errors.BusyError,
    lib.MF_CORRUPT: errors.CorruptError,
    lib.MF_VERSION: errors.VersionError,
    lib.MF_STOPPED: errors.StoppedError,
    lib.MF_LIMIT: errors.LimitError,
}


def text(value: Any) -> str:
    """A C string; "" for NULL."""
    if value == ffi.NULL:
        return ""
    return str(ffi.string(value).decode("utf-8", "replace"))


def encode(value: str | os.PathLike[str]) -> bytes:
    """A string or path for C, terminated by zero."""
    data = os.fsencode(value)
    if b"\0" in data:
        raise ValueError(f"need text without zero bytes, got {os.fspath(value)!r}")
    return data


def check(status: int, error: Any = None, instead: tuple[str, str] | None = None) -> None:
    """Raises the exception of a status and an mf_Error; `instead`: (file name, name to show)."""
    if status == lib.MF_OK:
        return
    if error is None or error.message[0] == b"\0":
        message = text(lib.mf_status_name(status))
    else:
        buffer = ffi.new("char[]", 1024)
        message = text(lib.mf_error_format(error, buffer, 1024))
    file = "" if error is None else text(error.file)
    if instead is not None:
        message = message.replace(*instead)
        file = file.replace(*instead)
    kind = _ERRORS.get(status, errors.MayflyError)
    if kind is errors.NotFoundError and file:
        kind = errors.MissingFileError
    failure = kind(message)
    failure.status = text(lib.mf_status_name(status))
    if error is not None:
        failure.file, failure.line, failure.column = file, int(error.line), int(error.column)
    raise failure


def call(function: Any, *arguments: Any) -> None:
    """Calls a function whose last argument is an mf_Error *; raises what it reports."""
    error = ffi.new("mf_Error *")
    check(function(*arguments, error), error)


def output(function: Any, *arguments: Any) -> Any:
    """The output of a function whose last arguments are that and an mf_Error *.

    A structure comes as a pointer.
    """
    kind = ffi.typeof(function).args[-2]
    out = ffi.new(kind)
    call(function, *arguments, out)
    return out if kind.item.kind == "struct" else out[0]


def take_text(context: Any, function: Any, *arguments: Any) -> str:
    """The text that `output` gives; its memory belongs to the context and is released."""
    written = output(function, *arguments)
    value = text(written)
    lib.mf_release(context, written)
    return value


def _foreign(name: str, process: int) -> errors.ForkError:
    return errors.ForkError(
        f"{name} was made in process {process}, and its threads do not exist in process "
        f"{os.getpid()}: make it anew there, or send it by pickle (multiprocessing with the start "
        "method 'spawn' does)"
    )


class Turn:
    """A lock for calls from several threads; raises in a forked process, where it might block."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.RLock()
        self._process = os.getpid()

    def __enter__(self) -> None:
        if self._process != os.getpid():
            raise _foreign(self._name, self._process)
        self._lock.acquire()

    def __exit__(self, *failure: object) -> None:
        self._lock.release()


P = ParamSpec("P")
R = TypeVar("R")


def in_turn(method: Callable[P, R]) -> Callable[P, R]:
    """A method that holds the `_lock` of its object, since another thread may close it."""

    @functools.wraps(method)
    def call(*arguments: P.args, **more: P.kwargs) -> R:
        with cast(Any, arguments[0])._lock:
            return method(*arguments, **more)

    return call


_Self = TypeVar("_Self", bound="Native")


class Native(Sealed):
    """A native object: its owner keeps it alive, and it can be closed explicitly."""

    _owner: Any = None  # mfpy_Object *, reference-counted
    _pointer: Any = None
    _process: int = 0

    def _take(self, kind: int, pointer: Any, needs: Iterable[Native] = ()) -> None:
        """Takes ownership of a native object that borrows others."""
        owner = lib.mfpy_object_create(kind, pointer, ffi.NULL)
        if owner == ffi.NULL:
            raise errors.NoMemoryError("out of memory")
        self._owner = ffi.gc(owner, lib.mfpy_object_release)
        self._pointer = pointer
        self._process = os.getpid()
        for other in needs:
            self._keep(other)

    def _keep(self, other: Native) -> None:
        if not lib.mfpy_object_need(self._owner, other._owner):
            raise errors.NoMemoryError("out of memory")

    def _use(self) -> Any:
        """The native object; raises if it cannot be used."""
        if self._pointer is None:
            raise errors.ClosedError(f"{type(self).__name__} is closed: make a new one")
        if self._process != os.getpid():
            raise _foreign(type(self).__name__, self._process)
        return self._pointer

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return self._pointer is None

    def close(self) -> None:
        """Releases the memory, once no array refers to it any more; may be called twice."""
        self._pointer = None
        self._owner = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__}, closed>" if self.closed else super().__repr__()

    def __enter__(self: _Self) -> _Self:
        self._use()
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()


# ---- settings ------------------------------------------------------------------------------------


def time_from_seconds(value: float, what: str) -> int:
    """[ns] of a time in seconds."""
    seconds = real_number(value, what)
    if not math.isfinite(seconds) or abs(seconds) > 9e9:
        raise ValueError(f"{what}: need seconds, got {value!r}")
    return int(lib.mf_time_from_seconds(seconds))


@functools.cache
def _choices(kind: Any) -> dict[str, int]:
    """Enumeration values by the ends of their names: "rk4" is MF_ARTICULATED_RK4."""
    names = {name: int(number) for number, name in kind.elements.items()}
    common = os.path.commonprefix(list(names))
    common = common[: common.rfind("_") + 1]
    return {name[len(common) :].lower(): number for name, number in names.items()}


def _choice(kind: Any, value: object, what: str) -> int:
    short = _choices(kind)
    if isinstance(value, str) and value.lower() in short:
        return int(short[value.lower()])
    raise ValueError(f"{what}: need one of {', '.join(map(repr, short))}, got {value!r}")


def _short_choice(kind: Any, number: int) -> str:
    common = os.path.commonprefix(list(kind.elements.values()))
    common = common[: common.rfind("_") + 1]
    return str(kind.elements[number][len(common) :].lower())


def _rate(value: Any, what: str) -> tuple[int, int]:
    """A rate [1/s] as an exact fraction."""
    try:
        rate = Fraction(value).limit_denominator(10**9)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{what}: need a rate in 1/s > 0, got {value!r}") from None
    if not 0 < rate < 10**12:
        raise ValueError(f"{what}: need a rate in 1/s > 0, got {value!r}")
    return rate.numerator, rate.denominator


def _primitive(kind: Any, value: object, what: str) -> Any:
    if kind.cname == "_Bool":
        if isinstance(value, (bool, int)) and value in (False, True):
            return bool(value)
        if type(value).__name__ in ("bool", "bool_"):
            return bool(value)
        raise TypeError(f"{what}: need True or False, got {value!r}")
    if kind.cname == "int64_t":  # the only ones in configurations are times
        return time_from_seconds(real_number(value, what), what)
    if kind.cname in ("double", "float"):
        return real_number(value, what)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what}: need a whole number, got {value!r}") from None
    bits = 8 * int(ffi.sizeof(kind))
    low, high = (
        (0, 2**bits) if kind.cname.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    )
    if not low <= number < high:
        raise ValueError(f"{what}: need a whole number {low} .. {high - 1}, got {number}")
    return number


def real_number(value: object, what: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what}: need a number, got {value!r}")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{what}: need a number, got {value!r}") from None


def _sequence(value: object, count: int, what: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{what}: need {count} values, got {value!r}")
    values = list(value)
    if len(values) != count:
        raise ValueError(f"{what}: need {count} values, got {len(values)}")
    return values


@functools.cache
def _members(kind: Any) -> dict[str, Any]:
    """The types of the settings in a C structure by their names."""
    return {name: field.type for name, field in kind.fields if name != "struct_size"}


def fill(
    config: Any, settings: Mapping[str, object], what: str, others: Sequence[str] = ()
) -> list[object]:
    """Writes settings into a C structure, by the names of its members.

    Times are in seconds, rates in 1/s, choices are text ("rk4"), structures are mappings. An
    unknown name may be a mistyped one of `others`, arguments of the caller. Returns the objects
    that must stay alive until C has read the structure.
    """
    fields = _members(ffi.typeof(config))
    alive: list[object] = []
    for name, value in settings.items():
        if name not in fields:
            near = difflib.get_close_matches(name, [*others, *fields], 1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise TypeError(
                f"{what}: there is no setting {name!r}{hint}; known: {', '.join(fields)}"
            )
        _fill_one(config, name, fields[name], value, f"{what}: {name}", alive)
    return alive


def texts(values: Iterable[str | os.PathLike[str]], alive: list[object]) -> Any:
    """A table of texts for C, which ends with NULL; `alive` keeps its memory."""
    items = [ffi.new("char[]", encode(value)) for value in values]
    table = ffi.new("char *[]", [*items, ffi.NULL])
    alive += [items, table]
    return table


def _fill_one(
    config: Any, name: str, kind: Any, value: object, what: str, alive: list[object]
) -> None:
    if kind.kind == "enum":
        setattr(config, name, _choice(kind, value, what))
    elif kind.kind == "primitive":
        setattr(config, name, _primitive(kind, value, what))
    elif kind.kind == "struct" and kind.cname == "struct mf_Rate":
        rate = getattr(config, name)
        rate.numerator, rate.denominator = _rate(value, what)
    elif kind.kind == "struct":
        if not isinstance(value, Mapping):
            raise TypeError(f"{what}: need a mapping of settings, got {value!r}")
        alive += fill(getattr(config, name), value, what)
    elif kind.kind == "array":
        for i, item in enumerate(_sequence(value, kind.length, what)):
            getattr(config, name)[i] = _primitive(kind.item, item, what)
    elif kind.cname == "char *":
        if not isinstance(value, str):
            raise TypeError(f"{what}: need text, got {value!r}")
        letters = ffi.new("char[]", encode(value))
        alive.append(letters)
        setattr(config, name, letters)
    elif kind.cname == "char * *":
        setattr(config, name, texts(_names(value, what), alive))
    else:
        raise TypeError(f"{what}: cannot be set from Python")


def _names(value: object, what: str) -> list[str]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{what}: need a list of names, got {value!r}")
    names = list(value)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{what}: need a list of names, got {value!r}")
    return names


def read_struct(config: Any) -> dict[str, Any]:
    """A C structure of settings as Python values, in the form that fill() takes."""
    values: dict[str, Any] = {}
    for name, field in ffi.typeof(config).fields:
        kind, value = field.type, getattr(config, name)
        if name == "struct_size" or kind.kind in ("pointer", "function"):
            continue
        if kind.kind == "enum":
            values[name] = _short_choice(kind, int(ffi.cast("int", value)))
        elif kind.kind == "struct" and kind.cname == "struct mf_Rate":
            values[name] = Fraction(value.numerator, value.denominator)
        elif kind.kind == "struct":
            values[name] = read_struct(value)
        elif kind.kind == "array":
            values[name] = tuple(value)
        elif kind.cname == "int64_t":
            values[name] = lib.mf_time_to_seconds(value)
        else:
            values[name] = value
    return values
