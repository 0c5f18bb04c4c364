"""The terms of an environment that C computes: programs that are written by calling each term once
with symbols (mayfly._program). Terms that ship are such, and functions marked by mdp.compiled.
"""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mayfly import errors
from mayfly._native import ffi
from mayfly._program import LISTED, NotTracedError, Program, Recorder, Symbol
from mayfly.arrays import Array
from mayfly.envs import state
from mayfly.envs.terms import ObservationTerm
from mayfly.field import Field
from mayfly.task import Command, Range

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv

__all__ = ["Programs"]


class _Touch:
    """Contacts of links, as symbols."""

    def __init__(self, seen: _Seen, contact: state.Contact) -> None:
        self._seen, self._contact = seen, contact
        self.links = contact.links

    def __getattr__(self, name: str) -> Symbol:
        return self._seen.columns(getattr(self._contact, name))


class _Seen:
    """The environment as terms see it that are traced: what it has becomes symbols."""

    def __init__(self, env: TaskVectorEnv, recorder: Recorder) -> None:
        self._env, self._recorder = env, recorder
        self.ranges_read: list[Command] = []
        self.written: list[Field] = []
        self._stream = self._draws = 0
        self.task, self.num_envs, self.step_dt = env.task, env.num_envs, env.step_dt
        self.max_episode_length = env.max_episode_length
        self.default_joint_pos, self.joint_limits = env.default_joint_pos, env.joint_limits
        self.joints, self.command_name = env.joints, env.command_name

    def __getattr__(self, name: str) -> Any:
        raise NotTracedError(f"env.{name}")

    def columns(self, array: Array) -> Symbol:
        """An array (robots, ...) that stays where it is."""
        return self._recorder.array(array)

    def __getitem__(self, name: str) -> Symbol:
        return self._recorder.field(self._env._stored(name).field.view)

    def link(self, name: str, field: str = "link.pose") -> Symbol:
        self._env.link(name, field)
        return self[f"{name}/{field}"]

    def contact(self, links: Any) -> _Touch:
        return _Touch(self, self._env.contact(links))

    def command(self, name: str | None = None) -> Symbol:
        return self.columns(self._env.command(name))

    def drawn(self, name: str | None = None) -> Symbol:
        return self.columns(self._env.drawn(name))

    def ranges(self, command: Command) -> dict[str, Range]:
        self.ranges_read.append(command)
        return self._env.ranges(command)

    # ---- events ----------------------------------------------------------------------------------

    def draw_for(self, stream: int) -> None:
        """Random numbers are now those of a term."""
        self._stream, self._draws = stream, 0

    def random(self, width: int, robots: Any = None) -> Symbol:
        first = self._draws
        self._draws += -(-width // state.COLUMNS) * state.COLUMNS
        return self._recorder.random(self._stream, first, width)

    def uniform(self, low: Any, high: Any, width: int, robots: Any = None) -> Symbol:
        low, high = np.asarray(low, np.float32), np.asarray(high, np.float32)
        return self.random(width, robots) * (high - low) + low  # type: ignore[no-any-return]

    def original(self, name: str) -> Symbol:
        values = self._env.original(name)
        return self.columns(values) if values.ndim == 1 else self._recorder.rows(values)

    def write(self, name: str, values: Any, robots: Any) -> None:
        field = self._env.group.field(name)
        if not field.writeable or field.dtype != np.float32:
            raise NotTracedError(f"writes of {name}")
        if field._field_name.endswith(".orientation"):
            values = values / np.sqrt((values * values).sum(axis=-1))[:, None]
        self._recorder.store_field(field.view, values)
        if field._remainder != ffi.NULL:  # what rounding has left out of the old values
            self._recorder.store_field(field._make_view(field._remainder), 0.0)
        self.written.append(field)

    def _derive(self, name: str) -> Symbol:
        inputs = [self[field].T for field in state.DERIVED[name]]
        made = self._env._formula(name, inputs)
        return made if isinstance(made, Symbol) else np.stack(made, axis=1)  # type: ignore[return-value]

    base_lin_vel = property(lambda self: self._derive("linear"))
    projected_gravity = property(lambda self: self._derive("gravity"))
    heading = property(lambda self: self._derive("heading"))
    base_ang_vel = property(lambda self: self["base.angular_velocity"])
    joint_pos = property(lambda self: self["joint.angle"])
    joint_vel = property(lambda self: self["joint.rate"])
    action = property(lambda self: self.columns(self._env.action))
    previous_action = property(lambda self: self.columns(self._env.previous_action))
    terminated = property(lambda self: self.columns(self._env.terminated))
    truncated = property(lambda self: self.columns(self._env.truncated))
    episode_length_buf = property(lambda self: self.columns(self._env.episode_length_buf))
    origins = property(lambda self: self._recorder.rows(self._env.origins))

    @property
    def joint_acc(self) -> Symbol:
        rates = self.columns(self._env._joint_rates())
        return (self.joint_vel - rates) * np.float32(1.0 / self.step_dt)  # type: ignore[no-any-return]


def _requested(function: Any, params: Mapping[str, Any] | None = None) -> str | None:
    """Whether a function is to be traced: "must" where its author says so."""
    if getattr(function, "mayfly_compiled", False):
        return "must"
    module = getattr(function, "__module__", None) or ""
    return "may" if module.split(".")[0] == "mayfly" and _is_plain(params or {}) else None


def _is_plain(value: Any) -> bool:
    """Whether a change of a parameter can be seen by comparison."""
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, (str, bool, int, float))


