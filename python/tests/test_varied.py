"""Robots of a group that differ in numbers of their model."""

from __future__ import annotations

import copy
import os
import pathlib
import re
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mayfly
from mayfly import errors, mdp

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared"))
GO2 = SHARED / "models" / "unitree_go2"

FILE = """<mujoco model="walker"><compiler angle="radian"/><worldbody>
<geom name="floor" type="plane" size="0 0 1" friction="{friction}"/>
<body name="trunk" pos="0 0 0.45"><freejoint/><inertial pos="0 0 0" mass="{mass}"
  diaginertia="0.02 0.06 0.07"/>
<geom name="box" type="box" size="0.2 0.1 0.05" friction="0.1"/>
<body name="leg" pos="0.2 0 0"><joint name="hip" axis="0 1 0" damping="{damping}"/>
<geom name="foot" type="sphere" size="0.03" pos="0 0 -0.2" mass="0.3" friction="0.1"/></body>
</body></worldbody><actuator><position joint="hip" kp="5"/></actuator></mujoco>"""
NOMINAL = {"friction": 1.0, "mass": 3.0, "damping": 0.2}


def walker(folder: pathlib.Path, **numbers: float) -> mayfly.Model:
    path = folder / "walker.xml"
    path.write_text(FILE.format(**{**NOMINAL, **numbers}))
    return mayfly.Model.from_file(path)


def poses(group: mayfly.Group) -> np.ndarray:
    group["actuator.control"] = 0.4
    group.world.step(300)
    return np.hstack([group["base.position"].array, group["joint.angle"].array])


def test_robots_move_as_those_of_edited_files(tmp_path: pathlib.Path) -> None:
    friction, mass, damping = np.array([0.3, 1.2]), np.array([2.0, 4.0]), np.array([0.1, 0.5])
    with mayfly.World(step=0.002) as world:
        group = world.add_group(walker(tmp_path), 2, precision="double")
        group.vary({"link.mass": {"trunk": mass}, "joint.damping": {"hip": damping}})
        group.vary({"shape.friction.0": {"floor": friction[1:]}}, robots=1)
        group.vary({"shape.friction.0": {"floor": friction[:1]}}, robots=[0])
        assert {name: list(values) for name, values in group.varied().items()} == {
            "trunk/link.mass": [2.0, 4.0],
            "hip/joint.damping": [0.1, 0.5],
            "floor/shape.friction": [0.3, 1.2],
        }
        found = poses(group)
    for i in range(2):
        with mayfly.World(step=0.002) as world:
            model = walker(tmp_path, friction=friction[i], mass=mass[i], damping=damping[i])
            alone = poses(world.add_group(model, 1, precision="double"))
        np.testing.assert_allclose(found[i], alone[0], rtol=0, atol=1e-10)
    assert np.abs(found[0] - found[1]).max() > 0.01


SENSED = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1">
<joint name="shoulder" axis="0 1 0"/><geom name="rod" type="capsule" size="0.03" mass="1"
  fromto="0 0 0 0 0 {length}"/>
