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
from mayfly.envs.vector import MayflyVectorEnv

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


class RslRlEnv(Sealed):
    """Robots of one task, whose episodes restart in the step that ends them.

    Args:
        task: such as "ant".
        num_envs: robots.
        tensor: converts an array to a tensor; None: torch.from_dlpack, without a copy.
        group: creates the groups of observations from a dict and the number of robots; None: a
            TensorDict.
        seed: of the first episodes.
        arguments: of MayflyVectorEnv.

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
        task: str,
        num_envs: int,
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
        settings = {"dtype": np.float32, **arguments, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.envs = MayflyVectorEnv(task, num_envs, **settings)
        if not self.envs.copy:
            raise errors.ArgumentError(
                "rsl_rl reads observations after the step that follows: say copy=True"
            )
        self.cfg = _Settings(task=task, num_envs=num_envs, seed=seed, **arguments)
        self.num_envs = num_envs
        self.num_actions = self.envs.environment.action_count
        self.max_episode_length = self.envs.episode_steps or 2**31 - 1
        self._length = np.zeros(num_envs, np.int64)
        self._seen, _ = self.envs.reset(seed=seed)
        self._returned = np.zeros(num_envs)
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
        """Current observations: the group "policy"."""
        return self._group({"policy": self._tensor(self._seen)}, self.num_envs)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One step: observations, rewards, ends of episodes, and extras.

        extras["time_outs"] marks truncated episodes, whose last value must be bootstrapped.
        extras["log"] has the mean return of the episodes that ended.
        """
        self._seen, reward, terminated, truncated, infos = self.envs.step(actions)
        over = terminated | truncated
        length = self._length + 1
        late = (length >= self.max_episode_length) & ~over
        if late.any():  # only after the lengths were set: else C truncates episodes
            late = late.reshape(-1, self.envs.team).any(1).repeat(self.envs.team)  # as a team
            self._seen, _ = self.envs.reset(options={"reset_mask": late})
            truncated, over = truncated | late, over | late
        self._length = np.where(over, 0, length)
        self._returned += reward
        extras: dict[str, Any] = {"time_outs": self._tensor(truncated & ~terminated), "log": {}}
        if over.any():
            extras["log"]["/episode/return"] = float(self._returned[over].mean())
            self._returned[over] = 0.0
        rewards = self._tensor(reward.astype(np.float32))
        return self.get_observations(), rewards, self._tensor(over.astype(np.int64)), extras

    def close(self) -> None:
        """Releases the memory."""
        self.envs.close()
