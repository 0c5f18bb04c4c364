"""Conversion of arguments to numbers and arrays, with error messages."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors

__all__ = ["DLPACK_CPU", "Array", "as_array", "matrix", "rows_or_none", "whole"]

Array = npt.NDArray[Any]

DLPACK_CPU = 1  # kDLCPU of dlpack.h


def as_array(value: object) -> Array:
    """An array from lists, NumPy arrays and objects with DLPack support (torch, JAX)."""
    if isinstance(value, np.ndarray):
        return value
    if getattr(value, "requires_grad", False):  # which torch does not show to others
        value = value.detach()  # type: ignore[attr-defined]
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()
        if int(device[0]) != DLPACK_CPU:
            raise ValueError("need an array in the memory of the processor: copy it there first")
        if not hasattr(value, "__array__"):
            return np.from_dlpack(value)  # type: ignore[arg-type]
    return np.asarray(value)


def whole(value: object, what: str, low: int, high: int) -> int:
    """A whole number low .. high - 1."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{what}: need a whole number, got {value!r}") from None
    if not low <= number < high:
        raise ValueError(f"{what}: need {low} .. {high - 1}, got {number}")
    return number


def matrix(value: Any, rows: int, width: int, what: str) -> npt.NDArray[np.float64]:
    """Numbers of shape (rows, width), finite; one row is repeated."""
    given = as_array(value)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{what}: need real numbers, got {given.dtype}")
    if given.shape not in ((width,), (rows, width)):
        raise ValueError(f"{what}: need shape ({width},) or ({rows}, {width}), got {given.shape}")
    if not np.isfinite(given).all():
        raise errors.ArgumentError(f"{what}: need finite numbers; nothing was written")
    return np.array(np.broadcast_to(given, (rows, width)), np.float64, order="C")


def rows_or_none(value: Any, rows: int, width: int, what: str) -> list[Any]:
    """Rows as of matrix(); None for each without a value."""
    return [None] * rows if value is None else matrix(value, rows, width, what).tolist()
