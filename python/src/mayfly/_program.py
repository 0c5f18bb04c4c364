"""Functions of arrays (robots, ...) become programs of C: they are called once with symbols instead
of arrays, which remember what is done with them.

    recorder = Recorder(robots)
    angle = recorder.array(memory)                      # a symbol of shape (robots, joints)
    recorder.store(out, np.square(angle - rest))        # any function of NumPy's that is known here
    recorder.program().run(context, ffi.NULL, None, robots)      # reads `memory`, writes `out`

What a symbol cannot do (its values decide, an unknown function) raises NotTracedError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from mayfly import errors
from mayfly._native import ffi, lib
from mayfly.arrays import Array

__all__ = ["LISTED", "NotTracedError", "Program", "Recorder", "Symbol", "compiled"]

_BLOCK: int = lib.MF_BLOCK
_SOURCES = (lib.MFPY_LOAD, lib.MFPY_RANDOM)  # operations without registers
_NUMBERS = {"f4": lib.MFPY_F32, "f8": lib.MFPY_F64, "i4": lib.MFPY_I32, "b1": lib.MFPY_BOOL}
Ids = npt.NDArray[np.int64]


class _Listed:
    """Stands for the numbers of the robots for which a program runs."""

    def __len__(self) -> int:
        raise NotTracedError("the number of robots")


LISTED = _Listed()


class NotTracedError(errors.UnsupportedError):
    """A function does what a program cannot."""


Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Marks a term of your own that is to run in C, as those that ship do.

    It may use what programs know (docs/how_to/tasks.md), and nothing but the environment, its
    parameters and constants, as it is called only when an environment is made. ArgumentError then:
    it does something else.
    """
    function.mayfly_compiled = True  # type: ignore[attr-defined]
    return function


class Program:
    """What Recorder.program() makes. `constants` may be changed in place between runs."""

    def __init__(
        self, instructions: Any, arrays: Any, constants: Array, registers: int, kept: list[Any]
    ) -> None:
        self._owned = instructions, arrays, kept
        self.constants: Array = constants
        self._native = ffi.new(
            "mfpy_Program *",
            {
                "instructions": instructions,
                "arrays": arrays,
                "constants": ffi.from_buffer("float[]", constants),
                "instruction_count": len(instructions),
                "array_count": len(arrays),
                "constant_count": len(constants),
                "register_count": registers,
                "draws": any(one.operation == lib.MFPY_RANDOM for one in instructions),
            },
        )

    def run(self, context: Any, who: Any, robots: Array | None, count: int) -> None:
        """For the robots of these numbers, int64; None: for the first `count`. `who`: what random
        numbers depend on, mfpy_Robots.
        """
        listed = ffi.NULL if robots is None else ffi.from_buffer("int64_t[]", robots)
        number = count if robots is None else len(robots)
        if not lib.mfpy_run(context, self._native, who, listed, number):
            raise MemoryError("terms: no memory for their numbers")


