"""Tasks of named terms: what terms get and give, random numbers, ends, mistakes, adapters."""

import importlib
import os
import pathlib
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="environments need gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import mayfly  # noqa: E402
from conftest import ROOT  # noqa: E402
from mayfly import mdp  # noqa: E402
from mayfly._native import ffi, lib  # noqa: E402
from mayfly.envs import MayflyEnv, TaskVectorEnv  # noqa: E402
from mayfly.envs.pool import Pool  # noqa: E402
from mayfly.envs.rsl_rl import RslRlEnv  # noqa: E402
from mayfly.mdp import Curriculum, Event, Observation, Reward, Termination  # noqa: E402

SHARED = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared"))
GO2 = SHARED / "models" / "unitree_go2" / "go2_mjx.xml"
SAME = AutoresetMode.SAME_STEP
Parts = dict[str, Any]


def make_task(model: mayfly.Model, **more: Any) -> mayfly.Task:
    """A hexapod with one of everything; `more` replaces parts."""
    parts: Parts = {
        "step": 0.005,
        "decimation": 4,
        "episode_length_s": 0.6,
        "actions": {"joint_pos": mdp.JointPositionAction(scale=0.3, latency=(0.0, 0.03))},
        "commands": {
            "twist": mdp.UniformVelocityCommand(
                (0.0, 0.3), (-0.1, 0.1), (-1.0, 1.0), heading_command=True,
                resampling_time_range=(0.1, 0.3), rel_standing_envs=0.2, rel_heading_envs=0.5,
            )
        },
        "observations": {
            "policy": {
                "gyro": Observation(mdp.base_ang_vel, noise=0.2, history_length=3),
                "gravity": Observation(mdp.projected_gravity, noise=0.05, delay_max_lag=2),
                "command": mdp.generated_commands,
                "joints": Observation("joint_pos_rel", scale=2.0, clip=(-1.0, 1.0)),
            },
            "critic": {"velocity": mdp.base_lin_vel, "feet": Observation(
                mdp.contact_forces, link_names="tibia*")},
        },
        "rewards": {
            "track_lin_vel_xy_exp": Reward(weight=1.5, std=0.2),
            "track_ang_vel_z_exp": 0.5,
            "joint_acc_l2": -1e-6,
            "action_rate_l2": -0.01,
            "air": Reward(mdp.feet_air_time, 0.2, link_names="tibia*", threshold=0.1),
            "slide": Reward(mdp.feet_slide, -0.1, link_names="tibia*"),
        },
        "terminations": {
            "time_out": Termination(time_out=True),
            "fell": Termination(mdp.bad_orientation, limit_angle=0.12),
        },
        "events": {
            "reset_base": Event(
                mdp.reset_root_state_uniform, pose_range={"yaw": (-3.0, 3.0), "z": (0.0, 0.02)},
                velocity_range={"x": (-0.2, 0.2)},
            ),
            "reset_joints": Event(mdp.reset_joints_by_offset, position_range=(-0.1, 0.1)),
            "push": Event(
                mdp.push_by_setting_velocity, "interval", interval_range_s=(0.1, 0.3),
                velocity_range={"y": (-0.3, 0.3)},
            ),
        },
    }  # fmt: skip
    return mayfly.Task(model, **{**parts, **more})


