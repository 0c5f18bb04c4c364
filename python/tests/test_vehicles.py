"""Vehicles: groups of worlds like robots, from their own files."""

import pathlib

import numpy as np
import pytest

import mayfly
from conftest import goes_on_alike

MODELS = mayfly.data_folder() / "models"


def test_a_vehicle_is_a_model() -> None:
    quadrotor = mayfly.Model.from_file("crazyflie.yaml")
    assert quadrotor.vehicle == "quadrotor"
    assert 0.02 < quadrotor.mass < 0.04
    assert mayfly.Model.from_file("hexapod.urdf").vehicle is None
    assert mayfly.Model.from_file("car_orca.yaml").vehicle == "car"
    with pytest.raises(TypeError, match="density: a vehicle's file has no such settings"):
        mayfly.Model.from_file("crazyflie.yaml", density=1.0)
    with pytest.raises(mayfly.MissingFileError):
        mayfly.Model.from_file("gone.yaml")


def test_vehicles_and_robots_share_a_world() -> None:
    quadrotor = mayfly.Model.from_file("crazyflie.yaml")
    with mayfly.World(step=0.002) as world:
        quads = world.add_group(quadrotor, 3, name="quads")
        robots = world.add_group(mayfly.Model.from_file("hexapod.urdf"), 2, motion="rigid")
        assert quads.motions == ("quadrotor",)
        quads.set_start([0, 0, 5])
        world.run(2)
        assert np.allclose(quads["base.position"].array, [0, 0, 5], atol=0.01)  # hovers
        assert np.all(robots["base.position"].array[:, 2] > 0.02)
        goes_on_alike(world, 250)


def test_a_program_flies_by_the_fields_of_its_mode() -> None:
    quadrotor = mayfly.Model.from_file("hummingbird.yaml")
    with mayfly.World(step=0.002) as world:
        mode = {"program": {"mode": "velocity"}}
        quads = world.add_group(quadrotor, 2, behavior=mode, integrator="heun")
        quads.set_start([[0, 0, 5], [0, 3, 5]])
        quads["command.velocity"] = [[1, 0, 0], [0, -1, 0]]
        world.run(4)
        speed = quads["base.linear_velocity"].array
        assert np.allclose(speed, [[1, 0, 0], [0, -1, 0]], atol=0.1)


def test_behaviors_are_those_of_scenes(tmp_path: pathlib.Path) -> None:
    car = mayfly.Model.from_file("car_orca.yaml")
    file = tmp_path / "scene.yaml"
    file.write_text(
        f"world: {{step: 0.01}}\ngroups:\n  - name: cars\n    model: {MODELS}/car_orca.yaml\n"
        "    behavior: {orbit: {radius: 1, speed: 0.5}}\n"
    )
    with mayfly.World(step=0.01) as world, mayfly.Scene(file) as scene:
        cars = world.add_group(car, behavior={"orbit": {"radius": 1.0, "speed": 0.5}})
        own = scene.groups[0]
        cars.set_start(
            own["base.position"].read(),
            own["base.orientation"].read(),
            own["base.linear_velocity"].read(),
        )
        for _ in range(3):
            world.run(1)
            scene.run(1)
            assert np.array_equal(cars["base.position"].array, own["base.position"].array)
        assert np.linalg.norm(cars["base.linear_velocity"].array) > 0.4


def test_mistakes() -> None:
    quadrotor = mayfly.Model.from_file("crazyflie.yaml")
    robot = mayfly.Model.from_file("hexapod.urdf")
    with mayfly.World(step=0.002) as world:
        with pytest.raises(mayfly.MayflyError, match="no command mode fast"):
            world.add_group(quadrotor, behavior={"program": {"mode": "fast"}})
        with pytest.raises(mayfly.MayflyError, match="flock"):
            world.add_group(quadrotor, behavior="flock")
        with pytest.raises(ValueError, match="a quadrotor moves by quadrotor"):
            world.add_group(quadrotor, motion="rigid")
        with pytest.raises(ValueError, match="motion: car is for a car"):
            world.add_group(robot, motion="car")
        with pytest.raises(TypeError, match="behavior: is for vehicles"):
            world.add_group(robot, behavior="orbit")
        assert world.groups == ()
        world.add_group(robot)