class Recorder:
    """Collects operations. Each makes one number of a robot, in a register of its own."""

    def __init__(self, count: int) -> None:
        self.count = count  # robots
        self._steps: list[tuple[int, int, int, int]] = []  # operation, a, b, c
        self._known: dict[tuple[int, int, int, int], int] = {}
        self._constants: dict[Any, int] = {}  # numbers are -1, -2, ...
        self._values: list[float] = []
        self._arrays: list[dict[str, Any]] = []
        self._kept: list[Any] = []
        self._slots: dict[Any, int] = {}
        self._fields: set[int] = set()  # slots of fields

    # ---- what functions get ----------------------------------------------------------------------

    def array(self, memory: Array) -> Symbol:
        """A symbol of an array (robots, ...), columns one behind the other."""
        if memory.strides[0] != memory.itemsize:
            raise NotTracedError("numbers of a robot side by side")
        row = memory.T.strides[0] // memory.itemsize
        return self._symbol(self._slot(memory.T, (_BLOCK, row, 1)), memory.shape[1:])

    def rows(self, memory: Array) -> Symbol:
        """A symbol of an array (robots, k) in the order of C."""
        width = memory.shape[1]
        return self._symbol(self._slot(memory, (_BLOCK * width, 1, width)), (width,))

    def field(self, view: Array) -> Symbol:
        """A symbol of a field, (blocks, lanes, ...)."""
        if view.dtype.kind != "f":
            raise NotTracedError(f"fields of {view.dtype}")
        slot = self._slot_of(view)
        self._fields.add(slot)
        return self._symbol(slot, view.shape[2:])

    def random(self, stream: int, first: int, width: int) -> Symbol:
        """Uniform numbers in [0, 1), (robots, width), as mfpy_random from a column on."""
        columns = [first + i for i in range(width)]
        drawn = [self.add(lib.MFPY_RANDOM, stream, i & ~3, i & 3) for i in columns]
        return Symbol(self, np.array(drawn, np.int64))

    def _slot_of(self, view: Array) -> int:
        block, lane, *rows = (stride // view.itemsize for stride in view.strides)
        if any(rows[i] != rows[i + 1] * view.shape[i + 3] for i in range(len(rows) - 1)):
            raise NotTracedError("numbers of a field that are not side by side")
        return self._slot(view, (block, rows[-1] if rows else 0, lane))

    def constant(self, value: float, key: Any = None) -> int:
        """The number of a constant; with a key one of its own. -1 - number is its place in
        Program.constants.
        """
        key = float(np.float32(value)).hex() if key is None else (key,)
        if key not in self._constants:
            self._values.append(value)
            self._constants[key] = -len(self._values)
        return self._constants[key]

    def store(self, memory: Array, value: Any) -> None:
        """Writes a symbol or constants to an array (robots, ...), columns one behind the other."""
        columns = memory.T
        row = columns.strides[0] // memory.itemsize
        self._write(self._slot(columns, (_BLOCK, row, 1)), memory.shape[1:], value)

    def store_field(self, view: Array, value: Any, columns: Sequence[int] | None = None) -> None:
        """Writes a symbol or constants to a field, (blocks, lanes, ...), or to columns of it."""
        slot = self._slot_of(view)
        self._fields.add(slot)
        for key in [key for key in self._known if key[0] == lib.MFPY_LOAD]:
            if key[1] in self._fields:  # fields and their parts are the same memory
                del self._known[key]
        self._write(slot, view.shape[2:], value, columns)

    def _write(
        self, slot: int, shape: tuple[int, ...], value: Any, columns: Sequence[int] | None = None
    ) -> None:
        try:
            numbers = np.broadcast_to(self.ids(value), shape if columns is None else len(columns))
        except ValueError as failure:
            raise NotTracedError(str(failure)) from None
        flat = np.ravel(numbers)
        for component, number in zip(range(len(flat)) if columns is None else columns, flat):
            self._steps.append((lib.MFPY_STORE, slot, component, int(number)))
            key = (lib.MFPY_LOAD, slot, component, 0)
            if self._arrays[slot]["number"] in (lib.MFPY_F32, lib.MFPY_F64):
                self._known[key] = int(number)
            else:  # is rounded
                self._known.pop(key, None)

    def _slot(self, memory: Array, strides: tuple[int, int, int]) -> int:
        number = _NUMBERS.get(memory.dtype.str[1:])
        if number is None:
            raise NotTracedError(f"there are no programs of {memory.dtype}")
        data = memory.__array_interface__["data"][0]
        key = (data, number, strides)
        if key not in self._slots:
            self._slots[key] = len(self._arrays)
            self._kept.append(memory)
            self._arrays.append(
                {
                    "data": ffi.cast("void *", data),
                    "number": number,
                    "block_stride": strides[0],
                    "row_stride": strides[1],
                    "lane_stride": strides[2],
                }
            )
        return self._slots[key]

    def _symbol(self, slot: int, shape: tuple[int, ...]) -> Symbol:
        count = int(np.prod(shape, dtype=np.int64))
        loaded = [self.add(lib.MFPY_LOAD, slot, component) for component in range(count)]
        truth = self._arrays[slot]["number"] == lib.MFPY_BOOL
        return Symbol(self, np.array(loaded, np.int64).reshape(shape), truth, shares=True)

    # ---- operations ------------------------------------------------------------------------------

    def add(self, operation: int, a: int, b: int = 0, c: int = 0) -> int:
        """One operation; equal ones are done once."""
        key = (operation, a, b, c)
        if key not in self._known:
            self._known[key] = len(self._steps)
            self._steps.append(key)
        return self._known[key]

    def ids(self, value: Any) -> Ids:
        """The numbers of a symbol or of constants."""
        if isinstance(value, Symbol):
            return value.ids
        given = np.asarray(value)
        if given.dtype.kind not in "biuf":
            raise NotTracedError(f"there are no symbols of {given.dtype}")
        made = [self.constant(float(one)) for one in given.reshape(-1)]
        return np.array(made, np.int64).reshape(given.shape)

    def apply(self, operation: int, *given: Any, truth: bool = False) -> Symbol:
        """An operation on all numbers of symbols and constants, whose shapes must fit."""
        dimensions = {one.ids.ndim for one in given if isinstance(one, Symbol)}
        parts = [self.ids(one) for one in given]
        if len(dimensions) != 1 or max(part.ndim for part in parts) > max(dimensions):
            raise NotTracedError(f"shapes {[np.shape(one) for one in given]} do not fit")
        try:
            together = np.broadcast_arrays(*parts)
        except ValueError as failure:
            raise NotTracedError(str(failure)) from None
        out = np.empty(together[0].shape, np.int64)
        for at in np.ndindex(out.shape):
            out[at] = self.add(operation, *(int(part[at]) for part in together))
        return Symbol(self, out, truth)

    def program(self) -> Program | None:
        """All that is stored, and what it needs; None: nothing is."""
        steps = self._steps
        if not steps:
            return None
        needed = np.zeros(len(steps), np.bool_)
        for number in range(len(steps) - 1, -1, -1):
            operation, a, b, c = steps[number]
            if operation == lib.MFPY_STORE:
                needed[number] = True
                used = [c]
            else:
                used = [] if operation in _SOURCES or not needed[number] else [a, b, c]
            for one in used:
                if 0 <= one < number:
                    needed[one] = True
        # Registers: constants first.
        first = len(self._values)
        makes = np.array([step[0] != lib.MFPY_STORE for step in steps])
        register = np.cumsum(needed & makes) - 1 + first

        def of(number: int) -> int:
            return -1 - number if number < 0 else int(register[number])

        merged: list[list[int]] = []  # operation, rows, out, a, b, c, and the steps of a, b, c
        for number in map(int, np.flatnonzero(needed)):
            operation, a, b, c = steps[number]
            if operation in _SOURCES:
                row = [operation, 1, of(number), a, b, c]
            elif operation == lib.MFPY_STORE:
                row = [operation, 1, 0, a, b, of(c)]
            else:
                row = [operation, 1, of(number), of(a), of(b), of(c)]
            if not (merged and _join(merged[-1], row)):
                merged.append([*row, 0, 0, 0])
        instructions = ffi.new(
            "mfpy_Instruction[]",
            [
                {
                    "operation": row[0], "rows": row[1], "out": row[2], "a": row[3], "b": row[4],
                    "c": row[5], "a_step": row[6], "b_step": row[7], "c_step": row[8],
                }
                for row in merged
            ],
        )  # fmt: skip
        registers = first + int((needed & makes).sum())
        constants = np.array(self._values, np.float32)
        arrays = ffi.new("mfpy_Array[]", self._arrays)
        return Program(instructions, arrays, constants, registers, self._kept)


def _join(row: list[int], other: list[int]) -> bool:
    """Makes an operation part of the row before it, if its registers follow."""
    if row[0] != other[0] or (row[0] != lib.MFPY_STORE and other[2] != row[2] + row[1]):
        return False
    if row[0] in (lib.MFPY_LOAD, lib.MFPY_STORE, lib.MFPY_RANDOM) and row[3] != other[3]:
        return False
    if row[0] == lib.MFPY_RANDOM and row[4] != other[4]:
        return False
    steps = row[6:]
    for i in range(3):
        step = other[3 + i] - row[3 + i]
        if row[1] == 1:
            steps[i] = step
        if steps[i] not in (0, 1) or step != steps[i] * row[1]:
            return False
    row[1] += 1
    row[6:] = steps
    return True


class Symbol(NDArrayOperatorsMixin):
    """Stands for an array (robots, ...): one number of the recorder for each of its elements.

    Attributes:
        ids: of the numbers, (...).

    """

    __array_priority__ = 1000.0

    def __init__(
        self, recorder: Recorder, ids: Ids, truth: bool = False, *, shares: bool = False
    ) -> None:
        self._recorder = recorder
        self.ids = ids
        self._shares = shares  # its memory with another array, so that it cannot be changed
        self.dtype = np.dtype(np.bool_ if truth else np.float32)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self._recorder.count, *self.ids.shape)

    @property
    def ndim(self) -> int:
        return self.ids.ndim + 1

    @property
    def T(self) -> list[Symbol]:  # noqa: N802
        """Columns of (robots, k)."""
        if self.ids.ndim != 1:
            raise NotTracedError(f"the transposed array of shape {self.shape}")
        return [self[:, i] for i in range(len(self.ids))]

    def __getitem__(self, key: Any) -> Symbol:
        keys = key if isinstance(key, tuple) else (key,)
        if keys[:1] == (Ellipsis,):
            picked = self.ids[keys]
        elif keys[0] is LISTED or (isinstance(keys[0], slice) and keys[0] == slice(None)):
            picked = self.ids[keys[1:]]
        else:
            raise NotTracedError("some of the robots")
        shares = all(one is None or isinstance(one, (slice, int, type(...))) for one in keys)
        return self._like(np.asarray(picked, np.int64), shares)

    def _like(self, ids: Ids, shares: bool = False) -> Symbol:
        return Symbol(self._recorder, ids, self.dtype == np.bool_, shares=shares)

    def astype(self, kind: npt.DTypeLike, copy: bool = True) -> Symbol:
        del copy
        if np.dtype(kind).kind == "f" or np.dtype(kind) == self.dtype:
            return Symbol(self._recorder, self.ids)
        if np.dtype(kind).kind == "b":
            return self != 0  # type: ignore[no-any-return]
        raise NotTracedError(f"numbers of {np.dtype(kind)}")

    def copy(self) -> Symbol:
        return self._like(self.ids)

    def reshape(self, *shape: Any) -> Symbol:
        requested = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        if not requested or requested[0] != self._recorder.count:
            raise NotTracedError(f"reshape to {requested}")
        return self._like(self.ids.reshape(requested[1:]), shares=True)

    def _no(self, *unused: Any, **also: Any) -> Any:
        raise NotTracedError("values decide what happens")

    __bool__ = __float__ = __int__ = __index__ = __array__ = __iter__ = _no
    __setitem__ = __len__ = _no

    # ---- NumPy -----------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *given: Any, **also: Any) -> Any:
        (out,) = also.pop("out", None) or (None,)
        if out is not None:
            return self._change(out, self.__array_ufunc__(ufunc, method, *given, **also))
        if method == "reduce":
            axis = also.pop("axis", 0)
            if also.pop("keepdims", False) or also.keys() - {"dtype"}:
                raise NotTracedError(f"{ufunc.__name__}.reduce with {list(also)}")
            return _fold(ufunc, given[0], axis)
        made = _UFUNCS.get(ufunc.__name__)
        if method != "__call__" or made is None or also:
            raise NotTracedError(f"numpy.{ufunc.__name__}")
        return made(self._recorder, *given)

    def _change(self, out: Any, made: Symbol) -> Symbol:
        """Changes an array in place."""
        if not isinstance(out, Symbol) or out._shares or made.ids.shape != out.ids.shape:
            raise NotTracedError("a change in place of what is not the term's own")
        out.ids = made.ids
        return out

    def __array_function__(
        self, function: Any, types: Any, given: tuple[Any, ...], also: dict[str, Any]
    ) -> Any:
        made = _FUNCTIONS.get(function.__name__)
        if made is None:
            raise NotTracedError(f"numpy.{function.__name__}")
        try:
            return made(*given, **also)
        except TypeError as failure:
            raise NotTracedError(f"numpy.{function.__name__}: {failure}") from None

    def sum(self, axis: int | None = None) -> Symbol:
        return _fold(np.add, self, axis)

    def mean(self, axis: int | None = None) -> Symbol:
        return _mean(self, axis)

    def max(self, axis: int | None = None) -> Symbol:
        return _fold(np.maximum, self, axis)

    def min(self, axis: int | None = None) -> Symbol:
        return _fold(np.minimum, self, axis)

    def any(self, axis: int | None = None) -> Symbol:
        return _fold(np.logical_or, self, axis)

    def all(self, axis: int | None = None) -> Symbol:
        return _fold(np.logical_and, self, axis)

    def clip(self, low: Any = None, high: Any = None) -> Any:
        return _clip(self, low, high)


