"""Evolution by ask and tell: the searches of `mayfly evolve` with a fitness of your own.

    search = mayfly.search.MapElites(32, descriptors={"left": (0, 1, 20), "right": (0, 1, 20)})
    while search.generation < 50:
        genomes = search.ask()
        result = mayfly.evaluate(robot, mayfly.Programs(genomes), 10, descriptors=["duty"])
        search.tell(genomes, result.fitness, result.descriptors[:, [0, 3]])
    print(search.best)

docs/explanation/search.md describes the schemes, docs/how_to/search_in_python.md their use.
"""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from mayfly import errors
from mayfly._native import (
    Native,
    Turn,
    call,
    check,
    encode,
    ffi,
    fill,
    in_turn,
    lib,
    output,
    read_struct,
    real_number,
    take_text,
    text,
)
from mayfly._progress import progress_bar
from mayfly._shown import table
from mayfly.arrays import whole
from mayfly.context import Context, default_context
from mayfly.evaluate import Evaluation
from mayfly.evaluator import Evaluator
from mayfly.machines import Machines, bytes_of
from mayfly.records import Archive, Individual

__all__ = [
    "Archive",
    "Evaluator",
    "Generations",
    "Individual",
    "Machines",
    "MapElites",
    "Search",
    "SteadyState",
    "from_scene",
]

Genomes: TypeAlias = npt.NDArray[np.uint8]
Vary: TypeAlias = Callable[[Genomes | None, np.random.Generator], npt.ArrayLike]
Path: TypeAlias = str | os.PathLike[str]

_NONE = 2**64 - 1  # the id of nobody


def _varies(function: Vary, failures: list[BaseException]) -> Any:
    """A Python function as mf_VaryFn; what it raises is in `failures`."""

    def vary(user: Any, parent: Any, seed: int, number: int, child: Any, count: int) -> int:
        given = None
        if parent != ffi.NULL:
            given = np.frombuffer(ffi.buffer(parent, count), np.uint8).copy()
        key = np.array([seed, number], np.uint64)
        made = bytes_of(function(given, np.random.Generator(np.random.Philox(key=key))), "vary")
        if made.ndim != 1 or made.size > count:
            raise ValueError(f"vary: need at most {count} bytes, got shape {made.shape}")
        ffi.memmove(child, ffi.from_buffer(made), made.size)
        return int(lib.MF_OK)

    def failed(kind: Any, error: BaseException, trace: Any) -> int:
        failures.append(error)
        return int(lib.MF_BAD_ARGUMENT)

    return ffi.callback("mf_VaryFn", vary, onerror=failed)


