"""Trusses: groups of worlds like robots, from files and arrays."""

import pathlib
import pickle

import numpy as np
import pytest

import mayfly
from conftest import goes_on_alike

TETRAHEDRON = [[0, 0, 0.005], [0.1, 0, 0.005], [0.05, 0.09, 0.005], [0.05, 0.03, 0.09]]
EDGES = [[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]]


def tetrahedron() -> mayfly.Truss:
    return mayfly.Truss.from_arrays(TETRAHEDRON, EDGES, actuators=[(0, 0.08, 0.12)], name="tetra")


def test_arrays_make_a_truss() -> None:
    truss = tetrahedron()
    assert truss.name == "tetra"
    assert np.allclose(truss.positions, TETRAHEDRON) and truss.ends.tolist() == EDGES
    assert truss.actuators == [(0, 0.08, 0.12)]
    lengths = np.linalg.norm(
        truss.positions[truss.ends[:, 1]] - truss.positions[truss.ends[:, 0]], axis=1
    )
    assert truss.mass == pytest.approx(1000 * np.pi * 0.005**2 * lengths.sum())
    inertia = np.pi * 0.005**4 / 4
    assert np.allclose(truss.euler_loads, np.pi**2 * 0.896e9 * inertia / lengths**2)
    statics = truss.statics
    assert statics["rank"] == 6 and statics["mechanisms"] == 0 and statics["rigid_modes"] == 6
    again = mayfly.Truss.from_string(truss.to_yaml())
    assert np.array_equal(again.positions, truss.positions)
    kept = mayfly.Truss.from_arrays(
        TETRAHEDRON, EDGES, fixed={0: "xyz"}, loads={3: (0, 0, -1)}, masses={3: 0.1}
    )
    assert kept.statics["freedoms"] == 9 and kept.mass == pytest.approx(truss.mass + 0.1)


def test_a_truss_has_the_times_of_its_network() -> None:
    truss = mayfly.Truss.from_arrays(TETRAHEDRON, EDGES, cycle=1.0, delay=2.0, change=0.04)
    for one in (
        truss,
        mayfly.Truss.from_string(truss.to_yaml()),
        pickle.loads(pickle.dumps(truss)),
    ):
        assert (one.cycle, one.delay, one.change) == (1.0, 2.0, 0.04)
    plain = tetrahedron()
    assert (plain.cycle, plain.delay, plain.change) == (0.2, 0.0, 0.01)
    with pytest.raises(ValueError, match="cycle"):
        mayfly.Truss.from_arrays(TETRAHEDRON, EDGES, cycle=-1.0)


