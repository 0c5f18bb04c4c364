"""One robot of a task as an environment of Gymnasium, by the code of vector environments."""

from __future__ import annotations

from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array
from mayfly.envs.batch import Batch
from mayfly.envs.rendering import MODES
from mayfly.envs.vector import MayflyVectorEnv
from mayfly.group import Group
from mayfly.task import Task
from mayfly.world import World

__all__ = ["MayflyEnv", "MayflyTeamEnv"]


class State:
    """The state of a robot by the names of MuJoCo's mjData: `qpos`, `qvel`, `time`; copies."""

    def __init__(self, env: MayflyEnv) -> None:
        self._env = env

    @property
    def qpos(self) -> npt.NDArray[np.float64]:
        """Positions, in the form of set_state."""
        return np.array(self._env.group.state()[0][0])

    @property
    def qvel(self) -> npt.NDArray[np.float64]:
        """Velocities."""
        return np.array(self._env.group.state()[1][0])

    @property
    def time(self) -> float:
        """[s] simulated since the environment was created."""
        return self._env.world.time


class _OfABatch(Sealed, gymnasium.Env[Array, Array]):
    """One robot or team as an environment, by the vector environment that it holds."""

    metadata: dict[str, Any] = {"render_modes": MODES}  # as in Gymnasium
    batch_class: ClassVar[type[MayflyVectorEnv]] = MayflyVectorEnv
    _replaceable = True
    _kind: ClassVar[str]  # what there is one of
    observation_space: Box
    action_space: Box

    def _in_brief(self) -> str:
        return repr(self.batch)

    def __init__(
        self, task: str | Task, count: int, max_episode_steps: int | None, arguments: dict[str, Any]
    ) -> None:
        for name in ("num_envs", "autoreset_mode"):
            if name in arguments:
                raise TypeError(f"{name}: is for gymnasium.make_vec, this is one {self._kind}")
        settings = {"num_threads": 1, **arguments, "autoreset_mode": AutoresetMode.DISABLED}
        self.batch: Batch
        if isinstance(task, Task):
            if max_episode_steps is not None:
                raise TypeError("max_episode_steps: a mayfly.Task has episode_length_s")
            self.batch = task.make(count, **settings)
        else:
            steps = -1 if max_episode_steps is None else max_episode_steps
            self.batch = self.batch_class(task, count, max_episode_steps=steps, **settings)
        self.render_mode = self.batch.render_mode
        self.metadata = {"render_modes": MODES, "render_fps": self.batch.metadata["render_fps"]}
        self.observation_space, self.action_space = self._spaces()
        self._seal()

    def _spaces(self) -> tuple[Any, Any]:
        return self.batch.single_observation_space, self.batch.single_action_space

    @property
    def group(self) -> Group:
        """The robots, with all their fields."""
        return self.batch.group

    @property
    def world(self) -> World:
        """Their world."""
        return self.batch.world

    @property
    def dt(self) -> float:
        """[s] of one step."""
        return self.batch.dt

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts an episode; without a seed the random numbers continue."""
        self.batch._use()
        super().reset(seed=seed)
        if seed is None and not self.batch._seeded[0]:
            seed = int(self.np_random.integers(0, 2**63))
        return self.batch.reset(seed=seed, options=options)

    def _step(self, action: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        self.batch._over[:] = False  # going on after the end is allowed, as in Gymnasium
        return self.batch.step(action)

    def render(self) -> npt.NDArray[np.uint8] | None:
        """A picture (height, width, 3) of render_mode="rgb_array"; "human" shows it on a page."""
        frames = self.batch.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        """Gives the memory back; twice is fine."""
        self.batch.close()


class MayflyEnv(_OfABatch):
    """One robot of a task.

    Args:
        task: such as "ant", of mayfly.envs.TASKS; or a mayfly.Task.
        max_episode_steps: as MayflyVectorEnv; None: unlimited, since gymnasium.make counts steps.
        arguments: of MayflyVectorEnv.

    A subclass sets `batch_class` to a subclass of MayflyVectorEnv to change observations and
    rewards.

    Attributes:
        batch: the underlying environment of one robot.

    """

    _kind = "robot"

    def __init__(
        self, task: str | Task, *, max_episode_steps: int | None = None, **arguments: Any
    ) -> None:
        super().__init__(task, 1, max_episode_steps, arguments)

    # ---- as Gymnasium's MujocoEnv ----------------------------------------------------------------

    @property
    def frame_skip(self) -> int:
        """Physics steps of one step."""
        return round(self.dt / self.world.step_seconds)

    @property
    def data(self) -> State:
        """The state by MuJoCo's names."""
        return State(self)

    @property
    def init_qpos(self) -> npt.NDArray[np.float64]:
        """Initial positions of the file, before noise."""
        native = self.group.model._use()
        return np.array([native.start_position[i] for i in range(native.position_count)])

    @property
    def init_qvel(self) -> npt.NDArray[np.float64]:
        """Initial velocities of the file: zeros."""
        return np.zeros(self.group.model.velocity_count)

    def set_state(self, qpos: npt.ArrayLike, qvel: npt.ArrayLike) -> None:
        """Sets the robot's state; the next reward is relative to it."""
        self.group.set_state(qpos, qvel)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts an episode; without a seed the random numbers continue."""
        observation, infos = super().reset(seed=seed, options=options)
        return observation[0], _of_one(infos)

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step: observation, reward, terminated, truncated, info."""
        self.batch._use()
        given = as_array(action)
        shape = self.action_space.shape
        if given.shape != shape:
            raise ValueError(f"action: need shape {shape}, got {given.shape}")
        observation, reward, terminated, truncated, infos = self._step(given[np.newaxis])
        ended = bool(terminated[0]), bool(truncated[0])
        return observation[0], float(reward[0]), *ended, _of_one(infos)


class MayflyTeamEnv(_OfABatch):
    """One team of robots that share one space, as one environment: a row for each robot.

    The reward is the mean of the robots'; info holds arrays, one value for each robot. For separate
    rewards use gymnasium.make_vec or mayfly.envs.MayflyParallelEnv.

    Args:
        task: one of robots in teams, such as "swarm".
        agents: robots of the team.
        max_episode_steps: None: without end, since gymnasium.make counts.
        arguments: of MayflyVectorEnv.

    """

    _kind = "team"

    def __init__(
        self,
        task: str = "swarm",
        agents: int = 8,
        *,
        max_episode_steps: int | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(task, agents, max_episode_steps, {**arguments, "agents": agents})

    def _spaces(self) -> tuple[Any, Any]:
        return self.batch.observation_space, self.batch.action_space

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One step: observations, mean reward, terminated, truncated, info."""
        self.batch._use()
        observation, reward, terminated, truncated, infos = self._step(action)
        ended = bool(terminated.any()), bool(truncated.any())
        return observation, float(reward.mean()), *ended, infos


def _of_one(infos: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value[0]
        for name, value in infos.items()
        if not name.startswith("_") and infos["_" + name][0]
    }
