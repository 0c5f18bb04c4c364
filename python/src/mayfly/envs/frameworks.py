"""Arrays of NumPy as those of PyTorch or JAX, in the same memory; steps inside compiled JAX."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import errors
from mayfly.arrays import Array
from mayfly.task import near

if TYPE_CHECKING:
    from mayfly.envs.batch import Batch

__all__ = ["FRAMEWORKS", "aligned", "jax_step", "wrapper"]

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


def jax_step(envs: Batch) -> Callable[[Any], tuple[Any, Any, Any, Any]]:
    """The step of an environment as a function that may stand in jax.jit and jax.lax.scan.

        step = mayfly.envs.jax_step(envs)

        @jax.jit
        def rollout(weights, seen):
            def body(seen, _):
                seen, reward, terminated, truncated = step(jax.numpy.tanh(seen @ weights))
                return seen, reward
            return jax.lax.scan(body, seen, length=100)

    It takes actions, (robots, actions) in float32, and returns observations, rewards (float32),
    terminations and truncations. Calls are made in the order of the program, each once; the
    environment steps on the processor, outside of the compiled program. It has no gradient.

    Args:
        envs: with framework="numpy", after reset(); use AutoresetMode.SAME_STEP where episodes end,
            as infos are dropped.

    """
    if getattr(envs, "framework", "numpy") != "numpy":
        raise errors.ArgumentError('jax_step: need an environment with framework="numpy"')
    jax = _library("jax")
    call_out = importlib.import_module("jax.experimental").io_callback
    n, space = envs.num_envs, envs.single_observation_space
    shapes = tuple(
        jax.ShapeDtypeStruct((n, *shape), dtype)
        for shape, dtype in (
            (space.shape, space.dtype),
            ((), "float32"),
            ((), "bool"),
            ((), "bool"),
        )
    )

    def take(action: Any) -> tuple[Array, ...]:
        seen, reward, terminated, truncated, _ = envs.step(np.asarray(action))
        return seen, reward.astype(np.float32), terminated, truncated

    def step(action: Any) -> tuple[Any, Any, Any, Any]:
        made: tuple[Any, Any, Any, Any] = call_out(take, shapes, action, ordered=True)
        return made

    return step