def actions(envs: Any, steps: int, seed: int = 1) -> np.ndarray:
    shape = (steps, *envs.action_space.shape)
    return np.random.default_rng(seed).normal(0, 0.5, shape).astype(np.float32)


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Matrices of body to world, (robots, 3, 3)."""
    w, x, y, z = quaternion.astype(float).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


# ---- what a task consists of -----------------------------------------------------------------


def test_table(hexapod: mayfly.Model, capsys: pytest.CaptureFixture[str]) -> None:
    task = make_task(hexapod)
    table = repr(task)
    assert table.startswith("Task hexapod: step 0.02 s (4 x 0.005 s, articulated), episodes of 0.6")
    for word in ("weight 1.5", "noise (-0.2, 0.2)", "pose_range yaw (-3, 3)", "latency (0, 0.03)"):
        assert word in table
    assert len(table.splitlines()) == 1 + len(task.rows()) == 1 + 1 + 1 + 4 + 2 + 6 + 2 + 3
    help(task)
    shown = capsys.readouterr().out
    assert "track_lin_vel_xy_exp; std 0.2; weight 1.5" in shown and "decimation: physics" in shown
    assert "<td>joint_acc_l2</td>" in task._repr_html_()
    assert repr(pickle.loads(pickle.dumps(task))) == table
    with task.make(3) as envs:
        assert repr(envs) == (
            "TaskVectorEnv(hexapod, num_envs=3): 18 actions; observations: policy 33, critic 9"
        )
        assert envs in (envs,) and envs.single_observation_space.shape == (33,)


def raises(env: Any) -> Any:
    return 1 / 0


MISTAKES: list[tuple[Parts, type[Exception], str]] = [
    ({"rewards": {"joint_acc": 1.0}}, LookupError,
     "reward joint_acc: no term 'joint_acc' ships, did you mean 'joint_acc_l2'"),
    ({"rewards": {"a": Reward(mdp.track_lin_vel_xy_exp, stdd=1.0)}}, TypeError,
     "reward a: there is no parameter 'stdd', did you mean 'std'.; there are: std, command_name"),
    ({"rewards": {"a": Reward(mdp.base_height_l2)}}, TypeError,
     "reward a: need the parameter 'target_height'"),
    ({"rewards": {"a": lambda: 1}}, TypeError, r"reward a: need a function of \(env, ...\)"),
    ({"rewards": {"a": Observation(mdp.joint_pos)}}, TypeError, "reward a: need a Reward, got Obs"),
    ({"rewards": {"a": mdp.joint_pos}}, ValueError,
     r"reward a: need numbers of shape \(4,\), got float32 of shape \(4, 18\)"),
    ({"rewards": {"a": raises}}, ValueError,
     r"reward a: ZeroDivisionError: division by zero \(.*test_tasks.py:\d+\)"),
    ({"rewards": {"a": lambda env: np.full(4, np.nan)}}, ValueError,
     r"reward a: need finite numbers, robot 0 \(and 3 more\) gets nan"),
    ({"rewards": {"a": Reward("joint_torques_l2")}}, LookupError, "reward a: .*actuator.force"),
    ({"rewards": {"a": Reward("feet_slide", link_names="foot*")}}, LookupError,
     r"reward a: no link 'foot\*'.*tibia1"),
    ({"terminations": {"a": mdp.base_pos_z}}, ValueError,
     r"termination a: need truth values of shape \(4,\), got float32"),
    ({"observations": {"policy": {"a": lambda env: np.zeros((3, 2))}}}, ValueError,
     r"observation policy/a: need numbers of shape \(4,\) or \(4, k\), got float64 of shape"),
    ({"observations": {"policy": {"a": Observation(mdp.joint_pos, scale=(1, 2))}}}, ValueError,
     "observation a: scale: need a number or 18"),
    ({"observations": {"actor": {"a": mdp.joint_pos}}}, ValueError, 'need a group "policy"'),
    ({"observations": {"policy": {}}}, ValueError, "'policy' has no terms"),
    ({"observations": {"policy": {"a": Observation("generated_commands", command_name="twit")}}},
     LookupError, "observation policy/a: no command 'twit', did you mean 'twist'"),
    ({"events": {"a": Event(mdp.push_by_setting_velocity, velocity_range={"yow": (0, 1)})}},
     ValueError, "event a: velocity_range: no axis 'yow', did you mean 'yaw'"),
    ({"events": {"a": Event(lambda env, robots: env.write("joint.angle", np.nan, robots))}},
     ValueError, "event a: joint.angle: need finite numbers, robot 0"),
    ({"events": {"a": Event(lambda env, robots: env.write("contact.load", 0, robots))}},
     ValueError, "event a: ValueError: contact.load: is computed"),
    ({"actions": {"a": mdp.JointPositionAction("leg7_*")}}, LookupError, "no joint 'leg7_"),
    ({"actions": {"a": mdp.JointPositionAction(scale=(1, 2))}}, ValueError,
     "action a: need one scale and offset, or 18"),
    ({"actions": {"a": mdp.Action("contact.load")}}, ValueError, "action a: .*is computed"),
    ({"actions": {}}, ValueError, "actions: need at least one"),
    ({"motion": "articulate"}, ValueError, "did you mean 'articulated'"),
    ({"commands": {"twist": mdp.Command((1, 1))}}, ValueError, "command twist: NotImplementedErr"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "kind", "text"), MISTAKES)
def test_mistakes(hexapod: mayfly.Model, parts: Parts, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text) as failure:
        make_task(hexapod, **parts).make(4)
    assert "\n" not in str(failure.value)


def test_replace_knows_its_arguments(hexapod: mayfly.Model) -> None:
    with pytest.raises(TypeError, match="no argument 'reward', did you mean 'rewards'"):
        make_task(hexapod).replace(reward={})


def test_mistakes_of_terms() -> None:
    for make, text in (
        (lambda: Event(mdp.push_by_setting_velocity, "often"), "mode: need one of startup, reset"),
        (lambda: Event(mdp.push_by_setting_velocity, "interval"), "interval_range_s: is needed"),
        (lambda: Observation(mdp.joint_pos, noise=(1, -1)), "noise: need .lowest, largest"),
        (lambda: Observation(mdp.joint_pos, delay_min_lag=2), "delay_max_lag: need 2"),
        (lambda: Reward(3), "reward: need a function or the name of one, got 3"),
        (lambda: mdp.JointPositionAction(latency=(-1, 0)), "latency: need times >= 0"),
    ):
        with pytest.raises((TypeError, ValueError), match=text):
            make()


# ---- what terms get --------------------------------------------------------------------------


def test_state(hexapod: mayfly.Model) -> None:
    """Arrays by name are those of the fields; what follows from them by other formulas."""
    with make_task(hexapod).make(37, num_threads=1) as envs:
        envs.reset(seed=3)
        for action in actions(envs, 12):
            envs.step(action)
        group = envs.group
        for name in (
            "base.position",
            "joint.rate",
            "contact.load",
            "fault.word",
            "base.position.z",
        ):
            np.testing.assert_array_equal(envs[name], group[name].read())
            assert not envs[name].flags.writeable
        turn = rotation(group["base.orientation"].read())
        world = group["base.linear_velocity"].read().astype(float)
        speed = np.einsum("rij,ri->rj", turn, world)
        np.testing.assert_allclose(envs.base_lin_vel, speed, atol=1e-6)
        np.testing.assert_allclose(envs.projected_gravity, -turn[:, 2], atol=1e-6)
        heading = np.arctan2(turn[:, 1, 0], turn[:, 0, 0])
        np.testing.assert_allclose(envs.heading, heading, atol=1e-5)
        error = envs.command()[:, :2] - speed[:, :2]
        expected = np.exp(-(error**2).sum(axis=1) / 0.2**2)
        np.testing.assert_allclose(mdp.track_lin_vel_xy_exp(envs, std=0.2), expected, atol=1e-5)
        position = group["joint.angle"].read()
        np.testing.assert_array_equal(mdp.joint_pos_rel(envs), position)  # stands at 0
        limit = 0.95 * hexapod.joints[0].upper
        beyond = np.maximum(np.abs(position[:, envs.joints("*_coxa")]) - limit, 0)
        others = [joint for joint in range(18) if joint not in envs.joints("*_coxa")]
        lower, upper = (side[others] for side in envs.joint_limits)
        middle, half = (lower + upper) / 2, 0.95 * (upper - lower) / 2
        rest = np.maximum(np.abs(position[:, others] - middle) - half, 0)
        np.testing.assert_allclose(
            mdp.joint_pos_limits(envs), beyond.sum(1) + rest.sum(1), atol=1e-5
        )


def test_contacts(hexapod: mayfly.Model) -> None:
    """Feet that stand bear the weight; times in the air add up, also at points."""
    for motion in ("articulated", "points"):
        task = make_task(
            hexapod, motion=motion, events={}, episode_length_s=100.0,
            actions={"a": mdp.JointPositionAction("*_femur", scale=1.0)},
            rewards={"air": Reward("feet_air_time", link_names="tibia*", threshold=0.0)},
        )  # fmt: skip
        with task.make(2) as envs:
            envs.reset(seed=1)
            still = np.zeros((2, 6), np.float32)
            for _ in range(100):
                envs.step(still)
            feet = envs.contact("tibia*")
            assert feet.links == tuple(f"tibia{i}" for i in range(1, 7))
            weight = sum(link.mass for link in hexapod.links) * 9.81
            np.testing.assert_allclose(feet.force.sum(axis=1), weight, rtol=0.02)
            assert (feet.contact_time > 1.0).all() and not feet.air_time.any()
            lift = still.copy()
            lift[0, 0] = 0.6
            for _ in range(20):
                envs.step(lift)
            foot = 0
            assert feet.air_time[0, foot] > 0.1 and not feet.air_time[0, 1:].any()
            assert not feet.air_time[1].any()
            touched = 0.0
            for _ in range(20):
                before = float(feet.air_time[0, foot])
                envs.step(still)
                if feet.first_contact[0, foot]:
                    touched = float(feet.last_air_time[0, foot])
                    assert touched == pytest.approx(before + envs.step_dt)
            assert touched > 0.1 and feet.air_time[0, foot] == 0


def test_random_numbers(hexapod: mayfly.Model) -> None:
    """Those of the library's generator; uniform; new ones in each step, term and episode."""
    with make_task(hexapod).make(21) as envs:
        envs.reset(seed=7)
        envs._draw_for(123)
        drawn = envs.random(6, np.array([3, 20]))
        word = ffi.new("uint32_t[4]")
        for row, robot in enumerate((3, 20)):
            for column in (0, 4):
                lib.mf_random(7 + robot, 0, 123, column, word)
                for i in range(min(4, 6 - column)):
                    assert drawn[row, column + i] == (word[i] >> 8) * 2.0**-24
        assert (envs.random(6, np.array([3, 20])) != drawn).all()
        many = envs.uniform((0, -1), 3, 2)
        assert many.shape == (21, 2) and (many[:, 0] >= 0).all() and (many < 3).all()
        assert many[:, 1].min() < 0