def _fold(ufunc: Any, array: Symbol, axis: int | None) -> Symbol:
    """A reduction over one axis, in the order of the elements."""
    dimensions = array.ndim
    if axis is None or not 1 <= axis % dimensions:
        raise NotTracedError(f"numpy.{ufunc.__name__}.reduce over robots")
    parts = np.moveaxis(array.ids, axis % dimensions - 1, 0)
    truth = _is_truth(array) and ufunc is not np.add  # of truth values the number
    found, *others = (Symbol(array._recorder, np.asarray(part), truth) for part in parts)
    for one in others:
        found = ufunc(found, one)
    return found


def _mean(array: Symbol, axis: int | None = None) -> Symbol:
    count = 1 if axis is None else array.shape[axis]
    return _fold(np.add, array, axis) / np.float32(count)  # type: ignore[no-any-return]


def _clip(array: Any, low: Any = None, high: Any = None) -> Any:
    array = array if low is None else np.maximum(array, low)
    return array if high is None else np.minimum(array, high)


def _where(condition: Any, yes: Any, no: Any) -> Symbol:
    one = next(x for x in (condition, yes, no) if isinstance(x, Symbol))
    truth = _is_truth(yes) and _is_truth(no)
    return one._recorder.apply(lib.MFPY_SELECT, condition, yes, no, truth=truth)