def _label(name: Any) -> str:
    """Of a term; an observation is its group and its column."""
    return name if isinstance(name, str) else f"{name[0]}/{name[1].name}"


class Programs:
    """The programs of an environment, one for each part of a step.

    Attributes:
        slow: names of the terms, by kind, that NumPy computes.
        values: of observations, by the keys of their terms, (robots, k).
        natives: what becomes of them, by group, for mfpy_observe.
        late: observations by group that mfpy_observe does not know.

    """

    def __init__(self, env: TaskVectorEnv) -> None:
        self._env = env
        self.slow: defaultdict[str, list[Any]] = defaultdict(list)
        self.values: dict[Any, Array] = {}
        self.natives: dict[str, Any] = {}
        self.late: dict[str, list[ObservationTerm]] = {}
        self._parts: dict[str, Program | None] = {}
        self._written: dict[str, list[Field]] = {}  # by events
        self._weights: dict[str, float] = {}
        self._ranges: list[tuple[Command, dict[str, Range]]] = []
        self._params: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []  # and as they were
        self._version = -1

    def follow(self) -> None:
        """Traces the terms again where what they were traced with has changed."""
        env, weights = self._env, self._env.weights
        if weights != self._weights:
            if [w == 0.0 for w in weights.values()] == [w == 0.0 for w in self._weights.values()]:
                self._weigh()
            else:
                self._version = -1
        if (
            self._version != env._version
            or any(not _is_plain(given) or given != known for given, known in self._params)
            or any(known != env.ranges(command) for command, known in self._ranges)
        ):
            self._build()

    def names(self) -> tuple[str, ...]:
        """Of the terms that NumPy computes."""
        events = [name for name in self._env.task.events if f"event {name}" not in self._parts]
        found = [("event", name) for name in events]
        found += [(kind, _label(name)) for kind, names in self.slow.items() for name in names]
        words = {"metrics": "command", "draw": "command"}  # parts of these
        return tuple(dict.fromkeys(f"{words.get(kind, kind)}/{name}" for kind, name in found))

    def run(self, part: str, robots: Array | None = None) -> None:
        """Runs a program for all robots, or for those of these numbers."""
        program = self._parts[part]
        if program is not None:
            program.run(self._env._context, self._env._who, robots, self._env.num_envs)

    def draws(self, command: str) -> bool:
        """Whether what a command draws is drawn by a program."""
        return f"draw {command}" in self._parts

    def happens(self, event: str, robots: Array) -> bool:
        """Makes an event happen; False: NumPy is to do it."""
        program = self._parts.get(f"event {event}")
        if program is None:
            return False
        program.run(self._env._context, self._env._who, robots, self._env.num_envs)
        self._env._wrote(self._written[event], robots)
        return True

    # ---- writing them ----------------------------------------------------------------------------

    def _weigh(self) -> None:
        self._weights = dict(self._env.weights)
        for name, weight in self._weights.items():
            slot = self._slots.get(name)
            program = self._parts["reward"]
            if slot is not None and program is not None:
                program.constants[slot] = weight

    def _build(self) -> None:
        self._ranges, self._params = [], []
        self.slow = defaultdict(list)
        self._parts, self._written = {}, {}
        for part in ("act", "command", "reward", "observe", "touch", "measure", "restart"):
            self._part(part, getattr(self, f"_{part}"))
        for name, event in self._env.task.events.items():
            if event.mode != "startup":
                self._part(f"event {name}", functools.partial(self._event, name))
        for name in self._env.task.commands:
            self._part(f"draw {name}", functools.partial(self._draw, name))
        for key in self._env._due:
            self._part(f"wait {' '.join(key)}", functools.partial(self._wait, key))
        self._weights = dict(self._env.weights)
        self._version = self._env._version

    def _part(self, part: str, write: Callable[[_Seen, Recorder], bool | None]) -> None:
        """Makes a program, by a function that calls terms; False: they cannot be traced."""
        recorder = Recorder(self._env.num_envs)
        seen = _Seen(self._env, recorder)
        if write(seen, recorder) is not False:
            self._parts[part] = recorder.program()
        self._ranges += [(one, dict(self._env.ranges(one))) for one in seen.ranges_read]

    def _trace(
        self, kind: str, name: Any, function: Any, given: tuple[Any, ...],
        params: Mapping[str, Any], dimensions: tuple[int, ...],
    ) -> Symbol | None:  # fmt: skip
        """The symbol that a term makes; None: NumPy is to compute it."""
        requested = self._read(function, params)
        failure: Exception | None = None
        if requested is not None:
            try:
                made = function(*given, **params)
                if isinstance(made, Symbol) and made.ndim in dimensions:
                    return made
                failure = NotTracedError("it does not depend on the robots' state, or has a shape")
            except Exception as error:  # NumPy will say it too, if it is one there
                failure = error
        if requested == "must":
            raise errors.ArgumentError(f"{kind} {_label(name)}: cannot be compiled: {failure}")
        self.slow[kind].append(name)
        return None

    def _read(self, function: Any, params: Mapping[str, Any]) -> str | None:
        """As _requested; whether the parameters change is then followed."""
        requested = _requested(function, params)
        if requested is not None and params and _is_plain(params):
            self._params.append((params, copy.deepcopy(dict(params))))
        return requested

    def _event(self, name: str, seen: _Seen, recorder: Recorder) -> bool:
        event = self._env.task.events[name]
        function: Any = event.func
        requested = self._read(function, event.params)
        seen.draw_for(self._env._streams["event", name])
        if requested is None:
            return False
        try:
            function(seen, LISTED, **event.params)
        except Exception as failure:
            if requested == "must":
                raise errors.ArgumentError(f"event {name}: cannot be compiled: {failure}") from None
            return False
        self._written[name] = seen.written
        return True

    def _wait(self, key: tuple[str, str], seen: _Seen, recorder: Recorder) -> None:
        """When something happens next."""
        env = self._env
        seen.draw_for(env._streams[key] ^ 1)
        low, high = env._due[key]
        steps = np.rint(seen.uniform(low, high, 1)[:, 0] / np.float32(seen.step_dt))
        recorder.store(env._next[key], seen.episode_length_buf + np.clip(steps, 1.0, 2.0**23))

    def _draw(self, name: str, seen: _Seen, recorder: Recorder) -> bool:
        env, command = self._env, self._env.task.commands[name]
        seen.draw_for(env._streams["command", name])
        made = self._trace("draw", name, command.resample, (seen, LISTED), {}, (2,))
        if made is None:
            return False
        recorder.store(env._drawn[name], made)
        self._wait(("command", name), seen, recorder)
        return True

    def _restart(self, seen: _Seen, recorder: Recorder) -> None:
        env = self._env
        for array in (env.action, env.previous_action, env._steps, *env._sums.values()):
            recorder.store(array, 0.0)
        for contact in env._contacts.values():
            for array in contact.past:
                recorder.store(array, 0.0)
        for action in env._terms:
            action.restart(seen, recorder)

    def _act(self, seen: _Seen, recorder: Recorder) -> None:
        env, given = self._env, recorder.rows(self._env._input)
        recorder.store(env.previous_action, seen.action)
        recorder.store(env.action, given)
        for action in env._terms:
            action.take(given, recorder)
        if self._env._rates is not None:
            recorder.store(self._env._rates, seen.joint_vel)

    def _command(self, seen: _Seen, recorder: Recorder) -> None:
        for name, command in self._env.task.commands.items():
            drawn = seen.columns(self._env._drawn[name])
            made = self._trace("command", name, command.value, (seen, drawn), {}, (2,))
            if made is not None:
                recorder.store(self._env._values[name], made)

    def _touch(self, seen: _Seen, recorder: Recorder) -> None:
        for contact in self._env._contacts.values():
            contact.follow(seen, recorder)

    def _measure(self, seen: _Seen, recorder: Recorder) -> None:
        env = self._env
        ends: dict[bool, Any] = {False: np.False_, True: np.False_}
        for name, term in env.task.terminations.items():
            made = self._trace("termination", name, term.func, (seen,), term.params, (1,))
            if made is not None:
                recorder.store(env._reasons[name], made)
                ends[term.time_out] = made | ends[term.time_out]
        recorder.store(env.terminated, ends[False])
        recorder.store(env.truncated, ends[True])

    def _reward(self, seen: _Seen, recorder: Recorder) -> None:
        env, total = self._env, None
        self._slots: dict[str, int] = {}

        def add(name: str, value: Any) -> None:
            sums = env._sum_of(name)
            recorder.store(sums, seen.columns(sums) + value)

        for name, term in env.task.rewards.items():
            if env.weights[name] == 0.0:
                continue
            made = self._trace("reward", name, term.func, (seen,), term.params, (1,))
            if made is None:
                made = seen.columns(env._given[name])
            weight = recorder.constant(env.weights[name], name)
            self._slots[name] = -1 - weight
            value = made * Symbol(recorder, np.array(weight))
            add(f"reward/{name}", value)
            total = value if total is None else total + value
        for name, command in env.task.commands.items():
            given = (seen, seen.command(name))
            try:
                metrics = command.metrics(*given) if _requested(command.metrics) else None
            except NotTracedError:
                metrics = None
            if metrics is None:
                self.slow["metrics"].append(name)
            for metric, value in (metrics or {}).items():
                add(f"command/{name}/{metric}", value)
        reward = 0.0 if total is None else total * np.float32(env.step_dt)
        recorder.store(env._total, reward)

    def _observe(self, seen: _Seen, recorder: Recorder) -> None:
        self.values = {}
        for group, columns in self._env._columns.items():
            for column in columns:
                if column.key in self.values:
                    continue
                memory = np.zeros((column.width, self._env.num_envs), np.float32).T
                self.values[column.key] = memory
                term = column.term
                made = self._trace(
                    "observation", (group, column), term.func, (seen,), term.params,
                    tuple(range(1, 8)),
                )  # fmt: skip
                if made is not None:
                    recorder.store(memory, made.reshape(self._env.num_envs, -1))
            self.late[group] = [c for c in columns if c.lag is not None]
            self.natives[group] = ffi.new(
                "mfpy_Observation[]",
                [c.native(self.values[c.key]) for c in columns if c.lag is None],
            )
