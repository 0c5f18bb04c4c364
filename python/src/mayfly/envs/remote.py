"""Robots of a world in another process, `mayfly serve`, as environments of Gymnasium."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from mayfly import errors
from mayfly._sealed import Sealed
from mayfly.arrays import Array, as_array, whole
from mayfly.client import RemoteGroup, RemoteWorld, Turn, connect

__all__ = ["RemoteEnv", "RemoteVectorEnv", "Reward", "State", "Terminate"]

State = Mapping[str, Array]  # fields by their names, each (robots, components)
Reward = Callable[[State, Array], npt.ArrayLike]  # of a state and the actions that led to it
Terminate = Callable[[State], npt.ArrayLike]
_Mask = npt.NDArray[np.bool_]

_PATIENCE = 3600.0  # [s] that the world waits for the next step, the most that a server allows
_FAULT = "fault.word"


class RemoteVectorEnv(Sealed, VectorEnv[Array, Array, Array]):
    """The robots of a group of a served world, in lock-step.

    Args:
        world: the address, as of mayfly.connect, or a connection, which then is used by this
            environment alone.
        group: its name; None: the first.
        observation: fields, whose values are joined in this order.
        action: the input that actions are written to, such as "joint.target".
        period: [s] of a step, a multiple of the world's step; 0: one step.
        reward: rewards (robots,) from the state after a step and its actions; the state has the
            fields of `observation` and `fields`.
        terminate: which robots have finished (robots,), from the state after a step; None: none.
            A robot with a fault is always terminated.
        fields: more fields for `reward` and `terminate`.
        action_range: lowest and highest actions, numbers or arrays (components,); None: the limits
            of the model's joints ("joint.target") or actuators ("actuator.control").
        max_episode_steps: an episode is truncated after this number of steps; None: never.
        autoreset_mode: behavior at the end of an episode; a gymnasium.vector.AutoresetMode.
        token: of a server that is not at loopback.

    The world advances only in `step`; robots begin where the scene has them, and a seed changes
    nothing of the world. Actions are clipped to their range. Observations are float32.

    Attributes:
        world: the connection; what it offers besides, snapshots or other groups, may be used
            between steps.
        group: the robots.

    """

    _replaceable = True
    single_observation_space: Box
    single_action_space: Box

    def __init__(
        self,
        world: str | RemoteWorld,
        group: str | None = None,
        *,
        observation: Sequence[str],
        action: str,
        reward: Reward,
        period: float = 0.0,
        terminate: Terminate | None = None,
        fields: Sequence[str] = (),
        action_range: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        token: str = "",
    ) -> None:
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.episode_steps = (
            None
            if max_episode_steps is None
            else whole(max_episode_steps, "max_episode_steps", 1, 2**62)
        )
        self._owned = isinstance(world, str)
        self._turns: Generator[Turn, None, None] | None = None
        self.world = connect(world, token) if isinstance(world, str) else world
        try:
            self._begin(group, list(observation), action, list(fields), action_range, period)
        except BaseException:
            self.close_extras()
            raise
        self._reward, self._terminate = reward, terminate
        n = self.num_envs
        self._steps = np.zeros(n, np.int64)
        self._over = np.zeros(n, np.bool_)
        self._begun = np.zeros(n, np.bool_)
        self._state: dict[str, Array] = {}
        self._seal()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.group!r}, num_envs={self.num_envs})"

    def _begin(
        self,
        group: str | None,
        observation: list[str],
        action: str,
        fields: list[str],
        action_range: tuple[npt.ArrayLike, npt.ArrayLike] | None,
        period: float,
    ) -> None:
        world = self.world
        name = next(iter(world.groups)) if group is None else group
        self.group: RemoteGroup = world[name]
        self.num_envs = self.group.count
        step = 1e-9 * world.step_ns
        steps = 1 if period == 0 else round(period / step)
        if steps < 1 or abs(steps * step - period) > 1e-9 and period != 0:
            raise errors.ArgumentError(f"period: need a multiple of the step of {step:g} s")
        self.dt = steps * step  # [s] of a step
        self._observed, self._action = observation, action
        if not observation:
            raise errors.ArgumentError("observation: need at least one field")
        names = list(dict.fromkeys([*observation, *fields, _FAULT]))
        for one in [*names, action]:
            if one not in self.group.fields:
                raise errors.NotFoundError(f"group {name} has no field {one}")
        if not self.group.fields[action].is_writable:
            raise errors.ArgumentError(f"action: a system of the scene writes {action} itself")
        width = sum(self.group.fields[one].components for one in observation)
        self.single_observation_space = Box(-np.inf, np.inf, (width,), np.float32)
        self.single_action_space = self._action_space(action_range)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        rate = max(1, round(1 / self.dt))
        self.metadata = {"render_fps": rate, "autoreset_mode": self.autoreset_mode}
        self._names = names
        self._start(steps)

    def _start(self, steps: int) -> None:
        """Takes the turn, on a multiple of the period."""
        self.world.pause()  # no step passes before the first turn
        self._newest = self.group.subscribe(*self._names, period=self.dt)
        self._turns = self.world.lock_step(self.dt, _PATIENCE)
        turn = next(self._turns)
        self.world.pause(False)
        while turn.tick % steps:
            turn = next(self._turns)

    def _action_space(self, given: tuple[npt.ArrayLike, npt.ArrayLike] | None) -> Box:
        components = self.group.fields[self._action].components
        low, high = self._limits() if given is None else given
        shape = (components,)
        try:
            lows = np.broadcast_to(np.asarray(low, np.float32), shape)
            highs = np.broadcast_to(np.asarray(high, np.float32), shape)
        except (ValueError, TypeError) as error:
            raise errors.ArgumentError(f"action_range: need two numbers or {shape}") from error
        if not (np.isfinite(lows).all() and np.isfinite(highs).all() and (lows <= highs).all()):
            raise errors.ArgumentError("action_range: need finite numbers, the lowest ones first")
        return Box(lows.copy(), highs.copy(), dtype=np.float32)

    def _limits(self) -> tuple[list[float], list[float]]:
        """Of the model's joints or actuators."""
        keys = {
            "joint.target": ("joints", "lower", "upper"),
            "actuator.control": ("actuators", "control_lower", "control_upper"),
        }
        if self._action not in keys:
            raise errors.ArgumentError(f"action_range: is needed for {self._action}")
        items, low, high = keys[self._action]
        found = self.group.describe()[items]
        for one in found:
            if one[low] is None or one[high] is None:
                raise errors.ArgumentError(f"action_range: is needed, {one['name']} has no limits")
        return [one[low] for one in found], [one[high] for one in found]

    # ---- starts ----------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Starts episodes.

        Args:
            seed: of `np_random` alone: the world starts where the scene has it.
            options: {"reset_mask": mask}: only robots with True; rows of others do not change.

        """
        turns = self._turns
        if turns is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        first = seed if seed is None or isinstance(seed, int) else next(iter(seed), None)
        super().reset(seed=first)
        mask = np.ones(self.num_envs, np.bool_)
        if options is not None and "reset_mask" in options:
            mask = np.asarray(options["reset_mask"])
            if mask.dtype != np.bool_ or mask.shape != (self.num_envs,) or not mask.any():
                raise ValueError(f"reset_mask: need bools of shape ({self.num_envs},), one True")
        self._restart(mask)
        return self._observation(), {}

    def _restart(self, mask: _Mask) -> None:
        """Resets robots in runs of neighbors, and reads the state anew."""
        edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
        for first, end in zip(edges[::2].tolist(), edges[1::2].tolist()):
            self.group.reset(first, end - first)
        fresh = self.group.subscribe(*self._names)  # its first state comes at once
        if not self.world.wait(fresh):
            raise errors.StoppedError("no state came in time")
        self._state = {name: fresh[name] for name in self._names}
        self.world.unsubscribe(fresh)
        self._steps[mask], self._over[mask], self._begun[mask] = 0, False, True

    def _observation(self) -> Array:
        parts = [self._state[name] for name in self._observed]
        return np.concatenate(parts, axis=1, dtype=np.float32, casting="unsafe")

    # ---- steps -----------------------------------------------------------------------------------

    def _actions(self, actions: Any) -> Array:
        given = as_array(actions)
        shape = self.action_space.shape
        if given.shape != shape:
            raise ValueError(f"actions: need shape {shape} (robots, actions), got {given.shape}")
        space = self.single_action_space
        made = np.asarray(given, np.float32)
        if not np.isfinite(made).all():
            raise errors.ArgumentError("actions: need finite numbers; no step was made")
        return np.clip(made, space.low, space.high)

    def _check(self, turns: object) -> None:
        if turns is None:
            raise gymnasium.error.ClosedEnvironmentError("the environment is closed")
        if not self._begun.all():
            raise gymnasium.error.ResetNeeded("call reset() before the first step()")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            at = int(np.flatnonzero(self._over)[0])
            raise gymnasium.error.ResetNeeded(f"the episode of robot {at} is over: call reset()")

    def _values(self, made: npt.ArrayLike, dtype: type[Any], what: str) -> Array:
        values = np.asarray(made)
        if values.shape != (self.num_envs,):
            raise ValueError(f"{what}: need shape ({self.num_envs},), got {values.shape}")
        return values.astype(dtype)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One period of the world: observations, rewards, terminations, truncations, infos."""
        turns = self._turns
        self._check(turns)
        assert turns is not None
        action = self._actions(actions)
        self.group.write(self._action, action)
        next(turns)
        self._state = {name: self._newest[name] for name in self._names}
        starts = self._over if self.autoreset_mode == AutoresetMode.NEXT_STEP else None
        self._steps += 1
        rewards = self._values(self._reward(self._state, action), np.float64, "reward")
        terminations = self._state[_FAULT][:, 0] != 0
        if self._terminate is not None:
            terminations |= self._values(self._terminate(self._state), np.bool_, "terminate")
        truncations = np.zeros(self.num_envs, np.bool_)
        if self.episode_steps is not None:
            truncations = self._steps >= self.episode_steps
        if starts is not None and starts.any():  # this step only starts their episodes
            rewards[starts], terminations[starts], truncations[starts] = 0.0, False, False
            self._restart(starts.copy())
        self._over = terminations | truncations
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._over.any():
            infos = self._end()
        return self._observation(), rewards, terminations, truncations, infos

    def _end(self) -> dict[str, Any]:
        """Starts new episodes of robots whose old ones ended; final_obs as in SyncVectorEnv."""
        ends = self._over.copy()
        last = self._observation()
        final = np.full(self.num_envs, None, object)
        for at in np.flatnonzero(ends):
            final[at] = last[at]
        self._restart(ends)
        return {
            "final_obs": final,
            "_final_obs": ends,
            "final_info": {},
            "_final_info": ends.copy(),
        }

    # ---- closing ---------------------------------------------------------------------------------

    def close_extras(self, **unused: Any) -> None:
        """Lets the world go on by itself, and ends a connection that was made here."""
        turns, self._turns = self._turns, None
        try:
            if turns is not None:
                turns.close()
                self.world.unsubscribe(self._newest)
        except (errors.OperatingSystemError, errors.StoppedError):
            pass  # the world has ended before
        finally:
            if self._owned:
                self.world.close()


