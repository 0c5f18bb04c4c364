"""What rsl_rl's runners ask of an environment: tensors, one flag for every end, time-outs apart.

env = mayfly.envs.rsl_rl.RslRlEnv("ant", 4096)
OnPolicyRunner(env, settings, device="cpu").learn(1000)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from mayfly.arrays import Array
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


class RslRlEnv:
    """Robots of one task, whose episodes start anew in the step that ends them.

    Args:
        task: such as "ant".
        num_envs: robots.
        tensor: makes a tensor of an array; None: torch.from_dlpack, which copies nothing.
        group: makes the groups of observations from a dict and the number of robots; None: a
            TensorDict.
        seed: of the first episodes.
        arguments: of MayflyVectorEnv.

    Attributes:
        cfg: the arguments that it was made with.
        episode_length_buf: steps of each robot in its episode, a tensor.

    """

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
        self.cfg = {"task": task, "num_envs": num_envs, "seed": seed, **arguments}
        self.num_envs = num_envs
        self.num_actions = self.envs.environment.action_count
        self.max_episode_length = self.envs.episode_steps or 2**31 - 1
        self._length = np.zeros(num_envs, np.int64)
        self._seen, _ = self.envs.reset(seed=seed)
        self._returned = np.zeros(num_envs)

    @property
    def episode_length_buf(self) -> Any:
        """Steps of each robot in its episode."""
        return self._tensor(self._length)

    def get_observations(self) -> Any:
        """What robots see now: the group "policy"."""
        return self._group({"policy": self._tensor(self._seen)}, self.num_envs)

    def step(self, actions: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """One step: observations, rewards, ends of episodes, and extras.

        extras["time_outs"] says which ends are none of the task's: the value of the last
        observation goes on there. extras["log"] has the mean return of the episodes that ended.
        """
        self._seen, reward, terminated, truncated, infos = self.envs.step(actions)
        over = terminated | truncated
        self._length = np.where(over, 0, self._length + 1)
        self._returned += reward
        extras: dict[str, Any] = {"time_outs": self._tensor(truncated & ~terminated), "log": {}}
        if over.any():
            extras["log"]["/episode/return"] = float(self._returned[over].mean())
            self._returned[over] = 0.0
        rewards = self._tensor(reward.astype(np.float32))
        return self.get_observations(), rewards, self._tensor(over.astype(np.int64)), extras

    def close(self) -> None:
        """Gives the memory back."""
        self.envs.close()
