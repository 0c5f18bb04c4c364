"""Tasks: what robots learn, composed of named terms.

    import mayfly
    from mayfly import mdp

    task = mayfly.Task(
        mayfly.Model.from_file("hexapod.urdf"),
        actions={"joint_pos": mdp.JointPositionAction(scale=0.25)},
        observations={"policy": {"gravity": mdp.projected_gravity, "joints": mdp.joint_pos_rel}},
        rewards={"forward": mdp.Reward(lambda env: env.base_lin_vel[:, 0], weight=1.0)},
        terminations={"fell": mdp.Termination(mdp.bad_orientation, limit_angle=1.0)},
    )
    envs = task.make(4096)

A term is a name, one vectorized function and its parameters: `f(env, **params)` returns an array
of (robots,) or (robots, k). The terms that ship are in mayfly.mdp; your own are the same. `env` is
the environment, mayfly.envs.TaskVectorEnv: it has the state of all robots by name.
"""

from __future__ import annotations

import copy
import dataclasses
import difflib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from mayfly import errors
from mayfly._native import real_number
from mayfly._sealed import Sealed
from mayfly.arrays import whole
from mayfly.group_setup import MOTIONS
from mayfly.model import Model
from mayfly.terrain import Terrain

if TYPE_CHECKING:
    from mayfly.envs.task import TaskVectorEnv
    from mayfly.patches import TerrainPatches

__all__ = [
    "Action",
    "Command",
    "Curriculum",
    "Event",
    "Gaussian",
    "Observation",
    "Reward",
    "Task",
    "Term",
    "Termination",
]

Range = tuple[float, float]


def near(name: object, known: Iterable[str]) -> str:
    """The known name that is meant, for an error."""
    found = difflib.get_close_matches(str(name), list(known), 1)
    return f", did you mean {found[0]!r}?" if found else ""


def pair(value: object, what: str) -> Range:
    """Two numbers (lowest, largest)."""
    ends = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else []
    if len(ends) != 2:
        raise TypeError(f"{what}: need two numbers (lowest, largest), got {value!r}")
    low, high = (real_number(end, what) for end in ends)
    if not low <= high:
        raise ValueError(f"{what}: need (lowest, largest), got {value!r}")
    return low, high


def numbers(value: object) -> str:
    """A parameter for people."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(numbers(one) for one in value) + ")"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {numbers(one)}" for name, one in value.items())
    return str(getattr(value, "__name__", value))


# ---- terms ---------------------------------------------------------------------------------------


class Term(Sealed):
    """A function of all robots and its parameters, which a task calls by a name.

    Args:
        func: `func(env, **params)`; a name: of a term that ships; None: the one whose name the task
            gives it.
        params: of the function.

    """

    kind: ClassVar[str] = "term"
    given: ClassVar[tuple[str, ...]] = ("env",)  # arguments that the task gives

    def __init__(self, func: Callable[..., Any] | str | None = None, /, **params: Any) -> None:
        if func is not None and not isinstance(func, str) and not callable(func):
            raise TypeError(f"{self.kind}: need a function or the name of one, got {func!r}")
        self.func = func
        self.params = params

    def named(self, name: str) -> Term:
        """One with its function, whose parameters are checked; `name` is the task's."""
        from mayfly import mdp

        found = copy.copy(self)
        if not callable(self.func):
            shipped = mdp.shipped(self.kind)
            word = name if self.func is None else self.func
            if word not in shipped:
                raise errors.NotFoundError(
                    f"{self.kind} {name}: no term {word!r} ships{near(word, shipped)}; "
                    f"there are: {', '.join(shipped)}"
                )
            object.__setattr__(found, "func", shipped[word])
        found._check_parameters(name)
        return found

    def _check_parameters(self, name: str) -> None:
        assert callable(self.func)
        try:
            known = list(inspect.signature(self.func).parameters.values())
        except (TypeError, ValueError):  # of a function in C, which does not say
            return
        positional = [p for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        if len(positional) < len(self.given) and not any(p.kind == p.VAR_POSITIONAL for p in known):
            raise TypeError(
                f"{self.kind} {name}: need a function of ({', '.join(self.given)}, ...), "
                f"got {numbers(self.func)}{inspect.signature(self.func)}"
            )
        own = positional[len(self.given) :] + [p for p in known if p.kind == p.KEYWORD_ONLY]
        names = [p.name for p in own]
        for word in self.params:
            if word not in names and not any(p.kind == p.VAR_KEYWORD for p in known):
                raise TypeError(
                    f"{self.kind} {name}: there is no parameter {word!r}{near(word, names)}; "
                    f"there are: {', '.join(names) or 'none'}"
                )
        missing = [p.name for p in own if p.default is p.empty and p.name not in self.params]
        if missing:
            raise TypeError(f"{self.kind} {name}: need the parameter {missing[0]!r}")

    def settings(self) -> dict[str, Any]:
        """What it has beside the function's parameters, where it differs from the default."""
        return {}

    def row(self) -> str:
        """One line for people: the function, its parameters, other settings."""
        values = {**self.params, **self.settings()}
        return "; ".join(
            [numbers(self.func), *(f"{name} {numbers(one)}" for name, one in values.items())]
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.row()})"


