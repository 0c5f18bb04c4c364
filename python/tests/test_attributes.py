"""What a program sets has an effect, or is refused with what to do instead."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mayfly
from mayfly import envs
from mayfly._native import lib
from mayfly.envs.parallel import MayflyParallelEnv

PENDULUM = """
<mujoco><worldbody><body pos="0 0 1"><joint name="pin" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/></body></worldbody>
<actuator><motor name="push" joint="pin"/></actuator></mujoco>"""


@pytest.fixture
def group():
    world = mayfly.World(step=0.002)
    return world.add_group(mayfly.Model.from_string(PENDULUM), 18)


@pytest.mark.parametrize("name", ["gravity", "step", "seed", "tim", "time", "groups", "terrain"])
def test_a_world_refuses_attributes(group, name):
    with pytest.raises(AttributeError, match=name):
        setattr(group.world, name, 1.0)


def test_a_setting_of_the_constructor_is_named(group):
    with pytest.raises(AttributeError, match=r"World\(gravity=\.\.\.\)"):
        group.world.gravity = 3.7


@pytest.mark.parametrize("name", ["target", "count", "fields", "world", "fault", "notes", "modle"])
def test_a_group_refuses_attributes(group, name):
    with pytest.raises(AttributeError, match=name):
        setattr(group, name, 1.0)


def test_other_objects_refuse_attributes(group):
    things = [group.model, group["joint.angle"], group.world.context, group.model.joint("pin")]
    things += [mayfly.Terrain.generate("flat"), mayfly.Camera(8, 8), group.world.camera()]
    for thing in things:
        with pytest.raises(AttributeError, match="colour"):
            thing.colour = "red"


def test_subclasses_of_the_user_have_attributes_of_their_own():
    class Arena(mayfly.World):
        pass

    arena = Arena()
    arena.score = 3
    assert arena.score == 3
    with pytest.raises(AttributeError, match="step"):
        arena.step = 0.1


def test_named_parts_write_through(group):
    group.joint("pin").rate = np.arange(18.0)
    assert np.array_equal(group["joint.rate"].read()[:, 0], np.arange(18.0))
    group.actuator("push").control = 2.0
    group.actuator("push").control += 1.0
    assert (group["actuator.control"].read() == 3.0).all()
    group.joint("pin")["joint.angle"] = 0.25
    assert (group["joint.angle"].read() == 0.25).all()
    for part, name in ((group.joint("pin"), "taget"), (group.actuator("push"), "model")):
        with pytest.raises(AttributeError, match=name):
            setattr(part, name, 1.0)


def test_outputs_refuse(group):
    for name in ("actuator.force", "contact.load", "step.acceleration", "fault.word"):
        if name in group:
            with pytest.raises(ValueError, match=f"{name}.*cannot be written"):
                group[name] = 1
    with pytest.raises(ValueError, match="cannot be written"):
        group.actuator("push").force = 1.0


def _effective(world, group, name):
    """Whether a value written into a field changes anything in a step."""
    image, field = world.snapshot(), group[name]
    old = field.read()
    new = old + (1 if old.dtype.kind in "iu" else np.asarray(0.37, old.dtype))
    if name.endswith(".orientation"):
        new = np.broadcast_to(np.array([0.8, 0.6, 0, 0], old.dtype), old.shape)
    seen = []
    for value in (old, new):
        world.restore(image)
        field[...] = value
        world.step()
        seen.append([f.read() for g in world.groups for f in g.fields.values()])
    world.restore(image)
    return any(not np.array_equal(a, b, equal_nan=True) for a, b in zip(*seen))


# Written by programs and read in other steps, or by a controller of the scene at its own rate.
LATER = {"message.in_count", "message.ready", "message.in", "message.out", "joint.target"}
SCENES = ["aircraft", "cantilever", "cloth", "golem", "hexapod", "mixed_reality", "quadrotor"]


@pytest.mark.parametrize("scene", SCENES)
def test_what_may_be_written_has_an_effect(scene):
    with mayfly.Scene(f"scenes/{scene}.yaml") as world, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world.step(20)
        silent = [
            f"{group.name}/{name}"
            for group in world.groups
            for name, field in group.fields.items()
            if field.writeable and field.view.size and name not in {*LATER, "motion.level"}
            if not group.name.startswith("real")  # moved from outside: derives its velocities
            if not _effective(world, group, name)
        ]
    assert silent == []


def test_a_controller_that_writes_too_is_named():
    with mayfly.Scene("scenes/hexapod.yaml") as world:
        with pytest.warns(UserWarning, match="joint.target: the system"):
            world.groups[0]["joint.target"] = 0.1


def test_fields_without_values_can_be_read():
    ball = '<body pos="0 0 1"><freejoint/><geom size="0.1"/></body>'
    body = f"<mujoco><worldbody>{ball}</worldbody></mujoco>"
    group = mayfly.World().add_group(mayfly.Model.from_string(body), 20)
    assert group["joint.angle"].read().shape == (20, 0)


# ---- environments --------------------------------------------------------------------------------


@pytest.mark.parametrize("task, kind", [("quadrotor", "quadrotor"), ("swarm", "quadrotor")])
def test_tasks_of_vehicles_have_group_world_and_picture(task, kind):
    batch = envs.MayflyVectorEnv(task, 8, render_mode="rgb_array", width=32, height=32)
    batch.reset(seed=1)
    assert batch.group.model.vehicle == kind and batch.group.motions == (kind,)
    assert batch.world.groups[0] is batch.group
    assert batch.group["base.position"].read().shape == (8, 3)
    assert batch.render()[0].shape == (32, 32, 3)
    batch.close()
    team = MayflyParallelEnv("swarm", 4)
    assert team.group.count == 4 and team.world.groups[0] is team.group


def test_environments_refuse_unknown_attributes():
    with envs.MayflyVectorEnv("ant", 2) as batch:
        with pytest.raises(AttributeError, match=r"MayflyVectorEnv\(frame_skip=\.\.\.\)"):
            batch.frame_skip = 3
        with pytest.raises(AttributeError, match="ctrl_cost"):
            batch.ctrl_cost = 3
        batch.metadata = batch.metadata  # as Gymnasium does
        batch.reset(seed=1)


def test_warnings_and_faults_of_episodes_that_end_are_kept():
    class Strict(envs.MayflyVectorEnv):
        pass

    with Strict("ant", 4, autoreset_mode="SameStep", max_episode_steps=3) as batch:
        batch.reset(seed=3)
        for _ in range(2):
            batch.step(batch.action_space.sample() * 0)
        lib_group = batch.environment._use()
        batch.group["base.linear_velocity"] = 1e30  # beyond what a robot may have
        *_, ended, cut, infos = batch.step(batch.action_space.sample() * 0)
        assert lib_group and (ended | cut).all()
        final = infos["final_info"]
        assert final["_faults"].all() and (final["faults"] & lib.MF_FAULT_RANGE).any()
        assert (batch.group.fault == 0).all()  # they have started again


def test_motors_false_says_what_stays_on(group):
    quiet = group.world.add_group(group.model, 1, name="quiet", motors=False)
    assert any("actuators of the file stay" in note for note in quiet.notes)
    assert not any("actuators of the file stay" in note for note in group.notes)


def test_objective_needs_the_worst():
    gaits = mayfly.Oscillators.from_unit(
        np.full((2, 55), 0.5), mayfly.Model.from_file("hexapod.urdf")
    )
    found = mayfly.evaluate(mayfly.Model.from_file("hexapod.urdf"), gaits, 0.1)
    with pytest.raises(TypeError, match="worst"):
        found.objective()
    assert np.isfinite(found.objective(worst=-1.0)).all()
