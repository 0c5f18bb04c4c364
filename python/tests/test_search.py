"""Searches by ask and tell, their archives, and the operators of machines."""

import json
import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from served import call

import mayfly
from mayfly.search import Generations, Machines, MapElites, Search, SteadyState

SCENES = mayfly.data_folder() / "scenes"


def ones(genomes: np.ndarray) -> np.ndarray:
    """Fitness: the share of bits that are set."""
    return np.unpackbits(genomes, axis=1).mean(axis=1)


def halves(genomes: np.ndarray) -> np.ndarray:
    """Descriptors: the share of each half."""
    return np.stack([ones(genomes[:, :4]), ones(genomes[:, 4:])], axis=1)


def advance(search: Search, generations: int) -> Search:
    described = isinstance(search, MapElites)
    while search.generation < generations:
        genomes = search.ask()
        search.tell(genomes, ones(genomes), halves(genomes) if described else None)
    return search


GRID = {"first": (0, 1, 8), "second": (0, 1, 8)}
SCHEMES: dict[str, Callable[..., Search]] = {
    "generations": lambda **more: Generations(8, population=20, survivors=5, seed=3, **more),
    "tournament": lambda **more: Generations(
        8, population=20, selection="tournament", survivors=2, reuse_fitness=True, **more
    ),
    "steady": lambda **more: SteadyState(8, population=20, batch=7, seed=3, **more),
    "strict": lambda **more: SteadyState(8, population=10, replacement="random", batch=1, **more),
    "islands": lambda **more: Generations(
        8, population=10, survivors=3, islands=3, migration_every=2, migration_best=2, **more
    ),
    "steady islands": lambda **more: SteadyState(
        8, population=10, batch=4, islands=3, migration_every=1, seed=3, **more
    ),
    "cells": lambda **more: MapElites(8, population=20, batch=7, descriptors=GRID, seed=3, **more),
}


@pytest.mark.parametrize("name", SCHEMES)
def test_schemes_find_more_ones_and_resume_with_the_same_bits(
    name: str, tmp_path: pathlib.Path
) -> None:
    make = SCHEMES[name]
    whole = advance(make(archive=tmp_path / "whole"), 12)
    first = advance(make(), 1)
    assert whole.best.fitness > max(0.65, first.best.fitness)
    broken = advance(make(archive=tmp_path / "broken"), 5)
    genomes = broken.ask()
    if not isinstance(
        broken, Generations
    ):  # answers of an incomplete generation are lost and asked again
        broken.tell(genomes, ones(genomes), halves(genomes) if name == "cells" else None)
    broken.close()
    again = make(archive=tmp_path / "broken", resume=True)
    assert again.generation == 5 and np.array_equal(again.ask(), genomes)
    if isinstance(again, MapElites):
        assert np.array_equal(
            again.descriptors, halves(np.array([one.genome for one in again.population]))
        )
    advance(again, 12)
    assert again.hash() == whole.hash()
    with mayfly.search.Archive(tmp_path / "whole") as archive:
        stored = archive.population()
        assert [one.id for one in stored] == [one.id for one in whole.population]
        assert [one.generation for one in stored] == [one.generation for one in whole.population]
        assert np.array_equal(archive.best().genome, whole.best.genome)
        assert len(archive.generations) == 12


COMMON = {"search.generations": 4, "search.population": 20, "search.survivors": 8}
RUNS: dict[str, dict[str, object]] = {
    "neophysix": {},
    "golem": {"run.duration": 2, "search.machine.attach": 0.3, "search.islands": 2},
    # With a verification that takes the worse of two servos.
    "hexapod": {"run.duration": 2, "search.verify.best": 6, "search.verify.stiffness": 0.5},
}


@pytest.mark.parametrize("name", RUNS)
def test_scenes_give_the_bits_of_the_command(name: str, tmp_path: pathlib.Path) -> None:
    scene, settings = SCENES / f"{name}.yaml", {**COMMON, **RUNS[name]}
    with mayfly.search.from_scene(scene, settings, archive=tmp_path / "py") as search:
        best = search.run()
        hashed = f"{search.hash():016x}"
        assert search.simulated_seconds > 0
        assert np.array_equal(search.evaluator(best.genome[None]).fitness, [best.fitness])
        if name == "hexapod":
            assert np.isfinite(search.verified[0]) and np.isnan(search.verified).any()
    words = [f"--set={key}={value}" for key, value in settings.items()]
    done = call("evolve", scene, *words, "--json", "--out", tmp_path / "c")
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["hash"] == hashed and last["simulated_seconds"] == search.simulated_seconds
    # Each continues the other's archive, and the command replays it.
    replayed = json.loads(call("replay", tmp_path / "py", "--json").stdout)
    assert replayed["equal"] and replayed["individual"] == best.id
    more = {**settings, "search.generations": 6}
    words = [f"--set={key}={value}" for key, value in more.items()]
    done = call("evolve", scene, *words, "--json", "--resume", "--out", tmp_path / "py")
    with mayfly.search.from_scene(scene, more, archive=tmp_path / "c", resume=True) as search:
        search.run()
        assert json.loads(done.stdout.splitlines()[-1])["hash"] == f"{search.hash():016x}"
    with pytest.raises(ValueError, match="different settings: it has 'duration: "):
        other = {**more, "run.duration": 3}
        mayfly.search.from_scene(scene, other, archive=tmp_path / "c", resume=True)