def test_machines_without_an_ancestor_do_not_move(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "machines.yaml"
    path.write_text(
        "world: {step: 0.25}\n"
        "groups:\n"
        "  - name: machines\n"
        "    motion: {quasistatic: {tolerance: 1e-4, iterations: 100}}\n"
        "    controller: {machine: {cycle: 1, rest: 1}}\n"
        "run: {duration: 2}\n"
        "search: {population: 60}\n",
        encoding="utf-8",
    )
    with mayfly.Scene(path) as scene:
        machines = scene.group("machines")
        scene.run(1.0)
        assert machines.fault_names(0) == ("trial",)


def test_bad_trusses_are_refused() -> None:
    with pytest.raises(ValueError, match=r"bars\[0\].ends"):
        mayfly.Truss.from_arrays([[0, 0, 0]], [[0, 0]])
    with pytest.raises(ValueError, match="material"):
        mayfly.Truss.from_arrays(TETRAHEDRON, EDGES, material="butter")
    with pytest.raises(mayfly.FileError, match="<text>:2:"):
        mayfly.Truss.from_string("truss:\n  vertexes: []\n")
    with pytest.raises(mayfly.MissingFileError):
        mayfly.Truss.from_file("gone.truss.yaml")
    with mayfly.World() as world:
        with pytest.raises(ValueError, match="a truss moves by quasistatic or elastic"):
            world.add_group(tetrahedron(), motion="rigid")
        with pytest.raises(ValueError, match="quasistatic is for a truss"):
            world.add_group(mayfly.Model.from_file("ball.xml"), motion="quasistatic")
        with pytest.raises(ValueError, match="elastic is for a truss"):
            world.add_group(mayfly.Model.from_file("ball.xml"), motion="elastic")


def test_a_truss_is_a_model(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "tetra.truss.yaml"
    path.write_text(tetrahedron().to_yaml(), encoding="utf-8")
    model = mayfly.Model.from_file(path)
    assert model.truss is not None and model.vehicle is None
    assert model.mass == pytest.approx(tetrahedron().mass)
    assert mayfly.Model.from_file("ball.xml").truss is None
    with pytest.raises(TypeError, match="density: a truss's file has no such settings"):
        mayfly.Model.from_file(path, density=1.0)
    assert pickle.loads(pickle.dumps(model)).hash() == model.hash()


def test_an_actuator_moves_its_truss() -> None:
    with mayfly.World(step=0.02) as world:
        trusses = world.add_group(tetrahedron(), 20, name="trusses", bars=8, vertices=5)
        assert trusses.motions == ("quasistatic",) and trusses.precision == "double"
        world.step(10)
        weight = 9.81 * tetrahedron().mass
        load = trusses["contact.force"].array[..., 2].reshape(20, -1).sum(axis=1)
        assert np.allclose(load, weight, rtol=1e-4)
        trusses["actuator.control"] = 0.12
        world.step(60)
        x = trusses["vertex.position"].array.reshape(20, -1, 3)
        length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1)
        assert np.allclose(length, 0.12, atol=1e-4)  # friction compresses it a little
        other = mayfly.Truss.from_arrays([[0, 0, 0.005], [0.3, 0, 0.005]], [[0, 1]])
        trusses.set_truss(3, other)
        world.step(2)
        assert trusses["truss.counts"].array[3, :2].tolist() == [2, 1]
        goes_on_alike(world, 5)
        big = mayfly.Truss.from_arrays(np.random.default_rng(1).random((9, 3)), [[0, 8]])
        with pytest.raises(mayfly.LimitError):
            trusses.set_truss(3, big)


BAR = [[0, 0, 0.005], [0.1, 0, 0.005]]
BLINK = [("threshold", 0.5, 0.0)]


def blinking(stroke: float, synapses: list[tuple[int, int, float]]) -> mayfly.Truss:
    """A bar that is driven by one neuron."""
    ends = (0, 0.1 - stroke / 2, 0.1 + stroke / 2, 0)
    return mayfly.Truss.from_arrays(
        BAR, [[0, 1]], actuators=[ends], neurons=BLINK, synapses=synapses, cycle=0.2, change=0.1
    )


def test_a_network_drives_its_truss() -> None:
    truss = blinking(0.04, [(0, 0, -1.0)])
    assert truss.neurons == BLINK and truss.synapses == [(0, 0, -1.0)] and truss.drivers == [0]
    again = mayfly.Truss.from_string(truss.to_yaml())
    assert again.neurons == truss.neurons and again.synapses == truss.synapses
    assert tetrahedron().drivers == [None]
    with mayfly.World(step=0.02) as world:
        bars = world.add_group(truss, 3, motion="quasistatic", actuator_speed=1.0)
        bars.set_truss(1, blinking(0.02, [(0, 0, -1.0)]))
        bars.set_truss(2, blinking(0.04, []))
        lengths = []
        for _ in range(3):
            world.step(10)
            lengths.append(bars["actuator.control"].array.reshape(3).tolist())
        assert np.allclose(lengths[0], [0.12, 0.11, 0.12])
        assert np.allclose(lengths[1], [0.08, 0.09, 0.12])
        assert np.allclose(lengths[2], [0.12, 0.11, 0.12])
        big = mayfly.Truss.from_arrays(
            [*BAR, [0.3, 0, 0.005]], [[0, 1], [1, 2]], actuators=[(0, 0.08, 0.12, 0)], neurons=BLINK
        )
        with pytest.raises(mayfly.LimitError, match="3 vertices"):
            bars.set_truss(0, big)
        world.step(10)  # the network of the old truss goes on
        assert np.allclose(bars["actuator.control"].array.reshape(3), [0.12, 0.09, 0.12], atol=0.05)


def test_bad_networks_are_refused() -> None:
    with pytest.raises(ValueError, match="need 'sigmoid' or 'threshold', got 'cubic'"):
        mayfly.Truss.from_arrays(BAR, [[0, 1]], neurons=[("cubic", 0.0, 0.0)])
    with pytest.raises(ValueError, match="synapses"):
        mayfly.Truss.from_arrays(BAR, [[0, 1]], neurons=BLINK, synapses=[(0, 7, 1.0)])
    with pytest.raises(ValueError, match="neuron"):
        mayfly.Truss.from_arrays(BAR, [[0, 1]], actuators=[(0, 0.08, 0.12, 3)])
    with mayfly.World(step=0.02) as world:
        plain = world.add_group(tetrahedron(), 1)
        with pytest.raises(ValueError, match="has a network"):
            plain.set_truss(0, blinking(0.04, []))