# ---- observations ----------------------------------------------------------------------------


def test_noise_history_delay(hexapod: mayfly.Model) -> None:
    group = {
        "plain": Observation(mdp.joint_vel),
        "noisy": Observation(mdp.joint_vel, noise=(0.0, 0.5)),
        "past": Observation(mdp.joint_vel, history_length=3),
        "late": Observation(mdp.joint_vel, delay_min_lag=2, delay_max_lag=2),
        "mixed": Observation(mdp.joint_vel, delay_max_lag=3),
        "limited": Observation(mdp.joint_vel, clip=(-1, 1), scale=3.0),
    }
    task = make_task(hexapod, observations={"policy": group}, episode_length_s=100.0,
                     terminations={})  # fmt: skip
    with task.make(40) as envs:
        seen, _ = envs.reset(seed=1)
        plain = [seen[:, :18]]
        lags: set[int] = set()
        for step, action in enumerate(actions(envs, 8)):
            seen = envs.step(action)[0]
            plain.append(seen[:, :18])
            noise = seen[:, 18:36] - plain[-1]
            assert (noise > -1e-6).all() and (noise < 0.5 + 1e-6).all()
            assert noise.std() == pytest.approx(0.5 / 12**0.5, rel=0.1)
            past = np.concatenate([plain[max(step + 1 - i, 0)] for i in (2, 1, 0)], axis=1)
            np.testing.assert_array_equal(seen[:, 36:90], past)
            np.testing.assert_array_equal(seen[:, 90:108], plain[max(step - 1, 0)])
            np.testing.assert_array_equal(seen[:, 126:], np.clip(plain[-1], -1, 1) * np.float32(3))
            for robot in range(40):
                same = [i for i in range(min(step + 2, 4))
                        if (seen[robot, 108:126] == plain[-1 - i][robot]).all()]  # fmt: skip
                assert len(same) == 1 or step < 3
                lags.update(same if step >= 3 else ())
        assert lags == {0, 1, 2, 3}


