"""The environment of a task: robots of one model that learn what terms say (mayfly.task)."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mayfly import errors
from mayfly._native import ffi, lib
from mayfly.arrays import Array, whole
from mayfly.envs.batch import Batch, ClosedEnvironmentError, Spare
from mayfly.envs.compiled import Programs
from mayfly.envs.frameworks import wrapper
from mayfly.envs.state import Index, State
from mayfly.envs.terms import ActionTerm, ObservationTerm, stream_of
from mayfly.group import Group
from mayfly.patches import TerrainPatches
from mayfly.task import Command, Task, Term
from mayfly.world import World

__all__ = ["TaskVectorEnv"]

Mask = npt.NDArray[np.bool_]
_BEFORE = 2**32 - 1  # of episodes: the next one is the first


def _origin(failure: BaseException) -> str:
    """The file and line where it was raised."""
    frames = traceback.extract_tb(failure.__traceback__)
    own = [f for f in frames if os.path.dirname(f.filename) != os.path.dirname(__file__)]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"


class TaskVectorEnv(Batch, State):
    """Robots that learn a task, stepped together; a vector environment of Gymnasium.

    Args:
        task: what they learn.
        num_envs: robots.
        autoreset_mode: behavior at the end of an episode; a gymnasium.vector.AutoresetMode.
        dtype: of observations, float32 or float64.
        framework: of what step(), reset() and observation_groups return, and of actions: "numpy";
            "torch" or "jax": tensors in the same memory, rewards in float32; infos stay NumPy.
        num_threads: workers; None: one for each processor. Results do not depend on it.
        isa: instruction set of the physics: "auto", "avx2", "avx512", ...
        render_mode: as of MayflyVectorEnv, like all that follow.
        render_robots: of which render() takes pictures.
        width: [pixel] of a picture.
        height: [pixel].

    step() returns the observations of the group "policy"; `observation_groups` has all groups. When
    an episode ends, infos (with AutoresetMode.SAME_STEP infos["final_info"]) have for each term its
    mean over the episode: "reward/NAME" (weight x value), "command/NAME/METRIC"; and
    "termination/NAME", 1 for the reasons of the end; "curriculum/NAME".

    Robot i with seed s gives the same bits for any num_envs, index and num_threads, where terms
    compute robot by robot.

    Attributes:
        observation_groups: the last observations of all groups by name, (robots, k).

    """

    def __init__(
        self,
        task: Task,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        dtype: npt.DTypeLike = np.float32,
        framework: str = "numpy",
        num_threads: int | None = None,
        isa: str = "auto",
        render_mode: str | None = None,
        width: int = 480,
        height: int = 480,
        render_robots: Sequence[int] | None = None,
    ) -> None:
        if not isinstance(task, Task):
            raise TypeError(f"task: need a mayfly.Task, got {task!r}")
        self.task = task
        self._prepare(num_envs, autoreset_mode, render_mode, render_robots, (width, height))
        self._dtype = np.dtype(dtype)
        if self._dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"dtype: need numpy.float32 or numpy.float64, got {self._dtype}")
        self.framework, self._wrap = framework, wrapper(framework)
        if framework == "jax" and self._dtype != np.float32:
            raise TypeError("dtype: JAX needs numpy.float32")
        if num_threads is not None:
            num_threads = whole(num_threads, "num_threads", 1, 2**31)
        settings: dict[str, Any] = {"step": task.step, "threads": num_threads, "isa": isa}
        if task.terrain is not None:
            ground = task.terrain
            settings["terrain"] = ground.terrain if isinstance(ground, TerrainPatches) else ground
        self._world = World.for_model(task.model, **settings)
        self._group = self._world.add_group(
            task.model, self.num_envs, motion=task.motion, **task.settings
        )
        direction = self._world._settings["gravity_direction"]
        self._gravity = np.array(direction, np.float32) / np.float32(np.linalg.norm(direction))
        self._context = self._world._context._use()
        self._programs: Any = None  # after the rehearsal
        self._open()
        self._open_terms()
        self._describe()
        self._rehearse()
        self._seal()

    def _open_terms(self) -> None:
        task, n = self.task, self.num_envs
        self._terms: list[ActionTerm] = []
        first = 0
        for name, term in task.actions.items():
            self._terms.append(ActionTerm(self, name, term, first))
            first = self._terms[-1].actions.stop
        self.action = np.zeros((first, n), np.float32).T
        self.previous_action = np.zeros((first, n), np.float32).T
        self._input = np.zeros((n, first), np.float32)  # the action as it is given
        limits = np.full(first, np.inf, np.float32)
        self.single_action_space = Box(-limits, limits, dtype=np.float32)
        self.action_space = batch_space(self.single_action_space, n)
        self._columns = {
            group: [
                ObservationTerm(name, term, stream_of(f"observation/{group}", name))
                for name, term in terms.items()
            ]
            for group, terms in task.observations.items()
        }
        self._streams = {
            (kind, name): stream_of(kind, name)
            for kind, terms in (
                ("command", task.commands),
                ("event", task.events),
                ("curriculum", task.curriculum),
            )
            for name in terms
        }
        self._reset_events = [n for n, e in task.events.items() if e.mode == "reset"]
        self._due = {
            **{("command", name): c.resampling_time_range for name, c in task.commands.items()},
            **{
                ("event", name): e.interval_range_s
                for name, e in task.events.items()
                if e.interval_range_s is not None
            },
        }
        self._next = {key: np.zeros(n, np.int32) for key in self._due}
        self._drawn: dict[str, Array] = {}
        self._followed = [n for n, c in task.commands.items() if type(c).update != Command.update]
        self._reached = {name: np.zeros(n, np.bool_) for name in self._followed}
        self._spares: dict[str, Spare] = {group: Spare() for group in task.observations}
        self._sums: dict[str, Array] = {}  # of what is logged, over an episode
        self._given: dict[str, Array] = {}  # rewards that NumPy computes
        self._reasons = {name: np.zeros(n, np.bool_) for name in task.terminations}
        self._total = np.zeros(n, np.float32)  # reward
        self._steps = np.zeros(n, np.int32)  # of sums
        self._logged: dict[str, float] = {}
        self._rows: dict[str, Array] = {}  # observations that C has written to what is returned
        self._fresh = np.zeros(n, np.bool_)  # whose past is filled with the present
        self.observation_groups: dict[str, Any] = {}
        self.episode_steps = task.episode_steps if "time_out" in task.terminations else None

    def _rehearse(self) -> None:
        """Runs every term once, so that mistakes are reported here; finds the observation space."""
        everyone, task = np.arange(self.num_envs), self.task
        with self._world._lock:
            self._start_up(everyone)
            self._restart(everyone)
            self._advance(everyone[:0])
            for group, columns in self._columns.items():
                first = 0
                for column in columns:
                    value = self._value(f"observation {group}/{column.name}", column.term)
                    if column.scale.ndim and column.scale.shape != (value.shape[1],):
                        raise errors.ArgumentError(
                            f"observation {column.name}: scale: need a number or "
                            f"{value.shape[1]}, got shape {column.scale.shape}"
                        )
                    first = column.shape(value.shape[1], first, self.num_envs)
            for name, term in task.terminations.items():
                self._truths(name, term)
            for name, reward in task.rewards.items():
                self._given[name] = np.zeros(self.num_envs, np.float32)
                if reward.weight != 0.0:
                    self._numbers(name, reward)
            for name in task.commands:
                for metric in self.metrics(name):
                    self._sum_of(f"command/{name}/{metric}")
            for event in task.events:
                self._happen(event, everyone[:0])
            self._tables = {
                group: np.zeros((self.num_envs, columns[-1].columns.stop), np.float32)
                for group, columns in self._columns.items()
            }
            self._likeness = {
                group: np.empty(table.shape, self._dtype) for group, table in self._tables.items()
            }
            self._programs = Programs(self)
            self._programs.follow()
            self._measure()
            self._sum(None)
            self._observe(everyone, everyone)
            for values in self._sums.values():
                values[:] = 0
        width = self._tables["policy"].shape[1]
        kind: Any = self._dtype.type
        self.single_observation_space = Box(-np.inf, np.inf, (width,), kind)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    # ---- what it is ------------------------------------------------------------------------------

    def _use(self) -> None:
        if self._world.closed:
            raise ClosedEnvironmentError(f"{type(self).__name__} is closed: make a new one")

    @property
    def group(self) -> Group:  # type: ignore[override]
        """The robots, with all their fields."""
        self._use()
        return self._group

    @property
    def world(self) -> World:
        """Their world."""
        self._use()
        return self._world

    @property
    def dt(self) -> float:
        """[s] of one step."""
        return self.task.step_dt

    @property
    def numpy_terms(self) -> tuple[str, ...]:
        """The terms that NumPy computes, "reward/NAME"; all others run in C."""
        names: tuple[str, ...] = self._programs.names()
        return names

    @property
    def title(self) -> str:
        """The name of the task."""
        return self.task.name

    def __repr__(self) -> str:
        state = ", closed" if self._world.closed else ""
        sizes = ", ".join(f"{group} {table.shape[1]}" for group, table in self._tables.items())
        return (
            f"{type(self).__name__}({self.title}, num_envs={self.num_envs}{state}): "
            f"{self.action.shape[1]} actions; observations: {sizes}"
            + (f"; in NumPy: {', '.join(self.numpy_terms)}" if self.numpy_terms else "")
        )

    def __reduce__(self) -> Any:
        raise TypeError("an environment of a task cannot be pickled: make it of the task again")

    # ---- calls of terms --------------------------------------------------------------------------

    def _call(self, what: str, function: Callable[..., Any], *given: Any, **params: Any) -> Any:
        try:
            return function(*given, **params)
        except errors.MayflyError as failure:
            kind = errors.ArgumentError if isinstance(failure, ValueError) else type(failure)
            raise kind(f"{what}: {failure}") from failure
        except Exception as failure:
            raise errors.ArgumentError(
                f"{what}: {type(failure).__name__}: {failure} ({_origin(failure)})"
            ) from failure

    def _term(self, what: str, term: Term, *given: Any) -> Any:
        assert callable(term.func)
        return self._call(what, term.func, self, *given, **term.params)

    def _robot_values(self, what: str, made: Any, kinds: str, needed: str) -> Array:
        """An array (robots,) of numbers or truth values; raises for anything else."""
        made = np.asarray(made)
        if made.shape != (self.num_envs,) or made.dtype.kind not in kinds:
            raise errors.ArgumentError(
                f"{what}: need {needed} of shape ({self.num_envs},), got {made.dtype} of shape "
                f"{made.shape}"
            )
        return np.asarray(made)

    def _truths(self, name: str, term: Term) -> Array:
        """A termination (robots,)."""
        what = f"termination {name}"
        return self._robot_values(what, self._term(what, term), "b", "truth values")

    def _numbers(self, name: str, term: Term) -> Array:
        """A reward (robots,)."""
        what = f"reward {name}"
        return self._robot_values(what, self._term(what, term), "biuf", "numbers")

    def _value(self, what: str, term: Term) -> Array:
        """An observation (robots, k)."""
        made = np.asarray(self._term(what, term))
        n = self.num_envs
        if made.ndim == 0 or made.shape[0] != n or made.ndim > 2 or made.dtype.kind not in "biuf":
            raise errors.ArgumentError(
                f"{what}: need numbers of shape ({n},) or ({n}, k), got {made.dtype} of shape "
                f"{made.shape}"
            )
        return made.reshape(n, -1)

    # ---- starts ----------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Iterable[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts episodes.

        Args:
            seed: s: robot i gets s + i; a list: one for each robot, None where its random numbers
                continue; None: all continue, initially from seeds of the system.
            options: {"reset_mask": mask}: only robots with True; rows of others do not change.

        """
        self._use()
        mask = self._mask(options)
        chosen = np.ones(self.num_envs, np.bool_) if mask is None else mask
        seeds, given = self._fresh_seeds(chosen, seed)
        with self._world._lock:
            self._programs.follow()
            anew = np.flatnonzero(chosen & given)
            self._seed[anew] = seeds[anew]
            self._episode[anew] = _BEFORE
            if len(anew):
                self._start_up(anew)
            robots = np.flatnonzero(chosen)
            self._rows.clear()
            self._restart(robots)
            self._observe(robots, robots)
            self._started(chosen, given, seeds)
            shown = self._show()
        self._look()
        return shown, {}

    def _start_up(self, robots: Index) -> None:
        """Startup events of robots that get a seed."""
        self._startup = True
        self.episode_length_buf[robots] = 0
        self._find_patches(robots)
        try:
            for name, event in self.task.events.items():
                if event.mode == "startup":
                    self._happen(name, robots)
        finally:
            self._startup = False

    def _happen(self, name: str, robots: Index) -> None:
        if self._programs is not None and self._programs.happens(name, robots):
            return
        event = self.task.events[name]
        self._draw_for(self._streams["event", name])
        self._term(f"event {name}", event, robots)

    def _restart(self, robots: Index) -> None:
        """Starts episodes of robots: default pose, events, commands."""
        self._episode[robots] += 1  # wraps from _BEFORE to 0
        self.episode_length_buf[robots] = 0
        home = np.empty((len(robots), len(self._home)))
        home[:] = self._home
        if self._patches is not None:
            home[:, :3] += self.origins[robots]
        self._group._start_rows(robots, home)
        self._reread(robots)
        for name, values in self._kept.items():
            self.write(name, values[robots], robots)
        for name in self._reset_events:
            self._happen(name, robots)
        self._refresh()
        if self._programs is not None:
            self._programs.run("restart", robots)
        for name in self.task.commands:
            self._resample(name, robots)
        for reached in self._reached.values():
            reached[robots] = False
        for key in self._due:
            if key[0] == "event":
                self._schedule(key, robots)
        self._command(robots)

    def _advance(self, robots: Index) -> None:
        """The curriculum, when episodes of robots are over."""
        for name, term in self.task.curriculum.items():
            self._draw_for(self._streams["curriculum", name])
            made = self._term(f"curriculum {name}", term, robots)
            if isinstance(made, dict):
                self._logged.update({f"curriculum/{name}/{k}": float(v) for k, v in made.items()})
            elif made is not None:
                self._logged[f"curriculum/{name}"] = float(made)
        if self._programs is not None and self.task.curriculum:
            self._programs.follow()

    def _schedule(self, key: tuple[str, str], robots: Index) -> None:
        """Draws when something happens next."""
        if self._programs is not None:
            self._programs.run(f"wait {' '.join(key)}", robots)
            return
        low, high = self._due[key]
        self._draw_for(self._streams[key] ^ 1)
        wait = self.uniform(low, high, 1, robots)[:, 0].astype(np.float64) / self.step_dt
        steps = np.clip(np.round(wait), 1, 2**30).astype(np.int32)
        self._next[key][robots] = self.episode_length_buf[robots] + steps

    def _resample(self, name: str, robots: Index) -> None:
        command, key = self.task.commands[name], ("command", name)
        if self._programs is not None and self._programs.draws(name):
            self._programs.run(f"draw {name}", robots)
            return
        self._draw_for(self._streams[key])
        drawn = np.asarray(self._call(f"command {name}", command.resample, self, robots))
        if drawn.ndim != 2 or drawn.shape[0] != len(robots):
            raise errors.ArgumentError(
                f"command {name}: resample: need shape ({len(robots)}, k), got {drawn.shape}"
            )
        if name not in self._drawn:
            self._drawn[name] = np.zeros((drawn.shape[1], self.num_envs), np.float32).T
        self._drawn[name][robots] = drawn
        self._schedule(key, robots)

    def drawn(self, name: str | None = None) -> Array:
        """What a command keeps of each robot, (robots, drawn); None: the first."""
        return self._drawn[self.command_name(name)]

    def _follow(self) -> None:
        """What has become of commands in a step."""
        for name in self._followed:
            command, drawn = self.task.commands[name], self._drawn[name]
            self._draw_for(self._streams["command", name] ^ 2)
            made = np.asarray(self._call(f"command {name}", command.update, self, drawn))
            self._reached[name] = self._robot_values(f"command {name}", made, "b", "truth values")
        if self._followed:
            self._command(None)

    def _command(self, robots: Index | None) -> None:
        """The values of commands for the present state, of robots; None: of all."""
        if self._programs is not None:
            self._programs.run("command", robots)
        for name in (
            self.task.commands if self._programs is None else self._programs.slow["command"]
        ):
            command = self.task.commands[name]
            made = np.asarray(self._call(f"command {name}", command.value, self, self._drawn[name]))
            if made.ndim != 2 or made.shape[0] != self.num_envs:
                raise errors.ArgumentError(
                    f"command {name}: value: need shape ({self.num_envs}, k), got {made.shape}"
                )
            if name not in self._values:
                self._values[name] = np.zeros(made.shape[::-1], np.float32).T
            self._values[name][...] = made

    # ---- steps -----------------------------------------------------------------------------------

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """One step of all robots: observations, rewards, terminations, truncations, infos.

        Actions are an array of any framework on the processor.

        Actions of wrong shapes, or that are not finite, leave the robots unchanged.
        """
        self._use()
        action = self._actions(actions)
        self._check_begun()
        with self._world._lock:
            self._check_ended()
            mode = self.autoreset_mode
            starts = self._over if mode == AutoresetMode.NEXT_STEP and self._over.any() else None
            self._programs.follow()
            self._act(action, starts)
            self._measure()
            reward = self._sum(starts)
            ended = self.terminated | self.truncated
            infos: dict[str, Any] = {}
            if ended.any():
                self._advance(np.flatnonzero(ended))
                logs = self._logs(ended)
            anew = np.zeros(0, np.int64)
            if starts is not None:
                anew = np.flatnonzero(starts)
                self._restart(anew)
            self._go_on()
            self._observe(None, anew)
            if ended.any():
                infos = self._end(ended, logs) if mode == AutoresetMode.SAME_STEP else logs
            self._over = ended
            if self.framework != "numpy":
                reward = reward.astype(np.float32)
            rows = (reward, self.terminated.copy(), self.truncated.copy())
            results = (self._show(), *(self._wrap(one) for one in rows), infos)
        self._look()
        return results

    def _act(self, action: Array, starts: Mask | None) -> None:
        """The physics of a step."""
        if not np.isfinite(action.sum()):  # quicker than to look at each
            wrong = ~np.isfinite(action).all(axis=1)
            if starts is not None:  # theirs is not used
                wrong &= ~starts
                action = np.where(starts[:, None], np.float32(0), action)
            if wrong.any():
                raise errors.ArgumentError(
                    f"actions: that of robot {int(np.argmax(wrong))} is not a finite number; no "
                    "step was made: check the policy, or use numpy.nan_to_num(actions)"
                )
        self._input[...] = action
        self._programs.run("act")
        waiting = 0
        for substep in range(self.task.decimation):
            acting = [term for term in self._terms if term.acts(substep)]
            if acting and waiting:
                self._world._advance(self._world._use(), waiting)
                waiting = 0
            for term in acting:
                term.write(substep)
            waiting += 1
        self._world.step(waiting)
        self._forget()
        np.add(self.episode_length_buf, 1, out=self.episode_length_buf)
        self._step_counter += 1

    def _measure(self) -> None:
        """Contacts, and who ends."""
        self._programs.run("touch")
        self._follow()
        self._programs.run("measure")
        for name in self._programs.slow["termination"]:
            term, reason = self.task.terminations[name], self._reasons[name]
            reason[...] = self._truths(name, term)
            ends = self.truncated if term.time_out else self.terminated
            np.logical_or(ends, reason, out=ends)
        self._faulty: Mask | None = None
        if self._group.faults:
            self._faulty = self._group.fault != 0
            self.terminated[self._faulty] = True

    def _sum(self, starts: Mask | None) -> npt.NDArray[np.float64]:
        """The reward; robots that only start an episode get 0 and do not end."""
        for name in self._programs.slow["reward"]:
            self._given[name][...] = self._numbers(name, self.task.rewards[name])
        self._programs.run("reward")
        for name in self._programs.slow["metrics"]:
            for metric, value in self.metrics(name).items():
                self._sums[f"command/{name}/{metric}"] += value
        self._steps += 1
        total = self._total.astype(np.float64)
        if self._faulty is not None:
            total[self._faulty] = np.nan_to_num(total[self._faulty], posinf=0.0, neginf=0.0)
        if not np.isfinite(total).all():
            self._complain(total)
        if starts is not None:
            total[starts] = 0
            self.terminated[starts] = False
            self.truncated[starts] = False
        return total

    def metrics(self, command: str | None = None) -> dict[str, Array]:
        """How well a command is followed at present, by name: (robots,); None: the first."""
        name = self.command_name(command)
        term = self.task.commands[name]
        return dict(self._call(f"command {name}", term.metrics, self, self._values[name]))

    def _sum_of(self, name: str) -> Array:
        """Over an episode, of what is logged by this name, (robots,)."""
        if name not in self._sums:
            self._sums[name] = np.zeros(self.num_envs, np.float32)
        return self._sums[name]

    def _complain(self, total: Array) -> None:
        """Raises for a reward that is not finite."""
        for name, term in self.task.rewards.items():
            value = np.asarray(self._term(f"reward {name}", term)) * self.weights[name]
            wrong = np.flatnonzero(~np.isfinite(value))
            if len(wrong):
                more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
                raise errors.ArgumentError(
                    f"reward {name}: need finite numbers, robot {wrong[0]}{more} gets "
                    f"{value[wrong[0]]}"
                )
        raise errors.ArgumentError("rewards: their sum is not finite")

    def _go_on(self) -> None:
        """What is due: commands, events."""
        for (kind, name), steps in self._next.items():
            due = self.episode_length_buf >= steps
            if kind == "command" and name in self._reached:
                due = due | self._reached[name]
            robots = due.nonzero()[0]
            if len(robots) == 0:
                continue
            if kind == "command":
                self._resample(name, robots)
            else:
                self._happen(name, robots)
                self._schedule((kind, name), robots)
        self._refresh()
        self._command(None)

    # ---- observations ----------------------------------------------------------------------------

    def _observe(self, robots: Index | None, anew: Index) -> None:
        """Computes the observations of robots; None: of all. The past of those in `anew` is filled
        with the present.
        """
        programs = self._programs
        programs.run("observe", robots)
        for group, column in programs.slow["observation"]:
            made = self._value(f"observation {group}/{column.name}", column.term)
            if made.shape[1] != column.width:
                raise errors.ArgumentError(
                    f"observation {column.name}: need {column.width} columns as before, got "
                    f"{made.shape[1]}"
                )
            programs.values[column.key][...] = made
        self._fresh[anew] = True
        for group in self._columns:
            table, late = self._tables[group], programs.late[group]
            if robots is None and not late and self._dtype == np.float32:
                self._rows[group] = self._fresh_rows(group)
            rows = self._rows.get(group)
            for column in late:
                self._draw_for(column.stream)
                value = programs.values[column.key]
                self._observe_late(column, value, table, robots, anew)
            native = programs.natives[group]
            lib.mfpy_observe(
                self._context,
                self._who,
                ffi.NULL if robots is None else ffi.from_buffer("int64_t[]", robots),
                self.num_envs if robots is None else len(robots),
                native,
                len(native),
                ffi.from_buffer("bool[]", self._fresh),
                ffi.from_buffer("float[]", table),
                table.shape[1],
                ffi.NULL if rows is None else ffi.from_buffer("float[]", rows),
            )
        self._fresh[anew] = False

    def _observe_late(
        self, column: ObservationTerm, made: Array, table: Array, robots: Index | None, anew: Index
    ) -> None:
        """Values of the past, of an age that differs by robot."""
        value: Array = made.T if robots is None else made[robots].T
        if column.noisy:
            drawn = self._random(column.width, robots, column.gaussian).T
            value = value + (drawn * np.float32(column.span) + np.float32(column.low))
        if column.term.clip is not None:
            value = np.clip(value, *column.term.clip)
        if not column.plain:
            value = value * column.scale.reshape(-1, 1)
        frames, lag = column.frames, column.lag
        assert frames is not None and lag is not None
        least, most = column.term.delay
        if len(anew):
            drawn = self.random(1, anew)[:, 0] * np.float32(most - least + 1)
            lag[anew] = least + drawn.astype(np.int32)
        if robots is None:
            frames[:-1] = frames[1:]
            frames[-1] = value
            frames[:, :, anew] = value[:, anew]
        else:
            frames[:, :, robots] = value
        for i in range(column.history):
            age = column.history - 1 - i
            part = table[:, column.columns.start + i * column.width :][:, : column.width].T
            for late in range(least, most + 1):
                np.copyto(part, frames[-1 - age - late], where=lag == late)

    def tensor(self, name: str) -> Any:
        """env[name] as an array of the framework, (robots, ...). Torch shares its memory, which
        changes in the next step and must not be written; JAX gets a copy.
        """
        shown = self[name]
        return self._wrap(self._storage[name].rows if self.framework == "torch" else shown)

    def _fresh_rows(self, group: str) -> Array:
        """Memory for the observations that are returned next."""
        self.observation_groups.pop(group, None)  # so that its memory may be used again
        return self._spares[group].like(self._likeness[group])

    def _show(self) -> Any:
        """The observations as they are returned; sets observation_groups."""
        for group, table in self._tables.items():
            rows = self._rows.pop(group, None)
            if rows is None:
                rows = self._fresh_rows(group)
                np.copyto(rows, table)
            self.observation_groups[group] = self._wrap(rows)
        return self.observation_groups["policy"]

    # ---- ends ------------------------------------------------------------------------------------

    def _logs(self, ended: Mask) -> dict[str, Any]:
        """Means over the episodes that end, with their masks."""
        logs: dict[str, Any] = {}
        robots = np.flatnonzero(ended)
        steps = self._steps[robots]
        for name, values in self._sums.items():
            logs[name] = np.zeros(self.num_envs, np.float32)
            logs[name][robots] = values[robots] / steps
        reasons = dict(self._reasons)
        if self._faulty is not None:
            reasons["fault"] = self._faulty
        for name, reason in reasons.items():
            logs[f"termination/{name}"] = (reason & ended).astype(np.float32)
        for name, value in self._logged.items():
            logs[name] = np.full(self.num_envs, value, np.float32)
        return {**logs, **{f"_{name}": ended for name in logs}}

    def _end(self, ended: Mask, logs: dict[str, Any]) -> dict[str, Any]:
        """Starts new episodes in the step that ended the old ones; infos as in SyncVectorEnv."""
        robots = np.flatnonzero(ended)
        final = np.full(self.num_envs, None, object)
        last = self._tables["policy"][robots].astype(self._dtype)
        for robot, row in zip(robots, last):
            final[robot] = row
        self._restart(robots)
        self._observe(robots, robots)
        return {
            "final_obs": final,
            "_final_obs": ended,
            "final_info": logs,
            "_final_info": ended,
        }

    # ---- closing ---------------------------------------------------------------------------------

    def close_extras(self, **unused: Any) -> None:
        """Releases the memory."""
        self._close_pictures()
        self._world.close()
