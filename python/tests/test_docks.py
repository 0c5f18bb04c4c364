"""Docks: connections by calls and by themselves, loads, assemblies, pickles and mistakes."""

import numpy as np
import pytest

import mayfly
from conftest import goes_on_alike

MODULE = """
<robot name="module">
  <link name="body">
    <inertial><mass value="1"/>
      <inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision>
  </link>
  <mayfly>
    <dock name="front" link="body" xyz="0.05 0 0" gender="male" orientations="4" tension="50"/>
    <dock name="back" link="body" xyz="-0.05 0 0" rpy="0 0 3.14159265358979" gender="female"
          orientations="4" tension="50"/>
  </mayfly>
</robot>
"""


def world_of_modules(folder, step, positions):
    path = folder / "module.urdf"
    path.write_text(MODULE)
    world = mayfly.World(step=step, gravity=0.0)
    modules = world.add_group(
        mayfly.Model.from_file(path),
        len(positions),
        name="modules",
        motion="rigid",
        isolated=False,
        pushable=True,
    )
    modules.set_start(positions)
    world.add_docks()
    return world


@pytest.fixture
def world(tmp_path):
    return world_of_modules(tmp_path, 0.002, [[0, 0, 1], [0.5, 0, 1], [0, 0.5, 1]])


def test_models_list_their_docks(world):
    docks = world.groups[0].model.docks
    assert [dock.name for dock in docks] == ["front", "back"]
    assert docks["front"].orientations == 4
    assert docks["front"].gender == "male"
    assert docks["back"].tension == 50.0


def test_an_assembly_has_kinematics():
    world = mayfly.Scene("scenes/long_arm.yaml")
    base, arm = (next(g for g in world.groups if g.name == name) for name in ("base", "arm"))
    tip = (arm, 2, "front")
    world.run(3.0)
    chain = world.docks.chain((base, 0), tip)
    assert [joint for _, _, joint in chain.joints] == ["yaw", "roll", "pitch"] * 3
    position, rotation = chain.pose()
    # It reaches for the first target since half a second or more.
    np.testing.assert_allclose(np.linalg.norm(rotation), 1.0)
    assert np.linalg.norm(position - [0.5, 0.3, 0.5]) < 0.005
    angles = 0.5 * np.sin(np.arange(9.0))
    goal, rotated = chain.pose(angles)
    reach = chain.inverse_kinematics(goal, rotated)
    assert reach.reached
    found, rotation = chain.pose(reach.angles)
    assert np.linalg.norm(found - goal) < 2e-4
    assert abs(rotation @ rotated) > 1 - 1e-6
    with pytest.raises(mayfly.NotFoundError, match="no docks connect"):
        world.docks.disconnect((arm, 1, "back"))
        world.docks.chain((base, 0), tip)


def test_connected_docks_carry_loads(world):
    modules = world.groups[0]
    world.docks.connect((modules, 0, "front"), (modules, 1, "back"))
    np.testing.assert_allclose(modules["base.position"].array[1], [0.1, 0, 1], atol=1e-6)
    assert list(world.docks.assemblies()) == [0, 0, 2]
    modules["base.linear_velocity"][1] = [0.01, 0, 0]
    world.step(1)
    load = modules["dock.load"].array.reshape(3, 2, 6)
    assert load[0, 0, 0] == pytest.approx(2.5, rel=1e-3)  # 0.005 N s in 2 ms
    assert modules["dock.state"].array[0, 0] == 2
    world.docks.disconnect((modules, 0, "front"))
    assert list(world.docks.assemblies()) == [0, 1, 2]


def test_docks_join_by_themselves_and_pickles_keep_them(world):
    modules = world.groups[0]
    modules["base.position"][2] = [0.101, 0, 1]
    world.step(1)
    assert world.docks.statistics["joined"] == 1
    assert tuple(modules["dock.partner"].array.reshape(3, 2, 3)[0, 0]) == (0, 2, 1)
    again = goes_on_alike(world, 50)
    assert list(again.docks.assemblies()) == [0, 1, 0]


def test_mistakes(world):
    modules = world.groups[0]
    with pytest.raises(mayfly.NotFoundError, match="have no dock 'nose'"):
        world.docks.connect((modules, 0, "nose"), (modules, 1, "back"))
    with pytest.raises(mayfly.ArgumentError, match="do not fit"):
        world.docks.connect((modules, 0, "front"), (modules, 1, "front"))
    with pytest.raises(TypeError, match="need .group, robot, dock."):
        world.docks.connect((modules, 0), (modules, 1, "back"))
    with pytest.raises(mayfly.NotFoundError, match="is not docked"):
        world.docks.disconnect((modules, 0, "front"))
    with pytest.raises(mayfly.ArgumentError, match="has them already"):
        world.add_docks()
    assert mayfly.World().docks is None