def test_latency(hexapod: mayfly.Model) -> None:
    """Targets act after the latency, in physics steps: as in a world that is commanded by hand."""
    for steps in (0, 3, 6):
        task = make_task(
            hexapod, events={}, terminations={}, rewards={"is_alive": 1.0},
            actions={"a": mdp.JointPositionAction("*_tibia", scale=0.3, clip=(-0.2, 0.25),
                                                  latency=(0.005 * steps, 0.005 * steps))},
        )  # fmt: skip
        with task.make(2) as envs, mayfly.World(step=0.005) as world:
            envs.reset(seed=1)
            robots = world.add_group(hexapod, 2)
            robots.set_state(robots.state()[0])
            columns = envs.joints("*_tibia")
            targets = [np.zeros((2, 6), np.float32)] * 2
            for action in actions(envs, 10):
                envs.step(action)
                low, high = np.float32(-0.2), np.float32(0.25)
                targets.append(np.clip(action * np.float32(0.3), low, high))
                for substep in range(4):
                    age = -((substep - steps) // 4)
                    robots["joint.target"][:, columns] = targets[-1 - max(age, 0)]
                    world.step()
                np.testing.assert_array_equal(
                    envs["joint.angle"], robots["joint.angle"].read(), err_msg=f"{steps} steps"
                )


# ---- determinism -----------------------------------------------------------------------------


def trace(envs: TaskVectorEnv, robot: int, seed: Any, moves: np.ndarray) -> list[bytes]:
    seen, _ = envs.reset(seed=seed)
    out = [seen[robot].tobytes()]
    for move in moves:
        results = envs.step(np.broadcast_to(move, envs.action_space.shape))
        out += [np.asarray(one[robot]).tobytes() for one in results[:4]]
        out.append(envs.observation_groups["critic"][robot].tobytes())
    return out


def test_alone_and_among_others(hexapod: mayfly.Model) -> None:
    """Random draws, results and ends of a robot depend on its seed and actions only."""
    task = make_task(hexapod)
    with task.make(1) as one:
        moves = actions(one, 100)[:, 0]
        expected = trace(one, 0, 44, moves)
    for count, robot, threads in ((37, 20, 1), (37, 36, 2), (2, 1, 3)):
        with task.make(count, num_threads=threads) as envs:
            assert trace(envs, robot, 44 - robot, moves) == expected, (count, robot)
    for isa in ("scalar", "avx2", "avx512"):
        try:
            envs = task.make(3, isa=isa)
        except mayfly.UnsupportedError:
            continue  # not in this build, or not of this processor
        assert trace(envs, 1, 43, moves) == expected, isa
        envs.close()
    with task.make(3) as envs:
        assert trace(envs, 1, [1, 44, 9], moves) == expected
        assert trace(envs, 1, [1, 45, 9], moves) != expected
        assert trace(envs, 1, [1, 44, 9], moves) == expected  # again


# ---- events, commands, curricula -------------------------------------------------------------


def test_reset_events(hexapod: mayfly.Model) -> None:
    with make_task(hexapod, settings={"sensors": True}).make(200) as envs:
        envs.reset(seed=1)
        for name in envs.group.fields:  # all are read before
            assert len(envs[name]) == 200
        envs.reset(options={"reset_mask": np.arange(200) % 7 == 1})
        for name, field in envs.group.fields.items():
            np.testing.assert_array_equal(envs[name], field.read(), err_msg=name)
        envs.reset(seed=1)
        rest = envs._home[2]
        height = envs["base.position"][:, 2] - rest
        assert (height > -1e-6).all() and (height < 0.02 + 1e-6).all() and height.std() > 0.004
        assert np.abs(envs.heading).max() > 2.5 and np.abs(envs.heading).max() < 3.0
        speed = envs["base.linear_velocity"]
        assert 0.1 < np.abs(speed[:, 0]).max() < 0.2 and not speed[:, 1:].any()
        angle = envs.joint_pos
        assert 0.09 < np.abs(angle).max() <= 0.1001 and angle.std() == pytest.approx(0.0577, 0.05)
        first = angle.copy()
        envs.reset(options={"reset_mask": np.arange(200) == 5})
        assert (envs.joint_pos[5] != first[5]).any()
        np.testing.assert_array_equal(np.delete(envs.joint_pos, 5, 0), np.delete(first, 5, 0))


def test_startup_events(hexapod: mayfly.Model) -> None:
    """Gains that differ per robot from the first reset on, by seed."""
    task = make_task(
        hexapod, settings={"servo_inputs": True}, episode_length_s=0.1,
        events={"gain": Event(mdp.reset_field_uniform, "startup", name="servo.gain",
                              value_range=(0.5, 1.5), operation="scale", shared_random=True)},
    )  # fmt: skip
    with task.make(8, autoreset_mode=SAME) as envs:
        envs.reset(seed=1)
        gain = envs["servo.gain"].copy()
        factor = gain / envs.original("servo.gain")
        assert np.ptp(factor, axis=1).max() < 1e-6 and np.ptp(factor[:, 0]) > 0.3
        for action in actions(envs, 12):
            envs.step(action)
        np.testing.assert_array_equal(envs["servo.gain"], gain)
        envs.reset(seed=2)
        np.testing.assert_array_equal(envs["servo.gain"][:-1], gain[1:])


def test_pushes(hexapod: mayfly.Model) -> None:
    """Each push changes the velocity within its range, at times within their range."""
    pushed: list[tuple[int, int]] = []

    def push(env: Any, robots: np.ndarray, velocity_range: Any) -> None:
        before = env["base.linear_velocity"].copy()
        mdp.push_by_setting_velocity(env, robots, velocity_range)
        change = env["base.linear_velocity"] - before
        assert (np.abs(change[:, 1]) <= 0.3).all() and not change[:, [0, 2]].any()
        assert set(np.flatnonzero(change[:, 1])) <= set(robots)
        pushed.extend((int(robot), env.common_step_counter) for robot in robots)

    parts = make_task(hexapod).events
    parts["push"] = Event(
        push, "interval", interval_range_s=(0.1, 0.3), velocity_range={"y": (-0.3, 0.3)}
    )
    task = make_task(
        hexapod, terminations={}, events=parts, observations={"policy": {"a": mdp.base_lin_vel}}
    )
    with task.make(30) as envs:
        envs.reset(seed=1)
        for action in actions(envs, 60):
            envs.step(0.0 * action)
    for robot in range(30):
        times = [0, *(step for who, step in pushed if who == robot)]
        waits = np.diff(times)
        assert len(waits) >= 3 and waits.min() >= 5 and waits.max() <= 15


def test_commands(hexapod: mayfly.Model) -> None:
    with make_task(hexapod, terminations={}).make(300) as envs:
        envs.reset(seed=1)
        values = []
        for action in actions(envs, 40):
            values.append(envs.command("twist").copy())
            envs.step(0.0 * action)
        drawn = envs._drawn["twist"]
        table = np.array(values)
        assert (table[..., 0] >= 0).all() and (table[..., 0] <= 0.3).all()
        assert (np.abs(table[..., 2]) <= 1.0).all()
        stands = (table == 0).all(axis=-1).mean()
        assert 0.15 < stands < 0.25
        changes = (np.diff(table[..., 0], axis=0) != 0).sum(axis=0)
        assert 2 <= changes.mean() <= 8
        turns = (drawn[:, 4] > 0) & (drawn[:, 5] > 0)
        assert 0.3 < turns.mean() < 0.5
        error = (drawn[turns, 3] - envs.heading[turns] + np.pi) % (2 * np.pi) - np.pi
        np.testing.assert_allclose(envs.command()[turns, 2], np.clip(error, -1, 1), atol=1e-4)


def test_curriculum(hexapod: mayfly.Model) -> None:
    task = make_task(
        hexapod, episode_length_s=0.1,
        curriculum={
            "weight": Curriculum(mdp.modify_reward_weight, term_name="action_rate_l2", weight=-1.0,
                                 num_steps=6),
            "speed": Curriculum(mdp.commands_vel, velocity_stages=[{"step": 6,
                                                                  "lin_vel_x": (2.0, 2.5)}]),
        },
    )  # fmt: skip
    with task.make(4, autoreset_mode=SAME) as envs:
        envs.reset(seed=1)
        logs = []
        for action in actions(envs, 12):
            infos = envs.step(action)[4]
            if "final_info" in infos:
                logs.append(float(infos["final_info"]["curriculum/weight"][0]))
        assert envs.weights["action_rate_l2"] == -1.0 and envs.task.rewards["action_rate_l2"]
        assert logs[0] == pytest.approx(-0.01) and logs[-1] == -1.0
        assert envs._drawn["twist"][:, 0].min() >= 2.0
    assert task.commands["twist"].lin_vel_x == (0.0, 0.3)  # of the task: unchanged
    assert task.rewards["action_rate_l2"].weight == -0.01


# ---- rewards and ends ------------------------------------------------------------------------


def test_reward_and_logs(hexapod: mayfly.Model) -> None:
    """The reward is the sum of weight x value x step; logs are means over episodes."""
    values: list[np.ndarray] = []

    def own(env: TaskVectorEnv, factor: float) -> np.ndarray:
        values.append(factor * env.joint_pos[:, 0])
        return values[-1]

    task = make_task(hexapod, rewards={"own": Reward(own, 2.0, factor=3.0), "is_alive": 0.5,
                                       "off": Reward(raises, 0.0)},
                     terminations={"time_out": Termination(time_out=True)},
                     episode_length_s=0.2)  # fmt: skip
    with task.make(5) as envs:
        envs.reset(seed=1)
        values.clear()
        for action in actions(envs, 10):
            _, reward, ended, cut, infos = envs.step(action)
            np.testing.assert_allclose(reward, 0.02 * (2 * values[-1] + 0.5), rtol=1e-5)
            assert not ended.any() and reward.dtype == np.float64
        assert cut.all() and infos["_reward/own"].all()
        np.testing.assert_allclose(infos["reward/own"], 2 * np.mean(values, axis=0), rtol=1e-4)
        assert (infos["termination/time_out"] == 1).all() and "reward/off" not in infos
        assert infos["command/twist/error_vel_xy"].shape == (5,)


def test_modes(hexapod: mayfly.Model) -> None:
    """The three ways to go on after an end: the same episodes."""
    task = make_task(hexapod, episode_length_s=0.1, terminations={"time_out": Termination(
        time_out=True)})  # fmt: skip
    moves = actions(task.make(3), 5)
    with (
        task.make(3) as later,
        task.make(3, autoreset_mode=SAME) as same,
        task.make(3, autoreset_mode="Disabled") as off,
    ):
        first = [envs.reset(seed=4)[0] for envs in (later, same, off)]
        np.testing.assert_array_equal(first[0], first[1])
        for move in moves[:4]:
            results = [envs.step(move) for envs in (later, same, off)]
            for got in results[1:]:
                np.testing.assert_array_equal(got[0], results[0][0])
        results = [envs.step(moves[4]) for envs in (later, same, off)]
        assert all(got[3].all() for got in results)
        np.testing.assert_array_equal(np.stack(results[1][4]["final_obs"]), results[0][0])
        assert "final_obs" not in results[0][4] and "reward/air" in results[0][4]
        np.testing.assert_array_equal(
            results[1][4]["final_info"]["reward/air"], results[0][4]["reward/air"]
        )
        with pytest.raises(gymnasium.error.ResetNeeded, match="robot 0 is over"):
            off.step(moves[0])
        again, _ = off.reset(options={"reset_mask": np.array([True, True, True])})
        np.testing.assert_array_equal(again, results[1][0])
        begun = later.step(np.full_like(moves[0], np.nan))  # actions are not used
        np.testing.assert_array_equal(begun[0], again)
        assert not (begun[1].any() or begun[2].any() or begun[3].any() or begun[4])
        for move in moves:  # the second episodes
            np.testing.assert_array_equal(later.step(move)[1], same.step(move)[1])


def test_faults_end_episodes(hexapod: mayfly.Model) -> None:
    with make_task(hexapod).make(3, autoreset_mode=SAME) as envs:
        envs.reset(seed=1)
        envs.group["base.position"][1] = 1e9  # out of range
        _, reward, ended, _, infos = envs.step(actions(envs, 1)[0])
        assert ended.tolist() == [False, True, False] and np.isfinite(reward).all()
        assert infos["final_info"]["termination/fault"].tolist() == [0, 1, 0]
        assert envs.group.faults == 0


def test_environment_mistakes(hexapod: mayfly.Model) -> None:
    envs = make_task(hexapod).make(2)
    with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
        envs.step(np.zeros((2, 18), np.float32))
    envs.reset(seed=1)
    before = envs.group["joint.angle"].read()
    for wrong, kind in ((np.zeros((2, 17), np.float32), ValueError), (np.full((2, 18), np.nan),
                        ValueError), (np.zeros((2, 18), int), TypeError)):  # fmt: skip
        with pytest.raises(kind, match="actions: "):
            envs.step(wrong)
    np.testing.assert_array_equal(envs.group["joint.angle"].read(), before)
    with pytest.raises(TypeError, match="make it of the task again"):
        envs.__reduce__()
    envs.close()
    envs.close()
    with pytest.raises(gymnasium.error.ClosedEnvironmentError):
        envs.reset()


# ---- adapters --------------------------------------------------------------------------------


def endings(task: mayfly.Task, moves: np.ndarray) -> Any:
    with task.make(4, autoreset_mode=SAME) as envs:
        yield envs.reset(seed=2)[0]
        for move in moves:
            yield envs.step(move)


def same_results(envs_step: Callable[[np.ndarray], tuple[Any, ...]], task: mayfly.Task) -> int:
    moves = actions(task.make(4), 60)
    expected = endings(task, moves)
    next(expected)
    ends = 0
    for move in moves:
        seen, reward, over = envs_step(move)[:3]
        results = next(expected)
        np.testing.assert_array_equal(seen, results[0])
        np.testing.assert_array_equal(np.asarray(reward), results[1].astype(np.float32))
        np.testing.assert_array_equal(np.asarray(over), results[2] | results[3])
        ends += int(np.sum(over))
    return ends


@pytest.mark.parametrize("given", ["task", "environment"])
def test_rsl_rl(hexapod: mayfly.Model, given: str) -> None:
    task = make_task(hexapod)
    source: Any = task if given == "task" else task.make(4, autoreset_mode=SAME)
    plain: Any = {"tensor": lambda rows: rows, "group": lambda rows, n: rows}
    env = RslRlEnv(source, 4, seed=2, **plain)
    assert (env.num_actions, env.max_episode_length) == (18, 30)
    assert env.get_observations()["critic"].shape == (4, 9)
    logs: dict[str, float] = {}

    def step(move: np.ndarray) -> tuple[Any, ...]:
        seen, reward, over, extras = env.step(move)
        logs.update(extras["log"])
        return seen["policy"], reward, over

    assert same_results(step, task) > 5
    assert logs["/reward/track_lin_vel_xy_exp"] > 0 and "/episode/return" in logs
    env.close()
    with pytest.raises(ValueError, match="rsl_rl needs .*SAME_STEP, this one has NEXT_STEP"):
        RslRlEnv(task.make(2), **plain)


def test_sb3(hexapod: mayfly.Model) -> None:
    pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    module = importlib.import_module("mayfly.envs.sb3")
    task = make_task(hexapod)
    for envs in (
        module.MayflyVecEnv(task, 4),
        module.MayflyVecEnv(task.make(4, autoreset_mode=SAME)),
    ):
        envs.seed(2)
        envs.reset()
        assert same_results(envs.step, task) > 5
        envs.close()


def test_pool_and_single(hexapod: mayfly.Model) -> None:
    task = make_task(hexapod)
    with task.make(4) as envs, Pool(task, 4, 2) as pool, Pool([task.make(2)], 2) as other:
        seen, _ = envs.reset(seed=5)
        for one in (pool, other):
            one.async_reset(seed=5)
        parts = [pool.recv() for _ in range(2)]
        np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), seen)
        np.testing.assert_array_equal(other.recv()[0], seen[:2])
        with pytest.raises(TypeError, match="need 2 environments of 2 robots"):
            Pool([envs], 4, 2)
    one = MayflyEnv(make_task(hexapod))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*infinity.*|.*symmetric.*")
        check_env(one, skip_render_check=True)
    one.close()


