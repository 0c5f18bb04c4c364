"""Environment objects for adapters: every adapter takes the name of a task, a mayfly.Task, or any
vector environment that exists.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from mayfly import errors
from mayfly.envs.vector import MayflyVectorEnv
from mayfly.task import Task

__all__ = ["Source", "adopt", "need_numpy"]

Source = str | Task | VectorEnv[Any, Any, Any]


def need_numpy(envs: Any, who: str) -> None:
    """Raises ArgumentError for an environment of tensors: adapters make their own."""
    if getattr(envs, "framework", "numpy") != "numpy":
        raise errors.ArgumentError(f"{who} needs an environment made with framework='numpy'")


def adopt(
    source: Source, num_envs: int | None, mode: AutoresetMode, who: str, **arguments: Any
) -> Any:
    """The environment of an adapter: the one that is given, or a new one.

    Args:
        source: name of a task, a Task, or an environment, whose autoreset_mode must be `mode`.
        num_envs: robots; None: 1, or as many as the environment that is given has.
        mode: behavior at the end of an episode that the adapter needs.
        who: the adapter's library, for errors.
        arguments: of a new environment; float32 observations by default.

    """
    if isinstance(source, VectorEnv):
        if arguments or num_envs not in (None, source.num_envs):
            raise TypeError("arguments: the environment that is given has its own")
        found = source.metadata.get("autoreset_mode")
        if found is not mode:
            raise errors.ArgumentError(
                f"{who} needs an environment made with autoreset_mode=AutoresetMode.{mode.name}, "
                f"this one has {getattr(found, 'name', found)}"
            )
        envs: Any = source
    else:
        settings = {"dtype": np.float32, **arguments, "autoreset_mode": mode}
        count = 1 if num_envs is None else num_envs
        if isinstance(source, Task):
            envs = source.make(count, **settings)
        else:
            envs = MayflyVectorEnv(source, count, **settings)
    need_numpy(envs, who)
    if not getattr(envs, "copy", True):
        raise errors.ArgumentError(
            f"{who} reads observations after the step that follows: say copy=True"
        )
    return envs
