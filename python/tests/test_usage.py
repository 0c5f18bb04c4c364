"""What users tripped over: each of these failed once."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import mayfly

ARM = """<mujoco><option timestep="0.002"/><worldbody><body pos="0 0 1">
<joint name="j" axis="0 1 0" damping="0.5"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/></body>
<body name="block"><geom type="box" size=".1 .1 .1" mass="3"/></body></worldbody>
<actuator><position joint="j" kp="500"/></actuator></mujoco>"""

BOX = """<mujoco><worldbody><geom type="plane" size="5 5 1"/>
<body pos="1 2 3" quat="0.6 0 0.8 0"><freejoint/><geom type="box" size=".1 .2 .3"/></body>
</worldbody><keyframe><key qpos="0 0 1 0 2 0 0"/><key qpos="0 0 1 0 0 0 0"/></keyframe></mujoco>"""


def test_a_world_has_hundreds_of_groups() -> None:
    model = mayfly.Model.from_string(BOX)
    world = mayfly.World(step=0.002)
    for i in range(300):
        group = world.add_group(model, name=f"g{i}")
        group.set_start([(float(i), 0.0, 1.0 + 0.01 * i)])
    with pytest.raises(mayfly.ArgumentError, match="g299: the name is used already"):
        world.add_group(model, name="g299")
    world.step(2)
    assert len(world.groups) == 300
    assert world.time_ns == 4_000_000
    start = world.snapshot()
    world.step(20)
    x, _, z = world.groups[299]["base.position"].read()[0]
    assert x == 299.0
    assert z == pytest.approx(3.99 - 0.5 * 9.81 * 0.044**2, abs=1e-3)
    end = world.hash()
    world.restore(start)
    world.step(20)
    assert world.hash() == end


def test_joint_targets_move_position_actuators_and_add_in_place() -> None:
    world = mayfly.World(step=0.002)
    arms = world.add_group(mayfly.Model.from_string(ARM), 20)
    for _ in range(4):
        arms["joint.target"] += 0.1
    arms["joint.target"][3] -= 0.1
    field = arms["joint.target"]
    field *= 1.0
    assert np.allclose(arms["joint.target"].read()[:4, 0], [0.4, 0.4, 0.4, 0.3])
    world.run(4.0)
    angle = arms["joint.angle"].read()[:, 0]
    assert np.all(np.abs(angle[:3] - 0.4) < 0.01)
    assert abs(angle[3] - 0.3) < 0.01
    arms["joint.target"] -= arms["joint.target"]
    assert not arms["joint.target"].read().any()


def test_array_cannot_be_written_by_mistake() -> None:
    world = mayfly.World(step=0.002)
    arms = world.add_group(mayfly.Model.from_string(ARM), 3)
    with pytest.raises(ValueError, match="read-only"):
        arms["joint.target"].array[0] = 1.0
    own = arms["joint.target"].read()
    own[0] = 1.0
    assert arms["joint.target"].read()[0, 0] == 0.0


def test_the_base_starts_where_the_file_has_it() -> None:
    model = mayfly.Model.from_string(BOX)
    world = mayfly.World(step=0.002)
    boxes = world.add_group(model, 2)
    position, _ = boxes.state()
    assert np.allclose(position, [[1, 2, 3, 0.6, 0, 0.8, 0]] * 2)
    low = mayfly.Model.from_string(BOX.replace('pos="1 2 3" quat="0.6 0 0.8 0"', 'pos="1 2 .1"'))
    lifted = mayfly.World(step=0.002).add_group(low)
    assert np.allclose(lifted.state()[0][0], [1, 2, 0.3, 1, 0, 0, 0])


def test_quaternions_of_keyframes_are_unit() -> None:
    keys = mayfly.Model.from_string(BOX).keyframes
    assert np.allclose(keys[0].position[3:7], [0, 1, 0, 0])
    assert np.allclose(keys[1].position[3:7], [1, 0, 0, 0])  # as MuJoCo: zero is no turn


def test_mass_is_that_of_all_bodies() -> None:
    block = '<body name="block"><geom type="box" size=".1 .1 .1" mass="3"/></body></worldbody>'
    model = mayfly.Model.from_string(BOX.replace("</worldbody>", block))
    assert model.moving_mass == pytest.approx(48.0)  # 8 * .1 * .2 * .3 m^3 of 1000 kg/m^3
    assert model.mass == pytest.approx(51.0)


def test_search_vectors_out_of_range_are_refused() -> None:
    model = mayfly.Model.from_string(ARM)
    with pytest.raises(ValueError, match=r"in 0 .. 1, got 1.5 in row 1, column 2"):
        mayfly.Oscillators.from_unit([[0, 0, 0, 0], [0, 0, 1.5, 0]], model)


@pytest.mark.parametrize("task", ["HalfCheetah", "Hopper", "Swimmer", "Ant", "Humanoid"])
def test_a_state_that_was_set_is_where_the_next_reward_begins(task: str) -> None:
    env = gymnasium.make(f"Mayfly/{task}-v5", reset_noise_scale=0.0).unwrapped
    other = gymnasium.make(f"Mayfly/{task}-v5", reset_noise_scale=0.0).unwrapped
    for one in (env, other):
        one.reset(seed=1)
    position, velocity = env.group.state()
    still = np.zeros(env.action_space.shape, np.float32)
    truth = other.step(still)[4]["x_velocity"]
    position[:, 0] += 5.0
    env.group.set_state(position, velocity)
    assert env.step(still)[4]["x_velocity"] == pytest.approx(truth, abs=1e-3)
    assert env.step(still)[4]["x_velocity"] == pytest.approx(
        other.step(still)[4]["x_velocity"], abs=1e-3
    )


def test_seeds_are_reported_as_gymnasium_does() -> None:
    envs = gymnasium.make_vec("Mayfly/Hopper-v5", num_envs=3)
    envs.reset(seed=7)
    assert envs.np_random_seed == (7, 8, 9)
    single = gymnasium.make("Mayfly/Hopper-v5")
    single.reset(seed=5)
    assert single.unwrapped.np_random_seed == 5
    assert type(single.unwrapped.np_random_seed) is int


def test_a_team_is_one_environment() -> None:
    env = gymnasium.make("Mayfly/Swarm-v0", agents=4)
    observation, _ = env.reset(seed=3)
    assert observation.shape == env.observation_space.shape
    assert observation.shape[0] == 4
    batch = gymnasium.make_vec(
        "Mayfly/Swarm-v0", num_envs=4, agents=4, vectorization_mode="vector_entry_point"
    )
    batch.reset(seed=3)
    env.action_space.seed(1)
    for _ in range(5):
        action = env.action_space.sample()
        seen, reward, *_ = env.step(action)
        rows, rewards, *_ = batch.step(action)
        assert np.array_equal(seen, rows)
        assert reward == rewards.mean()


def test_what_is_said_about_pictures_exists() -> None:
    with pytest.raises(TypeError) as failure:
        gymnasium.make_vec("Mayfly/Hopper-v5", render_mode="ansi")
    assert "mayfly.Recorder" in str(failure.value)
    assert "mayfly.show" in str(failure.value)
    assert "mayfly view" not in str(failure.value)
    assert callable(mayfly.Recorder)
    assert callable(mayfly.show)
