"""Evaluates whole populations of controllers, and of bodies, in one call."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import time_from_seconds
from mayfly._progress import progress_bar
from mayfly._shown import Brief, table
from mayfly.arrays import Array
from mayfly.context import Context
from mayfly.controllers import Controllers, has_rows, joined, rows_of
from mayfly.engines import Engine
from mayfly.group import Group
from mayfly.model import Model
from mayfly.terrain import Terrain
from mayfly.world import World

__all__ = ["Evaluation", "evaluate"]

Measure = Callable[[Group], npt.ArrayLike]

_MOST_GROUPS = 4096  # of a world, which bounds the memory of an episode
_SAMPLE = 0.1  # [s] between samples of measures that are averages


@dataclasses.dataclass(frozen=True, repr=False)
class Evaluation(Brief):
    """The result of evaluate(), one row per controller in the given order.

    Attributes:
        fitness: (n,), the mean over the seeds; NaN for a robot with a fault at any of them.
        measures: by name (n,) or (n, values), the mean over the seeds.
        descriptors: (n, values), the measures requested as descriptors, side by side.
        faults: (n,), bits of all faults at all seeds; 0: none.
        fitness_per_seed: (seeds, n).
        simulated_seconds: [s] simulated time of all robots.

    """

    fitness: npt.NDArray[np.float64]
    measures: dict[str, Array]
    descriptors: npt.NDArray[np.float64]
    faults: npt.NDArray[np.uint32]
    fitness_per_seed: npt.NDArray[np.float64]
    simulated_seconds: float

    def __len__(self) -> int:
        return len(self.fitness)

    @property
    def best(self) -> int:
        """Index of the fittest controller."""
        if np.isnan(self.fitness).all():
            raise ValueError("every robot had a fault: there is no best one")
        return int(np.nanargmax(self.fitness))

    def _repr_html_(self) -> str:
        first = np.argsort(-np.nan_to_num(self.fitness, nan=-np.inf), kind="stable")[:20]
        names = [name for name, values in self.measures.items() if values.ndim == 1]
        rows = [
            [i, self.fitness[i], *(self.measures[name][i] for name in names), self.faults[i]]
            for i in first
        ]
        return table(f"The best of {len(self)}", ["", "fitness", *names, "faults"], rows)

    def objective(self, worst: float) -> npt.NDArray[np.float64]:
        """The fitness for optimizers that need finite numbers: `worst` replaces NaN.

        Choose a number below every fitness: 0 would put a robot with a fault first where the
        fitness is a negative cost.
        """
        return np.where(np.isnan(self.fitness), worst, self.fitness)


# ---- measures ------------------------------------------------------------------------------------


class _Walker:
    """A running group: start positions, and sums of samples."""

    def __init__(self, group: Group, averages: Sequence[str]) -> None:
        self.group = group
        self.start = self._position()
        self.sums: dict[str, Array] = {}
        self.averages = averages
        self.samples = 0

    def sample(self) -> None:
        for name in self.averages:
            value = np.asarray(_AVERAGES[name](self.group), np.float64)
            self.sums[name] = self.sums.get(name, 0.0) + value
        self.samples += 1

    def _position(self) -> Array:
        return self.group._read_rows("base.position", 3)

    def moved(self) -> Array:
        return self._position() - self.start

    def fault(self) -> npt.NDArray[np.uint32]:
        return self.group._read_rows("fault.word", 1)[:, 0].astype(np.uint32)


def _distance(walker: _Walker) -> Array:
    moved = walker.moved()
    return np.asarray(np.sqrt(moved[:, 0] * moved[:, 0] + moved[:, 1] * moved[:, 1]))


_AT_END: dict[str, Callable[[_Walker], Array]] = {
    "distance": _distance,
    "forward": lambda walker: walker.moved()[:, 0],
    "sideways": lambda walker: walker.moved()[:, 1],
    "climb": lambda walker: walker.moved()[:, 2],
}


def _upright(group: Group) -> Array:
    """Cosine of the angle of the base's z axis against the vertical."""
    turn = group["base.orientation"].read().astype(np.float64)
    return np.asarray(1.0 - 2.0 * (turn[:, 1] ** 2 + turn[:, 2] ** 2))


def _duty(group: Group) -> Array:
    """Whether feet (or else contacts) are loaded."""
    feet = [s.address for s in group.model.sensors if s.type == "contact"]
    if feet and "sensor.value" in group:
        return np.asarray(group["sensor.value"].read()[:, feet] > 0)
    for name in ("contact.load", "point.load"):
        if name in group:
            return np.asarray(group[name].read().reshape(group.count, -1) > 0)
    raise ValueError("duty: the motion has no contacts")


