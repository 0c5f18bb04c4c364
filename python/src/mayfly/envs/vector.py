"""Robots of one task as a vector environment of Gymnasium."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mayfly import errors
from mayfly.arrays import Array, whole
from mayfly.context import Context
from mayfly.envs.batch import Batch, ClosedEnvironmentError, Spare, mode_of
from mayfly.envs.native import ENDLESS, NativeEnvironment, Rows
from mayfly.envs.settings import load_model, task_id, task_info, task_values
from mayfly.group import Group
from mayfly.model import Model
from mayfly.world import World

__all__ = ["ClosedEnvironmentError", "MayflyVectorEnv"]

_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def _of_a_step(signal: str) -> bool:
    """Whether a signal describes a step; the others are also valid after a reset."""
    return signal.startswith("reward_") or signal.endswith(("_velocity", "_penalty", "_rate"))


class MayflyVectorEnv(Batch):
    """Robots of one task, stepped together in lanes and threads.

    Args:
        task: such as "ant"; mayfly.envs.TASKS lists them.
        num_envs: robots; for teams a multiple of the team's size.
        max_episode_steps: an episode is truncated after this number of steps; None: the task's; -1:
            never.
        autoreset_mode: behavior at the end of an episode; a gymnasium.vector.AutoresetMode.
        xml_file: the robot: a path, the name of a file of Gymnasium, or a Model; None:
            the task's.
        frame_skip: physics steps of a step; None: the task's.
        motion: level of physics: "points", "articulated", ...
        integrator: of Gymnasium's tasks: "file": that of the robot's file, as in Gymnasium;
            "euler": faster and less accurate; "rk4".
        precision: of the physics, "float" or "double".
        dtype: of observations: float64 as in Gymnasium, or float32, which is faster for learning.
        num_threads: workers; None: one for each processor. Results do not depend on it.
        copy: whether returned arrays are copies; False: they are memory of the environment and
            change with its next step or reset.
        render_mode: "rgb_array": render() takes pictures; "human": every step is shown live on a
            page of the browser, whose address is printed, in real time; None: neither.
        render_robots: numbers of the robots of which render() takes pictures; None: the first of
            the first sixteen teams.
        width: [pixel] of a picture.
        height: [pixel].
        arguments: of the task, in Gymnasium's words, such as ctrl_cost_weight=0.1 and
            healthy_z_range=(0.3, 1.0).

    Robot i with seed s gives the same bits in every environment, for any num_envs, index and
    num_threads. A subclass may change observations and rewards: `make_observation`, `make_reward`.

    Attributes:
        environment: the native environment.
        episode_steps: an episode is truncated after this number; None: never.
        team: robots that share one space and their episodes: rows [0, team), [team, 2 team), ...
        group: the robots, with all their fields (group["base.position"].array).
        world: their world, for snapshots and recordings.

    """

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        xml_file: str | os.PathLike[str] | Model | None = None,
        frame_skip: int | None = None,
        motion: str = "articulated",
        integrator: str = "file",
        precision: str = "float",
        dtype: npt.DTypeLike = np.float64,
        num_threads: int | None = None,
        copy: bool = True,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        render_robots: Sequence[int] | None = None,
        **arguments: Any,
    ) -> None:
        kind = np.dtype(dtype)
        if kind not in _DTYPES:
            raise TypeError(f"dtype: need numpy.float64 or numpy.float32, got {kind}")
        if max_episode_steps is None:
            limit = 0
        elif isinstance(max_episode_steps, int) and max_episode_steps == -1:
            limit = ENDLESS
        else:
            limit = whole(max_episode_steps, "max_episode_steps", 1, ENDLESS)
        if num_threads is not None:
            num_threads = whole(num_threads, "num_threads", 1, 2**31)
        model = load_model(task, xml_file)
        self._recipe: dict[str, Any] = {
            "task": task,
            "model": model,
            "count": whole(num_envs, "num_envs", 1, 2**26 + 1),
            "values": task_values(task, arguments, model),
            "motion": motion,
            "integrator": integrator,
            "precision": precision,
            "frame_skip": 0 if frame_skip is None else whole(frame_skip, "frame_skip", 1, 1001),
            "episode_steps": limit,
            "autoreset": mode_of(autoreset_mode).value,
            "dtype": kind,
            "threads": num_threads,
        }
        self.task = task
        self.copy = bool(copy)
        self.environment = NativeEnvironment(**self._recipe)
        self.team = self.environment.team
        count = self.environment.count
        self._prepare(count, autoreset_mode, render_mode, render_robots, (width, height))
        self._describe()
        low, high = self.environment.action_range()
        self.single_action_space = Box(low, high, dtype=np.float32)
        self.single_observation_space = self.make_observation_space()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.signals = self.environment.signals
        self._reported = [(name, "_" + name, _of_a_step(name)) for name in self.signals]
        most = int(task_info(task).episode_steps) if limit == 0 else limit
        self.episode_steps = None if most == ENDLESS else most
        self._rows = self.environment.make_rows()
        self._shown: Array | None = None
        self._spare, self._spare_signals = Spare(), Spare()
        self._seal()

    # ---- for subclasses --------------------------------------------------------------------------

    def make_observation_space(self) -> Box:
        """The observation space of one robot. A subclass with other observations overrides it."""
        count, kind = self.environment.observation_count, self.environment.dtype
        return Box(-np.inf, np.inf, (count,), kind.type)

    def make_observation(self, observation: Array, signals: Mapping[str, Array]) -> Array:
        """Observations (rows, n) from those of the task (rows, m), for all rows at once.

        Rows are all robots; with AutoresetMode.SAME_STEP it is called a second time for the final
        observations of episodes. `self.group` has the state of all robots.
        """
        return observation

    def make_reward(
        self, reward: Array, observation: Array, actions: Array, signals: Mapping[str, Array]
    ) -> Array:
        """Rewards (robots,) from those of the task, all robots at once.

        `observation` are those of the task at the end of the step, before a robot restarts, and
        `signals` describe the step. The reward of a step that only starts an episode stays 0.
        """
        return reward

    def _changes(self, hook: str) -> bool:
        return getattr(type(self), hook) is not getattr(MayflyVectorEnv, hook)

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def group(self) -> Group:
        """The robots, with all their fields."""
        return self._use().group

    @property
    def world(self) -> World:
        """Their world."""
        return self._use().world

    @property
    def dt(self) -> float:
        """[s] of one step."""
        return self.environment.interval

    @property
    def title(self) -> str:
        """Its name in Gymnasium."""
        return task_id(self.task)

    def _use(self) -> NativeEnvironment:
        if self.environment.closed:
            raise ClosedEnvironmentError(f"{type(self).__name__} is closed: make a new one")
        return self.environment

    # ---- starts ----------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Iterable[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Starts episodes.

        Args:
            seed: s: robot i gets s + i; a list: one for each robot, None where its random numbers
                continue; None: all continue, initially from seeds of the system.
            options: {"reset_mask": mask}: only robots with True; rows of others do not change.

        """
        native = self._use()
        mask = self._mask(options)
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else mask
        seeds, given = self._fresh_seeds(chosen, seed)
        with native.lock:
            rows = self._rows
            if self.copy and self._shown is rows.observation:
                rows.observation = rows.observation.copy()  # returned arrays do not change
            rows.signals = np.zeros_like(rows.signals) if self.copy else rows.signals
            for part, values in ((chosen & given, seeds), (chosen & ~given, None)):
                if part.any():
                    native.reset(rows, part, values)
            self._started(chosen, given, seeds)
            signals = self._columns(rows.signals)
            infos = self._infos(signals, chosen, np.zeros(self.num_envs, np.bool_))
            shown = self._show(rows.observation, signals)
        self._look()
        return shown, infos

    # ---- steps -----------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One step of all robots: observations, rewards, terminations, truncations, infos.

        An exception (wrong shapes, numbers that are not finite) leaves the robots unchanged.
        """
        native = self._use()
        action = self._actions(actions)
        self._check_begun()
        with native.lock:
            self._check_ended()
            rows = self._new_rows()
            self._go(native, rows, action)
            starts = self._over
            self._rows = rows
            self._over = rows.terminated | rows.truncated
            results = self._results(rows, action, starts)
        self._look()
        return results

    def _go(self, native: NativeEnvironment, rows: Rows, action: npt.NDArray[np.float32]) -> None:
        try:
            native.step(rows, action)
        except errors.ArgumentError as failure:
            raise errors.ArgumentError(
                f"{failure}; no step was made: check the policy, or use numpy.nan_to_num(actions)"
            ) from None

    def _new_rows(self) -> Rows:
        """Arrays for the results of the step: new ones, unless copy=False."""
        if not self.copy:
            rows = self._rows
        else:
            n, old = self.num_envs, self._rows
            # Where robots are reset one by one, the last observations must not change.
            keep = self.autoreset_mode == AutoresetMode.DISABLED
            rows = Rows(
                old.observation if keep else self._spare.like(old.observation),
                np.empty(n),
                np.empty(n, np.bool_),
                np.empty(n, np.bool_),
                self._spare_signals.like(old.signals),
            )
        if self.autoreset_mode == AutoresetMode.SAME_STEP and rows.final_observation is None:
            old = self._rows
            rows.final_observation = (
                np.empty_like(old.observation)
                if old.final_observation is None
                else old.final_observation
            )
            rows.final_signals = (
                np.empty_like(old.signals) if old.final_signals is None else old.final_signals
            )
            rows.final_warning = np.empty(self.num_envs, np.uint32)
            rows.final_fault = np.empty(self.num_envs, np.uint32)
        return rows

    def _show(self, observation: Array, signals: Mapping[str, Array]) -> Array:
        """Arrays returned to the user."""
        if self._changes("make_observation"):
            made = np.asarray(self.make_observation(observation, signals))
            space = self.observation_space
            if made.shape != space.shape:
                raise ValueError(
                    f"make_observation: need shape {space.shape} as in make_observation_space(), "
                    f"got {made.shape}"
                )
            shown = made.astype(space.dtype, copy=False)
            return shown.copy() if self.copy and np.shares_memory(shown, observation) else shown
        if not self.copy:
            return observation
        if self.autoreset_mode == AutoresetMode.DISABLED:
            return observation.copy()
        self._shown = observation
        return observation

    def _results(
        self, rows: Rows, action: Array, starts: npt.NDArray[np.bool_]
    ) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        ends = self._over if self.autoreset_mode == AutoresetMode.SAME_STEP else None
        ended = ends is not None and bool(ends.any())
        signals = self._columns(rows.signals)
        if ends is not None:  # observations of robots that restarted belong to the new episode
            infos = self._infos(signals, None, ~ends if ended else None)
        elif self.autoreset_mode == AutoresetMode.NEXT_STEP and starts.any():
            infos = self._infos(signals, None, ~starts)
        else:
            infos = self._infos(signals, None, None)
        reward = rows.reward
        if self._changes("make_reward"):
            reward = self._own_reward(rows, action, starts, signals, ends if ended else None)
        if ended:
            assert ends is not None
            self._add_ends(infos, rows, ends)
        self._add_warnings(infos)
        shown = self._show(rows.observation, signals)
        return shown, reward, rows.terminated, rows.truncated, infos

    def _own_reward(
        self,
        rows: Rows,
        action: Array,
        starts: npt.NDArray[np.bool_],
        signals: Mapping[str, Array],
        ends: npt.NDArray[np.bool_] | None,
    ) -> Array:
        observation: Array = rows.observation
        if ends is not None:
            assert rows.final_observation is not None and rows.final_signals is not None
            observation = np.where(ends[:, None], rows.final_observation, observation)
            merged = np.where(ends[:, None], rows.final_signals, rows.signals)
            signals = self._columns(merged)
        reward = np.asarray(self.make_reward(rows.reward, observation, action, signals), np.float64)
        if reward.shape != (self.num_envs,):
            raise ValueError(f"make_reward: need shape ({self.num_envs},), got {reward.shape}")
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and starts.any():
            reward = np.where(starts, 0.0, reward)
        return reward

    # ---- infos -----------------------------------------------------------------------------------

    def _columns(self, table: Array) -> dict[str, Array]:
        return {name: table[:, i] for i, name in enumerate(self.signals)}

    def _infos(
        self,
        signals: Mapping[str, Array],
        present: npt.NDArray[np.bool_] | None,
        stepped: npt.NDArray[np.bool_] | None,
    ) -> dict[str, Any]:
        """Signals with their masks; None: all robots."""
        everyone = np.ones(self.num_envs, np.bool_) if present is None else present
        moved = everyone if stepped is None else stepped
        any_moved = moved is everyone or bool(moved.any())
        infos: dict[str, Any] = {}
        for name, flag, of_a_step in self._reported:
            if any_moved or not of_a_step:
                infos[name], infos[flag] = signals[name], moved if of_a_step else everyone
        return infos

    def _add_warnings(self, infos: dict[str, Any]) -> None:
        """Bits of Group.warning and Group.fault; keys are absent where no robot has any."""
        native = self.environment
        for name, found in (("warnings", native.warned()), ("faults", native.failed())):
            if found:
                word = self.group.warning if name == "warnings" else self.group.fault
                infos[name], infos["_" + name] = word, word != 0

    def _add_ends(self, infos: dict[str, Any], rows: Rows, ends: npt.NDArray[np.bool_]) -> None:
        """final_obs and final_info, as in SyncVectorEnv."""
        assert rows.final_observation is not None and rows.final_signals is not None
        indices = np.flatnonzero(ends)
        last: Array = rows.final_observation[indices]
        signals = rows.final_signals[indices]
        if self._changes("make_observation"):
            last = np.asarray(self.make_observation(last, self._columns(signals)))
        final = np.full(self.num_envs, None, object)
        for place, row in zip(indices, last):
            final[place] = row
        table = np.zeros((self.num_envs, len(self.signals)))
        table[indices] = signals
        explained: dict[str, Any] = {}
        for name, column in self._columns(table).items():
            explained[name], explained["_" + name] = column, ends.copy()
        for name, bits in (("warnings", rows.final_warning), ("faults", rows.final_fault)):
            assert bits is not None
            word = np.where(ends, bits, 0)
            if word.any():
                explained[name], explained["_" + name] = word, word != 0
        infos["final_obs"], infos["_final_obs"] = final, ends.copy()
        infos["final_info"], infos["_final_info"] = explained, ends.copy()

    # ---- closing ---------------------------------------------------------------------------------

    def close_extras(self, **unused: Any) -> None:
        """Releases the memory."""
        self._close_pictures()
        self.environment.close()

    @property
    def context(self) -> Context:
        """The context of memory and threads."""
        return self.environment.context

    def __repr__(self) -> str:
        state = ", closed" if self.environment.closed else ""
        return f"{type(self).__name__}({self.title}, num_envs={self.num_envs}{state})"

    def __getstate__(self) -> dict[str, Any]:
        native = self._use()
        state = dict(self.__dict__)
        del state["environment"]
        state["_image"] = native.world.snapshot()
        state["_links"] = "link.pose" in native.group  # a camera has looked
        state["_onlooker"] = self._onlooker.again()
        state["_viewer"] = None
        state["_shown"] = None
        state["_spare"], state["_spare_signals"] = Spare(), Spare()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        image, links = state.pop("_image"), state.pop("_links")
        self.__dict__.update(state)
        vars(self)["environment"] = NativeEnvironment(**self._recipe)
        if links:
            self._onlooker.look(self.environment.group)
        self.environment.world.restore(image)
