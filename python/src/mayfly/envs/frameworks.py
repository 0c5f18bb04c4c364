"""Arrays of NumPy as those of PyTorch or JAX, in the same memory."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from mayfly import errors
from mayfly.arrays import Array
from mayfly.task import near

__all__ = ["FRAMEWORKS", "aligned", "wrapper"]

FRAMEWORKS = ("numpy", "torch", "jax")
_ALIGNMENT = 64  # [byte] what JAX shares; it copies other memory


def aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """A new array whose memory all frameworks can share."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = bytearray(size + _ALIGNMENT)
    address = np.frombuffer(memory, np.uint8).__array_interface__["data"][0]
    # The array itself is the owner that slices refer to, so its references can be counted.
    return np.ndarray(shape, dtype, buffer=memory, offset=-address % _ALIGNMENT)


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as failure:
        raise ImportError(f"framework={name!r} needs: pip install {name}") from failure


def wrapper(framework: str) -> Callable[[Array], Any]:
    """A function that makes an array of the framework of one of NumPy.

    Torch shares any memory; JAX that of aligned(), in which nothing may change as long as the array
    exists, and copies any other.
    """
    if framework == "numpy":
        return lambda array: array
    if framework == "torch":
        torch = _library("torch")
        return lambda array: torch.from_numpy(array)
    if framework == "jax":
        jax = _library("jax")
        share = importlib.import_module("jax.dlpack").from_dlpack

        def wrapped(array: Array) -> Any:
            plain = array.flags.c_contiguous and array.dtype != np.bool_
            fits = array.__array_interface__["data"][0] % _ALIGNMENT == 0
            if plain and fits and array.flags.writeable:
                return share(array)
            return jax.numpy.array(array)

        return wrapped
    raise errors.ArgumentError(
        f"framework: need one of {', '.join(FRAMEWORKS)}, got {framework!r}"
        f"{near(framework, FRAMEWORKS)}"
    )
