"""Normally distributed noise of observations."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="environments need gymnasium")

import mayfly  # noqa: E402
from mayfly import mdp  # noqa: E402
from mayfly.mdp import Gaussian, Observation  # noqa: E402


def zeros(env: mayfly.envs.TaskVectorEnv) -> np.ndarray:
    return np.zeros((env.num_envs, 6), np.float32)


def make(noise: Gaussian, **settings: int) -> mayfly.Task:
    return mayfly.Task(
        mayfly.Model.from_file("hexapod.urdf"),
        actions={"joint_pos": mdp.JointPositionAction()},
        observations={"policy": {"noise": Observation(zeros, noise=noise, **settings)}},
        rewards={},
        episode_length_s=0.2,
        terminations={"time_out": mdp.Termination(time_out=True)},
    )


def seen(task: mayfly.Task, count: int, steps: int = 20, seed: int = 3, **more: int) -> np.ndarray:
    """Observations (steps, robots, numbers), over two episodes."""
    with task.make(count, autoreset_mode="SameStep", **more) as envs:
        rows = [envs.reset(seed=seed)[0]]
        still = np.zeros(envs.action_space.shape, np.float32)
        rows += [envs.step(still)[0] for _ in range(steps)]
    return np.array(rows)


@pytest.mark.parametrize("lag", [0, 1])
def test_distribution(lag: int) -> None:
    """Mean, deviation and shares of a normal distribution; columns and steps are independent."""
    drawn = (seen(make(Gaussian(0.5, mean=2.0), delay_max_lag=lag), 512) - 2.0) / 0.5
    fresh = drawn[:: lag + 1]  # of values that are late two steps may show the same
    n = fresh.size
    assert abs(fresh.mean()) < 5 / math.sqrt(n) and abs(fresh.var() - 1) < 5 * math.sqrt(2 / n)
    for limit in (0.25, 1.0, 2.0, 3.0):
        share = math.erf(limit / math.sqrt(2))
        found = (np.abs(fresh) < limit).mean()
        assert abs(found - share) < 5 * math.sqrt(share * (1 - share) / n)
    table = np.corrcoef(fresh.transpose(2, 0, 1).reshape(6, -1))
    assert np.abs(table - np.eye(6)).max() < 5 / math.sqrt(n / 6)
    later = np.corrcoef(fresh[0].ravel(), fresh[1].ravel())[0, 1]
    assert abs(later) < 5 / math.sqrt(fresh[0].size)


@pytest.mark.parametrize("lag", [0, 1])
def test_same_bits(lag: int) -> None:
    """A robot's noise depends on its seed, not on other robots or threads."""
    task = make(Gaussian(0.1), delay_max_lag=lag)
    many = seen(task, 40, num_threads=2)
    assert np.array_equal(many, seen(task, 40, num_threads=1))
    assert np.array_equal(many[:, 17:18], seen(task, 1, seed=3 + 17))
    assert not np.array_equal(many[:, 17], many[:, 18])


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="std: need a number >= 0"):
        Gaussian(-0.1)
    with pytest.raises(TypeError, match="std"):
        Gaussian("wide")  # type: ignore[arg-type]
    assert "noise Gaussian(std=0.1, mean=0.0)" in make(Gaussian(0.1)).table()