class Reward(Term):
    """A term of the reward: `func(env, **params)` returns (robots,) numbers.

    Args:
        func: as of Term.
        weight: the reward of a step is the sum of weight x value x step_dt [s] of all terms. Terms
            of weight 0 are not computed.
        params: of the function.

    """

    kind = "reward"

    def __init__(
        self,
        func: Callable[..., Any] | str | None = None,
        /,
        weight: float = 1.0,
        **params: Any,
    ) -> None:
        super().__init__(func, **params)
        self.weight = real_number(weight, "weight")
        self._seal()

    def settings(self) -> dict[str, Any]:
        return {"weight": self.weight}


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """Normally distributed noise of an observation, drawn for each number in each step."""

    std: float  # of the value before its factor
    mean: float = 0.0

    def __post_init__(self) -> None:
        real_number(self.mean, "mean")
        if not real_number(self.std, "std") >= 0.0:
            raise ValueError(f"std: need a number >= 0, got {self.std!r}")


class Observation(Term):
    """A term of a group of observations: `func(env, **params)` returns (robots,) or (robots, k).

    Args:
        func: as of Term.
        noise: half width of uniform noise, (lowest, largest), or a Gaussian; 0: none.
        clip: (lowest, largest) after the noise; None: no limits.
        scale: factor after the limits: a number, or one per column.
        delay_min_lag: [step] least age of what is observed; drawn in each episode.
        delay_max_lag: [step] largest age.
        history_length: [step] so many of the last values, the oldest first; 0: only the last.
        params: of the function.

    Noise, limits, factor, delay and history are applied in this order. After a reset the history is
    filled with the first value.

    """

    kind = "observation"

    def __init__(
        self,
        func: Callable[..., Any] | str | None = None,
        /,
        *,
        noise: float | Range | Gaussian = 0.0,
        clip: Range | None = None,
        scale: float | Sequence[float] = 1.0,
        delay_min_lag: int = 0,
        delay_max_lag: int = 0,
        history_length: int = 0,
        **params: Any,
    ) -> None:
        super().__init__(func, **params)
        if isinstance(noise, (int, float)):
            noise = (-real_number(noise, "noise"), float(noise))
        self.noise = noise if isinstance(noise, Gaussian) else pair(noise, "noise")
        self.clip = None if clip is None else pair(clip, "clip")
        self.scale = (
            real_number(scale, "scale")
            if np.ndim(scale) == 0
            else tuple(real_number(one, "scale") for one in scale)  # type: ignore[union-attr]
        )
        self.history_length = whole(history_length, "history_length", 0, 1001)
        self.delay = (
            whole(delay_min_lag, "delay_min_lag", 0, 1001),
            whole(delay_max_lag, "delay_max_lag", delay_min_lag, 1001),
        )
        self._seal()

    def settings(self) -> dict[str, Any]:
        found = {
            "noise": self.noise,
            "clip": self.clip,
            "scale": self.scale,
            "delay": self.delay,
            "history": self.history_length,
        }
        plain = {"noise": (0.0, 0.0), "clip": None, "scale": 1.0, "delay": (0, 0), "history": 0}
        return {name: value for name, value in found.items() if value != plain[name]}