_AVERAGES: dict[str, Callable[[Group], Array]] = {
    "height": lambda group: group["base.position"].read()[:, 2],
    "speed": lambda group: np.linalg.norm(group["base.linear_velocity"].read()[:, :2], axis=1),
    "upright": _upright,
    "duty": _duty,
}


class _Request:
    """The requested measures, and those that are fitness and descriptors."""

    def __init__(
        self,
        fitness: str | Measure,
        measures: Sequence[str] | Mapping[str, Measure],
        descriptors: Sequence[str],
    ) -> None:
        self.own: dict[str, Measure] = {}
        names = [descriptors] if isinstance(descriptors, str) else list(descriptors)
        self.descriptors = names
        if isinstance(measures, Mapping):
            self.own.update(measures)
            requested = list(measures)
        else:
            requested = [measures] if isinstance(measures, str) else list(measures)
        self.fitness_name = fitness if isinstance(fitness, str) else "fitness"
        if not isinstance(fitness, str):
            if not callable(fitness):
                raise TypeError(f"fitness: need a measure or a function, got {fitness!r}")
            self.own["fitness"] = fitness
        self.names = list(dict.fromkeys([*requested, *names, self.fitness_name]))
        known = (*_AT_END, *_AVERAGES)
        for name in self.names:
            if name not in self.own and name not in known:
                raise ValueError(f"there is no measure {name!r}; there are: {', '.join(known)}")
        self.averages = [n for n in self.names if n in _AVERAGES and n not in self.own]

    def take(self, walker: _Walker) -> dict[str, Array]:
        taken = {}
        for name in self.names:
            if name in self.own:
                value = np.asarray(self.own[name](walker.group), np.float64)
            elif name in _AVERAGES:
                value = walker.sums[name] / walker.samples
            else:
                value = _AT_END[name](walker)
            if value.ndim not in (1, 2) or len(value) != walker.group.count:
                raise ValueError(
                    f"{name}: need one value or row for each of the {walker.group.count} robots, "
                    f"got shape {value.shape}"
                )
            taken[name] = value
        return taken


# ---- episodes ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Episode:
    """The settings of an episode."""

    steps: int
    step: float
    seconds: float
    sample: float
    portion: int  # [step] between two reports of progress; 0: none
    start: Callable[[Group], None] | None
    world: dict[str, Any]
    group: dict[str, Any]


def _ticks(period: float, step: float, what: str) -> int:
    """A period in whole steps."""
    count = round(period / step)
    if count < 1 or abs(count * step - period) > 1e-9 * max(period, step):
        raise ValueError(f"{what}: need a multiple of the step of {step} s, got {period!r}")
    return count


def _run_episode(
    episode: _Episode,
    walkers: list[_Walker],
    controllers: list[Controllers],
    report: Callable[[int, str], None],
) -> None:
    """Runs an episode from time 0 to the end, stopping for actions and samples."""
    world = walkers[0].group.world
    acts = [_ticks(c.tick, episode.step, "tick") if c.tick is not None else 0 for c in controllers]
    samples = (
        max(round(episode.sample / episode.step), 1) if any(w.averages for w in walkers) else 0
    )
    periods = [period for period in (*acts, samples, episode.portion) if period > 0]
    done = 0
    while done < episode.steps:
        for act, walker, controller in zip(acts, walkers, controllers):
            if act > 0 and done % act == 0:
                controller.act(walker.group, done * episode.step)
        ahead = min((period - done % period for period in periods), default=episode.steps)
        count = min(ahead, episode.steps - done)
        world.step(count)
        done += count
        report(count, "")
        if samples > 0 and (done % samples == 0 or done == episode.steps):
            for walker in walkers:
                walker.sample()


# The rows of several bodies in one group, and the numbers of these bodies.
_Shared = tuple[Group, Controllers, list[int]]


def _form(model: Model, points: bool) -> tuple[int, ...]:
    """Equal for models of one tree, and for few others."""
    native = model._use()
    count = native.point_count if points else 0
    return (native.link_count, native.shape_count, native.actuator_count, count)


def _is_noisy(model: Model) -> bool:
    """Whether its sensors draw random numbers, which depend on the robot's number in its group."""
    native = model._use()
    signals = (native.sensors[i].signal for i in range(native.sensor_count))
    return any(signal.noise or signal.bias or signal.drift for signal in signals)


