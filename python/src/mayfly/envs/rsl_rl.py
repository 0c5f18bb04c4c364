"""The environment interface of rsl_rl's runners: tensors, one flag for every end, separate
time-outs.

env = mayfly.envs.rsl_rl.RslRlEnv("ant", 4096)
OnPolicyRunner(env, settings, device="cpu").learn(1000)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array
from mayfly.envs.adapting import Source, adopt

__all__ = ["RslRlEnv"]


def _torch() -> tuple[Callable[[Array], Any], Callable[[dict[str, Any], int], Any]]:
    try:
        import torch
        from tensordict import TensorDict
    except ImportError as failure:
        raise ImportError(
            "mayfly.envs.rsl_rl needs torch and tensordict; or say tensor= and group="
        ) from failure
    return torch.from_dlpack, lambda rows, count: TensorDict(rows, batch_size=[count])


class _Settings(dict[str, Any]):
    """Settings that rsl_rl logs; its Weights & Biases logger calls this method."""

    def to_dict(self) -> dict[str, Any]:
        return {name: str(value) for name, value in self.items()}


def _means(infos: dict[str, Any]) -> dict[str, float]:
    """Means over the robots that have a value."""
    return {
        f"/{name}": float(values[infos["_" + name]].mean())
        for name, values in infos.items()
        if not name.startswith("_")
    }


class RslRlEnv(Sealed):
    """Robots of one task, whose episodes restart in the step that ends them.

    Args:
        task: such as "ant", a mayfly.Task, or a vector environment with AutoresetMode.SAME_STEP.
        num_envs: robots; None: 1, or those of the environment that is given.
        tensor: converts an array to a tensor; None: torch.from_dlpack, without a copy.
        group: creates the groups of observations from a dict and the number of robots; None: a
            TensorDict.
        seed: of the first episodes.
        arguments: of the environment that is made.

    Attributes:
        cfg: the arguments of the constructor.
        episode_length_buf: steps of each robot in its episode, a tensor. It may be set: an episode
            is truncated when its number reaches max_episode_length. So
            learn(..., init_at_random_ep_len=True) distributes the ends of episodes.

    """

    _replaceable = True
    device = "cpu"

    def __init__(
        self,
        task: Source,
        num_envs: int | None = None,
        *,
        tensor: Callable[[Array], Any] | None = None,
        group: Callable[[dict[str, Any], int], Any] | None = None,
        seed: int = 0,
        **arguments: Any,
    ) -> None:
        if tensor is None or group is None:
            own_tensor, own_group = _torch()
            tensor, group = tensor or own_tensor, group or own_group
        self._tensor, self._group = tensor, group
        self.envs = adopt(task, num_envs, AutoresetMode.SAME_STEP, "rsl_rl", **arguments)
        self.num_envs = int(self.envs.num_envs)
        name = task if isinstance(task, str) else getattr(task, "name", type(task).__name__)
        self.cfg = _Settings(task=name, num_envs=self.num_envs, seed=seed, **arguments)
        self.num_actions = int(self.envs.single_action_space.shape[0])
        self.max_episode_length = self.envs.episode_steps or 2**31 - 1
        self._team = getattr(self.envs, "team", 1)
        self._length = np.zeros(self.num_envs, np.int64)
        self._seen, _ = self.envs.reset(seed=seed)
        self._returned = np.zeros(self.num_envs)
        self._seal()

    @property
    def episode_length_buf(self) -> Any:
        """Steps of each robot in its episode."""
        return self._tensor(self._length)

    @episode_length_buf.setter
    def episode_length_buf(self, lengths: Any) -> None:
        given = as_array(lengths)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise errors.ArgumentError(
                f"episode_length_buf: need {self.num_envs} whole numbers, got {given.dtype} of "
                f"shape {given.shape}"
            )
        self._length = given.astype(np.int64)

    def get_observations(self) -> Any:
        """Current observations by group: "policy", and the others of a mayfly.Task."""
        groups = {**getattr(self.envs, "observation_groups", {}), "policy": self._seen}
        tensors = {name: self._tensor(rows) for name, rows in groups.items()}
        return self._group(tensors, self.num_envs)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One step: observations, rewards, ends of episodes, and extras.

        extras["time_outs"] marks truncated episodes, whose last value must be bootstrapped.
        extras["log"] has the mean return of the episodes that ended, and of a mayfly.Task the means
        of its terms.
        """
        self._seen, reward, terminated, truncated, infos = self.envs.step(actions)
        over = terminated | truncated
        length = self._length + 1
        late = (length >= self.max_episode_length) & ~over
        if late.any():  # only after the lengths were set: else C truncates episodes
            late = late.reshape(-1, self._team).any(1).repeat(self._team)  # as a team
            self._seen, _ = self.envs.reset(options={"reset_mask": late})
            truncated, over = truncated | late, over | late
        self._length = np.where(over, 0, length)
        self._returned += reward
        extras: dict[str, Any] = {"time_outs": self._tensor(truncated & ~terminated), "log": {}}
        if over.any():
            extras["log"]["/episode/return"] = float(self._returned[over].mean())
            if hasattr(self.envs, "observation_groups"):  # terms of a task
                extras["log"].update(_means(infos.get("final_info", {})))
            self._returned[over] = 0.0
        rewards = self._tensor(reward.astype(np.float32))
        return self.get_observations(), rewards, self._tensor(over.astype(np.int64)), extras

    def close(self) -> None:
        """Releases the memory."""
        self.envs.close()