def _half(population: int, survivors: int | None) -> int:
    return max(int(population) // 2, 1) if survivors is None else survivors


class _Store(Native):
    """The archive that a search writes: a new file, or one that it continues."""

    def __init__(self, search: Search, path: pathlib.Path, resume: bool, run: _Run) -> None:
        self.path = path
        context = search._context
        again = resume and path.exists()
        if not again:
            path.parent.mkdir(parents=True, exist_ok=True)
            config = lib.mf_search_config_of(search._use())
            guard = (encode(run.settings), run.model_hash, run.terrain_hash)
            native = output(lib.mf_archive_create, context._use(), encode(path), config, *guard)
        else:
            native = output(lib.mf_archive_open, context._use(), encode(path), True)
        self._take(lib.MFPY_ARCHIVE, native, [context])
        try:
            if again:
                self._continue(search, run)
        except BaseException:
            self.close()  # or else it stays locked as long as the exception exists
            raise

    def _continue(self, search: Search, run: _Run) -> None:
        stored = output(lib.mf_archive_run, self._use())
        run.compare(text(stored.settings), self.path)
        if (stored.model_hash, stored.terrain_hash) != (run.model_hash, run.terrain_hash):
            raise errors.ArgumentError(
                f"{self.path}: the robot or the ground has changed since the archive was made"
            )
        times = ffi.new("double[2]")
        call(lib.mf_archive_resume, self._use(), search._use(), times, times + 1)
        search._seconds, search._simulated = float(times[0]), float(times[1])


class _Run:
    """What an archive stores beside the search: nothing without a scene."""

    settings = ""
    model_hash = terrain_hash = 0

    def __init__(self, evaluator: Evaluator | None = None) -> None:
        self._evaluator = evaluator
        if evaluator is not None:
            scene = evaluator._levels[0]._use()
            self.settings = evaluator.settings
            self.model_hash = int(lib.mf_model_hash(scene.model))
            ground = lib.mf_world_config_of(scene.world).terrain
            self.terrain_hash = int(lib.mf_terrain_hash(ground))

    def compare(self, stored: str, path: pathlib.Path) -> None:
        """Raises where the settings of an archive are not these, but for the paths of files, whose
        content has hashes, and the number of generations."""
        if (stored == "") != (self._evaluator is None):
            made = "without a scene" if stored == "" else "from a scene"
            raise errors.ArgumentError(f"{path}: it was made {made}, this search is not")
        if self._evaluator is None:
            return
        context, data = self._evaluator._context, encode(stored)
        now = self._evaluator._file._use()
        parse = (context._use(), encode(path), data, len(data), ffi.NULL, 0)
        before = output(lib.mf_scene_file_parse, *parse)
        try:
            before.groups[0].model_path = now.groups[0].model_path
            if before.ground.path != ffi.NULL and now.ground.path != ffi.NULL:
                before.ground.path = now.ground.path
            before.generations = now.generations
            written = take_text(context._use(), lib.mf_scene_file_write, before)
        finally:
            lib.mf_scene_file_destroy(before)
        for old, new in zip(written.splitlines(), self.settings.splitlines()):
            if old != new:
                raise errors.ArgumentError(
                    f"{path}: made with different settings: it has '{old.strip()}', this search "
                    f"'{new.strip()}'"
                )


class Search(Native):
    """Base class of the schemes: Generations, SteadyState and MapElites, or `from_scene(path)`.

    `genomes = search.ask()`, then `search.tell(genomes, fitness)`, again and again. What it asks
    for depends on the seed and on the answers, so that the same calls give the same bits. With
    `archive` every complete generation is stored at once, and `resume` continues there.
    """

    _sealed = True
    _context: Context
    _evaluator: Evaluator | None = None
    _generations: int | None = None  # of the scene

    def __init__(self) -> None:
        raise TypeError("make one of Generations, SteadyState and MapElites, or from_scene(path)")

    def _begin(
        self,
        config: Any,
        genome: int | Machines,
        vary: Vary | None,
        archive: Path | None,
        resume: bool,
        context: Context | None,
    ) -> None:
        """Of a program; `config` without its functions."""
        self._failures: list[BaseException] = []
        if isinstance(genome, Machines):
            if vary is not None:
                raise TypeError("vary: machines have operators of their own")
            config.genome_bytes = genome.genome_bytes
            config.vary = ffi.addressof(lib, "mf_machine_vary")
            config.vary_user = genome._config
        else:
            config.genome_bytes = whole(genome, "genome", 1, 2**16 + 1)
            if vary is not None:
                self._vary = config.vary = _varies(vary, self._failures)
        self._genome = genome  # C borrows the settings of machines
        self._context = context if context is not None else default_context()
        self._start(config, [self._context], _Run(), archive, resume)

    def _start(
        self, config: Any, needs: list[Native], run: _Run, archive: Path | None, resume: bool
    ) -> None:
        self._lock = Turn(type(self).__name__)
        most = int(config.islands) * (int(config.population) + int(config.verify_best))
        dimensions = int(config.descriptor_count)
        self._fitness = np.zeros(most)
        self._described = np.zeros((most, max(dimensions, 1)))
        self._answers = answers = ffi.new("mfpy_Answers *")
        answers.fitness = ffi.cast("double *", ffi.from_buffer(self._fitness))
        answers.descriptors = ffi.cast("double *", ffi.from_buffer(self._described))
        answers.dimensions = dimensions
        config.evaluate = ffi.addressof(lib, "mfpy_evaluate")
        config.verify = ffi.addressof(lib, "mfpy_verify")
        config.describe = ffi.addressof(lib, "mfpy_describe")
        config.user = config.verify_user = config.describe_user = answers
        try:
            native = output(lib.mf_search_create, self._context._use(), ffi.addressof(config))
        except errors.MayflyError:
            self._raise_failure()
            raise
        self._take(lib.MFPY_SEARCH, native, needs)
        self._config = lib.mf_search_config_of(native)
        self._asked: Genomes | None = None
        self._descriptor_rows: dict[
            int, npt.NDArray[np.float64]
        ] = {}  # descriptors of the living by id
        self._seconds = self._simulated = 0.0
        self._store = None
        if archive is not None:
            file = pathlib.Path(os.fsdecode(archive))
            path = file if file.suffix == ".sqlite" else file / "archive.sqlite"
            self._store = _Store(self, path, resume, run)
            self._remember(path)
        self._since = time.monotonic() - self._seconds

    def _remember(self, path: pathlib.Path) -> None:
        """The descriptors of a repertoire that continues."""
        if self.generation > 0 and self._config.descriptor_count > 0:
            with Archive(path) as stored:
                alive = self.population
                values = stored.descriptor_values(alive)
            self._descriptor_rows = {one.id: row for one, row in zip(alive, values)}

    # ---- ask and tell ----------------------------------------------------------------------------

    @in_turn
    def ask(self) -> Genomes:
        """The genomes to evaluate next, (n, genome_bytes); the same ones until they are answered.

        Generations asks for a population, or only for its children with `reuse_fitness`,
        SteadyState and MapElites for `batch` children; of all islands at once. Batches of a
        generation with answers are made again for each further one: with very small batches that
        can take milliseconds.
        """
        self._use()
        if self._asked is None:
            self._advance()
        assert self._asked is not None
        return self._asked.copy()

    @in_turn
    def tell(
        self,
        genomes: npt.ArrayLike,
        fitness: npt.ArrayLike | Evaluation,
        descriptors: npt.ArrayLike | None = None,
        *,
        simulated: float = 0.0,
    ) -> None:
        """The results of the genomes that ask() gave.

        Args:
            genomes: those of ask(), in the same order.
            fitness: (n,), larger is better, NaN is worst; or an Evaluation, which has the other
                arguments, too.
            descriptors: (n, descriptors) for MapElites; with NaN: of no cell.
            simulated: [s] simulated time of all robots, for the archive.

        """
        self._use()
        if isinstance(fitness, Evaluation):
            simulated = fitness.simulated_seconds if simulated == 0.0 else simulated
            if descriptors is None and fitness.descriptors.size:
                descriptors = fitness.descriptors
            fitness = fitness.fitness
        if self._asked is None or not np.array_equal(bytes_of(genomes, "genomes"), self._asked):
            raise ValueError("genomes: need those of the last ask(), in the same order")
        values = self._numbers(fitness, (len(self._asked),), "fitness")
        first, width = int(self._answers.count), int(self._answers.dimensions)
        end = first + len(values)
        if width > 0:
            shape = (len(values), width)
            self._described[first:end] = self._numbers(descriptors, shape, "descriptors")
        elif descriptors is not None and not self.verifies:
            raise ValueError("descriptors: only MapElites has some")
        self._simulated += real_number(simulated, "simulated")
        self._fitness[first:end] = values
        self._answers.count = end
        self._asked = None
        self._advance()

    @staticmethod
    def _numbers(given: Any, shape: tuple[int, ...], what: str) -> npt.NDArray[np.float64]:
        values = np.asarray(np.nan if given is None else given)
        if values.dtype.kind not in "biuf" or values.shape != shape:
            have = "nothing" if given is None else f"{values.dtype} of shape {values.shape}"
            raise ValueError(f"{what}: need numbers of shape {shape}, got {have}")
        return values.astype(np.float64)

    def _advance(self) -> None:
        """Either a generation is complete, or `_asked` are the genomes without an answer."""
        answers, error = self._answers, ffi.new("mf_Error *")
        answers.used, answers.asked = 0, ffi.NULL
        status = lib.mf_search_advance(self._use(), error)
        self._raise_failure()
        if status == lib.MF_STOPPED and answers.asked != ffi.NULL:
            size = (int(answers.asked_count), self.genome_bytes)
            asked = np.frombuffer(ffi.buffer(answers.asked, size[0] * size[1]), np.uint8)
            self._asked = asked.reshape(size).copy()
            return
        check(status, error)
        self._finish(int(answers.count))
        answers.count = 0

    def _raise_failure(self) -> None:
        """Raises what `vary` raised."""
        if self._failures:
            raise self._failures.pop()

    def _finish(self, count: int) -> None:
        """Keeps what a complete generation leaves."""
        if self._answers.dimensions > 0:
            first = (self.generation - 1) * int(self._config.population)
            born = {first + i: self._described[i].copy() for i in range(count)}
            alive = [one.id for one in self.population]
            self._descriptor_rows = {
                i: born[i] if i in born else self._descriptor_rows[i] for i in alive
            }
        if self._store is not None:
            spent = time.monotonic() - self._since
            call(lib.mf_archive_append, self._store._use(), self._use(), spent, self._simulated)

    @in_turn
    def close(self) -> None:
        """Closes the archive and releases the memory; may be called twice."""
        if self._store is not None:
            self._store.close()
        super().close()

    def run(
        self,
        generations: int | None = None,
        evaluate: Callable[[Genomes], npt.ArrayLike | Evaluation] | None = None,
        verify: Callable[[Genomes], npt.ArrayLike | Evaluation] | None = None,
        *,
        progress: bool | None = None,
    ) -> Individual:
        """Asks and tells until there are that many generations; returns the best individual.

        Args:
            generations: in all; None: as many as the scene has.
            evaluate: the fitness of genomes; None: that of the scene.
            verify: the same for genomes to be verified; None: that of the scene.
            progress: a bar where tqdm is installed; None: on a terminal or in a notebook.

        """
        total = self._generations if generations is None else generations
        one, other = evaluate, verify
        if self._evaluator is not None:
            scene = self._evaluator
            one = evaluate if evaluate is not None else scene
            other = verify if verify is not None else lambda genomes: scene(genomes, verify=True)
        if total is None or one is None:
            raise TypeError("run: need generations and evaluate, since there is no scene")
        with progress_bar(total, "generation", progress, self.generation) as update:
            while (before := self.generation) < total:
                genomes = self.ask()
                function = other if self.verifies else one
                if function is None:
                    raise TypeError("run: need verify, since the search verifies")
                self.tell(genomes, function(genomes))
                if self.generation > before:
                    update(1, f"best {lib.mf_search_best(self._use()):.4g}")
        return self.best

    # ---- what it found ---------------------------------------------------------------------------

    @property
    def generation(self) -> int:
        """Generations that are complete."""
        return int(lib.mf_search_generation(self._use()))

    @property
    def verifies(self) -> bool:
        """Whether the genomes of the last ask() are to be verified, with `verify_every`."""
        return self._asked is not None and bool(self._answers.verifies)

    @property
    def genome_bytes(self) -> int:
        """[byte] of a genome."""
        self._use()
        return int(self._config.genome_bytes)

    @property
    def settings(self) -> dict[str, Any]:
        """Members of `mf_SearchConfig`: population, selection, replacement, seed, ..."""
        self._use()
        values = read_struct(self._config[0])
        names = values.pop("descriptors")[: values.pop("descriptor_count")]
        values["descriptors"] = {text(one.name): (one.lower, one.upper, one.cells) for one in names}
        return values

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates genomes as the scene says; of `from_scene`."""
        if self._evaluator is None:
            raise errors.UnsupportedError("a search without a scene has no evaluator")
        return self._evaluator

    @property
    def archive(self) -> pathlib.Path | None:
        """The file that complete generations are written to."""
        return None if self._store is None else self._store.path

    @property
    @in_turn
    def population(self) -> list[Individual]:
        """The living after the last complete generation, of all islands, best first."""
        alive: list[Individual] = []
        while self.generation > 0 and (one := self._individual(len(alive))) is not None:
            alive.append(one)
        return alive

    @property
    @in_turn
    def best(self) -> Individual:
        """The first of `population`.

        Raises:
            NotFoundError: no generation is complete, or no individual is alive.

        """
        one = self._individual(0) if self.generation > 0 else None
        if one is None:
            raise errors.NotFoundError("no generation is complete yet: ask and tell first")
        return one

    def _individual(self, rank: int) -> Individual | None:
        one = lib.mf_search_individual(self._use(), rank)
        if one.id == _NONE:
            return None
        genome = np.frombuffer(ffi.buffer(one.genome, self.genome_bytes), np.uint8).copy()
        return Individual(
            id=int(one.id),
            generation=self._born(int(one.id)),
            parent=None if one.parent == _NONE else int(one.parent),
            fitness=float(one.fitness),
            genome=genome,
        )

    def _born(self, number: int) -> int:
        """The generation of an id: ids have no gaps."""
        config = self._config
        population, births = int(config.population), int(config.population - config.survivors)
        if config.replacement != lib.MF_REPLACEMENT_GENERATION:
            births = population
        number //= int(config.islands)  # within its island
        return 1 if number < population else 2 + (number - population) // births

    @property
    @in_turn
    def verified(self) -> npt.NDArray[np.float64]:
        """(n,) fitness of the verification of each of `population`; NaN without one."""
        count = len(self.population)
        return np.array([lib.mf_search_individual(self._use(), i).verified for i in range(count)])

    @property
    def mean(self) -> float:
        """Mean fitness of the living, over finite values."""
        return float(lib.mf_search_mean(self._use()))

    @property
    def simulated_seconds(self) -> float:
        """[s] simulated time of all evaluations, with that before a resume."""
        return self._simulated

    def hash(self) -> int:
        """Over ids, parents, genomes and fitness of the living, as `mayfly evolve` prints it."""
        return int(lib.mf_search_hash(self._use()))

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.closed:
            return f"<{name}, closed>"
        state = f"generation {self.generation} of {self._config.population}"
        if self._config.islands > 1:
            state += f" on each of {self._config.islands} islands"
        if self.generation > 0:
            state += f", best {lib.mf_search_best(self._use()):.4g}"
        return f"<{name}: {state}, {self.genome_bytes} bytes{self._more()}>"

    def _more(self) -> str:
        return ""

    def _repr_html_(self) -> str:
        best = [] if self.closed else self.population[:20]
        rows = [[one.id, one.generation, one.parent, one.fitness] for one in best]
        return table(repr(self), ["individual", "born in", "parent", "fitness"], rows)


class Generations(Search):
    """All but the survivors are replaced at once, by mutated copies of parents.

    Args:
        genome: bytes of a genome, which are random at first and mutate; or Machines.
        population: individuals of a generation.
        survivors: best ones that stay; None: half of the population.
        selection: of parents: "truncation" (the survivors in turn), "proportionate", "rank",
            "tournament" or "uniform".
        tournament: draws of a tournament.
        mutation_rate: chance of each byte of a child to change.
        reuse_fitness: ask for children only; False: also for the survivors again.
        verify_every: generations from one verification to the next; 0: none. Then ask() also gives
            genomes for a more expensive evaluation, and `verifies` is true.
        verify_best: individuals that are verified at a time.
        verify_disparity: weight of the difference between both fitness values.
        islands: populations, each of `population` individuals with random numbers of its own.
        migration_every: generations after which each island sends copies of its best to the next
            one, along a ring; 0: never.
        migration_best: individuals that migrate at a time; at most the births of a generation.
        seed: of all random numbers.
        vary: makes children instead: from the parent's genome (None: an individual of the first
            generation) and a random generator of this child to its genome.
        archive: a folder, or a file *.sqlite, to which every generation is written.
        resume: continue that archive if it is there.
        context: memory; None: the default context.

    """

    def __init__(
        self,
        genome: int | Machines = 32,
        *,
        population: int = 100,
        survivors: int | None = None,
        selection: str = "truncation",
        tournament: int = 4,
        mutation_rate: float = 1 / 16,
        reuse_fitness: bool = False,
        verify_every: int = 0,
        verify_best: int = 8,
        verify_disparity: float = 1.0,
        islands: int = 1,
        migration_every: int = 10,
        migration_best: int = 1,
        seed: int = 0,
        vary: Vary | None = None,
        archive: Path | None = None,
        resume: bool = False,
        context: Context | None = None,
    ) -> None:
        config = lib.mf_search_config()
        settings = {
            "population": population,
            "survivors": _half(population, survivors),
            "selection": selection,
            "tournament": tournament,
            "mutation_rate": mutation_rate,
            "reuse_fitness": reuse_fitness,
            "verify_every": verify_every,
            "verify_best": verify_best,
            "verify_disparity": verify_disparity,
            "islands": islands,
            "migration_every": migration_every,
            "migration_best": migration_best,
            "seed": seed,
        }
        fill(config, settings, "Generations")
        self._begin(config, genome, vary, archive, resume, context)


class SteadyState(Search):
    """Children replace others one by one; a generation is `population` children.

    Args:
        genome, population, mutation_rate, islands, migration_every, migration_best, seed, vary,
            archive, resume, context: as for Generations.
        replacement: who gives way to a child: "random", "worst", "unfit" or "similar".
        selection: of parents: "tournament", "proportionate", "rank", "uniform" or "truncation" (one
            of the best `survivors`).
        tournament: draws of a tournament.
        survivors: of truncation; None: half of the population.
        batch: children that are asked for at a time.
        protect: best ones that are never replaced.

    """

    def __init__(
        self,
        genome: int | Machines = 32,
        *,
        population: int = 100,
        replacement: str = "worst",
        selection: str = "tournament",
        tournament: int = 4,
        survivors: int | None = None,
        batch: int = 32,
        protect: int = 1,
        mutation_rate: float = 1 / 16,
        islands: int = 1,
        migration_every: int = 10,
        migration_best: int = 1,
        seed: int = 0,
        vary: Vary | None = None,
        archive: Path | None = None,
        resume: bool = False,
        context: Context | None = None,
    ) -> None:
        if replacement in ("generation", "cell"):
            scheme = "Generations" if replacement == "generation" else "MapElites"
            raise ValueError(f"replacement: {replacement!r} is the scheme {scheme}")
        config = lib.mf_search_config()
        settings = {
            "population": population,
            "replacement": replacement,
            "selection": selection,
            "tournament": tournament,
            "survivors": _half(population, survivors),
            "batch": batch,
            "protect": protect,
            "mutation_rate": mutation_rate,
            "islands": islands,
            "migration_every": migration_every,
            "migration_best": migration_best,
            "seed": seed,
        }
        fill(config, settings, "SteadyState")
        self._begin(config, genome, vary, archive, resume, context)


class MapElites(Search):
    """The best individual in each cell of a grid of descriptors (Mouret and Clune 2015).

    Args:
        genome, mutation_rate, seed, vary, archive, resume, context: as for Generations.
        descriptors: by name the lower and upper end and the number of cells of each axis, 1 to 4 of
            them; `tell` takes values in this order. Values outside belong to the border cells.
        population: children of a generation.
        selection, tournament, batch: as for SteadyState; the paper's selection is "uniform".

    """

    def __init__(
        self,
        genome: int | Machines = 32,
        *,
        descriptors: Mapping[str, tuple[float, float, int]],
        population: int = 100,
        selection: str = "uniform",
        tournament: int = 4,
        batch: int = 32,
        mutation_rate: float = 1 / 16,
        seed: int = 0,
        vary: Vary | None = None,
        archive: Path | None = None,
        resume: bool = False,
        context: Context | None = None,
    ) -> None:
        config = lib.mf_search_config()
        settings = {
            "population": population,
            "replacement": "cell",
            "selection": selection,
            "tournament": tournament,
            "survivors": _half(population, None),  # of truncation
            "batch": batch,
            "mutation_rate": mutation_rate,
            "seed": seed,
        }
        fill(config, settings, "MapElites")
        if not 1 <= len(descriptors) <= lib.MF_DESCRIPTOR_LIMIT:
            raise ValueError(f"descriptors: need 1 to 4, got {len(descriptors)}")
        config.descriptor_count = len(descriptors)
        for i, (name, axis) in enumerate(descriptors.items()):
            one = config.descriptors[i]
            if len(encode(name)) >= lib.MF_DESCRIPTOR_NAME:
                raise ValueError(f"descriptors: need names below 32 bytes, got {name!r}")
            one.name = encode(name)
            one.lower, one.upper = float(axis[0]), float(axis[1])
            one.cells = whole(axis[2], f"descriptors: {name}", 1, 2**20 + 1)
        self._begin(config, genome, vary, archive, resume, context)

    @property
    def coverage(self) -> float:
        """Share of cells that are filled."""
        return float(lib.mf_search_coverage(self._use()))

    @property
    def quality(self) -> float:
        """Sum of finite fitness over the cells (QD score, for fitness that is not negative)."""
        return float(lib.mf_search_quality(self._use()))

    @property
    def descriptors(self) -> npt.NDArray[np.float64]:
        """(n, descriptors) of each of `population`: the repertoire."""
        rows = [self._descriptor_rows[one.id] for one in self.population]
        return np.array(rows).reshape(len(rows), int(self._config.descriptor_count))

    def _more(self) -> str:
        axes = [self._config.descriptors[i] for i in range(self._answers.dimensions)]
        grid = " x ".join(f"{one.cells} {text(one.name)}" for one in axes)
        return f", {100 * self.coverage:.3g} % of {grid}"


def from_scene(
    path: Path,
    settings: Mapping[str, object] | None = None,
    *,
    archive: Path | None = None,
    resume: bool = False,
    plugins: bool = False,
    threads: int | None = None,
    context: Context | None = None,
) -> Search:
    """The search that a scene describes, as of `mayfly evolve`: its scheme, genomes and fitness.

    `search.run()` gives the same bits. Between ask and tell, `search.evaluator(genomes)` is the
    fitness of the scene. `mayfly view` and `mayfly replay` read the archive; they look for the
    robot's file where it is now.

    Args:
        path, settings, plugins, threads, context: as for Evaluator.
        archive: a folder, or a file *.sqlite, to which every generation is written.
        resume: continue that archive if it is there.

    """
    evaluator = Evaluator(path, settings, plugins=plugins, threads=threads, context=context)
    file = evaluator._file._use()
    config = ffi.new("mf_SearchConfig *", file.search)[0]
    config.genome_bytes = evaluator.genome_bytes
    if file.verify.motion != lib.MF_VERIFY_NONE:
        config.verify_every, config.verify_best = file.verify.every, file.verify.best
        config.verify_disparity = file.verify.disparity
    kinds: dict[int, type[Search]] = {
        lib.MF_REPLACEMENT_GENERATION: Generations,
        lib.MF_REPLACEMENT_CELL: MapElites,
    }
    kind = kinds.get(int(config.replacement), SteadyState)
    search: Search = object.__new__(kind)
    search._failures = []
    search._context = evaluator._context
    search._evaluator, search._generations = evaluator, int(file.generations)
    needs = [evaluator._context, evaluator._file]
    search._start(config, needs, _Run(evaluator), archive, resume)
    return search
