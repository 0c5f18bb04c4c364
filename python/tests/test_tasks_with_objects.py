"""Tasks that ship with objects and goals, and the humanoid's: random actions, and scripted ones."""

from __future__ import annotations

import math
import os
import pathlib
from collections.abc import Callable

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from conftest import ROOT  # noqa: E402
from mayfly import mdp, mdp_objects, task_models  # noqa: E402

MODELS = pathlib.Path(os.environ.get("MAYFLY_SHARED", ROOT.parent / "shared")) / "models"
HAND, G1 = MODELS / "wonik_allegro" / "right_hand.xml", MODELS / "unitree_g1" / "scene_mjx.xml"
Envs = mayfly.envs.TaskVectorEnv


def public(path: pathlib.Path) -> pathlib.Path:
    if not path.exists():
        pytest.skip("needs the public robots")
    return path


def reorient_cube() -> mayfly.Task:
    return mayfly.tasks.reorient_cube(task_models.hand_with_cube(public(HAND)))


def gates() -> mayfly.Task:
    return mayfly.tasks.gates(task_models.course("quadrotor.xml", mayfly.tasks.GATES))


def dribble() -> mayfly.Task:
    return mayfly.tasks.dribble(mayfly.Model.from_file("dribbler.xml"))


def velocity_g1() -> mayfly.Task:
    return mayfly.tasks.velocity_g1(mayfly.Model.from_file(public(G1)))


def same(task: mayfly.Task, count: int, **more: int) -> Envs:
    return task.make(count, autoreset_mode="SameStep", **more)


def play(envs: Envs, steps: int, actions: np.ndarray, seed: int) -> list[np.ndarray]:
    """Observations, rewards and ends of steps, after checks of each."""
    rows = [envs.reset(seed=seed)[0]]
    for step in range(steps):
        seen, reward, terminated, truncated, _ = envs.step(actions[step])
        assert np.isfinite(seen).all() and np.isfinite(reward).all()
        rows += [np.array(seen), reward, terminated, truncated]
    assert envs.group.faults == 0
    return rows


# Failures of 64 robots in 4 s of random actions.
@pytest.mark.parametrize(
    ("make", "failures"),
    [(reorient_cube, (5, 300)), (gates, (32, 400)), (dribble, (0, 0)), (velocity_g1, (64, 400))],
)
def test_random_actions(make: Callable[[], mayfly.Task], failures: tuple[int, int]) -> None:
    """Finite; robots fail as often as they should; robot 21 is the same alone, and all are with
    another number of threads.
    """
    task = make()
    steps = round(4.0 / task.step_dt)
    with same(task, 64, num_threads=2) as envs:
        shape = (steps, *envs.action_space.shape)
        actions = np.random.default_rng(1).normal(0, 0.5, shape).astype(np.float32)
        many = play(envs, steps, actions, 5)
        assert failures[0] <= sum(row.sum() for row in many[3::4]) <= failures[1]
        assert not any(row.any() for row in many[4::4])
    with same(task, 64, num_threads=1) as envs:
        for row, other in zip(many, play(envs, steps, actions, 5)):
            assert np.array_equal(row, other)
    with same(task, 1) as envs:
        for row, other in zip(many, play(envs, steps, actions[:, 21:22], 5 + 21)):
            assert np.array_equal(row[21:22], other)


# ---- the hand ------------------------------------------------------------------------------------


def test_reorient_cube_goals() -> None:
    """A cube whose rotation is the goal's earns the bonus once, and gets another goal."""
    task = reorient_cube().replace(events={})
    with same(task, 256) as envs:
        envs.reset(seed=1)
        goal = envs.command().copy()
        assert np.allclose(np.linalg.norm(goal[:, 3:], axis=1), 1, atol=1e-6)
        # Angles of uniform rotations have the density (1 - cos) / pi.
        angle = 2 * np.arccos(np.abs(goal[:, 3]))
        assert abs(angle.mean() - (math.pi / 2 + 2 / math.pi)) < 5 * 0.65 / 16
        rows = np.arange(0, 256, 2)
        envs.write("ball.orientation", goal[rows, None, 3:], rows)
        envs._refresh()
        still = np.zeros(envs.action_space.shape, np.float32)
        drawn = envs.command().copy()
        # The physics of one step turns it by less than the threshold.
        _, reward, *_ = envs.step(still)
        changed = (envs.command()[:, 3:] != drawn[:, 3:]).any(axis=1)
        error = envs.metrics()["orientation_error"]
        near = np.flatnonzero(changed)
        assert set(near) <= set(rows) and len(near) > 60
        assert (reward[near] > 250 * task.step_dt - 1).all()
        assert (np.delete(reward, near) < 1).all()
        assert error[near].mean() > 1.5  # of the new goals


def test_reorient_cube_about_the_vertical() -> None:
    task = mayfly.tasks.reorient_cube(task_models.hand_with_cube(public(HAND)), axis="z")
    with same(task, 64) as envs:
        envs.reset(seed=1)
        goal = envs.command()
        assert not goal[:, 4:6].any() and np.ptp(np.arctan2(goal[:, 6], goal[:, 3])) > 2.5