def test_pettingzoo(hexapod: mayfly.Model) -> None:
    """Robots that are alone end one by one."""
    zoo = pytest.importorskip("pettingzoo.test", reason="pettingzoo is not installed")
    module = importlib.import_module("mayfly.envs.parallel")
    ends = {"late": lambda env: env.episode_length_buf > 5 + 3 * np.arange(4)}
    env = module.MayflyParallelEnv(make_task(hexapod, terminations=ends), 4)
    zoo.parallel_api_test(env, 100)
    env.reset(seed=3)
    counts = []
    rng = np.random.default_rng(1)
    while env.agents:
        counts.append(len(env.agents))
        moves = {agent: rng.normal(0, 0.5, 18).astype(np.float32) for agent in env.agents}
        seen, reward, ended, cut, _ = env.step(moves)
        assert set(seen) == set(reward) == set(moves)
    assert counts == [4] * 6 + [3] * 3 + [2] * 3 + [1] * 3
    env.close()


def test_pictures(hexapod: mayfly.Model) -> None:
    with make_task(hexapod).make(2, render_mode="rgb_array", width=32, height=24) as envs:
        envs.reset(seed=1)
        frames = envs.render()
        assert frames is not None and frames[0].shape == (24, 32, 3) and envs.tile().shape[1] == 64


