"""A search on a Ray cluster of several nodes has the population of one in threads."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import time

import pytest

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
        environment = {**os.environ, "RAY_ADDRESS": cluster.address, "MAYFLY_PYTHON": sys.executable}
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
        [sys.executable, "-m", "mayfly.engines", "spark"], capture_output=True, text=True
    )
    assert wrong.returncode == 2