class Termination(Term):
    """A reason to end an episode: `func(env, **params)` returns (robots,) truth values.

    Args:
        func: as of Term.
        time_out: whether it cuts the episode off, so that the value of the last state counts;
            False: a failure, after which there is nothing.
        params: of the function.

    """

    kind = "termination"

    def __init__(
        self,
        func: Callable[..., Any] | str | None = None,
        /,
        *,
        time_out: bool = False,
        **params: Any,
    ) -> None:
        super().__init__(func, **params)
        self.time_out = bool(time_out)
        self._seal()

    def settings(self) -> dict[str, Any]:
        return {"ends": "as a time-out" if self.time_out else "as a failure"}


class Event(Term):
    """Something that happens to robots: `func(env, robots, **params)` writes their state.

    `robots` are their numbers, (k,); env.write(field, values, robots) writes, env.uniform(low,
    high, width, robots) draws.

    Args:
        func: as of Term.
        mode: "startup": once, when the environment is made; "reset": at the start of each episode,
            after the robot stands in its default pose; "interval": again and again.
        interval_range_s: [s] from one time to the next, drawn anew for each robot; for "interval".
        params: of the function.

    """

    kind = "event"
    given = ("env", "robots")
    modes = ("startup", "reset", "interval")

    def __init__(
        self,
        func: Callable[..., Any] | str | None = None,
        /,
        mode: str = "reset",
        *,
        interval_range_s: Range | None = None,
        **params: Any,
    ) -> None:
        super().__init__(func, **params)
        if mode not in self.modes:
            raise ValueError(f"mode: need one of {', '.join(self.modes)}, got {mode!r}")
        if (mode == "interval") != (interval_range_s is not None):
            raise TypeError("interval_range_s: is needed for mode='interval', and only there")
        self.mode = mode
        self.interval_range_s = (
            None if interval_range_s is None else pair(interval_range_s, "interval_range_s")
        )
        self._seal()

    def settings(self) -> dict[str, Any]:
        if self.interval_range_s is None:
            return {"mode": self.mode}
        return {"mode": self.mode, "every [s]": self.interval_range_s}


class Curriculum(Term):
    """Changes the task while it is learned: `func(env, robots, **params)` is called when the
    episodes of robots with these numbers have ended. It may return a number or a dict of numbers,
    which is logged.
    """

    kind = "curriculum"
    given = ("env", "robots")

    def __init__(self, func: Callable[..., Any] | str | None = None, /, **params: Any) -> None:
        super().__init__(func, **params)
        self._seal()


class Command(Sealed):
    """What robots are to do, drawn anew from time to time. A subclass defines `resample`.

    Args:
        resampling_time_range: [s] from one draw to the next, drawn for each robot.

    """

    kind: ClassVar[str] = "command"

    def __init__(self, resampling_time_range: Range) -> None:
        self.resampling_time_range = pair(resampling_time_range, "resampling_time_range")

    def resample(self, env: TaskVectorEnv, robots: Any) -> Any:
        """Draws for the robots of these numbers, (k,): (k, drawn) numbers, which are kept."""
        raise NotImplementedError

    def update(self, env: TaskVectorEnv, drawn: Any) -> Any:
        """What has become of it in a step, before rewards: may change `drawn` in place, and returns
        who is to get a new one after the rewards, (robots,) truth values.
        """
        raise NotImplementedError  # is called where a subclass has its own

    def value(self, env: TaskVectorEnv, drawn: Any) -> Any:
        """The command of all robots, (robots, m), from what was drawn, (robots, drawn)."""
        return drawn

    def metrics(self, env: TaskVectorEnv, value: Any) -> dict[str, Any]:
        """Numbers (robots,) of a step, logged as means of episodes: how well it is followed."""
        return {}

    def row(self) -> str:
        """One line for people."""
        values = {k: v for k, v in vars(self).items() if not (k.startswith("_") or v is None)}
        return "; ".join(
            [type(self).__name__, *(f"{name} {numbers(value)}" for name, value in values.items())]
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.row()})"