# ---- real robots -----------------------------------------------------------------------------


def test_velocity(hexapod: mayfly.Model) -> None:
    """The task that ships: a hexapod that stands still follows the command to stand."""
    task = mayfly.tasks.velocity(hexapod, feet="tibia*", std=0.1, action_scale=0.3).replace(
        events={}, commands={"twist": mdp.UniformVelocityCommand((0, 0), (0, 0), (0, 0))}
    )
    with task.make(3) as envs:
        envs.reset(seed=1)
        for _ in range(40):
            _, reward, ended, _, _ = envs.step(np.zeros((3, 18), np.float32))
            assert not ended.any()
        np.testing.assert_allclose(reward / envs.step_dt, 1.5 + 0.75, rtol=0.02)


@pytest.mark.skipif(not GO2.exists(), reason="needs MAYFLY_SHARED with unitree_go2")
def test_go2(monkeypatch: pytest.MonkeyPatch) -> None:
    """The task of the example: a Go2 without a policy stands in its default pose."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "python"))
    example = importlib.import_module("velocity_tracking")
    task = example.make_task(str(GO2)).replace(events={})
    assert "push" not in repr(task) and "feet_air_time" in repr(task)
    with task.make(8) as envs:
        envs.reset(seed=1)
        for _ in range(60):
            _, _, ended, _, _ = envs.step(np.zeros((8, 12), np.float32))
            assert not ended.any()
        assert (envs["base.position"][:, 2] > 0.22).all()
        assert envs.observation_groups["critic"].shape == (8, 48)


ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody><body>
    <joint name="elbow" axis="0 1 0" damping="0.1" range="-2 2"/>
    <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.3"/>
  </body></worldbody>
  <actuator><position joint="elbow" kp="5" kv="0.2"/></actuator>
</mujoco>"""


