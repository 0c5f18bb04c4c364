"""What the documentation says, done; and the examples."""

import importlib.util
import os
import pathlib
import re
import sys
import types
from typing import Any

import numpy as np
import pytest

import mayfly
from conftest import ROOT

EXAMPLES = ROOT / "examples" / "python"
LEARNERS = ("stable_baselines3", "rsl_rl")


def blocks(path: pathlib.Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.M | re.S)


def load(name: str, folder: pathlib.Path = EXAMPLES) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_readme(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("gymnasium")
    (block,) = blocks(ROOT / "README.md")
    exec(block.replace("4096", "64").replace("seconds=30", "seconds=3"), {})
    assert float(capsys.readouterr().out.split()[0]) > 0


def test_readme_of_the_package() -> None:
    (block,) = blocks(ROOT / "python" / "README.md")
    exec(block, {})


def test_quick_start(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of docs/how_to/python.md, in order, with the names that it leaves open."""
    pytest.importorskip("matplotlib").use("agg")
    pytest.importorskip("gymnasium")
    ant, hexapod = (mayfly.Model.from_file(name) for name in ("ant.xml", "hexapod.urdf"))
    rng = np.random.default_rng(1)
    genomes = rng.integers(0, 256, (8, 32), dtype=np.uint8)
    names: dict[str, Any] = {
        "np": np,
        "mayfly": mayfly,
        "policy": lambda angle, rate: 0.1 * rate - angle,
        "mask": np.arange(1000) % 2 == 0,
        "first": rng.normal(size=(8, 16, 26)),
        "second": rng.normal(size=(8, 8, 16)),
        "genomes": genomes,
        "n": 8,
    }
    done = 0
    texts = blocks(ROOT / "docs" / "how_to" / "python.md")
    monkeypatch.chdir(tmp_path)
    for text in texts:
        if "Archive(" in text:
            continue  # test_records.py does what it says
        if any(name in text for name in LEARNERS):
            continue  # done below
        if "CMAEvolutionStrategy" in text:
            cma = pytest.importorskip("cma")
            names["cma"] = types.SimpleNamespace(
                CMAEvolutionStrategy=lambda start, spread, how: cma.CMAEvolutionStrategy(
                    start, spread, {**how, "popsize": 6, "maxiter": 2, "verbose": -9}
                )
            )
        if "Populations" not in names and "Programs(genomes)" in text:
            names |= {
                "model": hexapod,
                "vectors": rng.random((8, 55)),
                "long_legs": hexapod,
                "short_legs": mayfly.Model.from_file("quadruped.urdf"),
            }
            short = names["short_legs"]
            names["others"] = mayfly.Oscillators.from_unit(
                rng.random((3, 3 * len(short.joints) + 1)), short
            )
        if text.startswith("ants["):  # the world of the block before is closed
            world = mayfly.World.for_model(ant)
            names |= {"model": ant, "ants": world.add_group(ant, 1000, sensors=True)}
        if "motion=[" in text:
            names["model"] = hexapod
        exec(text.replace("range(100)", "range(10)"), names)
        done += 1
    assert done == 11
    assert sorted(os.listdir(tmp_path)) == ["eye.png", "photos"]


def test_search_in_python(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of docs/how_to/search_in_python.md, in order."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    texts = blocks(ROOT / "docs" / "how_to" / "search_in_python.md")
    for text in texts:
        exec(text.replace('duration": 20', 'duration": 5'), names)
    assert len(texts) == 6
    assert len({one.id % 4 for one in names["islands"].population}) == 4
    assert names["best"].fitness > 0 and len(names["grid"].population) > 10
    with mayfly.Archive("runs/forward") as archive:
        assert archive.best().fitness > archive.best(1).fitness
    assert names["search"].best.fitness > 0  # a machine that crawls


def test_tasks_of_your_own(capsys: pytest.CaptureFixture[str]) -> None:
    """The block of docs/how_to/tasks.md, and its table of terms: each name exists."""
    pytest.importorskip("gymnasium")
    page = ROOT / "docs" / "how_to" / "tasks.md"
    block, drawn = blocks(page)
    exec(block, names := {})
    exec(drawn, names)
    with names["task"].make(4) as envs:
        envs.reset(seed=1)
        assert np.ptp(envs.group.varied()["body/link.mass"]) > 0
    assert names["envs"].observation_groups["critic"].shape == (256, 6)
    assert "feet_down; link_names tibia*; weight 0.1" in capsys.readouterr().out
    table = page.read_text().partition("## Names elsewhere")[2]
    shipped = {name for kind in mayfly.mdp._SHIPPED for name in mayfly.mdp.shipped(kind)}
    named = set(re.findall(r"`([a-z_0-9]+)`", " ".join(re.findall(r"^\| (.*?) \|", table, re.M))))
    assert named - shipped == {"decimation", "delay_max_lag", "delay_min_lag", "episode_length_s",
                               "latency", "step"}  # fmt: skip


def test_quick_start_learns() -> None:
    """The blocks for libraries that need torch, shortened."""
    torch = pytest.importorskip("torch", reason="torch is not installed: nothing learns")
    for name in LEARNERS:
        pytest.importorskip(name, reason=f"{name} is not installed")
    torch.set_num_threads(1)
    network = {"class_name": "MLPModel", "hidden_dims": [16]}
    settings = {
        "num_steps_per_env": 8,
        "save_interval": 100,
        "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
        "actor": {**network, "distribution_cfg": {"class_name": "GaussianDistribution"}},
        "critic": network,
        "algorithm": {"class_name": "PPO"},
    }
    short = {
        "64": "2",
        ").learn(1_000_000)": ", n_steps=32).learn(100)",
        "4096": "32",
        "(1000,": "(2,",
    }
    done = 0
    for text in blocks(ROOT / "docs" / "how_to" / "python.md"):
        if any(name in text for name in LEARNERS):
            for long, few in short.items():
                text = text.replace(long, few)
            exec(text, {"settings": settings})
            done += 1
    assert done == 2


def test_run_scene() -> None:
    """A robot that is dropped stands on the ground after a second."""
    position = load("run_scene").main(str(ROOT / "models" / "humanoid.urdf"), 1.0)
    assert position.shape == (1, 3) and 0.2 < position[0, 2] < 0.4


def test_gait_by_cma() -> None:
    """Two levels, few generations: it gets better where it is finished."""
    pytest.importorskip("cma")
    found, kept, improved = load("gait_by_cma").main(3, 4)
    assert np.isfinite([found, kept, improved]).all() and improved >= kept


def test_gait_by_nevergrad() -> None:
    """Optimizers get further than the gait that they start from."""
    pytest.importorskip("nevergrad")
    module = load("gait_by_nevergrad")
    walked = module.main(512, ("TwoPointsDE", "CMA"))
    robot = mayfly.Model.from_file("quadruped.urdf")
    (start,) = module.walked(robot, np.full((1, 3 * len(robot.joints) + 1), 0.5))
    assert min(walked.values()) > start + 0.3


def test_walker_by_evotorch() -> None:
    """A network that learns to walk; the center of the search stands at first."""
    torch = pytest.importorskip("torch", reason="torch is not installed: evotorch is not tried")
    pytest.importorskip("evotorch", reason="evotorch is not installed")
    torch.set_num_threads(1)
    first, last = load("walker_by_evotorch").main(11)
    assert last > first + 0.5


def test_walker_by_evosax(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mean of a population gets further than that of the first one."""
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    pytest.importorskip("evosax", reason="evosax is not installed")
    walked = load("walker_by_evosax").main(16, ("CMA_ES", "SNES"))
    assert all(last > first + 0.3 for first, last in walked.values())


def test_bodies_by_evolution() -> None:
    found = load("bodies_by_evolution").main(6)
    assert all(b >= a for a, b in zip(found, found[1:]))  # the best is never lost
    assert 0.1 < found[-1] < 20.0 and found[-1] > found[0]


def test_gaits_by_map_elites() -> None:
    pytest.importorskip("ribs")
    archive = load("gaits_by_map_elites").main(2)
    assert archive.stats.num_elites > 3 and archive.stats.obj_max > 0


def test_ant_by_ppo(capsys: pytest.CaptureFixture[str]) -> None:
    """A task that is learned within seconds, here and there."""
    for name in ("jax", "mujoco", "imageio"):
        pytest.importorskip(name, reason=f"{name} is not installed: PPO is not tried")
    ours, theirs = load("ant_by_ppo").main("InvertedPendulum-v5", 120, 900.0, 1)
    assert ours > 900 and theirs > 700
    assert "Gymnasium's own" in capsys.readouterr().out


def test_swarm_by_evolution() -> None:
    """Quadrotors come nearer to their goals."""
    pytest.importorskip("gymnasium")
    first, last = load("swarm_by_evolution").main(50)
    assert last > first + 0.05


def test_walk_at_two_levels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A walk of few generations holds one level up; one that does not hold is not kept."""
    pytest.importorskip("gymnasium")
    example = load("walk_at_two_levels")
    trusted, verified = example.main(20, 1, ["articulated"])
    assert set(trusted) == set(verified) == set(example.LEVELS)
    assert trusted["points"] == 1 and verified["articulated"] > 0.6
    assert (
        capsys.readouterr().out.count("articulated") == 5
    )  # heading, two verifications, two tables
    monkeypatch.setattr(example, "KEPT", 10.0)
    assert example.main(1, 1, ["articulated"]) == [{}, {}]


def test_examples_are_notebooks() -> None:
    """Cells that editors show: each begins with a sentence that explains it."""
    for path in EXAMPLES.glob("*.py"):
        _, *cells = path.read_text().split("\n# %%\n")
        assert cells and all(re.match(r"# [A-Z](.*\n# )*.*\.\n", cell) for cell in cells), path