class _Builder:
    """Adds groups for bodies to a world."""

    def __init__(
        self,
        world: World,
        episode: _Episode,
        models: Sequence[Model],
        controllers: Sequence[Controllers],
        requested: _Request,
    ) -> None:
        self.world = world
        self.episode = episode
        self.models = models
        self.controllers = controllers
        self.duty = "duty" in requested.averages
        # Functions of the caller are called with a group of one model.
        varies = episode.group["motion"] in ("points", "articulated")
        self.shares = varies and episode.start is None and not requested.own

    def groups(self) -> list[_Shared]:
        return [made for some in self._sets() for made in self._made(some)]

    def _sets(self) -> list[list[int]]:
        """Bodies that may share a group: those of one tree with controllers of one kind."""
        if not self.shares:
            return [[i] for i in range(len(self.models))]
        points = self.episode.group["motion"] == "points"
        found: dict[Any, list[int]] = {}
        for i, (model, controller) in enumerate(zip(self.models, self.controllers)):
            found.setdefault((type(controller), _form(model, points)), []).append(i)
        return list(found.values())

    def _made(self, bodies: list[int]) -> list[_Shared]:
        """One group, or one for each body if their models or controllers do not allow that."""
        whole = joined([self.controllers[i] for i in bodies])
        if whole is not None and (len(bodies) == 1 or not _is_noisy(self.models[bodies[0]])):
            try:
                return [self._add(bodies, whole)]
            except errors.UnsupportedError:
                if len(bodies) == 1:
                    raise
        return [self._add([i], self.controllers[i]) for i in bodies]

    def _add(self, bodies: list[int], controller: Controllers) -> _Shared:
        first = self.models[bodies[0]]
        arguments = {**self.episode.group, **controller.settings}
        if self.duty and "sensors" not in arguments:
            arguments["sensors"] = any(s.type == "contact" for s in first.sensors)
        robots = [self.models[i] for i in bodies for _ in range(len(self.controllers[i]))]
        group = self.world.add_group(
            first if len(bodies) == 1 else robots,
            len(controller) if len(bodies) == 1 else 1,
            name=f"body{bodies[0]}",
            controller=controller.kind,
            **arguments,
        )
        controller.start(group)
        return group, controller, bodies


def _evaluate_some(
    episode: _Episode,
    models: Sequence[Model],
    controllers: Sequence[Controllers],
    seed: int,
    requested: _Request,
    report: Callable[[int, str], None],
) -> list[tuple[dict[str, Array], Array]]:
    """Measures and faults of as many bodies as fit into one world."""
    with World(step=episode.step, seed=seed, **episode.world) as world:
        shared = _Builder(world, episode, models, controllers, requested).groups()
        walkers = []
        for group, _, _ in shared:
            if episode.start is not None:
                episode.start(group)
            walkers.append(_Walker(group, requested.averages))
        _run_episode(episode, walkers, [controller for _, controller, _ in shared], report)
        parts: dict[int, tuple[dict[str, Array], Array]] = {}
        for (_, _, bodies), walker in zip(shared, walkers):
            taken, fault, at = requested.take(walker), walker.fault(), 0
            for i in bodies:
                own = slice(at, at + len(controllers[i]))
                parts[i] = ({name: rows[own] for name, rows in taken.items()}, fault[own])
                at = own.stop
        return [parts[i] for i in range(len(models))]


# ---- by an engine --------------------------------------------------------------------------------

_PIECES = 4  # for each worker: the last ones finish at about the same time
_BLOCK = 64  # robots that step together
_KEPT = 4096

# A body and its rows of an evaluation.
_Share = tuple[int, slice]


@dataclasses.dataclass(frozen=True)
class _Work:
    """What a worker evaluates."""

    episode: _Episode
    models: list[bytes]  # pickled: a worker keeps those that come again
    controllers: list[Controllers]
    seed: int
    requested: _Request


_models: dict[bytes, Model] = {}  # of a worker


def _model_of(packed: bytes) -> Model:
    if packed not in _models:
        if len(_models) >= _KEPT:
            _models.pop(next(iter(_models)))
        _models[packed] = pickle.loads(packed)
    return _models[packed]


def _do(work: _Work) -> list[tuple[dict[str, Array], Array]]:
    models = [_model_of(packed) for packed in work.models]
    return _evaluate_some(
        work.episode, models, work.controllers, work.seed, work.requested, lambda *_: None
    )