class Action(Sealed):
    """Columns of the action that are written to a field: offset + scale x action.

    Args:
        field: such as "actuator.control" or "joint.target".
        columns: of the field; None: all.
        scale: a number, or one per column.
        offset: likewise.
        clip: (lowest, largest) of what is written; None: no limits.
        latency: [s] (least, largest) time until a written value acts, drawn in each episode, in
            physics steps.

    """

    kind: ClassVar[str] = "action"

    def __init__(
        self,
        field: str,
        *,
        columns: Sequence[int] | None = None,
        scale: float | Sequence[float] = 1.0,
        offset: float | Sequence[float] = 0.0,
        clip: Range | None = None,
        latency: Range = (0.0, 0.0),
    ) -> None:
        self.field = field
        self.columns = columns
        self.scale = scale
        self.offset = offset
        self.clip = None if clip is None else pair(clip, "clip")
        self.latency = pair(latency, "latency")
        if self.latency[0] < 0.0:
            raise ValueError(f"latency: need times >= 0 s, got {latency!r}")

    def find(self, env: TaskVectorEnv) -> tuple[list[int], Any]:
        """The columns of the field that it writes, and their offsets."""
        width = math.prod(env.group.field(self.field).shape[1:])
        columns = range(width) if self.columns is None else self.columns
        return [whole(one, f"{self.field}: column", 0, width) for one in columns], self.offset

    row = Command.row
    __repr__ = Command.__repr__


# ---- the task ------------------------------------------------------------------------------------

_T = TypeVar("_T", bound=Term)
_Terms = Mapping[str, Any]


def _terms(kind: type[_T], given: object) -> dict[str, _T]:
    """Terms from what is given: terms, functions, names, weights."""
    what = kind.kind + ("" if kind is Curriculum else "s")
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: need a dict of terms by name, got {given!r}")
    found: dict[str, _T] = {}
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"{what}: need names as keys, got {name!r}")
        if isinstance(one, kind):
            term = one
        elif isinstance(one, (int, float)) and kind is Reward:
            term = kind(None, weight=one)
        elif (callable(one) or isinstance(one, str)) and not isinstance(one, Term):
            term = kind(one)
        else:
            raise TypeError(f"{kind.kind} {name}: need a {kind.__name__}, got {one!r}")
        found[name] = term.named(name)  # type: ignore[assignment]
    return found


