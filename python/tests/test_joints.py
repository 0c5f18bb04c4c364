"""Run-time joints from Python."""

import pathlib
import pickle

import numpy as np
import pytest
from test_docs import blocks

import mayfly
from conftest import ROOT, goes_on_alike


def pair(**more: object) -> tuple[mayfly.World, mayfly.Group]:
    """Two balls of 1 m apart, 5 m above the ground."""
    world = mayfly.World(step=0.002)
    model = mayfly.Model.from_file("ball.xml")
    settings = {"precision": "double", "isolated": False, "pushable": True, **more}
    balls = world.add_group(model, 2, **settings)  # type: ignore[arg-type]
    balls.set_start([[0, 0, 5], [1, 0, 5]])
    return world, balls


def test_two_balls_hang_and_fall() -> None:
    world, balls = pair()
    mass = sum(link.mass for link in balls.model.links)
    with world:
        assert world.joints == ()
        hook = world.join(None, (balls, 0), at=[0, 0, 5])
        rod = world.join((balls, 0), (balls, 1, 0), kind="hinge", at=[0, 0, 5], axis=[0, 1, 0])
        assert world.joints == (hook, rod) and hook != rod
        world.step(1)
        assert hook.exists and hook.enabled and not hook.broken
        # The second ball swings down on its rod, so little of its weight is carried yet.
        assert mass * 9.81 < hook.force[2] < 1.05 * mass * 9.81
        world.step(100)
        assert hook.opening < 1e-4 and rod.angular_opening < 1e-4 and rod.residual < 0.1
        assert rod.rate != 0.0 and abs(rod.angle) > 1e-3
        assert np.allclose(balls["base.position"].array[0], [0, 0, 5], atol=1e-4)
        hook.enabled = False
        world.step(100)
        assert balls["base.position"].array[0, 2] < 4.99 and np.all(hook.force == 0)
        rod.remove()
        assert not rod.exists and world.joints == (hook,)
        with pytest.raises(mayfly.NotFoundError):
            _ = rod.force
        assert "removed" in repr(rod) and "off" in repr(hook)


def test_joints_are_recorded(tmp_path: pathlib.Path) -> None:
    world, balls = pair()
    with world:
        hook = world.join(None, (balls, 0), at=[0, 0, 5.5])
        rod = world.join((balls, 0), (balls, 1, 0), at=[0.5, 0, 5])
        with mayfly.Recorder(world, tmp_path / "run.h5") as record:
            for step in range(4):
                world.step(10)
                if step == 2:
                    rod.enabled = False
                if step == 3:
                    hook.remove()
                record.sample()
            assert np.linalg.norm(rod.anchors[0] - rod.anchors[1]) < 0.01
        recording = mayfly.Recording(tmp_path / "run.h5")
        force = recording["world_joints/force"].values
        assert force.shape == (4, 2, 3)
        assert force[0, 0, 2] > 1.0 and np.all(np.isfinite(force[:3]))
        assert np.allclose(recording["world_joints/anchors"].values[0, 0, :3], [0, 0, 5.5])
        acts = recording["world_joints/acts"].values[:, :, 0]
        assert acts.tolist() == [[1, 1], [1, 1], [1, 0], [0, 0]]
        joint = recording["world_joints/joint"].values
        assert (joint[:3, 0, 0] == joint[0, 0, 0]).all() and joint[3, 0].tolist()[:2] == [0, 0]
        assert joint[0, 1, 2:].tolist() == [0, 0, 0, 0, 0, 1, 0]  # fixed, of both balls
        assert np.all(np.isnan(force[3, 0]))
        assert np.all(recording["world_joints/opening"].values[:2] < 1e-3)


def test_a_record_has_joints_that_are_made_later(tmp_path: pathlib.Path) -> None:
    world, balls = pair()
    with world:
        with mayfly.Recorder(world, tmp_path / "run.h5") as record:
            record.sample()
            rod = world.join((balls, 0), (balls, 1, 0), kind="hinge", at=[0.5, 0, 5])
            world.step(10)
            record.sample()
            rod.remove()
            world.join(None, (balls, 1), at=[1, 0, 5])
            world.step(10)
            record.sample()
        recording = mayfly.Recording(tmp_path / "run.h5")
        joint = recording["world_joints/joint"].values[:, 0]
        assert joint[:, 2].tolist() == [0, 2, 0] and joint[:, 3].tolist() == [0, 0, 2**32 - 1]
        assert joint[0, 1] == 0 and 0 != joint[1, 1] != joint[2, 1] != 0
        assert np.isnan(recording["world_joints/rate"].values[[0, 2]]).all()
        assert np.isnan(recording["world_joints/force"].values[0]).all()


def test_a_joint_breaks() -> None:
    world, balls = pair()
    with world:
        weight = 9.81 * sum(link.mass for link in balls.model.links)
        weak = world.join(None, (balls, 0), at=[0, 0, 5], force_limit=0.9 * weight)
        firm = world.join(None, (balls, 1), at=[1, 0, 5], force_limit=1.1 * weight)
        world.step(5)
        assert weak.broken and weak.enabled and not firm.broken
        assert np.isclose(firm.force[2], weight, rtol=1e-3)
        assert np.isclose(firm.settings["force_limit"], 1.1 * weight)
        assert firm.settings["kind"] == "fixed"