def _together(arrays: Sequence[Any], axis: int, join: Callable[..., Any]) -> Symbol:
    one = next(x for x in arrays if isinstance(x, Symbol))
    if not all(isinstance(x, Symbol) for x in arrays) or axis == 0:
        raise NotTracedError("robots, or arrays of constants, one behind the other")
    at = axis if axis < 0 else axis - 1
    ids = np.asarray(join([x.ids for x in arrays], axis=at), np.int64)
    return Symbol(one._recorder, ids, all(map(_is_truth, arrays)))


def _norm(array: Symbol, axis: int | None = None) -> Symbol:
    square = _fold(np.add, array * array, axis)
    return square._recorder.apply(lib.MFPY_ROOT, square)


def _cross(a: Any, b: Any) -> Symbol:
    """Of (robots, 3)."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return _together([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], 1, np.stack)


def _apply(operation: int, truth: bool = False) -> Callable[..., Symbol]:
    return lambda recorder, *given: recorder.apply(operation, *given, truth=truth)


def _is_truth(one: Any) -> bool:
    return isinstance(one, bool) or getattr(one, "dtype", None) == np.bool_


def _alike(operation: int) -> Callable[..., Symbol]:
    """Truth values give truth values."""
    return lambda recorder, *given: recorder.apply(
        operation, *given, truth=all(map(_is_truth, given))
    )


def _not(recorder: Recorder, a: Any) -> Symbol:
    return recorder.apply(lib.MFPY_EQUAL, a, 0.0, truth=True)


def _truths(operation: int) -> Callable[..., Symbol]:
    """Of truth values: 0 and 1."""

    def made(recorder: Recorder, a: Any, b: Any) -> Symbol:
        if not (_is_truth(a) and _is_truth(b)):
            raise NotTracedError("logic of numbers")
        return recorder.apply(operation, a, b, truth=True)

    return made


def _add(recorder: Recorder, a: Any, b: Any) -> Symbol:
    if _is_truth(a) and _is_truth(b):
        return _truths(lib.MFPY_MOST)(recorder, a, b)
    return recorder.apply(lib.MFPY_ADD, a, b)


def _square(recorder: Recorder, a: Any) -> Symbol:
    return recorder.apply(lib.MFPY_MULTIPLY, a, a, truth=_is_truth(a))


def _power(recorder: Recorder, a: Any, exponent: Any) -> Symbol:
    if isinstance(exponent, Symbol) or exponent != 2:
        raise NotTracedError("powers but squares")
    return _square(recorder, a)


def _swapped(operation: int) -> Callable[..., Symbol]:
    """a > b is b < a."""
    return lambda recorder, a, b: recorder.apply(operation, b, a, truth=True)


def _invert(recorder: Recorder, a: Any) -> Symbol:
    if a.dtype != np.bool_:
        raise NotTracedError("bits of numbers")
    return _not(recorder, a)


_UFUNCS: dict[str, Callable[..., Any]] = {
    "add": _add,
    "subtract": _apply(lib.MFPY_SUBTRACT),
    "multiply": _alike(lib.MFPY_MULTIPLY),
    "divide": _apply(lib.MFPY_DIVIDE),
    "true_divide": _apply(lib.MFPY_DIVIDE),
    "minimum": _alike(lib.MFPY_LEAST),
    "maximum": _alike(lib.MFPY_MOST),
    "less": _apply(lib.MFPY_LESS, truth=True),
    "less_equal": _apply(lib.MFPY_LESS_EQUAL, truth=True),
    "greater": _swapped(lib.MFPY_LESS),
    "greater_equal": _swapped(lib.MFPY_LESS_EQUAL),
    "equal": _apply(lib.MFPY_EQUAL, truth=True),
    "not_equal": lambda recorder, a, b: _not(
        recorder, recorder.apply(lib.MFPY_EQUAL, a, b, truth=True)
    ),
    "absolute": _apply(lib.MFPY_ABSOLUTE),
    "fabs": _apply(lib.MFPY_ABSOLUTE),
    "sqrt": _apply(lib.MFPY_ROOT),
    "rint": _apply(lib.MFPY_ROUND),
    "exp": _apply(lib.MFPY_EXP),
    "sin": _apply(lib.MFPY_SINE),
    "cos": _apply(lib.MFPY_COSINE),
    "arctan2": _apply(lib.MFPY_ATAN2),
    "isfinite": _apply(lib.MFPY_FINITE, truth=True),
    "square": _square,
    "power": _power,
    "negative": lambda recorder, a: recorder.apply(lib.MFPY_SUBTRACT, -0.0, a),
    "positive": lambda recorder, a: a,
    "invert": _invert,
    "logical_not": _not,
    "logical_and": _truths(lib.MFPY_LEAST),
    "logical_or": _truths(lib.MFPY_MOST),
    "bitwise_and": _truths(lib.MFPY_LEAST),
    "bitwise_or": _truths(lib.MFPY_MOST),
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "where": _where,
    "clip": _clip,
    "round": lambda a, decimals=0: np.rint(a) if decimals == 0 else a._no(),
    "around": lambda a, decimals=0: np.rint(a) if decimals == 0 else a._no(),
    "stack": lambda arrays, axis=0: _together(arrays, axis, np.stack),
    "concatenate": lambda arrays, axis=0: _together(arrays, axis, np.concatenate),
    "sum": lambda a, axis=None: _fold(np.add, a, axis),
    "mean": _mean,
    "max": lambda a, axis=None: _fold(np.maximum, a, axis),
    "amax": lambda a, axis=None: _fold(np.maximum, a, axis),
    "min": lambda a, axis=None: _fold(np.minimum, a, axis),
    "amin": lambda a, axis=None: _fold(np.minimum, a, axis),
    "any": lambda a, axis=None: _fold(np.logical_or, a, axis),
    "all": lambda a, axis=None: _fold(np.logical_and, a, axis),
    "norm": _norm,
    "cross": _cross,
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
}