def _parts(kind: type[Any], given: object, what: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise TypeError(f"{what}: need a dict by name, got {given!r}")
    for name, one in given.items():
        if not isinstance(one, kind):
            raise TypeError(f"{kind.kind} {name}: need a {kind.__name__}, got {one!r}")
    return dict(given)


class Task(Sealed):
    """What robots of one model learn, composed of terms by name.

    Args:
        model: the robot.
        actions: Action by name; the columns of the action in this order.
        observations: groups of observations by name, each a dict of Observation by name. "policy"
            is what step() returns; others ("critic") are in envs.observation_groups.
        rewards: Reward by name; a number is the weight of the term of that name.
        terminations: Termination by name. A robot with a fault ends as a failure in any case.
        commands: Command by name.
        events: Event by name; at a reset in this order.
        curriculum: Curriculum by name.
        step: [s] physics step; None: that of the model's file.
        decimation: physics steps of a step.
        episode_length_s: [s] after which mdp.time_out ends an episode.
        pose: number or name of the keyframe that is the default pose; None: the first, or without
            keyframes the start of the model.
        motion: the level of physics.
        settings: of the motion, as of World.add_group.
        terrain: the ground, a Terrain or TerrainPatches; None: that of the model's file, else flat.
        name: for people; None: the model's.

    Instead of a term a function, or the name of a term that ships, may be given. print(task) and
    help(task) show all terms.

    """

    def __init__(
        self,
        model: Model,
        *,
        actions: Mapping[str, Action],
        observations: Mapping[str, _Terms],
        rewards: _Terms,
        terminations: _Terms | None = None,
        commands: Mapping[str, Command] | None = None,
        events: _Terms | None = None,
        curriculum: _Terms | None = None,
        step: float | None = None,
        decimation: int = 4,
        episode_length_s: float = 20.0,
        pose: int | str | None = None,
        motion: str = "articulated",
        settings: Mapping[str, Any] | None = None,
        terrain: Terrain | TerrainPatches | None = None,
        name: str | None = None,
    ) -> None:
        self._given = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        if not isinstance(model, Model):
            raise TypeError(f"model: need a Model, got {type(model).__name__}")
        if motion not in MOTIONS:
            raise ValueError(
                f"motion: need one of {', '.join(MOTIONS)}, got {motion!r}{near(motion, MOTIONS)}"
            )
        self.model = model
        self.name = model.name if name is None else name
        self.actions = _parts(Action, actions, "actions")
        if not self.actions:
            raise errors.ArgumentError("actions: need at least one")
        if not isinstance(observations, Mapping) or "policy" not in observations:
            raise errors.ArgumentError('observations: need a group "policy" of terms by name')
        self.observations = {
            group: _terms(Observation, terms) for group, terms in observations.items()
        }
        for group, terms in self.observations.items():
            if not terms:
                raise errors.ArgumentError(f"observations: the group {group!r} has no terms")
        self.rewards = _terms(Reward, rewards)
        self.terminations = _terms(Termination, terminations or {})
        self.commands = _parts(Command, commands or {}, "commands")
        self.events = _terms(Event, events or {})
        self.curriculum = _terms(Curriculum, curriculum or {})
        self.step = model.step if step is None else real_number(step, "step")
        self.decimation = whole(decimation, "decimation", 1, 1001)
        self.episode_length_s = real_number(episode_length_s, "episode_length_s")
        if not self.episode_length_s > 0.0:
            raise ValueError(f"episode_length_s: need a time > 0 s, got {episode_length_s!r}")
        self.pose = pose
        self.motion = motion
        self.settings = dict(settings or {})
        self.terrain = terrain
        self.__doc__ = f"{self.table()}\n\n{type(self).__doc__}"  # what help(task) shows
        self._seal()

    @property
    def step_dt(self) -> float:
        """[s] of a step of the environment."""
        return self.decimation * self.step

    @property
    def episode_steps(self) -> int:
        """Steps of an episode that is not ended earlier."""
        return max(1, math.ceil(self.episode_length_s / self.step_dt - 1e-6))

    def replace(self, **changes: Any) -> Task:
        """Another task with changed arguments: task.replace(events={}) has no pushes."""
        for word in changes:
            if word not in self._given:
                raise TypeError(
                    f"Task.replace: there is no argument {word!r}{near(word, self._given)}; "
                    f"there are: {', '.join(self._given)}"
                )
        return Task(**{**self._given, **changes})

    def make(self, num_envs: int = 1, **arguments: Any) -> TaskVectorEnv:
        """A vector environment of `num_envs` robots; arguments of mayfly.envs.TaskVectorEnv."""
        from mayfly.envs.task import TaskVectorEnv

        return TaskVectorEnv(self, num_envs, **arguments)

    def rows(self) -> list[tuple[str, str, str]]:
        """All terms: kind, name, and function with parameters."""
        groups: list[tuple[str, Mapping[str, Any]]] = [
            ("action", self.actions),
            ("command", self.commands),
            *((f"observation, {group}", terms) for group, terms in self.observations.items()),
            ("reward", self.rewards),
            ("termination", self.terminations),
            ("event", self.events),
            ("curriculum", self.curriculum),
        ]
        return [(kind, name, one.row()) for kind, terms in groups for name, one in terms.items()]

    def table(self) -> str:
        """A table of all terms, a line each."""
        rows = self.rows()
        kinds, names = (max(len(row[i]) for row in rows) for i in (0, 1))
        title = (
            f"Task {self.name}: step {self.step_dt:g} s ({self.decimation} x {self.step:g} s, "
            f"{self.motion}), episodes of {self.episode_length_s:g} s"
        )
        lines = [f"{kind:{kinds}}  {name:{names}}  {text}" for kind, name, text in rows]
        return "\n".join([title, *(f"  {line}" for line in lines)])

    __repr__ = table

    def _repr_html_(self) -> str:
        import html

        cells = [
            "<tr>" + "".join(f"<td>{html.escape(one)}</td>" for one in row) + "</tr>"
            for row in self.rows()
        ]
        title = html.escape(self.table().partition("\n")[0])
        return f"<table><caption>{title}</caption>{''.join(cells)}</table>"