def test_reorient_cube_drops() -> None:
    task = reorient_cube()
    with same(task, 8) as envs:
        envs.reset(seed=1)
        far = np.array([2, 5])
        envs.write("free.position", np.array([0.3, 0, 0.1], np.float32), far)
        envs._refresh()
        _, reward, terminated, *_ = envs.step(np.zeros(envs.action_space.shape, np.float32))
        assert np.flatnonzero(terminated).tolist() == far.tolist()
        assert (reward[far] < -100 * task.step_dt + 1).all()
        assert np.linalg.norm(mdp_objects.object_pos(envs, "cube"), axis=1).max() < 0.1


def test_contacts_with_the_cube() -> None:
    """Fingers that close touch it; those that are stretched do not."""
    task = reorient_cube().replace(events={}, terminations={})
    with same(task, 2) as envs:
        envs.reset(seed=1)
        tips = envs.contacts_between("*_distal", ["cube"])
        assert tips.links == ("ff_distal", "mf_distal", "rf_distal", "th_distal")
        closed = np.zeros(envs.action_space.shape, np.float32)
        closed[0, [1, 2, 5, 6, 9, 10]] = 1.6
        closed[1, [1, 2, 5, 6, 9, 10]] = -2.0
        for _ in range(40):
            envs.step(closed)
        assert tips.found[0, :3].any() and not tips.found[1].any()
        assert ((tips.distance < 0) == tips.found).all()  # contacts overlap a little
        with pytest.raises(
            mayfly.ArgumentError, match="link ff_base: the robot's file has no cont"
        ):
            envs.contacts_between(["ff_base"], ["cube"])
    with pytest.raises(mayfly.UnsupportedError, match='the task needs settings={"sensors": True}'):
        task.replace(settings={}).make(1)


# ---- gates ---------------------------------------------------------------------------------------


def put(envs: Envs, place: np.ndarray, speed: np.ndarray) -> None:
    everyone = np.arange(envs.num_envs)
    envs.write("base.position", place, everyone)
    envs.write("base.linear_velocity", speed, everyone)
    envs._refresh()


def test_gates_are_passed() -> None:
    """Robots that cross the plane of their gate: within the opening, beside, backwards, before."""
    task = gates()
    with same(task.replace(events={}), 4) as envs:
        envs.reset(seed=1)
        hover = np.zeros(envs.action_space.shape, np.float32)
        assert (envs.drawn()[:, 0] == 0).all()
        gate = np.array(mayfly.tasks.GATES[0][:3])
        before = gate + np.array([[-0.1, 0.3, 0], [-0.1, 0.7, 0], [0.1, 0, 0], [-0.5, 0, 0]])
        speed = np.array([[30, 0, 0], [30, 0, 0], [-30, 0, 0], [30, 0, 0]])
        put(envs, before, np.zeros((4, 3)))
        envs.step(hover)
        envs.drawn()[2, :2] = 0, 0.1  # on its way there it has passed it
        put(envs, before, speed)
        _, reward, terminated, *_ = envs.step(hover)
        assert terminated.tolist() == [False, True, False, False]
        assert envs.drawn()[:, 0].tolist() == [1, 0, 0, 0]
        assert reward[0] > 200 * task.step_dt - 0.3 > 0.5 > reward[3]
        assert reward[1] < -200 * task.step_dt + 0.5
        # The body looks along x: the next gate is (8, 4, 2), the one after it (4, 8, 1.5).
        now = envs["base.position"][0]
        assert np.allclose(envs.command()[0], [*([8, 4, 2] - now), *([4, 8, 1.5] - now)], atol=1e-3)


def test_gates_progress() -> None:
    """The sum of the progress is what the distance has become less."""
    with same(gates().replace(terminations={}), 16) as envs:
        envs.reset(seed=1)
        first = np.linalg.norm(envs.command()[:, :3], axis=1)
        assert (np.abs(first - 2) < 0.7).all() and len(set(envs.drawn()[:, 0])) > 1
        gone = np.zeros(16)
        for _ in range(30):
            envs.step(np.zeros(envs.action_space.shape, np.float32))
            gone += mdp_objects.progress(envs) * envs.step_dt
        left = np.linalg.norm(envs.command()[:, :3], axis=1)
        assert np.allclose(first - left, gone, atol=1e-4)


# ---- the ball ------------------------------------------------------------------------------------


