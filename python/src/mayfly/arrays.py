"""Arrays from whatever holds numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["DLPACK_CPU", "Array", "as_array"]

Array = npt.NDArray[Any]

DLPACK_CPU = 1  # kDLCPU of dlpack.h


def as_array(value: object) -> Array:
    """An array from whatever holds numbers: lists, NumPy, and what speaks DLPack (torch, JAX)."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__dlpack_device__"):
        device = value.__dlpack_device__()
        if int(device[0]) != DLPACK_CPU:
            raise ValueError("need an array in the memory of the processor: copy it there first")
        if not hasattr(value, "__array__"):
            return np.from_dlpack(value)  # type: ignore[arg-type]
    return np.asarray(value)
