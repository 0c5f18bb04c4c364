"""Robots as a VecEnv of Stable-Baselines3.

envs = mayfly.envs.sb3.MayflyVecEnv("ant", 64)
stable_baselines3.PPO("MlpPolicy", envs, device="cpu").learn(1_000_000)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import Array
from mayfly.envs.adapting import Source, adopt

try:
    from stable_baselines3.common.vec_env.base_vec_env import VecEnv
except ImportError as failure:
    raise ImportError("mayfly.envs.sb3 needs: pip install stable-baselines3") from failure

__all__ = ["MayflyVecEnv"]


class MayflyVecEnv(Sealed, VecEnv):  # type: ignore[misc]
    """Robots of one task, whose episodes restart in the step that ends them.

    Args:
        task: such as "ant", a mayfly.Task, or a vector environment with AutoresetMode.SAME_STEP.
        num_envs: robots; None: 1, or those of the environment that is given.
        arguments: of the environment that is made; observations are float32 by default.

    """

    _replaceable = True

    def __init__(self, task: Source, num_envs: int | None = None, **arguments: Any) -> None:
        self.envs = adopt(task, num_envs, AutoresetMode.SAME_STEP, "Stable-Baselines3", **arguments)
        self._action: Any = None
        super().__init__(
            self.envs.num_envs, self.envs.single_observation_space, self.envs.single_action_space
        )
        self.metadata = self.envs.metadata
        self._seal()

    def reset(self) -> Array:
        """Starts all episodes, with the seeds that seed() has set."""
        if any(self._options):
            self._reset_options()
            raise errors.UnsupportedError("set_options: there are none for the start of an episode")
        self._action = None
        infos: dict[str, Any]
        observation: Array
        observation, infos = self.envs.reset(seed=self._seeds)
        self.reset_infos = _rows(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return observation

    def step_async(self, actions: Array) -> None:
        """Stores actions."""
        self._action = actions

    def step_wait(self) -> tuple[Array, Array, Array, list[dict[str, Any]]]:
        """Executes the step."""
        if self._action is None:
            raise errors.BusyError("call step_async() first")
        action, self._action = self._action, None
        observation, reward, terminated, truncated, infos = self.envs.step(action)
        ends = infos.pop("final_obs", None)
        final = infos.pop("final_info", None)
        infos.pop("_final_obs", None)
        infos.pop("_final_info", None)
        rows = _rows(infos, self.num_envs)
        over = terminated | truncated
        for row in rows:
            row["TimeLimit.truncated"] = False
        none = np.zeros(self.num_envs, np.bool_)
        for i in np.flatnonzero(over):
            assert ends is not None and final is not None
            del rows[i]["TimeLimit.truncated"]
            self.reset_infos[i] = rows[i]
            rows[i] = {
                **{key: final[key][i] for key in final if final.get("_" + key, none)[i]},
                "terminal_observation": ends[i],
                "TimeLimit.truncated": bool(truncated[i] and not terminated[i]),
            }
        return observation, reward.astype(np.float32), over, rows

    def close(self) -> None:
        """Releases the memory."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environment, which all robots share."""
        value = getattr(self.envs, attr_name)
        return [value for _ in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Sets an attribute of the environment, for all robots."""
        if len(self._chosen(indices)) != self.num_envs:
            raise errors.UnsupportedError("set_attr: robots share one environment; set it for all")
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Calls a method of the environment once, for all robots."""
        if len(self._chosen(indices)) != self.num_envs:
            raise errors.UnsupportedError("env_method: robots share one environment; call for all")
        value = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [value] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Returns False: no robot is wrapped."""
        return [False for _ in self._chosen(indices)]

    def _chosen(self, indices: Any) -> list[int]:
        everyone = range(self.num_envs)
        return [everyone[i] for i in self._get_indices(indices)]

    def get_images(self) -> Sequence[Array | None]:
        """Pictures of the first sixteen robots, if it was made with render_mode="rgb_array"."""
        return list(self.envs.render() or ())


def _rows(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """A dict for each robot from a dict of arrays."""
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, column in infos.items():
        if key.startswith("_"):
            continue
        for i in np.flatnonzero(infos["_" + key]):
            rows[i][key] = column[i]
    return rows
