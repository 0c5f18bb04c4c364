"""evaluate(): the same numbers as the command, independence of other robots, and mistakes."""

import pathlib
import re
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from served import call

import mayfly


@pytest.fixture(scope="module")
def evolve(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pathlib.Path]:
    def run(scene: str) -> pathlib.Path:
        folder = tmp_path_factory.mktemp("evolve") / "run"
        scenes = mayfly.data_folder() / "scenes"
        sizes = ["--generations", "2", "--population", "30", "--survivors", "10"]
        call("evolve", scenes / scene, *sizes, "--out", folder)
        return folder

    return run


def test_programs_as_the_command_rates_them(
    hexapod: mayfly.Model, evolve: Callable[[str], pathlib.Path]
) -> None:
    """Every fitness that `mayfly evolve` stored comes back, bit for bit."""
    with mayfly.Archive(evolve("neophysix.yaml")) as archive:
        programs = mayfly.Programs(archive.genomes)
        assert len(programs) == 50
        found = mayfly.evaluate(hexapod, programs, 120)
        assert np.array_equal(found.fitness, archive.fitness)
        assert found.fitness[found.best] == archive.fitness.max() and not found.faults.any()


def test_oscillators_as_the_command_rates_them(
    hexapod: mayfly.Model, evolve: Callable[[str], pathlib.Path]
) -> None:
    with mayfly.Archive(evolve("oscillator.yaml")) as archive:
        waves = mayfly.Oscillators.from_genomes(archive.genomes, hexapod)
        found = mayfly.evaluate(hexapod, waves, 30)
        assert np.array_equal(found.fitness, archive.fitness)


def waves(count: int, model: mayfly.Model, seed: int = 1) -> mayfly.Oscillators:
    rng = np.random.default_rng(seed)
    return mayfly.Oscillators.from_unit(rng.random((count, 3 * len(model.joints) + 1)), model)


def test_a_row_is_its_own(hexapod: mayfly.Model) -> None:
    """Not of its neighbors, its index, samples in between, threads, or other bodies."""
    other = mayfly.Model.from_file("quadruped.urdf")
    every = waves(20, hexapod)
    whole = mayfly.evaluate(hexapod, every, 4, descriptors=["duty"])
    one = mayfly.Oscillators(
        every.amplitude[7:8], every.phase[7:8], every.frequency[7:8], every.offset[7:8]
    )
    alone = mayfly.evaluate(hexapod, one, 4, threads=1)
    assert alone.fitness[0] == whole.fitness[7]
    bodies = mayfly.evaluate([other, hexapod], [waves(3, other), one], 4, descriptors=["duty"])
    assert bodies.fitness[3] == whole.fitness[7] and len(bodies) == 4
    assert np.array_equal(bodies.descriptors[3, :6], whole.descriptors[7])
    assert np.isnan(bodies.descriptors[0, 4:]).all()  # four feet, not six


def scaled(count: int, context: mayfly.Context | None = None) -> list[mayfly.Model]:
    """Hexapods of different lengths and masses."""
    text = (mayfly.data_folder() / "models" / "hexapod.urdf").read_text()

    def times(factor: float) -> Callable[[re.Match[str]], str]:
        return lambda found: '{}"{}"'.format(
            found[1], " ".join(f"{float(value) * factor:.9g}" for value in found[2].split())
        )

    def body(scale: float) -> mayfly.Model:
        longer = re.sub(r'(<origin xyz=)"([^"]*)"', times(scale), text)
        heavier = re.sub(r'(<mass value=)"([^"]*)"', times(scale**3), longer)
        return mayfly.Model.from_string(heavier, context=context)

    return [body(scale) for scale in np.linspace(0.8, 1.2, count)]