class Angle(mdp.Command):
    """An angle [rad], (robots, 1)."""

    def resample(self, env: TaskVectorEnv, robots: np.ndarray) -> np.ndarray:
        return env.uniform(-0.6, 0.6, 1, robots)


def test_training() -> None:
    """mayfly.learn with terms of the user's own: an arm goes to commanded angles."""

    def near(env: TaskVectorEnv) -> np.ndarray:
        return np.exp(-((env.joint_pos[:, 0] - env.command("angle")[:, 0]) ** 2) / 0.1)

    task = mayfly.Task(
        mayfly.Model.from_string(ARM), step=0.01, decimation=4, episode_length_s=2.0,
        actions={"elbow": mdp.Action("actuator.control", scale=0.5)},
        commands={"angle": Angle((1.0, 2.0))},
        observations={"policy": {"angle": mdp.joint_pos, "rate": Observation(
            mdp.joint_vel, scale=0.1), "command": mdp.generated_commands}},
        rewards={"near": Reward(near)},
        terminations={"time_out": Termination(time_out=True)},
    )  # fmt: skip
    learner = mayfly.learn.PPO(
        task.make(64, autoreset_mode=SAME), hidden=(16, 16), deviation=0.7, seed=1
    )
    logs = [log["reward"] / 0.04 for log in learner.train(40 * 24 * 64)]
    assert np.mean(logs[:3]) < 0.6 and np.mean(logs[-3:]) > 0.75, logs
    with task.make(32) as envs:
        seen, _ = envs.reset(seed=1)
        for _ in range(24):
            seen, reward, *_ = envs.step(learner.act(seen))
        assert np.mean(reward) / 0.04 > 0.85


@pytest.mark.skipif(not GO2.exists(), reason="needs the public robots")
def test_actuators_hold_the_default_pose() -> None:
    """Actions of 0, and the time before the first action acts, command the default pose."""
    task = mayfly.tasks.velocity(mayfly.Model.from_file(GO2), feet="*_calf").replace(events={})
    late = mdp.JointPositionAction(scale=0.25, latency=(0.02, 0.02))
    for actions in (task.actions, {"joint_pos": late}):
        with task.replace(actions=actions).make(17, autoreset_mode="SameStep") as envs:
            for _ in range(2):  # the second episode follows another command
                envs.reset(seed=1)
                envs.step(np.zeros((17, 12), np.float32))
                control = envs.group["actuator.control"].read()
                np.testing.assert_allclose(control, envs.default_joint_pos + 0 * control, atol=1e-6)
                envs.step(np.ones((17, 12), np.float32))