<body name="lower" pos="0 0 {length}"><joint name="elbow" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="sphere" size="0.05" mass="{mass}"/></body></body></worldbody>
<sensor>{sensor}</sensor></mujoco>"""


def arm(folder: pathlib.Path, length: float, mass: float, sensor: str = "") -> mayfly.Model:
    path = folder / "arm.xml"
    path.write_text(SENSED.format(length=length, mass=mass, sensor=sensor))
    return mayfly.Model.from_file(path)


def test_links_and_equations_are_each_robots_own(tmp_path: pathlib.Path) -> None:
    models = [arm(tmp_path, 0.3, 1.0), arm(tmp_path, 0.4, 2.0), arm(tmp_path, 0.5, 0.5)]
    with mayfly.World(step=0.002) as world:
        group = world.add_group(models, 1, precision="double")
        group["joint.angle"] = [0.3, -0.5]
        found = group.poses()[0], group.mass_matrix(), group.jacobian("lower")
    for i, model in enumerate(models):
        with mayfly.World(step=0.002) as world:
            alone = world.add_group(model, 1, precision="double")
            alone["joint.angle"] = [0.3, -0.5]
            own = alone.poses()[0], alone.mass_matrix(), alone.jacobian("lower")
        for one, other in zip(found, own, strict=True):
            np.testing.assert_allclose(one[i], other[0], rtol=0, atol=1e-12)
    # The tip is where both lengths of a robot lead.
    lengths = np.array([0.3, 0.4, 0.5])
    np.testing.assert_allclose(found[0][:, 2, 2], 1 + lengths * np.cos(0.3), atol=1e-12)


def test_what_sensors_leave_to_the_model_is_noted(tmp_path: pathlib.Path) -> None:
    sensors = {
        "<framepos objtype='body' objname='lower'/>": False,
        "<jointlimitpos joint='elbow'/>": True,
    }
    for text, noted in sensors.items():
        model = arm(tmp_path, 0.3, 1.0, text)
        with mayfly.World(step=0.002) as world:
            group = world.add_group(model, 2, sensors=True)
            group.vary({"link.mass": 0.5})
            assert any("numbers of their own" in n for n in group.notes) == noted


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"link.weight": 1.0}, errors.ArgumentError, "need one of center, inertia"),
        ({"mass": 1.0}, errors.ArgumentError, "need one of link.FIELD"),
        ({"link.mass": {"leg2": 1.0}}, errors.ArgumentError, "there is no 'leg2'"),
        ({"link.mass": [1.0, 2.0, 3.0]}, errors.ArgumentError, "an array of shape (3,)"),
        ({"link.mass": {"leg": -1.0}}, errors.ArgumentError, "robot 0: -1, need >= 0"),
        ({"link.mass": {"leg": "heavy"}}, errors.ArgumentError, "need numbers, got 'heavy'"),
        ({"link.mass": [[1.0], []]}, errors.ArgumentError, "need numbers, got [[1.0], []]"),
        ({"link.mass": {True: 1.0}}, errors.ArgumentError, "there is no True"),
        ({3: 1.0}, errors.ArgumentError, "need one of link.FIELD"),
        ([("link.mass", 1.0)], errors.ArgumentError, "need a mapping by fields"),
        ({"link.center.3": 1.0}, errors.ArgumentError, "components are 0 .. 2"),
        ({"joint.friction": 1.0}, errors.UnsupportedError, "in more than numbers"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: pathlib.Path, changes: dict[str, object], kind: type[Exception], message: str
) -> None:
    with mayfly.World(step=0.002) as world:
        group = world.add_group(walker(tmp_path), 2)
        with pytest.raises(kind, match=re.escape(message)) as caught:
            group.vary(changes)
        assert "\n" not in str(caught.value)
        assert group.varied() == {}  # nothing was kept
        group.vary({"link.mass": {"leg": 0.4}})


def test_events_draw_numbers(tmp_path: pathlib.Path) -> None:
    task = mayfly.Task(
        walker(tmp_path),
        actions={"joint_pos": mdp.JointPositionAction(scale=0.1)},
        observations={"policy": {"gyro": mdp.base_ang_vel}},
        rewards={"alive": mdp.Reward(mdp.is_alive)},
        terminations={"time_out": mdp.Termination(time_out=True)},
        events={
            "body": mdp.Event(
                mdp.randomize_model,
                "reset",
                ranges={
                    "trunk/link.mass": (0.5, 1.5),
                    "floor/shape.friction.0": (0.4, 0.6),
                    "actuator.gain": (0.8, 1.2),
                    "physics.gravity.2": (0.9, 1.1),
                },
            )
        },
    )
    with task.make(8) as envs:
        envs.reset(seed=3)
        first = envs.group.varied()
        mass, inertia = first["trunk/link.mass"], first["trunk/link.inertia"]
        assert mass.min() >= 1.5 and mass.max() <= 4.5 and np.unique(mass).size == 8
        np.testing.assert_allclose(inertia[:, 0], 0.02 * mass / 3.0, rtol=1e-12)
        gain, bias = first["0/actuator.gain"], first["0/actuator.bias"]
        assert np.unique(gain[:, 0]).size == 8
        np.testing.assert_array_equal(bias[:, 1], -gain[:, 0])
        friction = first["floor/shape.friction"]
        assert friction.min() >= 0.4 and friction.max() <= 0.6
        gravity = first["world/physics.gravity"]
        assert np.unique(gravity).size == 8 and np.abs(gravity / -9.81 - 1.0).max() <= 0.1
        envs.reset(seed=3)
        np.testing.assert_array_equal(envs.group.varied()["trunk/link.mass"], mass)
        envs.reset(seed=4)
        assert np.abs(envs.group.varied()["trunk/link.mass"] - mass).max() > 0.1


def test_snapshots_tell_numbers(tmp_path: pathlib.Path) -> None:
    with mayfly.World(step=0.002) as world, mayfly.World(step=0.002) as other:
        group = world.add_group(walker(tmp_path), 2)
        group.vary({"link.mass": {"trunk": [2.0, 4.0]}})
        image = world.snapshot()
        poses(group)
        after = world.hash()
        group.vary({"link.mass": {"trunk": 9.0}})
        world.restore(image)
        np.testing.assert_array_equal(group.varied()["trunk/link.mass"], [2.0, 4.0])
        group.vary({"joint.damping": {"hip": 0.2}})  # with the restored masses, the file's damping
        poses(group)
        assert world.hash() == after
        with pytest.raises(errors.CorruptError, match="numbers of robots"):
            world.restore(image[:-116] + bytes(100) + image[-16:])
        copied = other.add_group(walker(tmp_path), 2)
        other.restore(image)
        again = copy.deepcopy(world)
        again.restore(image)
        for restored in (copied, again.groups[0]):
            np.testing.assert_array_equal(restored.varied()["trunk/link.mass"], [2.0, 4.0])
            poses(restored)
            assert restored.world.hash() == after


def test_gravity_of_each_robot(tmp_path: pathlib.Path) -> None:
    gravity = np.array([[0.0, 0.0, -9.81], [0.0, 0.0, -1.62]])
    with mayfly.World(step=0.001) as world:
        group = world.add_group(walker(tmp_path), 3, precision="double")
        group["base.position"][:] = [0.0, 0.0, 20.0]
        names, nominal = group.numbers("physics.gravity")
        assert names == ("world",)
        np.testing.assert_array_equal(nominal, [[0.0, 0.0, -9.81]])
        group.vary({"physics.gravity": gravity}, robots=[1, 2])
        assert group.varied()["world/physics.gravity"][:, 2].tolist() == [-9.81, -9.81, -1.62]
        world.step(500)
        fallen = 20.0 - group["base.position"].array[:, 2]
        np.testing.assert_allclose(fallen, [0.125 * g for g in (9.81, 9.81, 1.62)], rtol=3e-3)
        assert fallen[0] == fallen[1]
        with pytest.raises(errors.UnsupportedError, match="gravity that is not down"):
            group.vary({"physics.gravity.0": 1.0})
        with pytest.raises(errors.UnsupportedError, match=r"one physics\.wind"):
            group.vary({"physics.wind.0": 1.0})


def test_a_refused_change_changes_no_robot(tmp_path: pathlib.Path) -> None:
    with mayfly.World(step=0.002) as world:
        group = world.add_group(walker(tmp_path), 2)
        group.vary({"link.mass": {"trunk": [2.0, 4.0]}})
        before = world.hash()
        with pytest.raises(errors.ArgumentError, match="robot 1"):
            group.vary({"link.mass": {"trunk": [3.0, -1.0]}})
        assert world.hash() == before


# ---- models of their own -------------------------------------------------------------------------


def scaled(count: int) -> list[mayfly.Model]:
    """Hexapods of different lengths and masses."""
    text = (mayfly.data_folder() / "models" / "hexapod.urdf").read_text()

    def body(scale: float) -> mayfly.Model:
        def times(factor: float) -> Callable[[re.Match[str]], str]:
            return lambda found: '{}"{}"'.format(
                found[1], " ".join(f"{float(value) * factor:.17g}" for value in found[2].split())
            )

        longer = re.sub(r'(<origin xyz=)"([^"]*)"', times(scale), text)
        return mayfly.Model.from_string(re.sub(r'(<mass value=)"([^"]*)"', times(scale**3), longer))

    bodies = [body(scale) for scale in np.linspace(0.8, 1.2, 6 * count)]
    points = [one._use().point_count for one in bodies]  # rounding chooses how many have mass
    alike = [one for one, n in zip(bodies, points, strict=True) if n == np.median(points)]
    return [alike[i] for i in np.linspace(0, len(alike) - 1, count).astype(int)]


def more_of(motion: str) -> dict[str, Any]:
    return {"motion": motion, "controller": "oscillator", "precision": "double"}


def walk(models: list[mayfly.Model], together: bool, motion: str) -> np.ndarray:
    with mayfly.World() as world:
        if together:
            world.add_group(models, 2, **more_of(motion))
        for i, model in enumerate([] if together else models):
            world.add_group(model, 2, name=f"{i}", **more_of(motion))
        number = 0
        for group in world.groups:
            for robot in range(group.count):
                group["oscillator.amplitude"][robot] = 0.2
                group["oscillator.frequency"][robot] = 0.5 + 0.1 * number
                group["oscillator.phase"][robot] = np.arange(18) / 7
                number += 1
        state = ("base.position", "base.orientation", "joint.angle")
        found = []
        for steps in (0, 150):
            world.step(steps)
            found.append(np.vstack([np.hstack([g[s].array for s in state]) for g in world.groups]))
        return np.array(found)


@pytest.mark.parametrize("motion", ["points", "articulated"])
def test_models_of_one_group_move_as_a_group_each(motion: str) -> None:
    models = scaled(5)
    found, alone = (walk(models, together, motion) for together in (True, False))
    np.testing.assert_allclose(found, alone, rtol=0, atol=1e-9)
    assert np.ptp(found[0, :, 2]) > 0.01  # larger robots stand higher
    assert np.abs(found[1] - found[0]).max() > 0.1


@pytest.mark.skipif(not GO2.exists(), reason="needs MAYFLY_SHARED with unitree_go2")
def test_a_public_robot_with_scaled_masses(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "go2"
    shutil.copytree(GO2, folder)
    text, models = (folder / "go2.xml").read_text(), []
    for i, scale in enumerate((1.0, 0.9, 1.15)):

        def times(found: re.Match[str], scale: float = scale) -> str:
            return f'mass="{scale * float(found[1]):.17g}"'

        (folder / f"go2_{i}.xml").write_text(re.sub(r'mass="([^"]*)"', times, text))
        models.append(mayfly.Model.from_file(folder / f"go2_{i}.xml"))
    more: dict[str, Any] = {"precision": "double"}
    with mayfly.World(step=0.002) as world, mayfly.World(step=0.002) as apart:
        group = world.add_group(models, **more)
        assert group.models == tuple(models) and group.model is models[0]
        alone = [apart.add_group(one, name=f"{i}", **more) for i, one in enumerate(models)]
        for one in (world, apart):
            one.step(250)
        for name in ("base.position", "base.orientation", "joint.angle", "joint.rate"):
            rows = np.vstack([one[name].array for one in alone])
            np.testing.assert_allclose(group[name].array, rows, rtol=0, atol=1e-8)
        assert np.ptp(group["base.position"].array[:, 2]) > 1e-4


def test_snapshots_and_pickles_of_models() -> None:
    models = scaled(3)
    for motion in ("points", "articulated"):
        with mayfly.World() as world:
            group = world.add_group(models, **more_of(motion))
            group["oscillator.amplitude"] = 0.2
            group["oscillator.frequency"] = 1.0
            world.step(20)
            state = world.snapshot()
            with copy.deepcopy(world) as other:
                assert len(set(other.groups[0].models)) == 3
                for one in (world, other):
                    one.step(80)
                assert other.hash() == world.hash()
                other.restore(state)
                other.step(80)
                assert other.hash() == world.hash()
            with mayfly.World() as other:  # of other bodies
                other.add_group(models[::-1], **more_of(motion))
                with pytest.raises(errors.MayflyError):
                    other.restore(state)


def test_changes_of_models_of_their_own(tmp_path: pathlib.Path) -> None:
    models = [walker(tmp_path, mass=2.0), walker(tmp_path, mass=4.0)]
    edited = walker(tmp_path, mass=4.0, damping=0.5)
    with mayfly.World(step=0.002) as world:
        group = world.add_group(models, precision="double")
        group.vary({"joint.damping": 0.5}, robots=1)
        assert group.varied()["hip/joint.damping"].tolist() == [0.2, 0.5]
        found = poses(group)
    for i, model in enumerate((models[0], edited)):
        with mayfly.World(step=0.002) as world:
            alone = poses(world.add_group(model, precision="double"))
        np.testing.assert_allclose(found[i], alone[0], rtol=0, atol=1e-10)


def test_a_model_that_does_not_match_is_named(tmp_path: pathlib.Path) -> None:
    model, hexapods = walker(tmp_path), scaled(2)
    (tmp_path / "other.xml").write_text(FILE.format(**NOMINAL).replace('"hip"', '"knee"'))
    other = mayfly.Model.from_file(tmp_path / "other.xml")
    mistakes: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([model, model, other], {}, errors.UnsupportedError, "model 2: .*joint hip .*'name'"),
        ([hexapods[0], model], {}, errors.UnsupportedError, "model 1: .*items of kind link: 2"),
        (hexapods, {"motion": "rigid"}, errors.UnsupportedError, "moves by rigid"),
        (hexapods, {"isolated": False}, errors.UnsupportedError, "share their ground"),
        ([], {}, ValueError, "need one or more"),
        ([model, 3], {}, TypeError, "got int at 1"),
    ]
    with mayfly.World() as world:
        for models, more, kind, message in mistakes:
            with pytest.raises(kind, match=message) as found:
                world.add_group(models, **more)
            assert "\n" not in str(found.value)
            assert not world.groups
        group = world.add_group(hexapods, motion="points")
        with pytest.raises(errors.UnsupportedError, match="differ in numbers of joints"):
            group.vary({"link.mass": 1.0})
