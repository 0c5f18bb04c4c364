"""Models: loading, names, pickling, mistakes."""

import math
import pathlib
import pickle

import numpy as np
import pytest

import mayfly

ROD = """<robot name="rod">
  <link name="base"><inertial><mass value="2"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="0.5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
</robot>"""


def test_parts_of_a_text() -> None:
    rod = mayfly.Model.from_string(ROD)
    assert rod.name == "rod" and rod.file == ""
    assert rod.mass == 2.5
    joint = rod.joint("hinge")
    assert (joint.index, joint.type, joint.lower, joint.upper) == (0, "hinge", -1.0, 2.0)
    assert (joint.effort, joint.speed, joint.axis) == (3.0, 4.0, (0.0, 1.0, 0.0))
    assert joint.position == (0.1, 0.2, 0.3)
    assert rod.links.names == ("base", "arm") and rod.link("arm").center == (0.0, 0.0, -0.5)
    assert rod.link("base").parent is None and rod.link("arm").parent == 0
    assert "hinge" in rod.joints and "knee" not in rod.joints and len(rod.joints) == 1
    assert (rod.position_count, rod.velocity_count) == (8, 7)
    assert not rod.start_position.flags.writeable


def test_file_and_text_are_the_same_robot(hexapod: mayfly.Model) -> None:
    source = pathlib.Path(hexapod.file).read_text()
    assert mayfly.Model.from_string(source).hash() == hexapod.hash()


def test_mjcf_parts(ant: mayfly.Model) -> None:
    assert len(ant.actuators) == 8 and ant.keyframe("stand").position.shape == (15,)
    assert ant.bodies.names[0] != "" and not ant.fixed_base
    assert ant.step == pytest.approx(0.002, abs=0.01) and ant.gravity == (0.0, 0.0, -9.81)


def test_assets(tmp_path: pathlib.Path) -> None:
    text = '<mujoco><include file="parts/body.xml"/></mujoco>'
    body = (
        "<mujoco><worldbody><body><freejoint/>"
        '<geom type="sphere" size="0.1"/></body></worldbody></mujoco>'
    )
    ball = mayfly.Model.from_string(text, assets={"parts/body.xml": body})
    # Density of water: 4/3 pi r^3 * 1000.
    assert ball.mass == pytest.approx(4 / 3 * math.pi * 1.0)
    with pytest.raises(ValueError, match="inside"):
        mayfly.Model.from_string(text, assets={"../body.xml": body})


def test_mistakes_have_locations(tmp_path: pathlib.Path) -> None:
    with pytest.raises(mayfly.FileError) as caught:
        mayfly.Model.from_string(ROD.replace('type="revolute"', 'type="revolving"'))
    assert caught.value.line == 6 and "<text>" in str(caught.value)
    assert "revolving" in str(caught.value) and isinstance(caught.value, ValueError)
    with pytest.raises(OSError):
        mayfly.Model.from_file(tmp_path / "absent.urdf")
    with pytest.raises(TypeError, match="did you mean 'mesh_points'"):
        mayfly.Model.from_string(ROD, mesh_point=3)
    with pytest.raises(TypeError, match="text of a URDF"):
        mayfly.Model.from_string(b"<robot/>")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="from_file"):
        mayfly.Model()
    with pytest.raises(ValueError, match="zero bytes"):
        mayfly.Model.from_file("a\0b")


def test_names_that_are_not_there(hexapod: mayfly.Model) -> None:
    with pytest.raises(mayfly.NotFoundError, match="leg1_coxa") as caught:
        hexapod.joint("knee")
    assert isinstance(caught.value, LookupError)


def test_pickled_by_description(hexapod: mayfly.Model, tmp_path: pathlib.Path) -> None:
    again = pickle.loads(pickle.dumps(hexapod))
    assert again.hash() == hexapod.hash() and again is not hexapod
    rod = pickle.loads(pickle.dumps(mayfly.Model.from_string(ROD)))
    assert rod.mass == 2.5
    file = tmp_path / "rod.urdf"
    file.write_text(ROD)
    image = pickle.dumps(mayfly.Model.from_file(file))
    file.write_text(ROD.replace('mass value="2"', 'mass value="3"'))
    with pytest.raises(mayfly.CorruptError, match="changed"):
        pickle.loads(image)


def test_closed(hexapod: mayfly.Model) -> None:
    model = mayfly.Model.from_file("hexapod.urdf")
    world = mayfly.World()
    robots = world.add_group(model, 2, motion="points")
    model.close()
    model.close()
    with pytest.raises(mayfly.ClosedError, match="load it again"):
        print(model.name)
    world.step(3)  # the world keeps what it needs
    assert robots["base.position"].array.shape == (2, 3)
    world.close()


def test_described_and_exported(ant: mayfly.Model, tmp_path: pathlib.Path) -> None:
    assert "trunk" in ant.describe()
    ant.export_mjcf(tmp_path / "again.xml")
    assert mayfly.Model.from_file(tmp_path / "again.xml").hash() == ant.hash()


def test_standing_position(hexapod: mayfly.Model) -> None:
    position = hexapod.standing_position(shapes=False)
    assert position[2] == pytest.approx(hexapod.rest_height)
    assert np.all(position[:2] == 0)


def test_inverse_kinematics_finds_the_angle() -> None:
    rod = mayfly.Model.from_string(ROD)
    angle, length = 0.7, 0.5
    target = (0.1 - length * np.sin(angle), 0.2, 0.3 - length * np.cos(angle))
    reach = rod.inverse_kinematics("arm", target, point=(0, 0, -length), tolerance=1e-9)
    assert reach.reached and reach.angles == pytest.approx([angle], abs=1e-8)
    assert reach.distance <= 1e-9 and reach.rotation_error == 0.0 and reach.starts == 1
    far = rod.inverse_kinematics("arm", (0.1, 0.2, 0.9), point=(0, 0, -length), starts=3)
    assert not far.reached and far.starts == 3 and far.angles == pytest.approx([2.0])
    rotated = rod.inverse_kinematics(
        "arm", (0.1, 0.2, 0.3), (np.cos(0.2), 0, np.sin(0.2), 0), start=[1.0]
    )
    assert rotated.reached and rotated.angles == pytest.approx([0.4], abs=1e-3)
    with pytest.raises(ValueError, match="link 0"):
        rod.inverse_kinematics("base", target)
    with pytest.raises(ValueError, match="position: need 3 numbers"):
        rod.inverse_kinematics("arm", (1, 2))
    with pytest.raises(TypeError, match="did you mean 'tolerance'"):
        rod.inverse_kinematics("arm", target, tolerence=1e-3)


def test_settings_of_a_file() -> None:
    model = mayfly.Model.from_string(
        "<mujoco><option integrator='implicitfast' cone='elliptic' timestep='0.004'/><worldbody>"
        "<body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    found = model.physics
    assert (found.integrator, found.cone, found.step) == ("implicitfast", "elliptic", 0.004)