def test_islands() -> None:
    make = {"population": 10, "survivors": 4, "islands": 3, "seed": 5}
    search = Generations(8, migration_every=2, migration_best=2, **make)
    assert search.ask().shape == (30, 8)  # those of all islands
    advance(search, 2)
    assert len(search.population) == 30 and "10 on each of 3 islands" in repr(search)
    best = [[one for one in search.population if one.id % 3 == island] for island in range(3)]
    advance(search, 3)
    assert search.ask().shape == (30, 8)
    children = [one for one in search.population if one.parent is not None]
    immigrants = [one for one in children if one.id % 3 != one.parent % 3]
    assert immigrants
    for one in immigrants:
        (source,) = [old for old in best[(one.id - 1) % 3][:2] if old.id == one.parent]
        assert one.generation == 3 and np.array_equal(one.genome, source.genome)
    # Island 0 has the seed: without migration it is a search of its own.
    apart = advance(Generations(8, migration_every=0, **make), 6)
    alone = advance(Generations(8, population=10, survivors=4, seed=5), 6)
    first = [one for one in apart.population if one.id % 3 == 0]
    assert [one.id // 3 for one in first] == [one.id for one in alone.population]
    assert all(np.array_equal(a.genome, b.genome) for a, b in zip(first, alone.population))
    for settings, expected in (
        ({"islands": 0}, "islands: expected 1 .. 256"),
        ({"islands": 2, "migration_best": 51}, "migration_best: expected 1 .. 50"),
    ):
        with pytest.raises(ValueError, match=expected):
            Generations(8, **settings)


def test_archives_without_a_scene(tmp_path: pathlib.Path) -> None:
    with Generations(8, population=10, survivors=4, archive=tmp_path / "run") as search:
        advance(search, 2)
        with pytest.raises(mayfly.BusyError):
            Generations(8, population=10, survivors=4, archive=tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="exists already"):
        Generations(8, population=10, survivors=4, archive=tmp_path / "run")
    for _ in range(2):  # the failure leaves nothing open
        with pytest.raises(ValueError, match="population: the archive was made with 10"):
            Generations(8, population=12, survivors=4, archive=tmp_path / "run", resume=True)
    assert "generations" in call("info", tmp_path / "run" / "archive.sqlite").stdout
    assert "fitness of its own" in call("replay", tmp_path / "run", code=1).stderr
    with pytest.raises(mayfly.ClosedError):
        search.ask()


def test_what_is_told_is_checked() -> None:
    search = MapElites(8, population=20, descriptors=GRID)
    with pytest.raises(mayfly.NotFoundError, match="ask and tell first"):
        search.best
    genomes = search.ask()
    for wrong in (genomes[:-1], genomes[::-1]):
        with pytest.raises(ValueError, match="last ask"):
            search.tell(wrong, ones(wrong), halves(wrong))
    with pytest.raises(ValueError, match=r"fitness: need numbers of shape \(20,\), got float64"):
        search.tell(genomes, ones(genomes)[:3], halves(genomes))
    with pytest.raises(ValueError, match=r"descriptors: .* got nothing"):
        search.tell(genomes, ones(genomes))
    assert np.array_equal(search.ask(), genomes)  # no answer was taken
    search.tell(genomes, ones(genomes), halves(genomes))
    assert search.generation == 1 and 0 < search.coverage < 1
    assert search.quality == pytest.approx(sum(one.fitness for one in search.population))
    with pytest.raises(ValueError, match="only MapElites"):
        plain = Generations(8, population=20)
        plain.tell(plain.ask(), np.zeros(20), np.zeros((20, 1)))
    with pytest.raises(ValueError, match="is the scheme MapElites"):
        SteadyState(8, replacement="cell")
    with pytest.raises(ValueError, match="survivors"):
        Generations(8, population=10, survivors=10)
    with pytest.raises(TypeError, match="from_scene"):
        Search()


def test_verification_asks_for_a_better_fitness() -> None:
    search = Generations(8, population=20, survivors=5, verify_every=2, verify_best=4)
    kinds = []
    while search.generation < 4:
        genomes = search.ask()
        kinds.append(search.verifies)
        search.tell(genomes, ones(genomes) - 0.25 * search.verifies)
    assert kinds == [False, False, True, False, False, True]
    assert search.verified[0] == search.best.fitness - 0.25
    with pytest.raises(TypeError, match="need verify"):
        search.run(6, ones)


def test_own_operators() -> None:
    def vary(parent: np.ndarray | None, random: np.random.Generator) -> np.ndarray:
        if parent is None:
            return np.zeros(8, np.uint8)
        child = parent.copy()
        child[random.integers(8)] |= 1 << random.integers(8)
        return child

    runs = [Generations(8, population=20, survivors=5, seed=2, vary=vary) for _ in range(2)]
    assert not runs[0].ask().any()
    found = [search.run(30, ones) for search in runs]
    assert found[0].fitness > 0.25 and runs[0].hash() == runs[1].hash()

    def fail(parent: Any, random: Any) -> bytes:
        raise RuntimeError("no child")

    with pytest.raises(RuntimeError, match="no child"):
        Generations(8, vary=fail)
    with pytest.raises(ValueError, match="at most 8 bytes"):
        Generations(8, vary=lambda parent, random: bytes(9))


def test_machines() -> None:
    tetrahedron = mayfly.Truss.from_arrays(
        0.1 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
        actuators=[(3, 0.12, 0.16, 0)],
        neurons=[("sigmoid", 0.5, 0.0)],
        synapses=[(0, 0, -2.0)],
    )
    machines = Machines(tetrahedron, change=0.5)
    genome = machines.genome(tetrahedron)
    again = machines.truss(genome, stand=False)
    assert np.allclose(again.positions, tetrahedron.positions)
    assert again.synapses == tetrahedron.synapses and again.drivers == [0]
    assert np.array_equal(machines.vary(None, 1, 0), genome)
    children = [machines.vary(genome, 1, number) for number in range(20)]
    assert all(not np.array_equal(child, genome) for child in children)
    assert np.array_equal(machines.vary(genome, 1, 3), children[3])
    assert len({machines.truss(child).positions.tobytes() for child in children}) > 5
    with pytest.raises(mayfly.CorruptError):
        machines.truss(np.full(machines.genome_bytes, 7, np.uint8))
    with pytest.raises(mayfly.LimitError, match="at most 64 vertices"):
        points = np.arange(195.0).reshape(65, 3)
        Machines(mayfly.Truss.from_arrays(points, [[i, i + 1] for i in range(64)]))
    # More bars win; the search has the operators of the machines.
    search = SteadyState(machines, population=20, seed=1)

    def bars(genomes: np.ndarray) -> np.ndarray:
        return np.array([machines.parts(genome)["bars"] for genome in genomes], float)

    assert machines.parts(genome) == {
        "vertices": 4,
        "bars": 6,
        "actuators": 1,
        "neurons": 1,
        "synapses": 1,
    }
    assert not any(machines.parts(machines.genome(None)).values())

    assert search.run(20, bars).fitness > 6
    with pytest.raises(TypeError, match="operators of their own"):
        Generations(machines, vary=lambda parent, random: bytes(8))


def test_evaluator() -> None:
    axis = {"measure": "forward", "lower": -1, "upper": 1, "cells": 4}
    keys: dict[str, object] = {"replacement": "cell", "descriptors": [axis]}
    settings = {"run.duration": 5, **{f"search.{key}": value for key, value in keys.items()}}
    evaluator = mayfly.search.Evaluator("scenes/neophysix.yaml", settings, count=5)
    genomes = np.random.default_rng(1).integers(0, 256, (12, 32)).astype(np.uint8)
    result = evaluator(genomes)
    assert len(result) == 12 and result.descriptors.shape == (12, 1)
    assert evaluator.descriptors == ("forward",)
    assert np.array_equal(evaluator(genomes[7:9]).fitness, result.fitness[7:9])
    assert (result.fitness >= abs(result.descriptors[:, 0]) - 1e-12).all()  # the distance
    assert result.simulated_seconds == 60.0
    with pytest.raises(ValueError, match=r"need shape \(n, 32\)"):
        evaluator(genomes[:, 1:])
    with pytest.raises(ValueError, match="no search.verify"):
        evaluator(genomes, verify=True)
    with pytest.raises(mayfly.UnsupportedError):
        mayfly.search.Evaluator("scenes/soccer.yaml")
    search = mayfly.search.from_scene("scenes/neophysix.yaml", settings)
    assert isinstance(search, MapElites)
    search.run(2)
    assert len(search.descriptors) == len(search.population) > 1