def _shares(
    models: Sequence[Model], controllers: Sequence[Controllers], workers: int
) -> list[list[_Share]]:
    """The rows of each work: whole bodies where random numbers depend on the robot's number."""
    size = -(-sum(len(batch) for batch in controllers) // (_PIECES * workers))
    size = -(-size // _BLOCK) * _BLOCK
    works: list[list[_Share]] = [[]]
    size_left = size
    for i, (model, batch) in enumerate(zip(models, controllers)):
        whole = _is_noisy(model) or not has_rows(batch)
        at = 0
        while at < len(batch):
            if size_left <= 0 or len(works[-1]) == _MOST_GROUPS:
                works.append([])
                size_left = size
            end = len(batch) if whole else min(at + size_left, len(batch))
            works[-1].append((i, slice(at, end)))
            size_left -= end - at
            at = end
    return works


def _by_engine(
    engine: Engine,
    episode: _Episode,
    models: Sequence[Model],
    controllers: Sequence[Controllers],
    seeds: Sequence[int],
    requested: _Request,
) -> list[list[tuple[dict[str, Array], Array]]]:
    shares = _shares(models, controllers, engine.workers)
    episode = dataclasses.replace(episode, world={**episode.world, "threads": engine.threads})
    packed = [pickle.dumps(model) for model in models]
    works = [
        _Work(
            episode,
            [packed[i] for i, _ in share],
            [
                controllers[i]
                if rows == slice(0, len(controllers[i]))
                else rows_of(controllers[i], rows)
                for i, rows in share
            ],
            seed,
            requested,
        )
        for seed in seeds
        for share in shares
    ]
    done = iter(engine.map(_do, works))
    episodes = []
    for _ in seeds:
        pieces: list[list[tuple[dict[str, Array], Array]]] = [[] for _ in models]
        for share in shares:
            for (i, _), piece in zip(share, next(done), strict=True):
                pieces[i].append(piece)
        episodes.append([_one_body(some) for some in pieces])
    return episodes


def _one_body(pieces: list[tuple[dict[str, Array], Array]]) -> tuple[dict[str, Array], Array]:
    if len(pieces) == 1:
        return pieces[0]
    taken = {name: np.concatenate([p[0][name] for p in pieces]) for name in pieces[0][0]}
    return taken, np.concatenate([p[1] for p in pieces])


def _joined(parts: list[Array], name: str) -> Array:
    """Rows of several bodies; where they differ in width, the missing values are NaN."""
    if len({part.shape[1:] for part in parts}) == 1:
        return np.concatenate(parts)
    width = max(part.reshape(len(part), -1).shape[1] for part in parts)
    rows = np.full((sum(len(part) for part in parts), width), np.nan)
    at = 0
    for part in parts:
        flat = part.reshape(len(part), -1)
        rows[at : at + len(part), : flat.shape[1]] = flat
        at += len(part)
    return rows


def evaluate(
    model: Model | Sequence[Model],
    controllers: Controllers | Sequence[Controllers],
    seconds: float,
    seeds: int | Sequence[int] = 0,
    motion: str = "points",
    *,
    fitness: str | Measure = "distance",
    measures: Sequence[str] | Mapping[str, Measure] = (),
    descriptors: Sequence[str] = (),
    sample: float = _SAMPLE,
    step: float = 0.01,
    gravity: float = 9.81,
    terrain: Terrain | None = None,
    start: Callable[[Group], None] | None = None,
    threads: int | None = None,
    context: Context | None = None,
    progress: bool | None = False,
    engine: Engine | str | None = None,
    **settings: Any,
) -> Evaluation:
    """Simulates every controller in a robot of its own, all at the same time, and evaluates them.

    Args:
        model: the robot; or a list of any number of bodies with a batch of `controllers` for each.
            Bodies of one tree, which differ in nothing but real numbers, cost little more than one
            body where they can share a group: by "points" and "articulated", with controllers of
            one kind that run in C, and without functions of yours that are called with a group.
        controllers: Programs, Oscillators, Linear, MLP or Policy.
        seconds: [s] duration of an episode, rounded up to whole steps.
        seeds: of random numbers (noise of sensors); several: one episode per seed, and results are
            means.
        motion: the level of physics.
        fitness: a measure by name, or a function of the group at the end: one value per robot.
        measures: other measures: "distance" [m] horizontally from start to end; "forward",
            "sideways", "climb" [m]; means over the episode: "height" [m], "speed" [m/s], "upright"
            (cosine of the tilt), "duty" (fraction of time with ground contact of each foot). Or a
            mapping of names to functions of the group at the end.
        descriptors: measures that describe behavior, such as ["duty"], for quality-diversity.
        sample: [s] between samples of measures that are means.
        step, gravity, terrain, threads, context: of the world.
        progress: a bar where tqdm is installed; None: on a terminal or in a notebook.
        start: called with each group before the episode, to write its state.
        engine: who simulates: None, threads of this process; an Engine, which stays, or the name of
            one for this call ("processes", "ray", ...). The results are the same; functions of
            yours are called with groups of some of the robots, in the worker.
        settings: more arguments of World.add_group, such as `precision` or the motion's settings.

    A controller's row depends only on itself: not on the others, their number or threads.

    """
    models = [model] if isinstance(model, Model) else list(model)
    given: Any = controllers  # whatever it is: what it should be is checked below
    one = isinstance(given, Controllers) or not isinstance(given, Iterable)
    batches = [given] if one else list(given)
    if not models or not all(isinstance(body, Model) for body in models):
        raise TypeError("model: need a Model or several")
    if not all(isinstance(batch, Controllers) for batch in batches):
        raise TypeError("controllers: need Programs, Oscillators, Linear, MLP or Policy")
    if len(models) != len(batches):
        raise ValueError(
            f"need a batch of controllers for each of {len(models)} bodies, got {len(batches)}"
        )
    numbers = [int(seeds)] if isinstance(seeds, (int, np.integer)) else [int(s) for s in seeds]
    if not numbers:
        raise ValueError("seeds: need one or more")
    duration = time_from_seconds(seconds, "seconds")
    if duration <= 0:
        raise ValueError(f"seconds: need a time > 0, got {seconds!r}")
    tick = max(time_from_seconds(step, "step"), 1)
    episode = _Episode(
        steps=-(-duration // tick),
        step=float(step),
        seconds=float(seconds),
        sample=float(sample),
        portion=0 if progress is False else max(-(-duration // tick) // 100, 1),
        start=start,
        world={"gravity": gravity, "terrain": terrain, "threads": threads, "context": context},
        group={"motion": motion, **settings},
    )
    requested = _Request(fitness, measures, descriptors)
    if engine is not None:
        if context is not None:
            raise ValueError("context: an engine's workers have their own")
        with contextlib.ExitStack() as stack:
            if isinstance(engine, str):
                engine = stack.enter_context(Engine(engine, threads=threads or 1))
            return _summary(
                _by_engine(engine, episode, models, batches, numbers, requested),
                requested,
                episode,
            )
    episodes = []
    worlds = range(0, len(models), _MOST_GROUPS)
    total = episode.steps * len(numbers) * len(worlds)
    with progress_bar(total, "step", progress) as report:
        for seed in numbers:
            parts: list[tuple[dict[str, Array], Array]] = []
            for at in worlds:
                some = slice(at, at + _MOST_GROUPS)
                parts += _evaluate_some(
                    episode, models[some], batches[some], seed, requested, report
                )
            episodes.append(parts)
    return _summary(episodes, requested, episode)


def _summary(
    episodes: list[list[tuple[dict[str, Array], Array]]], requested: _Request, episode: _Episode
) -> Evaluation:
    taken = [
        {name: _joined([part[0][name] for part in parts], name) for name in requested.names}
        for parts in episodes
    ]
    faults = np.array([np.concatenate([part[1] for part in parts]) for parts in episodes])
    per_seed = np.array([values[requested.fitness_name] for values in taken], np.float64)
    if per_seed.ndim != 2:
        raise ValueError(f"fitness: need one value per robot, got shape {per_seed.shape[1:]}")
    per_seed[faults != 0] = math.nan
    means = {name: np.mean([values[name] for values in taken], axis=0) for name in requested.names}
    rows = per_seed.shape[1]
    columns = [means[name].reshape(rows, -1) for name in requested.descriptors]
    return Evaluation(
        fitness=np.mean(per_seed, axis=0),
        measures=means,
        descriptors=np.concatenate(columns, axis=1) if columns else np.zeros((rows, 0)),
        faults=np.bitwise_or.reduce(faults, axis=0).astype(np.uint32),
        fitness_per_seed=per_seed,
        simulated_seconds=float(rows * len(episodes) * episode.steps * episode.step),
    )