class RemoteEnv(Sealed, gymnasium.Env[Array, Array]):
    """One robot of a served world: the only one of its group.

    Args:
        world: as of RemoteVectorEnv, like all others.
        arguments: of RemoteVectorEnv; `reward` and `terminate` get arrays of one row.

    Attributes:
        batch: the underlying environment of one robot.

    """

    metadata: dict[str, Any] = {"render_modes": []}  # as in Gymnasium
    _replaceable = True
    batch_class: ClassVar[type[RemoteVectorEnv]] = RemoteVectorEnv
    observation_space: Box
    action_space: Box

    def _in_brief(self) -> str:
        return repr(self.batch)

    def __init__(
        self, world: str | RemoteWorld, group: str | None = None, **arguments: Any
    ) -> None:
        if "autoreset_mode" in arguments:
            raise TypeError("autoreset_mode: is for RemoteVectorEnv, this is one robot")
        self.batch = self.batch_class(
            world, group, autoreset_mode=AutoresetMode.DISABLED, **arguments
        )
        if self.batch.num_envs != 1:
            count = self.batch.num_envs
            self.batch.close()
            raise errors.ArgumentError(f"the group has {count} robots: use RemoteVectorEnv")
        self.metadata = {"render_modes": [], "render_fps": self.batch.metadata["render_fps"]}
        self.observation_space = self.batch.single_observation_space
        self.action_space = self.batch.single_action_space
        self._seal()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Starts an episode; the seed is that of `np_random` alone."""
        super().reset(seed=seed)
        observations, infos = self.batch.reset(seed=seed)
        return observations[0], infos

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """One period of the world."""
        observations, rewards, terminations, truncations, infos = self.batch.step(
            as_array(action)[None]
        )
        ends = bool(terminations[0]), bool(truncations[0])
        return observations[0], float(rewards[0]), *ends, infos

    def close(self) -> None:
        """Lets the world go on by itself."""
        self.batch.close()