def test_snapshots_and_pickles_hold_joints() -> None:
    world, balls = pair()
    with world:
        first = world.join((balls, 0), (balls, 1), kind="ball", at=[0.5, 0, 5], stiffness=100.0)
        world.step(10)
        image = world.snapshot()
        second = world.join(
            None, (balls, 1), frames=(([1, 0, 5], [1, 0, 0, 0]), ([0, 0, 0], [1, 0, 0, 0]))
        )
        world.step(10)
        copy = goes_on_alike(world, 10)
        assert len(copy.joints) == 2
        copy.close()
        world.restore(image)
        assert world.joints == (first,) and not second.exists


def test_what_does_not_fit_is_refused() -> None:
    world, balls = pair()
    other, foreign = pair()
    with world, other:
        with pytest.raises(TypeError, match="at"):
            world.join(None, (balls, 0))
        with pytest.raises(TypeError, match="robot"):
            world.join(None, balls, at=[0, 0, 0])  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="robot"):
            world.join(None, (balls, 2), at=[0, 0, 0])
        with pytest.raises(mayfly.NotFoundError, match="no link"):
            world.join(None, (balls, 0, "arm"), at=[0, 0, 0])
        with pytest.raises(mayfly.ArgumentError, match="another world"):
            world.join(None, (foreign, 0), at=[0, 0, 0])
        with pytest.raises(mayfly.ArgumentError, match="same link"):
            world.join((balls, 0), (balls, 0), at=[0, 0, 0])
        with pytest.raises(ValueError, match="kind"):
            world.join(None, (balls, 0), at=[0, 0, 0], kind="screw")
        with pytest.raises(TypeError, match="stiffness"):
            world.join(None, (balls, 0), at=[0, 0, 0], stifness=1.0)
        with pytest.raises(mayfly.ArgumentError, match="force_limit"):
            world.join(None, (balls, 0), at=[0, 0, 0], force_limit=-1.0)
        assert world.joints == ()
    world, balls = pair(pushable=False)
    with world, pytest.raises(mayfly.ArgumentError, match="do not accept forces"):
        world.join(None, (balls, 0), at=[0, 0, 0])


def test_the_page_of_the_docs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)  # a record is written
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs" / "how_to" / "run_time_joints.md"):
        exec(block, names)
    assert "[" in capsys.readouterr().out and names["rod"].exists is False  # type: ignore[attr-defined]
    names["world"].close()  # type: ignore[attr-defined]


def test_requests_in_fields_make_joints() -> None:
    world, balls = pair()
    with world:
        world.add_joint_slots(balls, 2)
        with pytest.raises(mayfly.ArgumentError):
            world.add_joint_slots(balls)
        setting = np.zeros((2, 2, 8))
        setting[0, 0, 7] = 1.5  # reach; that of the other ball is 0
        balls["joint_slot.setting"] = setting
        balls["joint_slot.request"] = [[1, 0], [1, 0]]
        image = pickle.dumps(world)
        world.step(100)
        assert balls["joint_slot.state"].array.tolist() == [[1, 0], [0, 0]]
        assert balls["joint_slot.answer"].array[1, 0] != 0 and balls.faults == 0
        assert len(world.joints) == 1 and world.joint_requests == (1, 0, "")
        with pickle.loads(image) as again:
            again.step(100)
            assert again.hash() == world.hash()
        balls["joint_slot.kind"] = [[2, 0], [0, 0]]  # a hinge about z, driven
        balls["joint_slot.hinge"] = [[[-1, 1, 3, 0.5], [0] * 4], [[0] * 4, [0] * 4]]
        balls["joint_slot.request"] = [[1, 0], [0, 0]]
        world.step(1000)
        assert abs(balls["joint_slot.angle"][0, 0, 0] - 1.0) < 1e-3
        assert np.allclose(world.joints[0].angle, balls["joint_slot.angle"][0, 0, 0], atol=1e-12)
        balls["joint_slot.request"] = [[9, 0], [0, 0]]
        world.step(1)
        assert balls.fault_names(0) == ("input",)
        assert world.joint_requests[:2] == (2, 1) and "request 9" in world.joint_requests[2]


def test_a_hinge_has_a_motor_and_a_range() -> None:
    world, balls = pair()
    with world:
        wheel = world.join(
            None, (balls, 0), kind="hinge", at=[0, 0, 5], motor_rate=2.0, motor_torque=1.0,
            lower_angle=-1.0, upper_angle=1.0,
        )  # fmt: skip
        assert wheel.settings["upper_angle"] == 1.0
        world.step(1000)
        assert abs(wheel.angle - 1.0) < 1e-3 and abs(wheel.rate) < 1e-3
        wheel.set_motor(-2.0, 1.0)
        world.step(100)
        assert abs(wheel.rate + 2.0) < 1e-3
        with pytest.raises(mayfly.ArgumentError):
            wheel.set_motor(1.0, -1.0)
        assert wheel.torque == pytest.approx(wheel.moment[2], abs=1e-9)
