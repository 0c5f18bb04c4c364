"""A search on a Ray cluster of several nodes has the population of one in threads."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import time

import numpy as np
import pytest

import mayfly

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("MAYFLY_COMMAND", str(ROOT / "build" / "mayfly"))
needs_command = pytest.mark.skipif(not pathlib.Path(COMMAND).exists(), reason="needs the command")


def search(folder: pathlib.Path, *more: str) -> list[str]:
    scene = str(ROOT / "scenes" / "hexapod.yaml")
    settings = ["--generations", "12", "--population", "640", "--duration", "6", "--json"]
    return [COMMAND, "evolve", scene, *settings, "--out", str(folder), *more]


def population(text: str) -> str:
    return str(json.loads(text.strip().splitlines()[-1])["hash"])


def workers() -> list[int]:
    found = subprocess.run(["pgrep", "-f", f"^{COMMAND} worker"], capture_output=True, text=True)
    return [int(line) for line in found.stdout.split()]


@needs_command
def test_the_same_population_on_ray(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    quiet = subprocess.run(search(tmp_path / "threads"), capture_output=True, text=True, check=True)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1)
        environment = {
            **os.environ,
            "RAY_ADDRESS": cluster.address,
            "MAYFLY_PYTHON": sys.executable,
        }
        options = ["--engine", "ray", "--workers", "3"]
        with subprocess.Popen(
            search(tmp_path / "ray", *options),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as on_ray:
            chance, kills = random.Random(1), 0
            while on_ray.poll() is None:
                time.sleep(chance.uniform(0.2, 0.8))
                if kills < 50 and (found := workers()):
                    os.kill(chance.choice(found), 9)
                    kills += 1
            out, err = on_ray.communicate()
    finally:
        cluster.shutdown()
    assert on_ray.returncode == 0, err
    assert kills > 0
    assert population(out) == population(quiet.stdout)


MODEL = mayfly.Model.from_file("hexapod.urdf")


def gaits(count: int, seed: int = 1) -> mayfly.Oscillators:
    unit = np.random.default_rng(seed).uniform(0, 1, (count, 3 * len(MODEL.joints) + 1))
    return mayfly.Oscillators.from_unit(unit, MODEL)


def square(number: int) -> int:
    if number == 13:
        raise ValueError("not that one")
    return number * number


def end_once(path: str) -> str:
    if not os.path.exists(path):
        pathlib.Path(path).touch()
        os.kill(os.getpid(), 9)
    return path


def height(group: mayfly.Group) -> np.ndarray:
    return group["base.position"].read()[:, 2]


def equal(one: mayfly.Evaluation, other: mayfly.Evaluation) -> None:
    np.testing.assert_array_equal(one.fitness, other.fitness)
    np.testing.assert_array_equal(one.descriptors, other.descriptors)
    np.testing.assert_array_equal(one.fitness_per_seed, other.fitness_per_seed)
    np.testing.assert_array_equal(one.faults, other.faults)
    for name, values in one.measures.items():
        np.testing.assert_array_equal(values, other.measures[name])


def test_map(tmp_path: pathlib.Path) -> None:
    with mayfly.Engine("processes", 2) as engine:
        assert engine.map(square, range(12)) == [n * n for n in range(12)]
        assert engine.map(square, []) == []
        with pytest.raises(mayfly.WorkError, match="not that one"):
            engine.map(square, range(20))
        lost = [str(tmp_path / f"lost{i}") for i in range(5)]
        assert engine.map(end_once, lost) == lost
        assert engine.lost == 5
        assert repr(engine) == "<Engine: processes, 2 workers>"
    with pytest.raises(mayfly.ClosedError):
        engine.map(square, [1])
    with pytest.raises(ValueError, match="need one of processes, ray"):
        mayfly.Engine("spark")
    with pytest.raises(RuntimeError, match="mpirun mayfly-mpi"):
        mayfly.Engine("mpi")


def test_evaluations_are_the_same() -> None:
    whole = gaits(300)
    more = {"descriptors": ["duty"], "measures": ["height", "forward"], "seeds": [3, 4]}
    with mayfly.Engine("processes", 3) as engine:
        equal(
            mayfly.evaluate(MODEL, whole, 1, **more),
            mayfly.evaluate(MODEL, whole, 1, engine=engine, **more),
        )
        # Many bodies, and own functions.
        bodies = [MODEL] * 70 + [mayfly.Model.from_file("quadruped.urdf")]
        quadruped = mayfly.Oscillators.from_unit(
            np.full((5, 3 * len(bodies[-1].joints) + 1), 0.4), bodies[-1]
        )
        batches = [gaits(3, i) for i in range(70)] + [quadruped]
        equal(
            mayfly.evaluate(bodies, batches, 1), mayfly.evaluate(bodies, batches, 1, engine=engine)
        )
        own = {"fitness": height, "measures": ["distance"]}
        equal(
            mayfly.evaluate(MODEL, whole, 1, motion="articulated", **own),
            mayfly.evaluate(MODEL, whole, 1, motion="articulated", engine=engine, **own),
        )
        with pytest.raises(ValueError, match="context"):
            mayfly.evaluate(MODEL, whole, 1, engine=engine, context=mayfly.Context())
    equal(mayfly.evaluate(MODEL, whole, 1), mayfly.evaluate(MODEL, whole, 1, engine="processes"))


@needs_command
def test_without_ray_or_an_address(tmp_path: pathlib.Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "MAYFLY_PYTHON": sys.executable}
    done = subprocess.run(
        search(tmp_path / "run", "--engine", "ray"), env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "pip install ray" in done.stderr
    assert "ends before it works" in done.stderr
    wrong = subprocess.run(
        [sys.executable, "-m", "mayfly.worker", "spark"], capture_output=True, text=True
    )
    assert wrong.returncode == 2