def test_dribble() -> None:
    """A robot that drives forward pushes the ball at its own speed; the frame is the robot's."""
    task = dribble().replace(events={})
    with same(task, 8) as envs:
        seen, _ = envs.reset(seed=1)
        assert np.allclose(seen[:, :2], [5 * 0.2, 0], atol=0.03)
        between = envs.contacts_between(["robot"], ["ball"])
        drive = np.zeros(envs.action_space.shape, np.float32)
        drive[:, 0] = 0.8  # 0.4 of the largest force: 0.6 m/s
        touched = np.zeros(8, bool)
        for _ in range(150):
            envs.step(drive)
            touched |= between.found[:, 0]
        assert touched.all()
        assert np.abs(mdp_objects.robot_vel_b(envs, "robot")[:, 0] - 0.6).max() < 0.02
        assert np.abs(mdp_objects.object_lin_vel(envs, "ball")[:, 0] - 0.6).max() < 0.1
        assert np.abs(mdp_objects.object_pos_b(envs, "ball", "robot")[:, 0] - 0.0915).max() < 0.02
        angle = np.zeros((8, envs.joint_pos.shape[1]))
        angle[:, 2] = math.pi / 2
        envs.write("joint.angle", angle, np.arange(8))
        envs._refresh()
        ball = mdp_objects.object_pos(envs, "ball")[:, :2]
        rotated = mdp_objects.object_pos_b(envs, "ball", "robot")
        assert np.allclose(rotated, np.stack([ball[:, 1], -ball[:, 0]], axis=1), atol=1e-5)


def test_dribble_loses_the_ball() -> None:
    with same(dribble().replace(events={}), 4) as envs:
        envs.reset(seed=1)
        envs.write("free.position", np.array([0, 1.3, 0.0215], np.float32), np.array([3]))
        envs._refresh()
        _, _, terminated, *_ = envs.step(np.zeros(envs.action_space.shape, np.float32))
        assert terminated.tolist() == [False, False, False, True]


def test_reset_of_what_does_not_move() -> None:
    event = mdp.Event(mdp_objects.reset_object_uniform, link_name="robot", pose_range={})
    with pytest.raises(mayfly.ArgumentError, match="link robot: it does not move freely"):
        dribble().replace(events={"event": event}).make(1)


# ---- the humanoid --------------------------------------------------------------------------------


def test_velocity_g1() -> None:
    task = velocity_g1()
    scale = dict(zip([j.name for j in task.model.joints], task.actions["joint_pos"].scale))
    assert scale["left_knee_joint"] == pytest.approx(0.25 * 139 / 75)
    assert scale["left_ankle_pitch_joint"] == pytest.approx(0.25 * 50 / 20)
    with same(task.replace(events={}), 4) as envs:
        envs.reset(seed=1)
        still = np.zeros(envs.action_space.shape, np.float32)
        feet = envs.contact(("*_ankle_roll_link",))
        for _ in range(25):
            _, reward, terminated, *_ = envs.step(still)
            assert not terminated.any()
        weight = 9.81 * sum(link.mass for link in task.model.links)
        assert np.allclose(feet.force.sum(axis=1), weight, rtol=0.2)  # it stands for half a second
        # Velocities in the frame of the heading.
        heading, speed = envs.heading, envs["base.linear_velocity"]
        error = envs.command()[:, 0] - np.cos(heading) * speed[:, 0] - np.sin(heading) * speed[:, 1]
        aside = envs.command()[:, 1] + np.sin(heading) * speed[:, 0] - np.cos(heading) * speed[:, 1]
        tracked = mayfly.mdp_bipeds.track_lin_vel_xy_yaw_frame_exp(envs, 0.5)
        assert np.allclose(tracked, np.exp(-(error**2 + aside**2) / 0.25), atol=1e-5)
        lifted = np.zeros_like(still)
        lifted[:, 9] = 2.0  # bends the right knee: that foot leaves the ground
        swung = np.zeros(4)
        for _ in range(15):
            envs.step(lifted)
            swung = np.maximum(
                swung,
                mayfly.mdp_bipeds.feet_air_time_positive_biped(envs, ("*_ankle_roll_link",)),
            )
        assert swung.max() > 0.02


@pytest.mark.parametrize("make", [reorient_cube, gates, dribble, velocity_g1])
def test_terms_in_c(make: Callable[[], mayfly.Task]) -> None:
    """What programs compute is what NumPy makes of the same terms."""
    with same(make(), 33) as envs:
        programs, total = envs._programs, envs._sum
        checked = {"reward": 0, "observation": 0}

        def agree(starts: np.ndarray | None) -> np.ndarray:
            made = total(starts)
            expected = np.zeros(envs.num_envs)
            for name, term in envs.task.rewards.items():
                if envs.weights[name] != 0:
                    expected += envs._numbers(name, term) * envs.weights[name] * envs.step_dt
                    checked["reward"] += name not in programs.slow["reward"]
            np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-4)
            for name, term in envs.task.terminations.items():
                if name != "time_out":
                    np.testing.assert_array_equal(envs._reasons[name], envs._truths(name, term))
            return made

        envs._sum = agree  # type: ignore[method-assign]
        envs.reset(seed=1)
        shape = (25, *envs.action_space.shape)
        for action in np.random.default_rng(1).normal(0, 0.5, shape).astype(np.float32):
            envs.step(action)
            for columns in envs._columns.values():
                for column in columns:
                    value = envs._value(column.name, column.term)
                    np.testing.assert_allclose(
                        programs.values[column.key], value, rtol=1e-4, atol=1e-4,
                        err_msg=column.name,
                    )  # fmt: skip
                    checked["observation"] += 1
        assert min(checked.values()) > 0
