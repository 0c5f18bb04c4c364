"""Gymnasium's own environments and Mayfly's versions of them: from the same states, with the same
actions, the same observations, rewards and ends. MuJoCo's solver iterates until nothing changes."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt
import pytest

gymnasium = pytest.importorskip("gymnasium")
mujoco = pytest.importorskip("mujoco", minversion="4.0", reason="mujoco 4 is not installed")
os.environ.setdefault("MUJOCO_GL", "disable")

import mayfly  # noqa: E402, F401

Floats = npt.NDArray[np.float64]
ROBOTS, STEPS = 24, 4
TASKS = [
    "Ant-v5",
    "HalfCheetah-v5",
    "Hopper-v5",
    "Humanoid-v5",
    "HumanoidStandup-v5",
    "InvertedDoublePendulum-v5",
    "InvertedPendulum-v5",
    "Pusher-v5",
    "Reacher-v5",
    "Swimmer-v5",
    "Walker2d-v5",
]


def theirs(task: str) -> tuple[Floats, Floats, Floats, Floats, npt.NDArray[np.bool_]]:
    """Positions and velocities at the start, actions, and what came of them."""
    env, random = gymnasium.make(task).unwrapped, np.random.default_rng(5)
    options = env.model.opt
    options.solver = mujoco.mjtSolver.mjSOL_NEWTON
    options.tolerance, options.ls_tolerance, options.iterations = 0.0, 1e-12, 300
    space, starts, actions, results = env.action_space, [], [], []
    for number in range(ROBOTS):
        env.reset(seed=number)
        for _ in range(random.integers(0, 20)):
            env.step(random.uniform(space.low, space.high).astype(np.float32))
        starts.append((env.data.qpos.copy(), env.data.qvel.copy()))
        env.set_state(*starts[-1])
        actions.append(random.uniform(space.low, space.high, (STEPS, *space.shape)))
        results.append([env.step(action)[:3] for action in np.float32(actions[-1])])
    env.close()
    positions, velocities = (np.array(part) for part in zip(*starts))
    seen = np.array([[step[0] for step in row] for row in results])
    rewards = np.array([[step[1] for step in row] for row in results])
    ends = np.array([[step[2] for step in row] for row in results])
    return positions, velocities, np.array(actions), np.dstack([seen, rewards]), ends


@pytest.mark.parametrize("task", TASKS)
def test_same_path(task: str) -> None:
    positions, velocities, actions, expected, ends = theirs(task)
    envs = gymnasium.make_vec(f"Mayfly/{task}", num_envs=ROBOTS, precision="double")
    envs.reset(seed=0)
    envs.unwrapped.group.set_state(positions, velocities)
    alive = np.ones(ROBOTS, np.bool_)
    for step in range(STEPS):
        seen, reward, ended, cut, _ = envs.step(np.float32(actions[:, step]))
        size = 1.0 + np.abs(expected[alive, step, :-1])
        assert (np.abs(seen[alive] - expected[alive, step, :-1]) / size).max() < 1e-6
        if step > 0:  # the first knows no step before: the state was set
            # Actions are float here, and their squares in rewards too.
            assert np.abs(reward[alive] - expected[alive, step, -1]).max() < 1e-5
        assert (ended[alive] == ends[alive, step]).all()
        alive &= ~(ended | cut)
    assert alive.any() or "Pendulum" in task
    envs.close()