def test_many_bodies(hexapod: mayfly.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is evaluated as if it were alone, in one world or in several."""
    bodies = [*scaled(40), hexapod]
    gaits = [waves(1, hexapod, i) for i in range(41)]
    seen: list[mayfly.Group] = []
    found = mayfly.evaluate(bodies, gaits, 4)
    assert len(set(found.fitness)) == 41 and not found.faults.any()
    for i in (0, 17, 40):
        assert mayfly.evaluate(bodies[i], gaits[i], 4).fitness[0] == found.fitness[i]
    assert len(mayfly.evaluate(bodies[:3], gaits[:3], 4, start=seen.append)) == 3
    assert [group.count for group in seen] == [1, 1, 1]  # functions see a group of each model
    monkeypatch.setattr(sys.modules["mayfly.evaluate"], "_MOST_GROUPS", 7)
    assert np.array_equal(mayfly.evaluate(bodies, gaits, 4).fitness, found.fitness)


def test_bodies_cost_little(hexapod: mayfly.Model) -> None:
    """Time and memory of many bodies beside as many robots of one; bounds are generous."""
    count = 64
    with mayfly.Context(1) as context:
        bodies, one = scaled(count, context), waves(count, hexapod)
        gaits = [waves(1, hexapod, i) for i in range(count)]
        least = [np.inf, np.inf]
        for _ in range(3):
            for i, what in enumerate(((hexapod, one), (bodies, gaits))):
                begin = time.process_time()
                mayfly.evaluate(*what, 10)
                least[i] = min(least[i], time.process_time() - begin)
        assert least[1] < 5 * least[0]
        with mayfly.World(context=context) as world:
            sizes = []
            for i, model in enumerate(bodies):
                world.add_group(model, name=f"{i}", motion="points", controller="oscillator")
                sizes.append(context.live_bytes)
            assert (sizes[-1] - sizes[1]) / (count - 2) < 120e3


def test_bodies_share_a_group_where_they_can(
    hexapod: mayfly.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one tree and one kind of controller; rows come back in the given order."""
    other = mayfly.Model.from_file("quadruped.urdf")
    points = hexapod._use().point_count
    alike = [body for body in scaled(9) if body._use().point_count == points][:2]
    bodies = [other, *alike, other, hexapod]
    gaits = [waves(1 + i % 2, body, i) for i, body in enumerate(bodies)]
    added: list[int] = []
    add = mayfly.World.add_group

    def count(world: mayfly.World, model: object, *more: object, **settings: object) -> object:
        added.append(len(model) if isinstance(model, list) else 0)
        return add(world, model, *more, **settings)  # type: ignore[arg-type]

    monkeypatch.setattr(mayfly.World, "add_group", count)
    for motion in ("points", "articulated", "rigid"):
        added.clear()
        more: dict[str, Any] = {"motion": motion, "descriptors": ["duty"], "seconds": 2}
        if motion == "articulated":  # links of other shapes touch only in groups of their own
            more["self_contacts"] = False
        found = mayfly.evaluate(bodies, gaits, **more)
        assert added == ([0] * 5 if motion == "rigid" else [3, 4])
        rows = [mayfly.evaluate(b, g, **more) for b, g in zip(bodies, gaits, strict=True)]
        assert np.allclose(found.fitness, np.concatenate([r.fitness for r in rows]), atol=1e-4)
        four_feet = np.isnan(found.descriptors).any(axis=1)
        assert np.array_equal(four_feet, [True, False, False, False, True, True, False])


def test_measures(hexapod: mayfly.Model) -> None:
    found = mayfly.evaluate(
        hexapod,
        waves(5, hexapod),
        2,
        fitness=lambda group: group["base.position"].array[:, 1],
        measures=["forward", "sideways", "height", "upright", "speed"],
        descriptors=["duty", "height"],
    )
    assert np.array_equal(found.fitness, found.measures["sideways"])
    assert found.descriptors.shape == (5, 7)
    duty = found.measures["duty"]
    assert ((duty >= 0) & (duty <= 1)).all() and duty.max() > 0
    assert np.array_equal(found.descriptors[:, 6], found.measures["height"])
    assert (found.measures["upright"] <= 1).all() and (found.measures["height"] > 0).all()
    assert found.simulated_seconds == 10.0


def test_seeds_and_start(ant: mayfly.Model) -> None:
    def push(group: mayfly.Group) -> None:
        group["base.linear_velocity"] = [group.world.seed, 0, 2.0]

    hold = mayfly.Policy(lambda seen: np.zeros((3, 8)), 3, act="actuator.control")
    more = {"motion": "articulated", "step": 0.005, "start": push, "fitness": "forward"}
    found = mayfly.evaluate(ant, hold, 0.3, seeds=[1, 2], **more)
    assert found.fitness_per_seed.shape == (2, 3)
    assert (found.fitness_per_seed[1] > found.fitness_per_seed[0] + 0.1).all()
    assert np.array_equal(found.fitness, found.fitness_per_seed.mean(axis=0))


def test_faults_are_reported(hexapod: mayfly.Model) -> None:
    def poison(group: mayfly.Group) -> None:
        group["base.linear_velocity"].view[0, 2, 0] = np.nan

    found = mayfly.evaluate(hexapod, waves(4, hexapod), 0.5, start=poison)
    assert found.faults.nonzero()[0].tolist() == [2]
    assert np.isnan(found.fitness).nonzero()[0].tolist() == [2]
    assert found.objective(-1.0)[2] == -1.0 and found.best != 2


def test_networks(ant: mayfly.Model) -> None:
    """A linear policy is an MLP of one layer; its actions are what the formula says."""
    rng = np.random.default_rng(4)
    weights, bias = rng.normal(size=(6, 8, 26)), rng.normal(size=(6, 8))
    more = {"act": "actuator.control", "rate": 100}
    settings = {"motion": "articulated", "step": 0.005}
    linear = mayfly.evaluate(ant, mayfly.Linear(weights, bias, **more), 0.2, **settings)
    network = mayfly.evaluate(ant, mayfly.MLP([weights], [bias], **more), 0.2, **settings)
    assert np.array_equal(linear.fitness, network.fitness)
    alone = mayfly.evaluate(ant, mayfly.Linear(weights[2:3], bias[2:3], **more), 0.2, **settings)
    assert alone.fitness[0] == linear.fitness[2]
    second = rng.normal(size=(6, 8, 8))
    network = mayfly.MLP([weights, second], act="actuator.control", rate=200)
    with mayfly.World(step=0.005) as world:
        group = world.add_group(ant, 6, controller=network.kind, **network.settings)
        network.start(group)
        group.set_state(ant.keyframe("stand").position, rng.normal(size=ant.velocity_count))
        seen = mayfly.Policy.observations(group)
        world.step()
        low = np.array([a.control_lower for a in ant.actuators])
        high = np.array([a.control_upper for a in ant.actuators])
        for robot in range(6):
            hidden = np.tanh(weights[robot] @ seen[robot])
            expected = 0.5 * (low + high) + 0.5 * (high - low) * np.tanh(second[robot] @ hidden)
            assert np.allclose(group["actuator.control"][robot], expected, atol=1e-5)


def test_networks_as_policies(ant: mayfly.Model) -> None:
    """The same network as a function in NumPy: equal to float precision, for a short episode."""
    weights = np.random.default_rng(5).normal(size=(4, 8, 26))
    settings = {"motion": "articulated", "step": 0.005}
    policy = mayfly.Policy(
        lambda seen: np.einsum("noi,ni->no", weights, seen), 4, act="actuator.control", tick=0.02
    )
    linear = mayfly.Linear(weights, act="actuator.control", rate=50)
    there = mayfly.evaluate(ant, linear, 0.1, **settings)
    here = mayfly.evaluate(ant, policy, 0.1, **settings)
    assert np.allclose(there.fitness, here.fitness, rtol=1e-3) and there.fitness.min() > 1e-4


def test_one_bad_policy_harms_one_robot(ant: mayfly.Model) -> None:
    def act(seen: np.ndarray) -> np.ndarray:
        actions = np.full((20, 8), 0.1)
        actions[17, 3] = np.nan
        return actions

    settings = {"motion": "articulated", "step": 0.005}
    policy = mayfly.Policy(act, 20, act="actuator.control")
    found = mayfly.evaluate(ant, policy, 0.1, **settings)
    assert np.isnan(found.fitness).nonzero()[0].tolist() == [17]
    assert found.faults.nonzero()[0].tolist() == [17]
    weights = np.zeros((20, 8, 26))
    network = mayfly.Linear(weights, np.full((20, 8), 0.1), act="actuator.control")
    network.weights[0][17, 3, 0] = np.inf
    with pytest.raises(ValueError, match="robot 17"):
        mayfly.evaluate(ant, network, 0.1, **settings)
    with pytest.raises(ValueError, match="shape"):
        mayfly.evaluate(ant, mayfly.Policy(lambda seen: seen[:3], 20), 0.1, **settings)


def test_network_settings(hexapod: mayfly.Model, world: mayfly.World) -> None:
    group = world.add_group(
        hexapod,
        2,
        motion="points",
        controller="network",
        network={
            "inputs": ["joint.angle"],
            "hidden": [4],
            "lower": [-0.1] * 18,
            "upper": [0.3] * 18,
            "rate": 100,
        },
    )
    assert group["network.weight"].shape == (2, 19 * 4 + 5 * 18)
    world.step()
    assert np.allclose(group["joint.target"].array, 0.1, atol=1e-6)  # weights are 0: the middle
    for wrong in (
        {"lower": [0.0]},
        {"hidden": [0]},
        {"hidden": "4"},
        {"inputs": ["base.color"]},
        {"inputs": "joint.angle"},
        {"output": "base.color"},
        {"output": 3},
        {"lower": [np.nan] * 18},
        {"hidden": [4] * 9},
    ):
        with pytest.raises((ValueError, TypeError, LookupError)):
            world.add_group(hexapod, name="more", controller="network", network=wrong)
    assert len(world.groups) == 1


def test_programs_as_text() -> None:
    text = "load 5\nright 3\njump 0\n"
    programs = mayfly.Programs([text, bytes(range(32))])
    assert programs.text(0).splitlines()[1].split() == ["01", "right", "3"]
    assert mayfly.Programs([programs.text(1)]).programs.tolist() == [list(range(32))]
    with pytest.raises(mayfly.FileError, match="fly"):
        mayfly.Programs(["fly 3"])


def test_mistakes(hexapod: mayfly.Model, ant: mayfly.Model) -> None:
    good = waves(2, hexapod)
    for wrong in (
        lambda: mayfly.evaluate(hexapod, good, -1),
        lambda: mayfly.evaluate(hexapod, good, float("nan")),
        lambda: mayfly.evaluate(hexapod, good, 1, seeds=[]),
        lambda: mayfly.evaluate(hexapod, good, 1, fitness="beauty"),
        lambda: mayfly.evaluate(hexapod, good, 1, fitness=lambda group: 3.0),
        lambda: mayfly.evaluate([hexapod, ant], [good], 1),
        lambda: mayfly.evaluate(ant, good, 1, motion="rigid"),  # other joints
        lambda: mayfly.evaluate(hexapod, good, 1, frictoin=1),
        lambda: mayfly.evaluate(
            hexapod, mayfly.Policy(lambda seen: seen, 2, tick=0.015), 1, step=0.01
        ),
        lambda: mayfly.Programs(np.zeros((3, 31), np.uint8)),
        lambda: mayfly.Programs(np.full((3, 32), 256)),
        lambda: mayfly.Oscillators(np.zeros(18), 0.0, 1.0),
        lambda: mayfly.Oscillators(np.full((2, 18), np.nan), 0.0, 1.0),
        lambda: mayfly.Oscillators.from_unit(np.zeros((2, 54)), hexapod),
        lambda: mayfly.MLP([np.zeros((2, 8, 26)), np.zeros((2, 4, 9))]),
    ):
        with pytest.raises((ValueError, TypeError)):
            wrong()
    for typed in (
        lambda: mayfly.evaluate("hexapod.urdf", good, 1),  # type: ignore[arg-type]
        lambda: mayfly.evaluate(hexapod, [[1, 2]], 1),  # type: ignore[list-item]
        lambda: mayfly.evaluate(hexapod, good, "1"),  # type: ignore[arg-type]
        lambda: mayfly.Policy(3, 2),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError):
            typed()
